/* translate_output.c - see translate_output.h. */
#include "cli/translate_output.h"

#include <math.h>
#include <string.h>
#include "io/json.h"
#include "io/json_write.h"
#include "base/mem.h"
#include "postprocess/problems.h"

enum { DIGITS = 6 };

/* The weights of row t, 0 for the source tokens of other chunks. */
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
    if (translation->chunks == 0) return;
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

/* `unknown`: the texts of their <unk>s, or NULL. */
static void add_tokens(const char *name, const Tokenizer *tokenizer, const int *ids, int count,
                       const StrList *unknown, StrBuf *out) {
    StrBuf label = {0};
    size_t next_unknown = 0;
    json_put_array(out, name);
    for (int i = 0; i < count; i++) {
        strbuf_clear(&label);
        if (unknown && ids[i] == VOCAB_UNK && next_unknown < unknown->count)
            tokenizer_label_unknown(unknown->items[next_unknown++], &label);
        else
            tokenizer_label(tokenizer, ids[i], &label);
        json_write_string(out, strbuf_view(&label));
    }
    json_close_array(out);
    strbuf_free(&label);
}

static void add_json_alignment(const OutputStyle *style, const Translation *translation, int rank,
                               StrBuf *out) {
    Alignment alignment = {0};
    AlignmentPair *pairs = NULL;
    bool soft = style->alignment == ALIGN_SOFT;
    if (translation->chunks > 0)
        alignment_make(&alignment, translation, rank, style->level, style->source, style->target);
    json_put_array(out, soft ? "attention" : "alignment");
    for (int t = 0; soft && t < alignment.rows; t++) {
        json_open_array(out);
        add_soft_row(&alignment, t, SV(", "), out);
        json_close_array(out);
    }
    int count = soft ? 0 : alignment_pairs(&alignment, style->threshold, &pairs);
    for (int i = 0; i < count; i++) {
        json_open_array(out);
        json_write_integer(out, pairs[i].source);
        json_write_integer(out, pairs[i].target);
        json_close_array(out);
    }
    json_close_array(out);
    mem_free(pairs);
    alignment_free(&alignment);
}

/* null for a line with nothing to translate. */
static void add_confidence(const OutputStyle *style, const Translation *translation,
                           const TranslationItem *item, StrBuf *out) {
    double *words = mem_alloc((size_t)item->words, sizeof *words);
    double whole = calibration_confidence(&style->calibration, item, words);
    json_put_digits(out, "confidence", translation->chunks > 0 ? whole : NAN, DIGITS);
    json_put_bool(out, "calibrated", style->calibration.words > 0);
    json_put_array(out, "word_confidence");
    StrList unknown = translation->target_unknown;
    for (int t = 0, w = 0; t < item->length; w++) {
        int first = t;
        StrBuf word = {0};
        while (t < item->length && item->word[t] == item->word[first]) t++;
        tokenizer_decode_spelled(style->target, item->ids + first, (size_t)(t - first), &unknown, &word);
        unknown_skip(&unknown, item->ids + first, t - first);
        json_open_object(out);
        json_put_string(out, "word", strbuf_view(&word));
        json_put_digits(out, "confidence", words[w], DIGITS);
        json_close_object(out);
        strbuf_free(&word);
    }
    json_close_array(out);
    mem_free(words);
}

/* Only if there are any. */
static void add_problems(const TranslationItem *item, StrBuf *out) {
    bool any = false;
    for (int kind = 0; kind < PROBLEM_KINDS; kind++) {
        if (!item->problems[kind]) continue;
        if (!any) json_put_array(out, "problems");
        json_write_string(out, sv(problem_name(kind)));
        any = true;
    }
    if (any) json_close_array(out);
}

/* "translation": ... of one item, without braces. */
static void add_json_item(const OutputStyle *style, const Translation *translation, int rank, StrBuf *out) {
    const TranslationItem *item = &translation->items[rank];
    json_put_string(out, "translation", strbuf_view(&item->text));
    json_put_digits(out, "score", item->score, DIGITS);
    json_put_digits(out, "normalized_score", item->normalized, DIGITS);
    if (style->confidence) add_confidence(style, translation, item, out);
    add_problems(item, out);
    add_tokens("tokens", style->target, item->ids, item->length, NULL, out);
    if (style->word_scores) {
        json_put_array(out, "token_scores");
        for (int t = 0; t < item->steps; t++) json_write_digits(out, (double)item->token_scores[t], DIGITS);
        json_close_array(out);
    }
    if (style->alignment != ALIGN_NONE) add_json_alignment(style, translation, rank, out);
}

/* ---- members of the input object, passed on byte for byte ---- */

