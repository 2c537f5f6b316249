/* cmd_average.c - attn-mt average: one model whose weights are the mean of several models' weights.
 *
 * Of checkpoints of one training: Sennrich et al. 2016, "Edinburgh neural machine translation systems"; of
 * several trainings from one model: Wortsman et al. 2022, "Model soups".
 */
#include <math.h>
#include "io/json.h"
#include "io/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/model_choice.h"
#include "postprocess/calibration.h"
#include "models/modelfile.h"

typedef struct {
    char *output;
} AverageOptions;

#define FIELD(member) OPT_FIELD(AverageOptions, member)

/* clang-format off */
static const Option AVERAGE_OPTIONS[] = {
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .arg = "FILE",
     .help = "output file; it is replaced only when everything is done", .group = "Output"},
    {0}};
/* clang-format on */

static const char USAGE[] = "Usage: attn-mt average MODEL MODEL... -o FILE\n"
                            "\n"
                            "Averages models: each weight is the mean of theirs. The models must come from\n"
                            "one training, or from trainings that began with one model (train --init). The\n"
                            "weights of unrelated models do not correspond to each other.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt average runs/a/best.safetensors runs/a/last.safetensors -o mean.safetensors\n";

/* Writes what two models must have in common: the vocabularies, and the configuration except for the search
 * options and the options of training, which in the section `model` are model.size and all real numbers. */
static void write_kind(const Seq2Seq *model, StrBuf *out) {
    Config kind = config_view(seq2seq_config(model));
    for (const Option *row = MODEL_OPTIONS; row->key; row++)
        if (row->type == OPT_REAL) *(double *)(void *)((char *)&kind.model + row->offset) = 0;
    kind.model.size = SIZE_MANUAL;
    kind.decode = (DecodeOptions){0};
    config_write_json(&kind, out);
    tokenizer_write_json(seq2seq_source(model), out);
    tokenizer_write_json(seq2seq_target(model), out);
}

static Status check_kind(const Seq2Seq *first, const Seq2Seq *model, const StrList *files, size_t i) {
    StrBuf first_kind = {0}, kind = {0};
    write_kind(first, &first_kind);
    write_kind(model, &kind);
    bool same = sv_equal(strbuf_view(&first_kind), strbuf_view(&kind));
    strbuf_free(&first_kind);
    strbuf_free(&kind);
    if (same) return STATUS_OK;
    status_fail(STATUS_DATA, "'%s' and '%s' differ in configuration or vocabulary", files->items[0],
                files->items[i]);
    return status_hint(STATUS_DATA,
                       "average models of one run, or of runs that began with one model (--init)");
}

/* Copies the languages of the first model, and whether it translates symbols.
 * Its scores, counters and calibration do not hold for the mean. */
static void write_provenance(const StrList *files, const char *first, StrBuf *out) {
    static const char *const COPIED[] = {"source_language", "target_language"};
    Json *root = NULL;
    bool known = json_parse(&root, sv(first), false) == STATUS_OK;
    json_open_object(out);
    json_put_string(out, "program", SV("attn-mt " ATTN_MT_VERSION));
    json_put_array(out, "average_of");
    for (size_t i = 0; i < files->count; i++) json_write_string(out, sv(files->items[i]));
    json_close_array(out);
    for (int i = 0; i < 2 && known; i++) {
        const Json *member = json_get(root, COPIED[i]);
        if (!member || json_type(member) != JSON_STRING) continue;
        json_put_string(out, COPIED[i], sv(json_string(member)));
    }
    if (modelfile_translates_symbols(sv(first))) json_put_bool(out, "translates_symbols", true);
    json_close_object(out);
    json_free(root);
}

/* The cosine of the angle between two models' matrices. Vectors are left out: gains of layer normalization
 * are near 1 in any model. */
