/* bleu.c - the statistics of a segment, and the score of their sums. */
#include "bleu/bleu.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "base/log.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "bleu/bleu_tokenizers.h"
#include "io/fileio.h"
#include "text/whole_words.h"

/* clang-format off */
#define FIELD(member_) OPT_FIELD(BleuOptions, member_)
static const Option ROWS[] = {
    {.flag = "tokenize", .alias = "tok", .type = OPT_CHOICE, FIELD(tokenizer), .default_text = "13a",
     .choices = BLEU_TOKENIZER_CHOICES "|" BLEU_PIECES_CHOICES, .arg = "NAME", .group = "BLEU",
     .help = "tokenizer; spm and the names after it need --spm"},
    {.flag = "spm", .type = OPT_STRING, FIELD(spm), .arg = "FILE",
     .help = "SentencePiece model; implies --tokenize spm. sacreBLEU keeps the models of flores200 and the "
             "other names in ~/.sacrebleu/models"},
    {.flag = "lowercase", .alias = "lc", .type = OPT_BOOL, FIELD(lowercase),
     .help = "ignore case"},
    {.flag = "smooth-method", .letter = 's', .type = OPT_CHOICE, FIELD(smoothing), .default_text = "exp",
     .choices = BLEU_SMOOTHING_CHOICES, .arg = "NAME",
     .help = "smoothing of n-gram orders without a match"},
    {.flag = "smooth-value", .alias = "sv", .type = OPT_REAL, FIELD(smooth_value), .default_text = "-1",
     .min = -1, .max = 1e9, .arg = "X",
     .help = "value for floor and add-k; -1 = 0.1 for floor, 1 for add-k"},
    {.flag = "force", .type = OPT_BOOL, FIELD(force),
     .help = "do not warn about input that looks tokenized or has no spaces"},
    {.flag = "d2l", .type = OPT_INT, FIELD(d2l), .implied_value = "2", .min = 1, .max = 100, .arg = "K",
     .help = "compute bleu(k) of the textbook Dive into Deep Learning instead, from 0 to 1, on tokens "
             "between spaces; the mean over all lines, or with --sentence-level one score per line"},
    {0},
};
/* clang-format on */

static double smooth_value(const BleuOptions *options) {
    if (options->smooth_value >= 0) return options->smooth_value;
    return options->smoothing == BLEU_SMOOTH_FLOOR ? 0.1 : 1;
}

static Status read_pieces(BleuOptions *options) {
    StrBuf file = {0};
    Status status = file_read(options->spm, SENTENCEPIECE_FILE_BYTES, &file);
    if (status == STATUS_OK) status = sentencepiece_read(&options->pieces, strbuf_view(&file), options->spm);
    strbuf_free(&file);
    return status;
}

static Status check_options(void *options_, bool sentence_level) {
    BleuOptions *options = options_;
    options->effective_order = sentence_level;
    if (options->tokenizer < BLEU_TOKENIZER_PIECES || options->pieces) return STATUS_OK;
    if (options->spm && options->spm[0]) return read_pieces(options);
    status_fail(STATUS_USAGE, "option '--tokenize': '%.*s' needs a SentencePiece model",
                SV_ARG(bleu_tokenizer_name(options->tokenizer)));
    return status_hint(STATUS_USAGE, "--spm FILE names it; sacreBLEU keeps its own in ~/.sacrebleu/models");
}

static int width(const void *options) {
    (void)options;
    return BLEU_WIDTH;
}

/* BLEU is for detokenized text. Many lines that end in " ." show that the text is still tokenized. */
static void warn_if_tokenized(const StrView *hypotheses, size_t count) {
    size_t suspicious = 0;
    for (size_t i = 0; i < count; i++) suspicious += sv_ends(hypotheses[i], SV(" ."));
    if (suspicious < 100) return;
    log_warn("That's 100 lines that end in a tokenized period ('.')");
    log_warn("It looks like you forgot to detokenize your test data, which may hurt your score.");
    log_warn("If you insist your data is detokenized, or don't care, "
             "you can suppress this message with --force.");
}

/* 13a and intl need spaces between words: without them a whole sentence is one word. */
static void warn_if_unspaced(int tokenizer, const StrView *hypotheses, size_t count) {
    StrView name = bleu_tokenizer_name(tokenizer);
    size_t words = 0, unspaced = 0;
    if (!sv_equal(name, SV("13a")) && !sv_equal(name, SV("intl"))) return;
    for (size_t i = 0; i < count; i++) {
        StrView rest = hypotheses[i];
        for (StrView word; unicode_next_word(&rest, &word); words++)
            for (size_t at = 0; at < word.length;) unspaced += text_is_unspaced(utf8_next(word, &at));
    }
    if (unspaced < 4 * words || words == 0) return;
    log_warn("most of the text has no spaces between words: '%.*s' takes whole sentences for words",
             SV_ARG(name));
    log_warn("--tokenize zh makes each Chinese character a word, --tokenize char every character");
}

static void inspect(const void *options_, const StrView *hypotheses, size_t count) {
    const BleuOptions *options = options_;
    if (options->force) return;
    warn_if_tokenized(hypotheses, count);
    warn_if_unspaced(options->tokenizer, hypotheses, count);
}

/* The pieces with spaces between them. */
static void tokenize_pieces(const SentencePiece *pieces, StrView text, Scratch *scratch) {
    sentencepiece_encode(pieces, text, &scratch->pieces);
    strbuf_clear(&scratch->tokens);
    for (size_t i = 0; i < scratch->pieces.count; i++) {
        if (i > 0) strbuf_add_char(&scratch->tokens, ' ');
        strbuf_add(&scratch->tokens, scratch->pieces.pieces[i].text);
    }
}

