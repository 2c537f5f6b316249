/* translation.c - put pieces behind each other: text, tokens, scores, attention. */
#include "translate/translation.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/whole_words.h"

static void item_free(TranslationItem *item) {
    strbuf_free(&item->text);
    mem_free(item->ids);
    mem_free(item->token_scores);
    for (int b = 0; b < item->blocks; b++) mem_free((float *)item->attention[b].weights);
    mem_free(item->attention);
    mem_free(item->alternatives);
    mem_free(item->word);
}

void translation_free(Translation *translation) {
    for (int i = 0; i < translation->count; i++) item_free(&translation->items[i]);
    mem_free(translation->items);
    strlist_free(&translation->constraints_met);
    strlist_free(&translation->constraints_unmet);
    mem_free(translation->source);
    mem_free(translation->source_word);
    strlist_free(&translation->source_unknown);
    strlist_free(&translation->target_unknown);
    *translation = (Translation){0};
}

static bool is_copy(const Translation *translation, int kept, StrView text) {
    for (int i = 0; i < kept; i++)
        if (sv_equal(strbuf_view(&translation->items[i].text), text)) return true;
    return false;
}

void translation_keep_different(Translation *translation, int most) {
    int kept = 0;
    for (int i = 0; i < translation->count; i++) {
        TranslationItem *item = &translation->items[i];
        if (kept == most || is_copy(translation, kept, strbuf_view(&item->text)))
            item_free(item);
        else
            translation->items[kept++] = *item;
    }
    translation->count = kept;
}

static const Hypothesis *piece_hypothesis(const ChunkResults *found, int piece, int rank) {
    const HypothesisList *list = &found->results[piece];
    return &list->items[rank < list->count ? rank : list->count - 1];
}

/* Number the words of one piece, going on from `words`; returns the new number of words. */
static int join_words(const Tokenizer *tokenizer, const int *ids, int count, int words, int *word) {
    int added = tokenizer_words(tokenizer, ids, (size_t)count, word);
    for (int i = 0; i < count; i++) word[i] += words;
    return words + added;
}

static const Tokens *piece_source(const ChunkResults *found, int piece) {
    return &found->sources[(size_t)piece * (size_t)found->models];
}

static void join_source(const ChunkResults *found, Translation *out) {
    const Tokenizer *tokenizer = seq2seq_source(found->model);
    for (int p = 0; p < found->pieces; p++) out->source_length += piece_source(found, p)->length;
    out->source = mem_alloc((size_t)out->source_length, sizeof *out->source);
    out->source_word = mem_alloc((size_t)out->source_length, sizeof *out->source_word);
    for (int p = 0, at = 0; p < found->pieces; at += piece_source(found, p++)->length) {
        const Tokens *source = piece_source(found, p);
        memcpy(out->source + at, source->ids, (size_t)source->length * sizeof *out->source);
        out->source_words =
            join_words(tokenizer, source->ids, source->length, out->source_words, out->source_word + at);
    }
}

/* A line of output has no line ends in it, nor what divides texts of markup, whatever the vocabulary says. */
static void join_text(StrBuf *text, const Tokenizer *tokenizer, const Hypothesis *piece,
                      const StrList *unknown) {
    size_t before = text->length;
    tokenizer_decode_spelled(tokenizer, piece->ids, (size_t)piece->length, unknown, text);
    for (size_t i = before; i < text->length; i++)
        if (text->data[i] == '\n' || text->data[i] == '\r' || text->data[i] == '\f') text->data[i] = ' ';
}

/* Does the text end in Chinese or Japanese, which put no spaces between sentences? Curled quotes do not
 * tell. */
static bool ends_in_wide_script(StrView text) {
    while (text.length > 0) {
        size_t start = utf8_before(text, text.length), at = start;
        int c = utf8_next(text, &at);
        if (c != 0x2019 && c != 0x201D) return text_is_unspaced(c) && unicode_width(c) == 2;
        text.length = start;
    }
    return false;
}

/* What stands before piece p, or behind the last one. */
static void join_gap(const ChunkResults *found, int p, StrBuf *text) {
    bool between = p > 0 && p < found->pieces;
    StrView gap = found->gaps ? found->gaps[p] : between ? SV(" ") : SV("");
    if (between && (gap.length == 0 || sv_equal(gap, SV(" "))))
        gap = ends_in_wide_script(strbuf_view(text)) ? SV("") : SV(" ");
    strbuf_add(text, gap);
}