/* Members of the output, which replace those of the input. */
static const char *const WRITTEN[] = {"translation",  "score",           "normalized_score",
                                      "tokens",       "source_tokens",   "token_scores",
                                      "alignment",    "attention",       "n_best",
                                      "error",        "constraints_met", "constraints_unmet",
                                      "alternatives", "problems",        "pivot"};
static const char *const WRITTEN_CONFIDENCE[] = {"confidence", "calibrated", "word_confidence"};
static const char *const WRITTEN_MEMORY[] = {"match", "match_source", "match_translation", "from_memory"};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The end of the valid string that begins at `at`. */
static size_t string_end(StrView text, size_t at) {
    for (at++; at < text.length && text.data[at] != '"'; at++) at += text.data[at] == '\\';
    return at + 1;
}

/* The end of the member that begins at `at`: the comma or brace after it. */
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
    for (size_t i = 0; style->memory && i < sizeof WRITTEN_MEMORY / sizeof *WRITTEN_MEMORY; i++)
        if (strcmp(WRITTEN_MEMORY[i], key) == 0) return true;
    for (size_t i = 0; i < sizeof WRITTEN / sizeof *WRITTEN; i++)
        if (strcmp(WRITTEN[i], key) == 0) return true;
    return false;
}

/* Append the members of the object `line`. */
static void add_members(const OutputStyle *style, StrView line, StrBuf *out) {
    Json *root;
    if (json_parse(&root, line, false) != STATUS_OK) return;
    size_t at = 0;
    while (line.data[at] != '{') at++;
    /* The tree and the text have the same members in the same order: names come from the tree, bytes from the
     * text. */
    for (const Json *member = json_first(root); member; member = json_after(member)) {
        at++;
        while (is_space(line.data[at])) at++;
        size_t end = member_end(line, at), last = end;
        while (is_space(line.data[last - 1])) last--;
        if (!is_written(style, json_key(member))) json_write_text(out, (StrView){line.data + at, last - at});
        at = end;
    }
    json_free(root);
}

/* For each step, a list of tokens with their probabilities. */
static void add_alternatives(const OutputStyle *style, const Translation *translation, StrBuf *out) {
    const TranslationItem *item = &translation->items[0];
    StrBuf label = {0};
    json_put_array(out, "alternatives");
    for (int t = 0; t < item->steps; t++) {
        const ScoredToken *tokens = item->alternatives + (size_t)t * (size_t)translation->alternatives;
        json_open_array(out);
        for (int i = 0; i < translation->alternatives && tokens[i].token >= 0; i++) {
            strbuf_clear(&label);
            tokenizer_label(style->target, tokens[i].token, &label);
            json_open_object(out);
            json_put_string(out, "token", strbuf_view(&label));
            json_put_digits(out, "probability", exp(tokens[i].log_p), DIGITS);
            json_close_object(out);
        }
        json_close_array(out);
    }
    json_close_array(out);
    strbuf_free(&label);
}

static void add_strings(const char *name, const StrList *list, StrBuf *out) {
    json_put_array(out, name);
    for (size_t i = 0; i < list->count; i++) json_write_string(out, sv(list->items[i]));
    json_close_array(out);
}

static void add_match(const MemoryMatch *match, bool from_memory, StrBuf *out) {
    json_put_bool(out, "from_memory", from_memory);
    if (match->similarity <= 0) return;
    json_put_digits(out, "match", match->similarity, DIGITS);
    json_put_string(out, "match_source", match->source);
    json_put_string(out, "match_translation", match->target);
}

static void write_json(const OutputStyle *style, StrView text, StrView json, const Translation *translation,
                       StrBuf *out) {
    json_open_object(out);
    if (json.length > 0)
        add_members(style, json, out);
    else
        json_put_string(out, "text", text);
    add_json_item(style, translation, 0, out);
    if (translation->pivot.length > 0) json_put_string(out, "pivot", strbuf_view(&translation->pivot));
    if (style->memory) add_match(&translation->match, translation->from_memory, out);
    add_tokens("source_tokens", style->source, translation->source, translation->source_length,
               &translation->source_unknown, out);
    if (style->alternatives) add_alternatives(style, translation, out);
    if (translation->constraints_met.count + translation->constraints_unmet.count > 0) {
        add_strings("constraints_met", &translation->constraints_met, out);
        add_strings("constraints_unmet", &translation->constraints_unmet, out);
    }
    if (style->n_best > 0) {
        json_put_array(out, "n_best");
        for (int rank = 0; rank < translation->count && rank < style->n_best; rank++) {
            json_open_object(out);
            add_json_item(style, translation, rank, out);
            json_close_object(out);
        }
        json_close_array(out);
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
    json_open_object(out);
    json_put_string(out, "error", sv(message));
    strbuf_add(out, SV("}\n"));
}