static void add_text(const BleuOptions *options, Scratch *scratch, StrView text) {
    text = unicode_trim_end(scratch_lower(scratch, text, options->lowercase));
    if (options->tokenizer >= BLEU_TOKENIZER_PIECES)
        tokenize_pieces(options->pieces, text, scratch);
    else
        BLEU_TOKENIZERS[options->tokenizer].apply(text, &scratch->tokens);
    texts_begin(scratch->words);
    texts_add_words(scratch->words, strbuf_view(&scratch->tokens));
}

/* If two references are equally near, the shorter length. */
static size_t closest_length(const Texts *words, size_t references, size_t length) {
    size_t best = 0, best_distance = SIZE_MAX;
    for (size_t i = 0; i < references; i++) {
        size_t other = texts_get(words, i).count;
        size_t distance = other > length ? other - length : length - other;
        if (distance < best_distance || (distance == best_distance && other < best)) {
            best = other;
            best_distance = distance;
        }
    }
    return best;
}

static void count(const void *options, Scratch *scratch, StrView hypothesis, const StrView *references,
                  size_t reference_count, double *row) {
    texts_clear(scratch->words);
    size_t present = 0;
    for (size_t i = 0; i < reference_count; i++) {
        if (!references[i].data) continue;
        add_text(options, scratch, references[i]);
        present++;
    }
    assert(present > 0);
    add_text(options, scratch, hypothesis);
    Symbols words = texts_get(scratch->words, present);
    row[BLEU_LENGTH] = (double)words.count;
    row[BLEU_REFERENCE_LENGTH] = (double)closest_length(scratch->words, present, words.count);
    for (int order = 1; order <= BLEU_ORDER; order++) {
        ngram_begin(scratch->ngrams, order);
        for (size_t i = 0; i < present; i++)
            ngram_add_reference(scratch->ngrams, texts_get(scratch->words, i));
        row[BLEU_CORRECT + order - 1] = ngram_match(scratch->ngrams, words);
        row[BLEU_TOTAL + order - 1] = ngram_total(words.count, order);
    }
}

/* The precision of an order without a match, in percent. *doubled is 2 to the power of the number of such
 * orders, for exponential smoothing. */
static double smoothed_precision(const BleuOptions *options, double total, double *doubled) {
    switch (options->smoothing) {
    case BLEU_SMOOTH_EXP:
        *doubled *= 2;
        return 100 / (*doubled * total);
    case BLEU_SMOOTH_FLOOR:
        return 100 * smooth_value(options) / total;
    default:
        return 0;
    }
}

static double log_or_floor(double value) { return value == 0 ? -9999999999. : log(value); }

BleuScore bleu_score(const BleuOptions *options, const double sums[BLEU_WIDTH]) {
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
        double correct = sums[BLEU_CORRECT + n], total = sums[BLEU_TOTAL + n];
        if (options->smoothing == BLEU_SMOOTH_ADD_K && n > 0) {
            correct += smooth_value(options);
            total += smooth_value(options);
        }
        if (total == 0) break;
        if (options->effective_order) orders = n + 1;
        result.precisions[n] =
            correct == 0 ? smoothed_precision(options, total, &doubled) : 100 * correct / total;
    }
    double log_sum = 0;
    for (int n = 0; n < orders; n++) log_sum += log_or_floor(result.precisions[n]);
    result.score = result.brevity_penalty * exp(log_sum / orders);
    return result;
}

static double score(const void *options, const double *sums) { return bleu_score(options, sums).score; }

static void sign(const void *options_, Signature *signature) {
    const BleuOptions *options = options_;
    static const char *const SMOOTHINGS[] = {"exp", "floor", "add-k", "none"};
    const char *smoothing = SMOOTHINGS[options->smoothing];
    bool has_value = options->smoothing == BLEU_SMOOTH_FLOOR || options->smoothing == BLEU_SMOOTH_ADD_K;
    signature_name(signature, "BLEU");
    signature_add(signature, "case", "c", "%s", options->lowercase ? "lc" : "mixed");
    signature_add(signature, "eff", "e", "%s", options->effective_order ? "yes" : "no");
    signature_add(signature, "tok", "tok", "%.*s", SV_ARG(bleu_tokenizer_name(options->tokenizer)));
    if (has_value)
        signature_add(signature, "smooth", "s", "%s[%.2f]", smoothing, smooth_value(options));
    else
        signature_add(signature, "smooth", "s", "%s", smoothing);
}

static void describe(const void *options, const double *sums, StrBuf *out) {
    BleuScore result = bleu_score(options, sums);
    for (int n = 0; n < BLEU_ORDER; n++) strbuf_format(out, "%s%.1f", n ? "/" : "", result.precisions[n]);
    double ratio = result.reference_length > 0 ? result.length / result.reference_length : 0;
    strbuf_format(out, " (BP = %.3f ratio = %.3f hyp_len = %.0f ref_len = %.0f)", result.brevity_penalty,
                  ratio, result.length, result.reference_length);
}

const Metric METRIC_BLEU = {.name = "bleu",
                            .rows = ROWS,
                            .options_size = sizeof(BleuOptions),
                            .digits = 1,
                            .check_options = check_options,
                            .width = width,
                            .count = count,
                            .score = score,
                            .sign = sign,
                            .version = SACREBLEU_VERSION,
                            .describe = describe,
                            .inspect = inspect};

double bleu_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count_, int tokenizer,
                          bool lowercase) {
    BleuOptions options = {.tokenizer = tokenizer, .lowercase = lowercase, .force = true};
    return corpus_score((ConfiguredMetric){&METRIC_BLEU, &options}, hypotheses, references, count_);
}
