/* cmd_convert.c - attn-mt convert: writes a smaller model file, whose weights have fewer bits. */
#include <string.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/strview.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "models/modelfile.h"

typedef struct {
    char *output;
    int precision;
} ConvertOptions;

/* In the order of the choices. */
static const WeightFormat PRECISIONS[] = {WEIGHT_INT8, WEIGHT_BF16};

#define FIELD(member) OPT_FIELD(ConvertOptions, member)

/* clang-format off */
static const Option CONVERT_OPTIONS[] = {
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .arg = "FILE",
     .help = "output file; it is replaced only when everything is done", .group = "Output"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .default_text = "int8",
     .choices = "int8|bf16",
     .arg = "KIND",
     .help = "number format of weights and embeddings; int8 makes the file a quarter of the size, bf16 "
             "half"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt convert [OPTION...] MODEL -o SMALL\n"
    "\n"
    "Rounds the weights of a model permanently. SMALL gives the same translations as\n"
    "MODEL with the same --precision, is smaller and loads faster. SMALL cannot be\n"
    "trained or averaged, so keep MODEL.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt convert best.safetensors -o small.safetensors\n"
                               "  attn-mt convert --precision bf16 best.safetensors -o half.safetensors\n";

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
    Seq2Seq *model;
    StrBuf provenance = {0};
    Status status = modelfile_load_exact(&model, path, &provenance);
    if (status == STATUS_OK) {
        status = modelfile_save_quantized(model, PRECISIONS[options->precision], strbuf_text(&provenance),
                                          options->output);
        seq2seq_free(model);
    }
    if (status == STATUS_OK) report(path, options->output);
    strbuf_free(&provenance);
    return status;
}

static Status run(const StrList *files, const void *target) {
    const ConvertOptions *options = target;
    TRY(command_refuse_overwrite_models(options->output, files));
    if (files->count == 1 && options->output) return convert(files->items[0], options);
    if (files->count != 1)
        status_fail(STATUS_USAGE, files->count ? "more than one model given" : "no model given");
    else
        status_fail(STATUS_USAGE, "no --output for the small model");
    return status_hint(STATUS_USAGE, "attn-mt convert best.safetensors -o small.safetensors");
}

Status cmd_convert(int argc, char **argv) {
    ConvertOptions options = {0};
    OptionTable tables[] = {{CONVERT_OPTIONS, &options}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
