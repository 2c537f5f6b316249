/* translate_output.c - see translate_output.h. */
#include "cli/translate_output.h"

#include <math.h>
#include <string.h>
#include "base/json.h"
#include "base/mem.h"

enum { DIGITS = 6 };

/* The weights of row t, 0 where the line was cut. */
static void add_soft_row(const Alignment *alignment, int t, StrView comma, StrBuf *out) {
    AttentionRow row = alignment_row(alignment, t);
    for (int s = 0; s < alignment->columns; s++) {
        bool inside = s >= row.first && s < row.first + row.count;
        if (s > 0) strbuf_add(out, comma);
        strbuf_format(out, "%.6g", inside ? (double)row.weights[s - row.first] : 0);
    }
}

/* "0-0 1-2", or "0.9,0.1 0.2,0.8". */
static void add_alignment(const OutputStyle *style, const Alignment *alignment, StrBuf *out) {
    if (style->alignment == ALIGN_SOFT) {
        for (int t = 0; t < alignment->rows; t++) {
            if (t > 0) strbuf_add_char(out, ' ');
            add_soft_row(alignment, t, SV(","), out);
        }
        return;
    }
    AlignmentPair *pairs;
    int count = alignment_pairs(alignment, style->threshold, &pairs);
    for (int i = 0; i < count; i++)
        strbuf_format(out, "%s%d-%d", i ? " " : "", pairs[i].source, pairs[i].target);
    mem_free(pairs);
}

static void add_item_alignment(const OutputStyle *style, const Translation *translation, int rank,
                               StrBuf *out) {
    Alignment alignment;
    if (translation->pieces == 0) return;
    alignment_make(&alignment, translation, rank, style->level, style->source, style->target);
    add_alignment(style, &alignment, out);
    alignment_free(&alignment);
}

static void add_word_scores(const TranslationItem *item, StrBuf *out) {
    strbuf_add(out, SV("WordScores="));
    for (int t = 0; t < item->steps; t++) strbuf_format(out, " %.6g", (double)item->token_scores[t]);
}

static void write_plain(const OutputStyle *style, const Translation *translation, StrBuf *out) {
    strbuf_add(out, strbuf_view(&translation->items[0].text));
    if (style->alignment != ALIGN_NONE) {
        strbuf_add(out, SV(" ||| "));
        add_item_alignment(style, translation, 0, out);
    }
    if (style->word_scores) {
        strbuf_add(out, SV(" ||| "));
        add_word_scores(&translation->items[0], out);
    }
    strbuf_add_char(out, '\n');
}

static void write_n_best(const OutputStyle *style, long number, const Translation *translation, StrBuf *out) {
    for (int rank = 0; rank < translation->count && rank < style->n_best; rank++) {
        const TranslationItem *item = &translation->items[rank];
        strbuf_format(out, "%ld ||| %s ||| ", number, strbuf_text(&item->text));
        if (style->alignment != ALIGN_NONE) {
            add_item_alignment(style, translation, rank, out);
            strbuf_add(out, SV(" ||| "));
        }
        if (style->word_scores) {
            add_word_scores(item, out);
            strbuf_add(out, SV(" ||| "));
        }
        strbuf_format(out, "F0= %.6g ||| %.6g\n", item->score, item->normalized);
    }
}

/* ---- JSON ---- */

/* `unknown`: what their <unk>s stand for, or NULL. */
static void add_tokens(const char *name, const Segmenter *segmenter, const int *ids, int count,
                       const StrList *unknown, StrBuf *out) {
    StrBuf label = {0};
    size_t spelled = 0;
    strbuf_format(out, ", \"%s\": [", name);
    for (int i = 0; i < count; i++) {
        strbuf_clear(&label);
        if (unknown && ids[i] == VOCAB_UNK && spelled < unknown->count)
            segmenter_label_unknown(unknown->items[spelled++], &label);
        else
            segmenter_label(segmenter, ids[i], &label);
        if (i) strbuf_add(out, SV(", "));
        json_write_string(out, strbuf_view(&label));
    }
    strbuf_add_char(out, ']');
    strbuf_free(&label);
}

