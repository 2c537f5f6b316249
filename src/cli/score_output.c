/* score_output.c - numbers, parts, and what stands around them. */
#include "cli/score_output.h"

#include <math.h>
#include <string.h>
#include "base/json.h"
#include "base/unicode.h"

PairScore pair_score(const Pair *pair, const Translation *translation) {
    const TranslationItem *item = &translation->items[0];
    double nothing = unicode_is_blank(pair->target) ? 0 : -INFINITY;
    if (translation->pieces == 0) return (PairScore){nothing, nothing, item};
    return (PairScore){item->score, item->normalized, item};
}

enum { DIGITS = 6 };

/* log p of the tokens, or of the words that they make. */
static void add_parts(const TranslationItem *item, bool words, const char *separator, StrBuf *out) {
    for (int t = 0; t < item->steps;) {
        double sum = 0;
        int first = t;
        do sum += (double)item->token_scores[t++];
        while (words && t < item->length && item->word[t] == item->word[first]);
        if (first > 0) strbuf_add(out, sv(separator));
        json_write_digits(out, sum, DIGITS);
    }
}

static void add_json_strings(const Segmenter *segmenter, const TranslationItem *item, bool words,
                             StrBuf *out) {
    StrBuf text = {0};
    for (int t = 0; t < item->length;) {
        int first = t;
        strbuf_clear(&text);
        for (t++; words && t < item->length && item->word[t] == item->word[first];) t++;
        if (words)
            segmenter_decode(segmenter, item->ids + first, (size_t)(t - first), &text);
        else
            segmenter_label(segmenter, item->ids[first], &text);
        if (first > 0) strbuf_add(out, SV(", "));
        json_write_string(out, strbuf_view(&text));
    }
    strbuf_free(&text);
}

static void add_json_text(const char *name, StrView text, StrBuf *out) {
    strbuf_format(out, "\"%s\": ", name);
    json_write_string(out, text);
    strbuf_add(out, SV(", "));
}

void score_write_json(const ScoreStyle *style, const Pair *pair, PairScore score, StrBuf *out) {
    strbuf_add_char(out, '{');
    if (style->feature) strbuf_format(out, "\"id\": %ld, ", pair->id);
    add_json_text("source", pair->source, out);
    add_json_text("target", pair->target, out);
    strbuf_add(out, SV("\"score\": "));
    json_write_digits(out, score.score, DIGITS);
    strbuf_add(out, SV(", \"normalized_score\": "));
    json_write_digits(out, score.normalized, DIGITS);
    strbuf_add(out, SV(", \"tokens\": ["));
    add_json_strings(style->target, score.item, false, out);
    if (style->per_token) {
        strbuf_add(out, SV("], \"token_scores\": ["));
        add_parts(score.item, false, ", ", out);
    }
    if (style->per_word) {
        strbuf_add(out, SV("], \"words\": ["));
        add_json_strings(style->target, score.item, true, out);
        strbuf_add(out, SV("], \"word_scores\": ["));
        add_parts(score.item, true, ", ", out);
    }
    strbuf_add(out, SV("]}\n"));
}

/* The line with one more feature at the end of its features, or of the line if it has none. */
void score_write_n_best(const ScoreStyle *style, const Pair *pair, PairScore score, StrBuf *out) {
    StrView raw = pair->raw, rest = raw, features = {0};
    for (int field = 0; rest.length > 0; field++) {
        StrView text = sv_trim(n_best_next_field(&rest));
        bool named = !sv_starts(text, SV("WordScores=")) && memchr(text.data, '=', text.length);
        if (field >= 2 && named) features = text;
    }
    size_t at = features.data ? (size_t)(features.data - raw.data) + features.length : raw.length;
    strbuf_add(out, (StrView){raw.data, at});
    strbuf_format(out, "%s%s= %.6g", features.data ? " " : " ||| ", style->feature, score.score);
    strbuf_add(out, (StrView){raw.data + at, raw.length - at});
    strbuf_add_char(out, '\n');
}

void score_write_plain(const ScoreStyle *style, PairScore score, StrBuf *out) {
    strbuf_format(out, "%.6g\t%.6g", score.score, score.normalized);
    if (style->per_token) strbuf_add_char(out, '\t');
    if (style->per_token) add_parts(score.item, false, " ", out);
    if (style->per_word) strbuf_add_char(out, '\t');
    if (style->per_word) add_parts(score.item, true, " ", out);
    strbuf_add_char(out, '\n');
}
