/* chrf.c - the common n-grams of characters and words of a segment, and the F-score of their sums. */
#include "bleu/chrf.h"

#include <assert.h>
#include <string.h>
#include "base/unicode.h"

/* clang-format off */
#define FIELD(member_) OPT_FIELD(ChrfOptions, member_)
static const Option ROWS[] = {
    {.flag = "chrf-char-order", .alias = "cc", .type = OPT_INT, FIELD(char_order), .default_text = "6",
     .min = 0, .max = 40, .arg = "N", .group = "chrF",
     .help = "maximum length of character n-grams"},
    {.flag = "chrf-word-order", .alias = "cw", .type = OPT_INT, FIELD(word_order), .default_text = "0",
     .min = 0, .max = 40, .arg = "N",
     .help = "maximum length of word n-grams; 2 makes it chrF++"},
    {.flag = "chrf-beta", .type = OPT_INT, FIELD(beta), .default_text = "2", .min = 0, .max = 1000,
     .arg = "N",
     .help = "weight of recall against precision"},
    {.flag = "chrf-whitespace", .type = OPT_BOOL, FIELD(whitespace),
     .help = "count white space as characters"},
    {.flag = "chrf-lowercase", .type = OPT_BOOL, FIELD(lowercase),
     .help = "ignore case"},
    {.flag = "chrf-eps-smoothing", .type = OPT_BOOL, FIELD(eps_smoothing),
     .help = "average over all orders, as chrF++.py does"},
    {0},
};
/* clang-format on */

static Status check_options(void *options_, bool sentence_level) {
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

/* Words. If the last character of a word is ASCII punctuation, it becomes a word of its own; otherwise the
 * first character, if it is punctuation. */
static void add_words(Texts *words, StrView text) {
    StrView word;
    texts_begin(words);
    while (unicode_next_word(&text, &word)) {
        size_t cut = 0; /* where the word is cut; 0: nowhere, as with a single character */
        if (is_ascii_punctuation(word.data[word.length - 1]))
            cut = word.length - 1;
        else if (is_ascii_punctuation(word.data[0]))
            cut = 1;
        if (cut) texts_add_word(words, (StrView){word.data, cut});
        texts_add_word(words, (StrView){word.data + cut, word.length - cut});
    }
}

/* The three columns of one order. If the reference has no n-grams, those of the hypothesis do not count. */
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

static double score(const void *options_, const double *sums) {
    const ChrfOptions *options = options_;
    const double eps = 1e-16;
    int orders = options->char_order + options->word_order, effective = 0;
    double factor = (double)options->beta * options->beta;
    double f_scores = 0, precisions = 0, recalls = 0;
    for (int i = 0; i < orders; i++) {
        double hypothesis = sums[3 * i], reference = sums[3 * i + 1], both = sums[3 * i + 2];
        double precision = hypothesis > 0 ? both / hypothesis : eps,
               recall = reference > 0 ? both / reference : eps;
        double below = factor * precision + recall;
        f_scores += below > 0 ? (factor + 1) * precision * recall / below : eps;
        if (hypothesis > 0 && reference > 0) {
            precisions += precision;
            recalls += recall;
            effective++;
        }
    }
    if (options->eps_smoothing) return 100 * f_scores / orders;
    if (effective == 0) return 0;
    precisions /= effective;
    recalls /= effective;
    if (precisions + recalls == 0) return 0;
    return 100 * ((factor + 1) * precisions * recalls / (factor * precisions + recalls));
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
        double value = score(options, columns);
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
                            .check_options = check_options,
                            .width = width,
                            .count = count,
                            .score = score,
                            .sign = sign,
                            .version = SACREBLEU_VERSION};

double chrf_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count_,
                          bool lowercase) {
    ChrfOptions options = CHRF_DEFAULTS;
    options.lowercase = lowercase;
    return corpus_score((ConfiguredMetric){&METRIC_CHRF, &options}, hypotheses, references, count_);
}