static void add_json_alignment(const OutputStyle *style, const Translation *translation, int rank,
                               StrBuf *out) {
    Alignment alignment = {0};
    AlignmentPair *pairs = NULL;
    bool soft = style->alignment == ALIGN_SOFT;
    if (translation->pieces > 0)
        alignment_make(&alignment, translation, rank, style->level, style->source, style->target);
    strbuf_format(out, ", \"%s\": [", soft ? "attention" : "alignment");
    for (int t = 0; soft && t < alignment.rows; t++) {
        strbuf_add(out, t ? SV(", [") : SV("["));
        add_soft_row(&alignment, t, SV(", "), out);
        strbuf_add_char(out, ']');
    }
    int count = soft ? 0 : alignment_pairs(&alignment, style->threshold, &pairs);
    for (int i = 0; i < count; i++)
        strbuf_format(out, "%s[%d, %d]", i ? ", " : "", pairs[i].source, pairs[i].target);
    strbuf_add_char(out, ']');
    mem_free(pairs);
    alignment_free(&alignment);
}

/* null for a line with nothing to translate. */
static void add_confidence(const OutputStyle *style, const Translation *translation,
                           const TranslationItem *item, StrBuf *out) {
    double *words = mem_alloc((size_t)item->words, sizeof *words);
    double whole = confidence_of(&style->calibration, item, words);
    strbuf_add(out, SV(", \"confidence\": "));
    json_write_digits(out, translation->pieces > 0 ? whole : NAN, DIGITS);
    strbuf_format(out, ", \"calibrated\": %s, \"word_confidence\": [",
                  style->calibration.words > 0 ? "true" : "false");
    StrList unknown = translation->target_unknown;
    for (int t = 0, w = 0; t < item->length; w++) {
        int first = t;
        StrBuf word = {0};
        while (t < item->length && item->word[t] == item->word[first]) t++;
        segmenter_decode_spelled(style->target, item->ids + first, (size_t)(t - first), &unknown, &word);
        unknown_pass(&unknown, item->ids + first, t - first);
        strbuf_add(out, w > 0 ? SV(", {\"word\": ") : SV("{\"word\": "));
        json_write_string(out, strbuf_view(&word));
        strbuf_add(out, SV(", \"confidence\": "));
        json_write_digits(out, words[w], DIGITS);
        strbuf_add_char(out, '}');
        strbuf_free(&word);
    }
    strbuf_add_char(out, ']');
    mem_free(words);
}

/* "translation": ... of one item, without braces. */
static void add_json_item(const OutputStyle *style, const Translation *translation, int rank, StrBuf *out) {
    const TranslationItem *item = &translation->items[rank];
    strbuf_add(out, SV("\"translation\": "));
    json_write_string(out, strbuf_view(&item->text));
    strbuf_add(out, SV(", \"score\": "));
    json_write_digits(out, item->score, DIGITS);
    strbuf_add(out, SV(", \"normalized_score\": "));
    json_write_digits(out, item->normalized, DIGITS);
    if (style->confidence) add_confidence(style, translation, item, out);
    add_tokens("tokens", style->target, item->ids, item->length, NULL, out);
    if (style->word_scores) {
        strbuf_add(out, SV(", \"token_scores\": ["));
        for (int t = 0; t < item->steps; t++) {
            if (t) strbuf_add(out, SV(", "));
            json_write_digits(out, (double)item->token_scores[t], DIGITS);
        }
        strbuf_add_char(out, ']');
    }
    if (style->alignment != ALIGN_NONE) add_json_alignment(style, translation, rank, out);
}

/* ---- members of the input that are passed on byte for byte ---- */

/* Not those that are written here. */
static const char *const WRITTEN[] = {
    "translation", "score",     "normalized_score", "tokens", "source_tokens",   "token_scores",
    "alignment",   "attention", "n_best",           "error",  "constraints_met", "constraints_unmet",
    "alternatives"};
static const char *const WRITTEN_CONFIDENCE[] = {"confidence", "calibrated", "word_confidence"};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* End of the string that begins at `at`, which is valid. */
static size_t string_end(StrView text, size_t at) {
    for (at++; at < text.length && text.data[at] != '"'; at++) at += text.data[at] == '\\';
    return at + 1;
}

