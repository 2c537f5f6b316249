/* cmd_convert.c - attn-mt convert: writes a smaller model file, whose weights have fewer bits, or a model
 * file from a model of another program.
 */
#include <string.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/strview.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/model_choice.h"
#include "cli/model_convert.h"

typedef struct {
    char *output;
    bool quiet;
    ModelConvertOptions convert;
} ConvertOptions;

#define FIELD(member) OPT_FIELD(ConvertOptions, member)

/* clang-format off */
static const Option CONVERT_OPTIONS[] = {
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .arg = "FILE",
     .help = "output file; it is replaced only when the new one is complete", .group = "Output"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(convert.precision), .default_text = "auto",
     .choices = MODEL_PRECISION_CHOICES,
     .arg = "KIND",
     .help = "number format of weights and embeddings; int8 makes the file a quarter of the size, bf16 "
             "half; auto: int8; for a model of another program float32 if it has more than 8 bits"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, FIELD(quiet), .default_text = "false",
     .help = "print only warnings and errors"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt convert [OPTION...] MODEL -o SMALL\n"
    "       attn-mt convert [OPTION...] FOLDER|ZIP|TAR -o MODEL\n"
    "\n"
    "Rounds the weights of a model permanently. SMALL gives the same translations as\n"
    "MODEL with the same --precision, is smaller and loads faster. SMALL cannot be\n"
    "trained or averaged, so keep MODEL.\n"
    "\n"
    "Also reads models of other programs: OPUS-MT in the formats of Hugging Face and\n"
    "Marian, packages of Argos Translate, Transformers of CTranslate2, and models of\n"
    "Firefox. It runs no code in them. --precision float32 makes a file that can be\n"
    "trained.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt convert best.safetensors -o small.safetensors\n"
                               "  attn-mt convert --precision bf16 best.safetensors -o half.safetensors\n"
                               "  attn-mt convert opus-mt-en-fr/ -o en-fr.safetensors\n"
                               "  attn-mt convert translate-en_fr-1_9.argosmodel -o en-fr.safetensors\n";

/* A pipe has no size, and file_size("-") would be that of standard input. */
static void report(const char *model, const char *output) {
    char before[32], after[32];
    long long old = file_size(model), small = strcmp(output, "-") == 0 ? -1 : file_size(output);
    if (old >= 0 && small >= 0)
        log_info("wrote '%s': %s instead of %s", output, str_bytes((double)small, after),
                 str_bytes((double)old, before));
    else
        log_info("wrote '%s'", output);
}

static Status convert(const char *path, const ConvertOptions *options) {
    const char *program;
    TRY(model_convert(path, &options->convert, options->output, &program));
    if (program)
        log_info("wrote '%s': a model of %s", options->output, program);
    else
        report(path, options->output);
    return STATUS_OK;
}

static Status convert_path(const StrList *files, const ConvertOptions *options) {
    StrList paths = {0};
    Status status = model_choice_list(files, &paths);
    if (status == STATUS_OK) status = command_refuse_overwrite_models(options->output, &paths);
    if (status == STATUS_OK) status = convert(paths.items[0], options);
    strlist_free(&paths);
    return status;
}

static Status run(const StrList *files, const void *target) {
    const ConvertOptions *options = target;
    if (options->quiet) log_set_level(LOG_WARN);
    TRY(command_refuse_overwrite_models(options->output, files));
    if (files->count == 1 && options->output) return convert_path(files, options);
    if (files->count != 1)
        status_fail(STATUS_USAGE, files->count ? "more than one model given" : "no model given");
    else
        status_fail(STATUS_USAGE, "no --output for the small model");
    return status_hint(STATUS_USAGE, "attn-mt convert best.safetensors -o small.safetensors");
}

Status cmd_convert(int argc, char **argv) {
    ConvertOptions options = {0};
    OptionTable tables[] = {{CONVERT_OPTIONS, &options}, {MODEL_CONVERT_OPTIONS, &options.convert}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
