/* model_convert.c - see model_convert.h. */
#include "cli/model_convert.h"

#include "foreign/import.h"
#include "models/modelfile.h"

#define FIELD(member) OPT_FIELD(ModelConvertOptions, member)

/* clang-format off */
const Option MODEL_CONVERT_OPTIONS[] = {
    {.flag = "sentencepiece", .type = OPT_STRING, FIELD(sentencepiece[0]), .arg = "FILE",
     .help = "SentencePiece model for a CTranslate2 folder, which has none"},
    {.flag = "target-sentencepiece", .type = OPT_STRING, FIELD(sentencepiece[1]), .arg = "FILE",
     .help = "SentencePiece model of the target language, if it differs"},
    {0}};
/* clang-format on */

/* In the order of the choices. */
static const WeightFormat FORMATS[] = {WEIGHT_INT8, WEIGHT_INT8, WEIGHT_BF16, WEIGHT_FLOAT32};

static Status convert_own(const char *path, const ModelConvertOptions *options, const char *output) {
    Seq2Seq *model;
    StrBuf provenance = {0};
    Status status = modelfile_load_exact(&model, path, &provenance);
    if (status == STATUS_OK) {
        status =
            modelfile_save_quantized(model, FORMATS[options->precision], strbuf_text(&provenance), output);
        seq2seq_free(model);
    }
    strbuf_free(&provenance);
    return status;
}

static Status convert_foreign(const char *path, const ModelConvertOptions *options, const char *output,
                              const char **program) {
    ForeignModel foreign;
    TRY(foreign_import(&foreign, path, (const char *const *)options->sentencepiece));
    const ParamSet *params = seq2seq_params(foreign.model);
    const char *provenance = strbuf_text(&foreign.provenance);
    WeightFormat format = FORMATS[options->precision];
    if (options->precision == PRECISION_AUTO) format = foreign.has_bytes ? WEIGHT_INT8 : WEIGHT_FLOAT32;
    Status status = format == WEIGHT_FLOAT32 ? modelfile_save(foreign.model, params->data, provenance, output)
                    : format == WEIGHT_INT8
                        ? modelfile_save_bytes(foreign.model, foreign.scales, provenance, output)
                        : modelfile_save_quantized(foreign.model, format, provenance, output);
    if (program) *program = foreign.program;
    foreign_model_free(&foreign);
    return status;
}

Status model_convert(const char *path, const ModelConvertOptions *options, const char *output,
                     const char **program) {
    if (program) *program = NULL;
    if (foreign_is_archive(path)) return convert_foreign(path, options, output, program);
    return convert_own(path, options, output);
}
