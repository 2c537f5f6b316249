/* cmd_convert.c - attn-mt convert: writes a smaller model file, whose weights have fewer bits, or a model
 * file from a model
 * of another program. */
#include <string.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/strview.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/model_choice.h"
#include "foreign/import.h"
#include "models/modelfile.h"

typedef struct {
    char *output, *sentencepiece[2]; /* of source and target */
    int precision;                   /* of CHOICES */
} ConvertOptions;

enum { PRECISION_AUTO };
#define CHOICES "auto|int8|bf16|float32"
/* In the order of the choices. */
static const WeightFormat PRECISIONS[] = {WEIGHT_INT8, WEIGHT_INT8, WEIGHT_BF16, WEIGHT_FLOAT32};

#define FIELD(member) OPT_FIELD(ConvertOptions, member)

/* clang-format off */
static const Option CONVERT_OPTIONS[] = {
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .arg = "FILE",
     .help = "output file; it is replaced only when everything is done", .group = "Output"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .default_text = "auto", .choices = CHOICES,
     .arg = "KIND",
     .help = "number format of weights and embeddings; int8 makes the file a quarter of the size, bf16 "
             "half; auto: int8, but of another program's model int8 only if it has 8 bits already"},
    {.flag = "sentencepiece", .type = OPT_STRING, FIELD(sentencepiece[0]), .arg = "FILE",
     .help = "the SentencePiece model of a folder of CTranslate2 that has none"},
    {.flag = "target-sentencepiece", .type = OPT_STRING, FIELD(sentencepiece[1]), .arg = "FILE",
     .help = "that of the target language, if it is another"},
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
    "Reads models of other programs, too: OPUS-MT as Hugging Face and Marian have it,\n"
    "packages of Argos Translate, Transformers of CTranslate2, models of Firefox.\n"
    "Nothing in them is run. --precision float32 makes a file that can be trained.\n";

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

static Status convert_foreign(const char *path, const ConvertOptions *options) {
    ForeignModel foreign;
    TRY(foreign_import(&foreign, path, (const char *const *)options->sentencepiece));
    const ParamSet *params = seq2seq_params(foreign.model);
    const char *provenance = strbuf_text(&foreign.provenance);
    WeightFormat format = PRECISIONS[options->precision];
    if (options->precision == PRECISION_AUTO) format = foreign.has_bytes ? WEIGHT_INT8 : WEIGHT_FLOAT32;
    Status status = format == WEIGHT_FLOAT32
                        ? modelfile_save(foreign.model, params->data, provenance, options->output)
                    : format == WEIGHT_INT8
                        ? modelfile_save_bytes(foreign.model, foreign.scales, provenance, options->output)
                        : modelfile_save_quantized(foreign.model, format, provenance, options->output);
    if (status == STATUS_OK) log_info("wrote '%s': a model of %s", options->output, foreign.program);
    foreign_model_free(&foreign);
    return status;
}

static Status convert_path(const StrList *files, const ConvertOptions *options) {
    StrList paths = {0};
    Status status = model_choice_list(files, &paths);
    if (status == STATUS_OK) status = command_refuse_overwrite_models(options->output, &paths);
    if (status == STATUS_OK)
        status = (foreign_is_archive(paths.items[0]) ? convert_foreign : convert)(paths.items[0], options);
    strlist_free(&paths);
    return status;
}

static Status run(const StrList *files, const void *target) {
    const ConvertOptions *options = target;
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
    OptionTable tables[] = {{CONVERT_OPTIONS, &options}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
