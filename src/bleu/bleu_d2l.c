/* bleu_d2l.c - BLEU of Dive into Deep Learning (d2l), section 10.7, eq. 10.7.4: on tokens between spaces. */
#include "bleu/bleu.h"

#include <math.h>
#include "base/version.h"

/* An empty text is one empty token, as with Python's split. */
static void add_text(Texts *words, StrView text) {
    StrView rest = text.data ? text : SV(""), word;
    texts_begin(words);
    while (sv_next(&rest, ' ', &word)) texts_add_word(words, word);
}

/* exp(min(0, 1 - |label| / |prediction|)) times the product of p_n ^ (1 / 2^n) for n = 1..k */
static double score_texts(Symbols prediction, Symbols label, NgramTable *ngrams, int k) {
    double score = exp(fmin(0, 1 - (double)label.count / (double)prediction.count));
    for (int n = 1; n <= k && (size_t)n <= prediction.count; n++) {
        ngram_begin(ngrams, n);
        ngram_add_reference(ngrams, label);
        double matches = ngram_match(ngrams, prediction);
        score *= pow(matches / ngram_total(prediction.count, n), pow(0.5, n));
    }
    return score;
}

static int d2l_width(const void *options) {
    (void)options;
    return 2;
}

/* Two columns: the score with the best reference, and 1. */
static void d2l_count(const void *options_, Scratch *scratch, StrView hypothesis, const StrView *references,
                      size_t reference_count, double *row) {
    const BleuOptions *options = options_;
    row[0] = 0;
    row[1] = 1;
    for (size_t r = 0; r < reference_count; r++) {
        if (!references[r].data) continue;
        texts_clear(scratch->words);
        add_text(scratch->words, scratch_lower(scratch, hypothesis, options->lowercase));
        add_text(scratch->words, scratch_lower(scratch, references[r], options->lowercase));
        Symbols hypothesis_tokens = texts_get(scratch->words, 0),
                reference_tokens = texts_get(scratch->words, 1);
        row[0] =
            fmax(row[0], score_texts(hypothesis_tokens, reference_tokens, scratch->ngrams, options->d2l));
    }
}

static double d2l_score(const void *options, const double *sums) {
    (void)options;
    return sums[0] / sums[1];
}

static void d2l_sign(const void *options_, Signature *signature) {
    const BleuOptions *options = options_;
    signature_name(signature, "BLEU-d2l");
    signature_add(signature, "case", "c", "%s", options->lowercase ? "lc" : "mixed");
    signature_add(signature, "tok", "tok", "spaces");
    signature_add(signature, "k", "k", "%d", options->d2l);
}

const Metric METRIC_BLEU_D2L = {.digits = 3,
                                .width = d2l_width,
                                .count = d2l_count,
                                .score = d2l_score,
                                .sign = d2l_sign,
                                .version = "attn-mt-" ATTN_MT_VERSION};
