/* calibration.c - see calibration.h. */
#include "postprocess/calibration.h"

#include <math.h>
#include "io/json.h"
#include "io/json_write.h"
#include "base/mem.h"

/* ---- words ---- */

/* Geometric mean of the probabilities of tokens first..end-1. */
static double mean_probability(const float *scores, int first, int end) {
    double sum = 0;
    for (int t = first; t < end; t++) sum += (double)scores[t];
    return end > first ? exp(sum / (end - first)) : 0;
}

static double logit(double p) {
    const double edge = 1e-6;
    p = p < edge ? edge : p > 1 - edge ? 1 - edge : p;
    return log(p / (1 - p));
}

static int word_end(const int *word, int first, int length) {
    int end = first + 1;
    while (end < length && word[end] == word[first]) end++;
    return end;
}

/* The words of tokens as texts. */
static void list_words(const Tokenizer *tokenizer, const int *ids, const int *word, int length,
                       StrList *texts) {
    for (int first = 0, end; first < length; first = end) {
        StrBuf text = {0};
        end = word_end(word, first, length);
        tokenizer_decode(tokenizer, ids + first, (size_t)(end - first), &text);
        strlist_add(texts, strbuf_view(&text));
        strbuf_free(&text);
    }
}

/* Remove a word from the list; returns false if it is not there. */
static bool take_word(StrList *words, const char *word) {
    for (size_t i = 0; i < words->count; i++) {
        if (!sv_equal(sv(words->items[i]), sv(word))) continue;
        mem_free(words->items[i]);
        words->items[i] = words->items[--words->count];
        return true;
    }
    return false;
}

void calibration_add(CalibrationWords *words, const Tokenizer *target, const Hypothesis *hypothesis,
                     Tokens reference) {
    StrList expected = {0}, actual = {0};
    int *word = mem_alloc((size_t)(hypothesis->length + reference.length), sizeof *word);
    tokenizer_words(target, reference.ids, (size_t)reference.length, word);
    list_words(target, reference.ids, word, reference.length, &expected);
    tokenizer_words(target, hypothesis->ids, (size_t)hypothesis->length, word);
    list_words(target, hypothesis->ids, word, hypothesis->length, &actual);
    MEM_GROW(words->logits, words->logits_capacity, words->count + actual.count);
    MEM_GROW(words->right, words->right_capacity, words->count + actual.count);
    for (int first = 0, end, i = 0; first < hypothesis->length; first = end, i++) {
        end = word_end(word, first, hypothesis->length);
        words->logits[words->count] = logit(mean_probability(hypothesis->token_scores, first, end));
        words->right[words->count++] = take_word(&expected, actual.items[i]);
    }
    strlist_free(&expected);
    strlist_free(&actual);
    mem_free(word);
}

/* ---- calibration ---- */

static double curve(const Calibration *c, double x) { return 1 / (1 + exp(-(c->slope * x + c->offset))); }

/* One step of Newton's method; returns its size. */
static double newton_step(const CalibrationWords *words, double wrong, double right, Calibration *c) {
    const double ridge = 1e-6;
    double g0 = 0, g1 = 0, h00 = ridge, h01 = 0, h11 = ridge;
    for (size_t i = 0; i < words->count; i++) {
        double x = words->logits[i], p = curve(c, x), error = p - (words->right[i] ? right : wrong);
        double w = p * (1 - p);
        g0 += error;
        g1 += error * x;
        h00 += w;
        h01 += w * x;
        h11 += w * x * x;
    }
    double determinant = h00 * h11 - h01 * h01;
    double offset = (h11 * g0 - h01 * g1) / determinant, slope = (h00 * g1 - h01 * g0) / determinant;
    double size = fmax(fabs(offset), fabs(slope)), scale = size > 2 ? 2 / size : 1; /* limits the step */
    c->offset -= scale * offset;
    c->slope -= scale * slope;
    return size;
}

static Calibration fit(const CalibrationWords *words, double right) {
    enum { STEPS = 100 };
    double n = (double)words->count, high = (right + 1) / (right + 2), low = 1 / (n - right + 2);
    Calibration c = {.words = (long)words->count};
    for (int i = 0; i < STEPS; i++)
        if (newton_step(words, low, high, &c) < 1e-9) break;
    if (!(c.slope > 0) || !isfinite(c.slope) || !isfinite(c.offset)) { /* p does not predict correct words */
        double fraction = (right + 1) / (n + 2);
        c.slope = 0;
        c.offset = log(fraction / (1 - fraction));
    }
    return c;
}

/* If nearly all words are right, or wrong, there are too few examples of the others for a fit. */
Calibration calibration_fit(CalibrationWords *words) {
    enum { FEW = 10 };
    Calibration c = {0};
    size_t right = 0;
    for (size_t i = 0; i < words->count; i++) right += words->right[i];
    if (right >= FEW && words->count - right >= FEW) c = fit(words, (double)right);
    mem_free(words->logits);
    mem_free(words->right);
    *words = (CalibrationWords){0};
    return c;
}

void calibration_write_json(const Calibration *calibration, StrBuf *out) {
    json_open_object(out);
    json_put_number(out, "slope", calibration->slope);
    json_put_number(out, "offset", calibration->offset);
    json_put_integer(out, "words", calibration->words);
    json_close_object(out);
}

static bool read_number(const Json *object, const char *key, double *number) {
    const Json *value = json_get(object, key);
    if (!value || json_type(value) != JSON_NUMBER) return false;
    *number = json_number(value);
    return true;
}

Calibration calibration_read(StrView provenance) {
    Calibration c = {0};
    Json *root;
    double words;
    if (json_parse(&root, provenance, false) != STATUS_OK) return c;
    const Json *object = json_type(root) == JSON_OBJECT ? json_get(root, "calibration") : NULL;
    if (object && json_type(object) == JSON_OBJECT && read_number(object, "slope", &c.slope) &&
        read_number(object, "offset", &c.offset) && read_number(object, "words", &words))
        c.words = words >= 1 && words < 1e15 ? (long)words : 0;
    json_free(root);
    return c;
}

/* ---- confidence ---- */

double calibration_confidence(const Calibration *calibration, const TranslationItem *item, double *words) {
    double sum = 0;
    for (int first = 0, end; first < item->length; first = end) {
        double *word = &words[item->word[first]];
        end = word_end(item->word, first, item->length);
        *word = mean_probability(item->token_scores, first, end);
        if (calibration->words > 0) *word = curve(calibration, logit(*word));
        sum += *word;
    }
    if (calibration->words == 0) return mean_probability(item->token_scores, 0, item->steps);
    return item->words > 0 ? sum / item->words : 0;
}
