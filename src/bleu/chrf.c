/* chrf.c - characters and words of a segment, their common n-grams, and the F-score of summed counts. */
#include "bleu/chrf.h"

#include <assert.h>
#include <string.h>
#include "base/unicode.h"

/* clang-format off */
#define FIELD(member_) OPT_FIELD(ChrfOptions, member_)
static const Option ROWS[] = {
    {.flag = "chrf-char-order", .alias = "cc", .type = OPT_INT, FIELD(char_order), .fallback = "6",
     .min = 0, .max = 40, .arg = "N", .group = "chrF",
     .help = "longest n-grams of characters"},
    {.flag = "chrf-word-order", .alias = "cw", .type = OPT_INT, FIELD(word_order), .fallback = "0",
     .min = 0, .max = 40, .arg = "N",
     .help = "longest n-grams of words; 2 makes it chrF++"},
    {.flag = "chrf-beta", .type = OPT_INT, FIELD(beta), .fallback = "2", .min = 0, .max = 1000,
     .arg = "N",
     .help = "weight of recall against precision"},
    {.flag = "chrf-whitespace", .type = OPT_BOOL, FIELD(whitespace),
     .help = "count white space too"},
    {.flag = "chrf-lowercase", .type = OPT_BOOL, FIELD(lowercase),
     .help = "ignore case"},
    {.flag = "chrf-eps-smoothing", .type = OPT_BOOL, FIELD(eps_smoothing),
     .help = "average over all orders, as chrF++.py does"},
    {0},
};
/* clang-format on */

static Status prepare(void *options_, bool sentence_level) {
    const ChrfOptions *options = options_;
    (void)sentence_level;
    if (options->char_order + options->word_order > 0) return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "chrF needs n-grams: '--chrf-char-order' and '--chrf-word-order' are both 0");
}

static int width(const void *options_) {
    const ChrfOptions *options = options_;
    return 3 * (options->char_order + options->word_order);
}

static bool is_ascii_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* Words, with one ASCII punctuation mark cut off: the last character if it is one, else the first. */
static void add_words(Texts *words, StrView text) {
    StrView word;
    texts_begin(words);
    while (unicode_next_word(&text, &word)) {
        size_t cut = 0; /* where the second part starts; 0: in one piece, as a single character always is */
        if (is_ascii_punctuation(word.data[word.length - 1]))
            cut = word.length - 1;
        else if (is_ascii_punctuation(word.data[0]))
            cut = 1;
        if (cut) texts_add_word(words, (StrView){word.data, cut});
        texts_add_word(words, (StrView){word.data + cut, word.length - cut});
    }
}

/* The three columns of one order. Without n-grams in the reference, those of the hypothesis do not count. */
static void count_order(NgramTable *ngrams, int order, Symbols hypothesis, Symbols reference,
                        double *columns) {
    ngram_begin(ngrams, order);
    ngram_add_reference(ngrams, reference);
    columns[1] = ngram_total(reference.count, order);
    columns[0] = columns[1] > 0 ? ngram_total(hypothesis.count, order) : 0;
    columns[2] = ngram_match(ngrams, hypothesis);
}

static void add_text(const ChrfOptions *options, Scratch *scratch, StrView text) {
    text = scratch_lower(scratch, text, options->lowercase);
    texts_begin(scratch->characters);
    texts_add_characters(scratch->characters, text, options->whitespace);
    if (options->word_order > 0) add_words(scratch->words, text);
}

