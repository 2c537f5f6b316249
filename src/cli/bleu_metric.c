/* bleu_metric.c - BLEU and chrF as rows of counts, with their signatures. */
#include "cli/bleu_metric.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"

static ScoreMetric make_bleu(const BleuCommand *command) {
    ScoreMetric metric = {.bleu = bleu_options_bleu(command), .force = command->force};
    snprintf(metric.name, sizeof metric.name, "BLEU");
    return metric;
}

static ScoreMetric make_chrf(const BleuCommand *command) {
    ScoreMetric metric = {.is_chrf = true, .chrf = bleu_options_chrf(command), .force = true};
    char plus[CHRF_MAX_ORDER + 1] = "";
    memset(plus, '+', (size_t)command->chrf_word_order);
    plus[command->chrf_word_order] = '\0';
    snprintf(metric.name, sizeof metric.name, "chrF%d%s", command->chrf_beta, plus);
    return metric;
}

int bleu_metric_list(const BleuCommand *command, ScoreMetric metrics[2]) {
    bool bleu = false, chrf = false;
    for (size_t i = 0; i < command->metrics.count; i++) {
        if (strcmp(command->metrics.items[i], "chrf") == 0)
            chrf = true;
        else
            bleu = true;
    }
    int count = 0;
    if (bleu) metrics[count++] = make_bleu(command);
    if (chrf) metrics[count++] = make_chrf(command);
    return count;
}

static MetricRows new_rows(const ScoreMetric *metric, size_t count) {
    MetricRows rows = {.count = count};
    rows.width = metric->is_chrf ? chrf_width(&metric->chrf) : BLEU_WIDTH;
    rows.score = metric->is_chrf ? chrf_metric_score : bleu_metric_score;
    rows.options = metric->is_chrf ? (const void *)&metric->chrf : (const void *)&metric->bleu;
    rows.rows = mem_alloc(count * (size_t)rows.width + 1, sizeof *rows.rows);
    return rows;
}

/* Translations are to be scored as people see them: "word ." shows that a tokenizer was not undone. */
static void warn_if_tokenized(const LineList *system) {
    size_t suspicious = 0;
    for (size_t i = 0; i < system->count; i++) suspicious += sv_ends(system->lines[i], SV(" ."));
    if (suspicious < 100) return;
    log_warn("That's 100 lines that end in a tokenized period ('.')");
    log_warn("It looks like you forgot to detokenize your test data, which may hurt your score.");
    log_warn(
        "If you insist your data is detokenized, or don't care, you can suppress this message with --force.");
}

MetricRows bleu_metric_count(const ScoreMetric *metric, const LineList *system, const LineSet *references) {
    MetricRows rows = new_rows(metric, system->count);
    StrView *segment = mem_alloc(references->count, sizeof *segment);
    Bleu *bleu = metric->is_chrf ? NULL : bleu_new(&metric->bleu);
    Chrf *chrf = metric->is_chrf ? chrf_new(&metric->chrf) : NULL;
    if (!metric->force) warn_if_tokenized(system);
    for (size_t i = 0; i < system->count; i++) {
        int *row = rows.rows + i * (size_t)rows.width;
        for (size_t r = 0; r < references->count; r++) segment[r] = references->lists[r].lines[i];
        if (chrf)
            chrf_count(chrf, system->lines[i], segment, references->count, row);
        else
            bleu_count(bleu, system->lines[i], segment, references->count, row);
    }
    bleu_free(bleu);
    chrf_free(chrf);
    mem_free(segment);
    return rows;
}

void bleu_metric_release(MetricRows *rows) {
    mem_free(rows->rows);
    *rows = (MetricRows){0};
}

__attribute__((format(printf, 4, 5))) static void add_pair(Signature *signature, const char *key,
                                                           const char *abbreviation, const char *format,
                                                           ...) {
    SignaturePair *pair = &signature->pairs[signature->count++];
    pair->key = key;
    pair->abbreviation = abbreviation;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pair->value, sizeof pair->value, format, arguments);
    va_end(arguments);
}

static void add_bleu_pairs(Signature *signature, const BleuOptions *options) {
    static const char *const SMOOTHINGS[] = {"exp", "floor", "add-k", "none"};
    const char *smoothing = SMOOTHINGS[options->smoothing];
    bool has_value = options->smoothing == BLEU_SMOOTH_FLOOR || options->smoothing == BLEU_SMOOTH_ADD_K;
    add_pair(signature, "case", "c", "%s", options->lowercase ? "lc" : "mixed");
    add_pair(signature, "eff", "e", "%s", options->effective_order ? "yes" : "no");
    add_pair(signature, "tok", "tok", "%s", tok13a_name(options->tokenizer));
    if (has_value)
        add_pair(signature, "smooth", "s", "%s[%.2f]", smoothing, options->smooth_value);
    else
        add_pair(signature, "smooth", "s", "%s", smoothing);
}

static void add_chrf_pairs(Signature *signature, const ChrfOptions *options) {
    add_pair(signature, "case", "c", "%s", options->lowercase ? "lc" : "mixed");
    add_pair(signature, "eff", "e", "%s", options->eps_smoothing ? "no" : "yes");
    add_pair(signature, "nc", "nc", "%d", options->char_order);
    add_pair(signature, "nw", "nw", "%d", options->word_order);
    add_pair(signature, "space", "s", "%s", options->whitespace ? "yes" : "no");
}

Signature bleu_metric_signature(const ScoreMetric *metric, size_t references, Resampling resampling,
                                int trials, const char *seed) {
    Signature signature = {.count = 0};
    add_pair(&signature, "nrefs", "#", "%zu", references);
    if (resampling == RESAMPLING_BOOTSTRAP) add_pair(&signature, "bs", "bs", "%d", trials);
    if (resampling == RESAMPLING_RANDOMIZATION) add_pair(&signature, "ar", "ar", "%d", trials);
    if (resampling != RESAMPLING_NONE) add_pair(&signature, "seed", "rs", "%s", seed);
    if (metric->is_chrf)
        add_chrf_pairs(&signature, &metric->chrf);
    else
        add_bleu_pairs(&signature, &metric->bleu);
    add_pair(&signature, "version", "v", "%s", BLEU_COMPATIBLE_VERSION);
    return signature;
}

void bleu_metric_write_signature(const Signature *signature, bool abbreviated, StrBuf *out) {
    for (int i = 0; i < signature->count; i++) {
        const SignaturePair *pair = &signature->pairs[i];
        strbuf_format(out, "%s%s:%s", i ? "|" : "", abbreviated ? pair->abbreviation : pair->key,
                      pair->value);
    }
}

void bleu_metric_write_details(const ScoreMetric *metric, const MetricRows *rows, StrBuf *out) {
    if (metric->is_chrf) return;
    double sums[BLEU_WIDTH];
    metric_sum(rows, sums);
    BleuScore score = bleu_score(&metric->bleu, sums, METRIC_EXACT);
    for (int n = 0; n < BLEU_ORDER; n++) strbuf_format(out, "%s%.1f", n ? "/" : "", score.precisions[n]);
    double ratio = score.reference_length > 0 ? score.length / score.reference_length : 0;
    strbuf_format(out, " (BP = %.3f ratio = %.3f hyp_len = %.0f ref_len = %.0f)", score.brevity_penalty,
                  ratio, score.length, score.reference_length);
}
