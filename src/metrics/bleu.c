/* bleu.c - counting matches of one segment, and the score of summed counts. */
#include "metrics/bleu.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "metrics/ngram.h"
#include "metrics/words.h"

struct Bleu {
    BleuOptions options;
    Words *words;
    NgramTable *ngrams;
    StrBuf lowered, tokens;
};

double bleu_default_smooth_value(BleuSmoothing smoothing) {
    switch (smoothing) {
    case BLEU_SMOOTH_FLOOR:
        return 0.1;
    case BLEU_SMOOTH_ADD_K:
        return 1;
    default:
        return 0;
    }
}

Bleu *bleu_new(const BleuOptions *options) {
    Bleu *bleu = mem_alloc(1, sizeof *bleu);
    bleu->options = *options;
    bleu->words = words_new();
    bleu->ngrams = ngram_new();
    return bleu;
}

void bleu_free(Bleu *bleu) {
    if (!bleu) return;
    words_free(bleu->words);
    ngram_free(bleu->ngrams);
    strbuf_free(&bleu->lowered);
    strbuf_free(&bleu->tokens);
    mem_free(bleu);
}

/* Lower-case, tokenize, and note the words of one text. */
static void add_text(Bleu *bleu, StrView text) {
    if (bleu->options.lowercase) {
        strbuf_clear(&bleu->lowered);
        unicode_lower(text, &bleu->lowered);
        text = strbuf_view(&bleu->lowered);
    }
    tok13a_tokenize(unicode_trim_end(text), bleu->options.tokenizer, &bleu->tokens);
    words_begin_text(bleu->words);
    StrView rest = strbuf_view(&bleu->tokens), word;
    while (unicode_next_word(&rest, &word)) words_add(bleu->words, word);
}

/* Of two reference lengths that are equally near, the shorter one. */
static size_t closest_length(const Words *words, size_t references, size_t length) {
    size_t best = 0, best_distance = SIZE_MAX;
    for (size_t i = 0; i < references; i++) {
        size_t other = words_text(words, i).count;
        size_t distance = other > length ? other - length : length - other;
        if (distance < best_distance || (distance == best_distance && other < best)) {
            best = other;
            best_distance = distance;
        }
    }
    return best;
}

void bleu_count(Bleu *bleu, StrView hypothesis, const StrView *references, size_t reference_count,
                int row[BLEU_WIDTH]) {
    words_clear(bleu->words);
    size_t present = 0;
    for (size_t i = 0; i < reference_count; i++) {
        if (!references[i].data) continue;
        add_text(bleu, references[i]);
        present++;
    }
    assert(present > 0);
    add_text(bleu, hypothesis);
    WordIds words = words_text(bleu->words, present);
    row[BLEU_LENGTH] = (int)words.count;
    row[BLEU_REFERENCE_LENGTH] = (int)closest_length(bleu->words, present, words.count);
    for (int order = 1; order <= BLEU_ORDER; order++) {
        ngram_begin(bleu->ngrams, order);
        for (size_t i = 0; i < present; i++) {
            WordIds reference = words_text(bleu->words, i);
            ngram_add_reference(bleu->ngrams, reference.ids, reference.count);
        }
        row[BLEU_CORRECT + order - 1] = ngram_match(bleu->ngrams, words.ids, words.count);
        row[BLEU_TOTAL + order - 1] = ngram_total(words.count, order);
    }
}

/* A sum plus what add-k smoothing adds to it. */
static MetricValue add_k(MetricValue count, double k, MetricArithmetic arithmetic) {
    MetricValue sum = metric_add(count, metric_exact(k));
    if (arithmetic == METRIC_WHOLE) sum.value = trunc(sum.value);
    return sum;
}

/* Precision in percent of an order without a match. *doubled counts such orders for exponential smoothing. */
static MetricValue smoothed_precision(const BleuOptions *options, MetricValue total, double *doubled) {
    switch (options->smoothing) {
    case BLEU_SMOOTH_EXP:
        *doubled *= 2;
        return metric_divide(metric_exact(100), metric_multiply(metric_exact(*doubled), total));
    case BLEU_SMOOTH_FLOOR:
        return metric_divide(metric_exact(100. * options->smooth_value), total);
    default:
        return metric_exact(0);
    }
}