static MetricValue score(const void *options_, const double *sums, MetricArithmetic arithmetic) {
    const ChrfOptions *options = options_;
    const MetricValue eps = metric_exact(1e-16);
    int orders = options->char_order + options->word_order, effective = 0;
    MetricValue factor = metric_exact((double)options->beta * options->beta);
    MetricValue one_more = metric_exact(factor.value + 1);
    MetricValue f_scores = metric_exact(0), precisions = metric_exact(0), recalls = metric_exact(0);
    for (int i = 0; i < orders; i++) {
        bool single = arithmetic == METRIC_SINGLE;
        MetricValue ours = {sums[3 * i], single}, theirs = {sums[3 * i + 1], single},
                    both = {sums[3 * i + 2], single};
        MetricValue precision = ours.value > 0 ? metric_divide(both, ours) : eps;
        MetricValue recall = theirs.value > 0 ? metric_divide(both, theirs) : eps;
        MetricValue below = metric_add(metric_multiply(factor, precision), recall);
        MetricValue above = metric_multiply(metric_multiply(one_more, precision), recall);
        f_scores = metric_add(f_scores, below.value > 0 ? metric_divide(above, below) : eps);
        if (ours.value > 0 && theirs.value > 0) {
            precisions = metric_add(precisions, precision);
            recalls = metric_add(recalls, recall);
            effective++;
        }
    }
    if (options->eps_smoothing)
        return metric_divide(metric_multiply(metric_exact(100), f_scores), metric_exact(orders));
    if (effective == 0) return metric_exact(0);
    precisions = metric_divide(precisions, metric_exact(effective));
    recalls = metric_divide(recalls, metric_exact(effective));
    if (metric_add(precisions, recalls).value == 0) return metric_exact(0);
    MetricValue above = metric_multiply(metric_multiply(one_more, precisions), recalls);
    MetricValue below = metric_add(metric_multiply(factor, precisions), recalls);
    return metric_multiply(metric_exact(100), metric_divide(above, below));
}

/* Text 0 is the hypothesis, the others are references. */
static void count(const void *options_, Scratch *scratch, StrView hypothesis, const StrView *references,
                  size_t reference_count, double *row) {
    const ChrfOptions *options = options_;
    size_t columns_count = (size_t)width(options), texts = 1;
    double best = -1, columns[METRIC_MAX_WIDTH] = {0};
    texts_clear(scratch->words);
    texts_clear(scratch->characters);
    add_text(options, scratch, hypothesis);
    for (size_t r = 0; r < reference_count; r++) {
        if (!references[r].data) continue;
        add_text(options, scratch, references[r]);
        for (int n = 0; n < options->char_order; n++)
            count_order(scratch->ngrams, n + 1, texts_get(scratch->characters, 0),
                        texts_get(scratch->characters, texts), columns + 3 * n);
        for (int n = 0; n < options->word_order; n++)
            count_order(scratch->ngrams, n + 1, texts_get(scratch->words, 0),
                        texts_get(scratch->words, texts), columns + 3 * (options->char_order + n));
        texts++;
        double value = score(options, columns, METRIC_EXACT).value;
        if (value > best) {
            best = value;
            memcpy(row, columns, columns_count * sizeof *row);
        }
    }
    assert(texts > 1);
}

static void sign(const void *options_, Signature *signature) {
    const ChrfOptions *options = options_;
    char plus[41] = "";
    memset(plus, '+', (size_t)options->word_order);
    signature_name(signature, "chrF%d%s", options->beta, plus);
    signature_add(signature, "case", "c", "%s", options->lowercase ? "lc" : "mixed");
    signature_add(signature, "eff", "e", "%s", options->eps_smoothing ? "no" : "yes");
    signature_add(signature, "nc", "nc", "%d", options->char_order);
    signature_add(signature, "nw", "nw", "%d", options->word_order);
    signature_add(signature, "space", "s", "%s", options->whitespace ? "yes" : "no");
}

const Metric METRIC_CHRF = {.name = "chrf",
                            .rows = ROWS,
                            .options_size = sizeof(ChrfOptions),
                            .digits = 1,
                            .prepare = prepare,
                            .width = width,
                            .count = count,
                            .score = score,
                            .sign = sign,
                            .version = SACREBLEU_VERSION};

double chrf_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count_,
                          bool lowercase) {
    ChrfOptions options = CHRF_DEFAULTS;
    options.lowercase = lowercase;
    Statistics statistics =
        statistics_count((ChosenMetric){&METRIC_CHRF, &options}, hypotheses, count_, &references, 1);
    double result = statistics_score(&statistics);
    statistics_free(&statistics);
    return result;
}