static double cosine_similarity(const Seq2Seq *first, const Seq2Seq *model) {
    const ParamSet *params = seq2seq_params(first);
    const real *a = params->data, *b = seq2seq_params(model)->data;
    double products = 0, a_squares = 0, b_squares = 0;
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        size_t end = p->offset + (size_t)p->rows * (size_t)p->columns;
        for (size_t j = p->offset; p->rows > 1 && j < end; j++) {
            products += (double)a[j] * (double)b[j];
            a_squares += (double)a[j] * (double)a[j];
            b_squares += (double)b[j] * (double)b[j];
        }
    }
    return products / sqrt(a_squares * b_squares);
}

/* Trainings from different initial weights have a similarity of 0.00, those from one model had 0.8 or 0.9. */
static void warn_unrelated(const StrList *files, size_t i, double cosine) {
    if (cosine >= 0.1) return;
    log_warn(
        "'%s' and '%s' are unrelated (the cosine of their weights is %.2f), so their average is useless: "
        "use them as an ensemble instead, with translate --model A --model B",
        files->items[0], files->items[i], fmax(cosine, 0));
}

/* Adds the weights of the other files to `sum`, which contains those of the first one. */
static Status add_others(const StrList *files, const Seq2Seq *first, double *sum) {
    size_t size = seq2seq_params(first)->size;
    for (size_t i = 1; i < files->count; i++) {
        Seq2Seq *model;
        TRY(modelfile_load_exact(&model, files->items[i], NULL));
        Status status = check_kind(first, model, files, i);
        const real *weights = seq2seq_params(model)->data;
        for (size_t j = 0; j < size && status == STATUS_OK; j++) sum[j] += (double)weights[j];
        if (status == STATUS_OK) warn_unrelated(files, i, cosine_similarity(first, model));
        seq2seq_free(model);
        TRY(status);
    }
    return STATUS_OK;
}

static Status average(const StrList *files, const char *output) {
    Seq2Seq *model;
    StrBuf first = {0}, provenance = {0};
    Status status = modelfile_load_exact(&model, files->items[0], &first);
    if (status != STATUS_OK) return strbuf_free(&first), status;
    ParamSet *params = seq2seq_params(model);
    double *sum = mem_alloc(params->size, sizeof *sum);
    for (size_t j = 0; j < params->size; j++) sum[j] = (double)params->data[j];
    status = add_others(files, model, sum);
    if (status == STATUS_OK) {
        for (size_t j = 0; j < params->size; j++) params->data[j] = (real)(sum[j] / (double)files->count);
        write_provenance(files, strbuf_text(&first), &provenance);
        status = modelfile_save(model, params->data, strbuf_text(&provenance), output);
    }
    if (status == STATUS_OK) log_info("wrote '%s', the mean of %zu models", output, files->count);
    if (status == STATUS_OK && calibration_read(strbuf_view(&first)).words > 0)
        log_info("it has no calibration for translate --confidence: only training fits one");
    mem_free(sum);
    strbuf_free(&first);
    strbuf_free(&provenance);
    seq2seq_free(model);
    return status;
}

static Status average_paths(const StrList *files, const char *output) {
    StrList paths = {0};
    Status status = model_choice_list(files, &paths);
    if (status == STATUS_OK) status = command_refuse_overwrite_models(output, &paths);
    if (status == STATUS_OK) status = average(&paths, output);
    strlist_free(&paths);
    return status;
}

static Status run(const StrList *files, const void *target) {
    const AverageOptions *options = target;
    TRY(command_refuse_overwrite_models(options->output, files));
    if (files->count >= 2 && options->output) return average_paths(files, options->output);
    status_fail(STATUS_USAGE,
                files->count < 2 ? "an average needs at least two models, %zu given"
                                 : "no --output for the mean of %zu models",
                files->count);
    return status_hint(STATUS_USAGE, "attn-mt average A.safetensors B.safetensors -o MEAN.safetensors");
}

Status cmd_average(int argc, char **argv) {
    AverageOptions options = {0};
    OptionTable tables[] = {{AVERAGE_OPTIONS, &options}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
