/* result.c - copies translations into a result, and reads it. */
#include <math.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "library/library_private.h"
#include "postprocess/alignment.h"

static attn_mt_candidate candidate_of(const Call *call, int text, const TranslationItem *item) {
    attn_mt_candidate candidate = {
        strbuf_text(&item->text), item->score, item->normalized, item->steps, item->token_scores, 0};
    for (int kind = 0; kind < PROBLEM_KINDS; kind++)
        if (item->problems[kind] && !call->references) candidate.problems |= 1 << kind;
    bool impossible =
        call->references && call->translations[text].chunks == 0 && !unicode_is_blank(call->references[text]);
    if (impossible) candidate.log_p = candidate.score = -INFINITY;
    return candidate;
}

static attn_mt_matrix matrix_of(const Call *call, const Translation *translation, int rank) {
    Alignment alignment;
    AlignmentLevel level = call->options.attention == ATTN_MT_WORDS ? ALIGNMENT_WORD : ALIGNMENT_SUBWORD;
    alignment_make(&alignment, translation, rank, level, seq2seq_source(last_view(call)),
                   seq2seq_target(last_view(call)));
    return (attn_mt_matrix){alignment.rows, alignment.columns, alignment_matrix(&alignment),
                            (const char *const *)alignment.row_labels,
                            (const char *const *)alignment.column_labels};
}

/* The text of tokens [count] of the target; `unknown`: texts of the <unk>s from here on, which it skips. */
static const char *spell(const Call *call, const int *ids, int count, StrList *unknown) {
    StrBuf text = {0};
    tokenizer_decode_spelled(seq2seq_target(last_view(call)), ids, (size_t)count, unknown, &text);
    unknown_skip(unknown, ids, count);
    return strbuf_text(&text);
}

static const char *const *tokens_of(const Call *call, const TranslationItem *item) {
    const Tokenizer *target = seq2seq_target(last_view(call));
    const char **tokens = mem_alloc((size_t)item->steps, sizeof *tokens);
    for (int t = 0; t < item->steps; t++) {
        StrBuf label = {0};
        if (t < item->length) tokenizer_label(target, item->ids[t], &label);
        tokens[t] = t < item->length ? strbuf_text(&label) : "</s>";
    }
    return tokens;
}

static attn_mt_confidence confidence_at(const Call *call, const Translation *translation, int rank) {
    const TranslationItem *item = &translation->items[rank];
    double *words = mem_alloc((size_t)item->words, sizeof *words);
    const char **labels = mem_alloc((size_t)item->words, sizeof *labels);
    const Calibration *calibration = &call->model->calibration;
    double whole = calibration_confidence(calibration, item, words);
    StrList unknown = translation->target_unknown;
    for (int t = 0, w = 0; t < item->length; w++) {
        int first = t;
        while (t < item->length && item->word[t] == item->word[first]) t++;
        labels[w] = spell(call, item->ids + first, t - first, &unknown);
    }
    return (attn_mt_confidence){whole, calibration->words > 0, item->words, labels, words};
}

static const char *copy_of(StrView text) {
    StrBuf copy = {0};
    strbuf_add(&copy, text);
    return strbuf_text(&copy);
}

TextResult result_text(const Call *call, int t) {
    const Translation *translation = &call->translations[t];
    const MemoryMatch *match = &translation->match;
    size_t count = (size_t)translation->count;
    bool attention = call->options.attention != ATTN_MT_NO_ATTENTION && translation->chunks > 0;
    TextResult text = {.candidates = mem_alloc(count, sizeof *text.candidates), .count = translation->count};
    bool confidence = call->guide.confidence && translation->chunks > 0;
    if (attention) text.matrices = mem_alloc(count, sizeof *text.matrices);
    if (confidence) text.confidences = mem_alloc(count, sizeof *text.confidences);
    text.tokens = mem_alloc(count, sizeof *text.tokens);
    for (int rank = 0; rank < translation->count; rank++) {
        text.candidates[rank] = candidate_of(call, t, &translation->items[rank]);
        text.tokens[rank] = tokens_of(call, &translation->items[rank]);
        if (attention) text.matrices[rank] = matrix_of(call, translation, rank);
        if (confidence) text.confidences[rank] = confidence_at(call, translation, rank);
    }
    if (match->similarity > 0)
        text.match = (attn_mt_match){match->similarity, copy_of(match->source), copy_of(match->target),
                                     translation->from_memory};
    if (translation->pivot.length > 0) text.pivot = copy_of(strbuf_view(&translation->pivot));
    return text;
}

/* ---- reading ---- */

static const TextResult *text_at(const attn_mt_result *result, int text, int rank) {
    if (!result || text < 0 || text >= result->count || rank < 0 || rank >= result->texts[text].count)
        return NULL;
    return &result->texts[text];
}

const attn_mt_candidate *attn_mt_candidate_at(const attn_mt_result *result, int text, int rank) {
    const TextResult *entry = text_at(result, text, rank);
    return entry ? &entry->candidates[rank] : NULL;
}

const attn_mt_matrix *attn_mt_attention(const attn_mt_result *result, int text, int rank) {
    const TextResult *entry = text_at(result, text, rank);
    return entry && entry->matrices ? &entry->matrices[rank] : NULL;
}

const char *const *attn_mt_tokens_at(const attn_mt_result *result, int text, int rank) {
    const TextResult *entry = text_at(result, text, rank);
    return entry ? entry->tokens[rank] : NULL;
}

const attn_mt_confidence *attn_mt_confidence_at(const attn_mt_result *result, int text, int rank) {
    const TextResult *entry = text_at(result, text, rank);
    return entry && entry->confidences ? &entry->confidences[rank] : NULL;
}

const attn_mt_match *attn_mt_match_at(const attn_mt_result *result, int text) {
    const TextResult *entry = text_at(result, text, 0);
    return entry && entry->match.source ? &entry->match : NULL;
}

const char *attn_mt_pivot_at(const attn_mt_result *result, int text) {
    const TextResult *entry = text_at(result, text, 0);
    return entry ? entry->pivot : NULL;
}

void attn_mt_release(attn_mt_result *result) {
    if (result) mem_scope_free(result->scope);
}
