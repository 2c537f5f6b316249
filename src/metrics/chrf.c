/* chrf.c - characters and words of a segment, their common n-grams, and the F-score of summed counts. */
#include "metrics/chrf.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "metrics/ngram.h"
#include "metrics/words.h"

/* The characters of one text. */
typedef struct {
    uint32_t *points;
    size_t count, capacity;
} Points;

struct Chrf {
    ChrfOptions options;
    Points hypothesis, reference;
    Words *words; /* text 0 is the hypothesis, the rest are references */
    NgramTable *ngrams;
    StrBuf lowered;
};

int chrf_width(const ChrfOptions *options) { return 3 * (options->char_order + options->word_order); }

Chrf *chrf_new(const ChrfOptions *options) {
    assert(options->char_order + options->word_order <= CHRF_MAX_ORDER);
    Chrf *chrf = mem_alloc(1, sizeof *chrf);
    chrf->options = *options;
    chrf->words = words_new();
    chrf->ngrams = ngram_new();
    return chrf;
}

void chrf_free(Chrf *chrf) {
    if (!chrf) return;
    mem_free(chrf->hypothesis.points);
    mem_free(chrf->reference.points);
    words_free(chrf->words);
    ngram_free(chrf->ngrams);
    strbuf_free(&chrf->lowered);
    mem_free(chrf);
}

static void read_points(Points *points, StrView text, bool whitespace) {
    points->count = 0;
    MEM_GROW(points->points, points->capacity, text.length + 1);
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        if (whitespace || !unicode_is_space(c)) points->points[points->count++] = (uint32_t)c;
    }
}

static bool is_ascii_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* Words, with one ASCII punctuation mark cut off: the last character if it is one, else the first. */
static void add_words(Words *words, StrView text) {
    StrView word;
    words_begin_text(words);
    while (unicode_next_word(&text, &word)) {
        size_t cut = 0; /* where the second part starts; 0: in one piece, as a single character always is */
        if (is_ascii_punctuation(word.data[word.length - 1]))
            cut = word.length - 1;
        else if (is_ascii_punctuation(word.data[0]))
            cut = 1;
        if (cut) words_add(words, (StrView){word.data, cut});
        words_add(words, (StrView){word.data + cut, word.length - cut});
    }
}

static StrView prepared(Chrf *chrf, StrView text) {
    if (!chrf->options.lowercase) return text;
    strbuf_clear(&chrf->lowered);
    unicode_lower(text, &chrf->lowered);
    return strbuf_view(&chrf->lowered);
}

/* The three columns of one order. Without n-grams in the reference, those of the hypothesis do not count. */
static void count_order(NgramTable *ngrams, int order, const uint32_t *hypothesis, size_t hypothesis_count,
                        const uint32_t *reference, size_t reference_count, int *columns) {
    ngram_begin(ngrams, order);
    ngram_add_reference(ngrams, reference, reference_count);
    columns[1] = ngram_total(reference_count, order);
    columns[0] = columns[1] > 0 ? ngram_total(hypothesis_count, order) : 0;
    columns[2] = ngram_match(ngrams, hypothesis, hypothesis_count);
}

static double score_of_row(const ChrfOptions *options, const int *row) {
    double sums[METRIC_MAX_WIDTH];
    for (int i = 0; i < chrf_width(options); i++) sums[i] = row[i];
    return chrf_metric_score(options, sums, METRIC_EXACT).value;
}

void chrf_count(Chrf *chrf, StrView hypothesis, const StrView *references, size_t reference_count, int *row) {
    const ChrfOptions *options = &chrf->options;
    size_t width = (size_t)chrf_width(options), texts = 0;
    double best = -1;
    words_clear(chrf->words);
    hypothesis = prepared(chrf, hypothesis);
    read_points(&chrf->hypothesis, hypothesis, options->whitespace);
    if (options->word_order > 0) add_words(chrf->words, hypothesis);
    for (size_t r = 0; r < reference_count; r++) {
        if (!references[r].data) continue;
        int columns[METRIC_MAX_WIDTH];
        StrView reference = prepared(chrf, references[r]);
        read_points(&chrf->reference, reference, options->whitespace);
        for (int n = 0; n < options->char_order; n++)
            count_order(chrf->ngrams, n + 1, chrf->hypothesis.points, chrf->hypothesis.count,
                        chrf->reference.points, chrf->reference.count, columns + 3 * n);
        if (options->word_order > 0) {
            add_words(chrf->words, reference);
            WordIds ours = words_text(chrf->words, 0), theirs = words_text(chrf->words, texts + 1);
            for (int n = 0; n < options->word_order; n++)
                count_order(chrf->ngrams, n + 1, ours.ids, ours.count, theirs.ids, theirs.count,
                            columns + 3 * (options->char_order + n));
        }
        texts++;
        double score = score_of_row(options, columns);
        if (score > best) {
            best = score;
            memcpy(row, columns, width * sizeof *row);
        }
    }
    assert(texts > 0);
}

MetricValue chrf_metric_score(const void *options_, const double *sums, MetricArithmetic arithmetic) {
    const ChrfOptions *options = options_;
    const MetricValue eps = metric_exact(1e-16);
    int orders = options->char_order + options->word_order, effective = 0;
    MetricValue factor = metric_exact((double)options->beta * options->beta);
    MetricValue one_more = metric_exact(factor.value + 1);
    MetricValue score = metric_exact(0), precisions = metric_exact(0), recalls = metric_exact(0);
    for (int i = 0; i < orders; i++) {
        bool single = arithmetic == METRIC_SINGLE;
        MetricValue ours = {sums[3 * i], single}, theirs = {sums[3 * i + 1], single},
                    both = {sums[3 * i + 2], single};
        MetricValue precision = ours.value > 0 ? metric_divide(both, ours) : eps;
        MetricValue recall = theirs.value > 0 ? metric_divide(both, theirs) : eps;
        MetricValue below = metric_add(metric_multiply(factor, precision), recall);
        MetricValue above = metric_multiply(metric_multiply(one_more, precision), recall);
        score = metric_add(score, below.value > 0 ? metric_divide(above, below) : eps);
        if (ours.value > 0 && theirs.value > 0) {
            precisions = metric_add(precisions, precision);
            recalls = metric_add(recalls, recall);
            effective++;
        }
    }
    if (options->eps_smoothing)
        return metric_divide(metric_multiply(metric_exact(100), score), metric_exact(orders));
    if (effective == 0) return metric_exact(0);
    precisions = metric_divide(precisions, metric_exact(effective));
    recalls = metric_divide(recalls, metric_exact(effective));
    if (metric_add(precisions, recalls).value == 0) return metric_exact(0);
    MetricValue above = metric_multiply(metric_multiply(one_more, precisions), recalls);
    MetricValue below = metric_add(metric_multiply(factor, precisions), recalls);
    return metric_multiply(metric_exact(100), metric_divide(above, below));
}
