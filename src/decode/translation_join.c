/* translation_join.c - put pieces behind each other: text, tokens, scores, attention. */
#include "decode/translation_join.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "text/utf8.h"

void translation_free(Translation *translation) {
    for (int i = 0; i < translation->count; i++) {
        TranslationItem *item = &translation->items[i];
        strbuf_free(&item->text);
        mem_free(item->ids);
        mem_free(item->token_scores);
        mem_free(item->attention);
        mem_free(item->word);
    }
    mem_free(translation->items);
    mem_free(translation->source);
    mem_free(translation->source_word);
    *translation = (Translation){0};
}

bool text_is_blank(StrView text) {
    for (size_t i = 0; i < text.length;) {
        int c = utf8_next(text, &i);
        bool space = c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
                     c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200B) || c == 0x2028 || c == 0x2029 ||
                     c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
        if (!space) return false;
    }
    return true;
}

static const Hypothesis *piece_hypothesis(const JoinInput *input, int piece, int rank) {
    const HypothesisList *list = &input->results[piece];
    return &list->items[rank < list->count ? rank : list->count - 1];
}

/* Number the words of one piece, going on from `words`; returns the new number of words. */
static int join_words(const Segmenter *segmenter, const int *ids, int count, int words, int *word) {
    int added = segmenter_words(segmenter, ids, (size_t)count, word);
    for (int i = 0; i < count; i++) word[i] += words;
    return words + added;
}

static const Tokens *piece_source(const JoinInput *input, int piece) {
    return &input->sources[(size_t)piece * input->stride];
}

static void join_source(const JoinInput *input, Translation *out) {
    for (int p = 0; p < input->pieces; p++) out->source_length += piece_source(input, p)->length;
    out->source = mem_alloc((size_t)out->source_length, sizeof *out->source);
    out->source_word = mem_alloc((size_t)out->source_length, sizeof *out->source_word);
    for (int p = 0, at = 0; p < input->pieces; at += piece_source(input, p++)->length) {
        const Tokens *source = piece_source(input, p);
        memcpy(out->source + at, source->ids, (size_t)source->length * sizeof *out->source);
        out->source_words =
            join_words(input->source, source->ids, source->length, out->source_words, out->source_word + at);
    }
}

/* A line of output has no line ends in it, whatever the vocabulary says. */
static void join_text(StrBuf *text, const Segmenter *segmenter, const Hypothesis *piece) {
    size_t before = text->length;
    segmenter_decode(segmenter, piece->ids, (size_t)piece->length, text);
    for (size_t i = before; i < text->length; i++)
        if (text->data[i] == '\n' || text->data[i] == '\r') text->data[i] = ' ';
}

/* Attention of one piece into its block of the whole line's: `row` and `column` are its first. */
static void join_attention(TranslationItem *item, const Hypothesis *piece, int row, int column,
                           int piece_source, int columns, bool last) {
    int rows = last ? piece->steps : piece->length;
    for (int t = 0; t < rows; t++) {
        const float *from = piece->attention + (size_t)t * ((size_t)piece_source + 1);
        float *to = item->attention + (size_t)(row + t) * (size_t)columns + column;
        memcpy(to, from, ((size_t)piece_source + (last ? 1 : 0)) * sizeof *to);
    }
}

static void join_item(const JoinInput *input, int rank, int source_length, TranslationItem *item) {
    int all_steps = 0, last = input->pieces - 1, columns = source_length + 1;
    for (int p = 0; p < input->pieces; p++) item->length += piece_hypothesis(input, p, rank)->length;
    const Hypothesis *end = piece_hypothesis(input, last, rank);
    item->steps = item->length + end->steps - end->length;
    size_t length = (size_t)item->length, steps = (size_t)item->steps;
    item->ids = mem_alloc(length, sizeof *item->ids);
    item->word = mem_alloc(length, sizeof *item->word);
    item->token_scores = mem_alloc(steps, sizeof *item->token_scores);
    if (end->attention) item->attention = mem_alloc(steps * (size_t)columns, sizeof *item->attention);
    for (int p = 0, row = 0, column = 0; p <= last; column += piece_source(input, p++)->length) {
        const Hypothesis *piece = piece_hypothesis(input, p, rank);
        if (p > 0) strbuf_add_char(&item->text, ' ');
        join_text(&item->text, input->target, piece);
        memcpy(item->ids + row, piece->ids, (size_t)piece->length * sizeof *item->ids);
        item->words = join_words(input->target, piece->ids, piece->length, item->words, item->word + row);
        size_t scores = (size_t)(p == last ? piece->steps : piece->length);
        memcpy(item->token_scores + row, piece->token_scores, scores * sizeof *item->token_scores);
        if (item->attention)
            join_attention(item, piece, row, column, piece_source(input, p)->length, columns, p == last);
        item->score += piece->score;
        all_steps += piece->steps;
        row += piece->length;
    }
    item->normalised = all_steps > 0 ? item->score / pow((double)all_steps, input->length_penalty) : 0;
}

void translation_join(const JoinInput *input, Translation *out) {
    join_source(input, out);
    out->count = 1;
    for (int p = 0; p < input->pieces; p++)
        if (input->results[p].count > out->count) out->count = input->results[p].count;
    out->items = mem_alloc((size_t)out->count, sizeof *out->items);
    if (input->pieces == 0) return;
    for (int rank = 0; rank < out->count; rank++)
        join_item(input, rank, out->source_length, &out->items[rank]);
}