static void join_attention(TranslationItem *item, const Hypothesis *piece, int row, int column,
                           int piece_source, bool last) {
    size_t rows = (size_t)(last ? piece->steps : piece->length), given = (size_t)piece_source + 1;
    size_t columns = last ? given : given - 1;
    assert(piece->attention); /* all pieces have it, or none */
    float *weights = mem_alloc(rows * columns, sizeof *weights);
    for (size_t t = 0; t < rows; t++)
        memcpy(weights + t * columns, piece->attention + t * given, columns * sizeof *weights);
    item->attention[item->blocks++] = (AttentionBlock){row, column, (int)columns, weights};
}

AttentionRow attention_row(const AttentionBlock *blocks, int count, int t) {
    int first = 0; /* the block is the last one of first..end-1 that does not begin behind t */
    for (int end = count; end - first > 1;) {
        int middle = first + (end - first) / 2;
        if (blocks[middle].row <= t)
            first = middle;
        else
            end = middle;
    }
    const AttentionBlock *block = &blocks[first];
    return (AttentionRow){block->weights + (size_t)(t - block->row) * (size_t)block->columns, block->column,
                          block->columns};
}

AttentionRow translation_attention(const TranslationItem *item, int t) {
    return attention_row(item->attention, item->blocks, t);
}

static void join_alternatives(const ChunkResults *found, TranslationItem *item) {
    size_t N = (size_t)found->alternatives;
    item->alternatives = mem_alloc((size_t)item->steps * N, sizeof *item->alternatives);
    for (int p = 0, row = 0; p < found->pieces; p++) {
        const Hypothesis *piece = piece_hypothesis(found, p, 0);
        size_t steps = (size_t)(p == found->pieces - 1 ? piece->steps : piece->length);
        memcpy(item->alternatives + (size_t)row * N, piece->alternatives,
               steps * N * sizeof *item->alternatives);
        row += piece->length;
    }
}

static void join_item(const ChunkResults *found, int rank, const DecodeOptions *options,
                      TranslationItem *item) {
    const Tokenizer *tokenizer = seq2seq_target(found->model);
    int all_steps = 0, last = found->pieces - 1;
    for (int p = 0; p < found->pieces; p++) item->length += piece_hypothesis(found, p, rank)->length;
    const Hypothesis *end = piece_hypothesis(found, last, rank);
    item->steps = item->length + end->steps - end->length;
    size_t length = (size_t)item->length, steps = (size_t)item->steps;
    item->ids = mem_alloc(length, sizeof *item->ids);
    item->word = mem_alloc(length, sizeof *item->word);
    item->token_scores = mem_alloc(steps, sizeof *item->token_scores);
    if (end->attention) item->attention = mem_alloc((size_t)found->pieces, sizeof *item->attention);
    for (int p = 0, row = 0, column = 0; p <= last; column += piece_source(found, p++)->length) {
        const Hypothesis *piece = piece_hypothesis(found, p, rank);
        join_gap(found, p, &item->text);
        join_text(&item->text, tokenizer, piece, p == 0 ? found->unknown : NULL);
        memcpy(item->ids + row, piece->ids, (size_t)piece->length * sizeof *item->ids);
        item->words = join_words(tokenizer, piece->ids, piece->length, item->words, item->word + row);
        size_t scores = (size_t)(p == last ? piece->steps : piece->length);
        memcpy(item->token_scores + row, piece->token_scores, scores * sizeof *item->token_scores);
        if (item->attention)
            join_attention(item, piece, row, column, piece_source(found, p)->length, p == last);
        item->score += piece->score;
        all_steps += piece->steps;
        row += piece->length;
    }
    join_gap(found, found->pieces, &item->text);
    item->normalized = hypothesis_normalize(options, item->score, all_steps);
}

void translation_join(Translation *out, const ChunkResults *found, const DecodeOptions *options) {
    *out = (Translation){.pieces = found->pieces, .count = 1};
    join_source(found, out);
    for (int p = 0; p < found->pieces; p++)
        if (found->results[p].count > out->count) out->count = found->results[p].count;
    out->items = mem_alloc((size_t)out->count, sizeof *out->items);
    if (found->pieces == 0) {
        join_gap(found, 0, &out->items[0].text);
        return;
    }
    for (int rank = 0; rank < out->count; rank++) join_item(found, rank, options, &out->items[rank]);
    out->alternatives = found->alternatives;
    if (found->alternatives > 0) join_alternatives(found, &out->items[0]);
}
