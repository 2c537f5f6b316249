/* metric.c - the table of metrics, signatures, and sums over segments. */
#include "bleu/metric.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/mem.h"
#include "base/unicode.h"

#define METRIC_POINTER(name_, metric_) &metric_,
const Metric *const METRICS[] = {METRIC_TABLE(METRIC_POINTER, ) NULL};

void signature_name(Signature *signature, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(signature->name, sizeof signature->name, format, arguments);
    va_end(arguments);
}

void signature_add(Signature *signature, const char *key, const char *abbreviation, const char *format, ...) {
    SignaturePair *pair = &signature->pairs[signature->count++];
    pair->key = key;
    pair->abbreviation = abbreviation;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pair->value, sizeof pair->value, format, arguments);
    va_end(arguments);
}

StrView scratch_lower(Scratch *scratch, StrView text, bool lowercase) {
    if (!lowercase) return text;
    strbuf_clear(&scratch->lowered);
    unicode_lower(text, &scratch->lowered);
    return strbuf_view(&scratch->lowered);
}

Statistics statistics_count(ConfiguredMetric configured, const StrView *hypotheses, size_t count,
                            const StrView *const *references, size_t reference_count) {
    const Metric *metric = configured.metric;
    Statistics statistics = {
        .configured = configured, .count = count, .width = metric->width(configured.options)};
    assert(statistics.width <= METRIC_MAX_WIDTH);
    size_t width = (size_t)statistics.width;
    statistics.rows = mem_alloc(count * width + 1, sizeof *statistics.rows);
    StrView *segment = mem_alloc(reference_count, sizeof *segment);
    Scratch scratch = {.words = texts_new(), .characters = texts_new(), .ngrams = ngram_new()};
    if (metric->inspect) metric->inspect(configured.options, hypotheses, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < reference_count; r++) segment[r] = references[r][i];
        metric->count(configured.options, &scratch, hypotheses[i], segment, reference_count,
                      statistics.rows + i * width);
    }
    texts_free(scratch.words);
    texts_free(scratch.characters);
    ngram_free(scratch.ngrams);
    strbuf_free(&scratch.lowered);
    strbuf_free(&scratch.tokens);
    sentencepiece_text_free(&scratch.pieces);
    mem_free(segment);
    return statistics;
}

void statistics_free(Statistics *statistics) {
    mem_free(statistics->rows);
    *statistics = (Statistics){0};
}

void statistics_sum(const Statistics *statistics, double *sums) {
    size_t width = (size_t)statistics->width;
    for (size_t j = 0; j < width; j++) sums[j] = 0;
    for (size_t i = 0; i < statistics->count; i++)
        for (size_t j = 0; j < width; j++) sums[j] += statistics->rows[i * width + j];
}

double statistics_score(const Statistics *statistics) {
    double sums[METRIC_MAX_WIDTH];
    statistics_sum(statistics, sums);
    return statistics->configured.metric->score(statistics->configured.options, sums);
}

double corpus_score(ConfiguredMetric configured, const StrView *hypotheses, const StrView *references,
                    size_t count) {
    Statistics statistics = statistics_count(configured, hypotheses, count, &references, 1);
    double score = statistics_score(&statistics);
    statistics_free(&statistics);
    return score;
}