static double log_or_floor(double value) { return value == 0 ? -9999999999. : log(value); }

BleuScore bleu_score(const BleuOptions *options, const double sums[BLEU_WIDTH], MetricArithmetic arithmetic) {
    BleuScore result = {.brevity_penalty = 1, .length = trunc(sums[BLEU_LENGTH])};
    result.reference_length = trunc(sums[BLEU_REFERENCE_LENGTH]);
    if (result.length < result.reference_length)
        result.brevity_penalty = result.length > 0 ? exp(1 - result.reference_length / result.length) : 0;
    bool any = false;
    for (int n = 0; n < BLEU_ORDER; n++) any = any || sums[BLEU_CORRECT + n] != 0;
    if (!any) return result;

    double doubled = 1;
    int orders = BLEU_ORDER;
    for (int n = 0; n < BLEU_ORDER; n++) {
        MetricValue correct = {sums[BLEU_CORRECT + n], arithmetic == METRIC_SINGLE};
        MetricValue total = {sums[BLEU_TOTAL + n], arithmetic == METRIC_SINGLE};
        if (options->smoothing == BLEU_SMOOTH_ADD_K && n > 0) {
            correct = add_k(correct, options->smooth_value, arithmetic);
            total = add_k(total, options->smooth_value, arithmetic);
        }
        if (total.value == 0) break;
        if (options->effective_order) orders = n + 1;
        MetricValue precision = correct.value == 0
                                    ? smoothed_precision(options, total, &doubled)
                                    : metric_divide(metric_multiply(metric_exact(100), correct), total);
        result.precisions[n] = precision.value;
    }
    double log_sum = 0;
    for (int n = 0; n < orders; n++) log_sum += log_or_floor(result.precisions[n]);
    result.score = result.brevity_penalty * exp(log_sum / orders);
    return result;
}

MetricValue bleu_metric_score(const void *options, const double *sums, MetricArithmetic arithmetic) {
    return metric_exact(bleu_score(options, sums, arithmetic).score);
}

double bleu_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count,
                          BleuTokenizer tokenizer, bool lowercase) {
    BleuOptions options = {.tokenizer = tokenizer, .lowercase = lowercase, .smoothing = BLEU_SMOOTH_EXP};
    Bleu *bleu = bleu_new(&options);
    double sums[BLEU_WIDTH] = {0};
    for (size_t i = 0; i < count; i++) {
        int row[BLEU_WIDTH];
        bleu_count(bleu, hypotheses[i], &references[i], 1, row);
        for (int j = 0; j < BLEU_WIDTH; j++) sums[j] += row[j];
    }
    bleu_free(bleu);
    return bleu_score(&options, sums, METRIC_EXACT).score;
}

double bleu_d2l(StrView prediction, StrView label, int k) {
    Words *words = words_new();
    NgramTable *ngrams = ngram_new();
    StrView texts[2] = {label, prediction}, word;
    for (int i = 0; i < 2; i++) {
        words_begin_text(words);
        StrView rest = texts[i].data ? texts[i] : SV(""); /* no text is one empty token, as in Python */
        while (sv_next(&rest, ' ', &word)) words_add(words, word);
    }
    WordIds expected = words_text(words, 0), found = words_text(words, 1);
    double score = exp(fmin(0, 1 - (double)expected.count / (double)found.count));
    for (int n = 1; n <= k && (size_t)n <= found.count; n++) {
        ngram_begin(ngrams, n);
        ngram_add_reference(ngrams, expected.ids, expected.count);
        double matches = ngram_match(ngrams, found.ids, found.count);
        score *= pow(matches / ngram_total(found.count, n), pow(0.5, n));
    }
    words_free(words);
    ngram_free(ngrams);
    return score;
}