/* End of the member that begins at `at`: the comma or brace behind it. */
static size_t member_end(StrView text, size_t at) {
    for (int depth = 0; at < text.length;) {
        char c = text.data[at];
        if (c == '"') {
            at = string_end(text, at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}')) break;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at++;
    }
    return at;
}

static bool is_written(const OutputStyle *style, const char *key) {
    for (size_t i = 0; style->confidence && i < sizeof WRITTEN_CONFIDENCE / sizeof *WRITTEN_CONFIDENCE; i++)
        if (strcmp(WRITTEN_CONFIDENCE[i], key) == 0) return true;
    for (size_t i = 0; i < sizeof WRITTEN / sizeof *WRITTEN; i++)
        if (strcmp(WRITTEN[i], key) == 0) return true;
    return false;
}

/* Append the members of the object `line`, each followed by ", ". */
static void add_members(const OutputStyle *style, StrView line, StrBuf *out) {
    Json *root;
    if (json_parse(&root, line, false) != STATUS_OK) return;
    size_t at = 0;
    while (line.data[at] != '{') at++;
    /* The tree and the text have the same members in the same order: the one gives the name, the other the
     * bytes. */
    for (const Json *member = json_first(root); member; member = json_after(member)) {
        at++;
        while (is_space(line.data[at])) at++;
        size_t end = member_end(line, at), last = end;
        while (is_space(line.data[last - 1])) last--;
        if (!is_written(style, json_key(member))) {
            strbuf_add(out, (StrView){line.data + at, last - at});
            strbuf_add(out, SV(", "));
        }
        at = end;
    }
    json_free(root);
}

/* At each step a list of tokens with their probabilities. */
static void add_alternatives(const OutputStyle *style, const Translation *translation, StrBuf *out) {
    const TranslationItem *item = &translation->items[0];
    StrBuf label = {0};
    strbuf_add(out, SV(", \"alternatives\": ["));
    for (int t = 0; t < item->steps; t++) {
        const ScoredToken *tokens = item->alternatives + (size_t)t * (size_t)translation->alternatives;
        strbuf_add(out, t ? SV(", [") : SV("["));
        for (int i = 0; i < translation->alternatives && tokens[i].token >= 0; i++) {
            strbuf_clear(&label);
            segmenter_label(style->target, tokens[i].token, &label);
            strbuf_add(out, i ? SV(", {\"token\": ") : SV("{\"token\": "));
            json_write_string(out, strbuf_view(&label));
            strbuf_add(out, SV(", \"probability\": "));
            json_write_digits(out, exp(tokens[i].log_p), DIGITS);
            strbuf_add_char(out, '}');
        }
        strbuf_add_char(out, ']');
    }
    strbuf_add_char(out, ']');
    strbuf_free(&label);
}

static void add_strings(const char *name, const StrList *list, StrBuf *out) {
    strbuf_format(out, ", \"%s\": [", name);
    for (size_t i = 0; i < list->count; i++) {
        if (i) strbuf_add(out, SV(", "));
        json_write_string(out, sv(list->items[i]));
    }
    strbuf_add_char(out, ']');
}

static void write_json(const OutputStyle *style, StrView text, StrView json, const Translation *translation,
                       StrBuf *out) {
    strbuf_add_char(out, '{');
    if (json.length > 0) {
        add_members(style, json, out);
    } else {
        strbuf_add(out, SV("\"text\": "));
        json_write_string(out, text);
        strbuf_add(out, SV(", "));
    }
    add_json_item(style, translation, 0, out);
    add_tokens("source_tokens", style->source, translation->source, translation->source_length,
               &translation->source_unknown, out);
    if (style->alternatives) add_alternatives(style, translation, out);
    if (translation->constraints_met.count + translation->constraints_unmet.count > 0) {
        add_strings("constraints_met", &translation->constraints_met, out);
        add_strings("constraints_unmet", &translation->constraints_unmet, out);
    }
    if (style->n_best > 0) {
        strbuf_add(out, SV(", \"n_best\": ["));
        for (int rank = 0; rank < translation->count && rank < style->n_best; rank++) {
            strbuf_add(out, rank ? SV(", {") : SV("{"));
            add_json_item(style, translation, rank, out);
            strbuf_add_char(out, '}');
        }
        strbuf_add_char(out, ']');
    }
    strbuf_add(out, SV("}\n"));
}

void translate_output_write(const OutputStyle *style, long number, StrView text, StrView json,
                            const Translation *translation, StrBuf *out) {
    if (style->json)
        write_json(style, text, json, translation, out);
    else if (style->n_best > 0)
        write_n_best(style, number, translation, out);
    else
        write_plain(style, translation, out);
}

void translate_output_write_error(const char *message, StrBuf *out) {
    strbuf_add(out, SV("{\"error\": "));
    json_write_string(out, sv(message));
    strbuf_add(out, SV("}\n"));
}
