/* marked_chunks.c - see marked_chunks.h. */
#include "postprocess/marked_chunks.h"

#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "tokenizer/reserved_tokens.h"
#include "postprocess/markup_restore.h"
#include "postprocess/translation.h"

/* Does the model have tokens for the mark, and write it as it is? */
static bool spells(Tokenizer *tokenizer, StrView mark) {
    IdList ids = {0};
    StrBuf text = {0};
    tokenizer_encode(tokenizer, mark, &ids);
    tokenizer_decode(tokenizer, ids.ids, ids.count, &text);
    bool same = sv_equal(strbuf_view(&text), mark);
    for (size_t i = 0; i < ids.count; i++) same &= ids.ids[i] != VOCAB_UNK;
    id_list_free(&ids);
    strbuf_free(&text);
    return same;
}

static bool all_spell(const MarkedText *text, const Seq2Seq *const *models, int count) {
    for (int i = 0; i < text->count; i++) {
        StrView mark = text->items[i].text;
        bool known = spells(seq2seq_target(models[0]), mark);
        for (int m = 0; m < count && known; m++) known = spells(seq2seq_source(models[m]), mark);
        if (!known) return false;
    }
    return true;
}

static bool all_have_reserved(const Seq2Seq *const *models, int count) {
    bool have = true;
    for (int m = 0; m < count && have; m++) have = seq2seq_has_reserved(models[m]);
    return have;
}

/* Tokens for the placeholders, unless some mark is none. Words in angle brackets are translated. */
static void reserve(MarkedChunk *chunk) {
    PlaceholderList *list = &chunk->placeholders;
    StrView text = strbuf_view(&chunk->text.in_place);
    int count = 0;
    placeholders_find(text, list);
    for (int i = 0; i < list->count; i++)
        if (!tag_is_word(list->items[i].text)) list->items[count++] = list->items[i];
    list->count = count;
    if (count == chunk->text.count) reserved_replace(text, list, &chunk->reserved);
}

void marked_chunk_make(MarkedChunk *chunk, MarkedText text, const Seq2Seq *const *models, int count) {
    *chunk = (MarkedChunk){.is_marked = true, .text = text};
    chunk->in_place = text.fits_in_place && all_spell(&text, models, count);
    if (text.fits_in_place && all_have_reserved(models, count)) reserve(chunk);
}

static void free_outputs(MarkedChunk *chunk) {
    for (int i = 0; i < chunk->output_count; i++) strbuf_free(&chunk->outputs[i]);
    mem_free(chunk->outputs);
    chunk->outputs = NULL;
    chunk->output_count = 0;
}

void marked_chunk_free(MarkedChunk *chunk) {
    if (!chunk->is_marked) return;
    free_outputs(chunk);
    marked_chunk_leave_reserved(chunk);
    marked_text_free(&chunk->text);
    *chunk = (MarkedChunk){0};
}

void marked_chunk_leave_reserved(MarkedChunk *chunk) {
    strbuf_free(&chunk->reserved);
    placeholders_free(&chunk->placeholders);
}

StrView marked_chunk_text(const MarkedChunk *chunk) {
    if (chunk->reserved.length > 0) return strbuf_view(&chunk->reserved);
    return strbuf_view(chunk->in_place ? &chunk->text.in_place : &chunk->text.plain);
}

/* Appends the output for a translation; returns whether it agrees with the chunk. */
static bool write_output(const MarkedChunk *chunk, StrView translation, StrBuf *output) {
    StrBuf restored = {0};
    bool has_all = true;
    if (chunk->reserved.length > 0) {
        has_all = reserved_restore(translation, &chunk->placeholders, &restored);
        translation = strbuf_view(&restored);
    }
    marked_text_write(&chunk->text, translation, output);
    strbuf_free(&restored);
    return has_all && marked_text_agrees(&chunk->text, strbuf_view(output));
}

bool marked_chunk_take(MarkedChunk *chunk, HypothesisList *hypotheses, int most, const Tokenizer *target,
                       const StrList *unknown) {
    HypothesisList others = {.items = mem_alloc((size_t)hypotheses->count, sizeof *others.items)};
    StrBuf *outputs = mem_alloc((size_t)hypotheses->count, sizeof *outputs);
    int count = 0;
    for (int i = 0; i < hypotheses->count; i++) {
        Hypothesis hypothesis = hypotheses->items[i];
        StrBuf text = {0};
        translation_text(target, &hypothesis, unknown, &text);
        bool agrees = write_output(chunk, strbuf_view(&text), &outputs[count]);
        strbuf_free(&text);
        if (count < most && agrees) {
            hypotheses->items[count++] = hypothesis;
        } else {
            strbuf_free(&outputs[count]);
            outputs[count] = (StrBuf){0};
            others.items[others.count++] = hypothesis;
        }
    }
    if (count == 0) {
        memcpy(hypotheses->items, others.items, (size_t)others.count * sizeof *others.items);
        mem_free(others.items);
        mem_free(outputs);
        return false;
    }
    hypotheses_free(&others);
    hypotheses->count = count;
    chunk->outputs = outputs;
    chunk->output_count = count;
    return true;
}

void marked_chunk_close(MarkedChunk *chunk) {
    for (int i = 0; i < chunk->output_count; i++) {
        if (!markup_is_open(strbuf_view(&chunk->outputs[i]))) continue;
        strbuf_clear(&chunk->outputs[i]);
        strbuf_add(&chunk->outputs[i], chunk->text.source);
    }
}

/* ---- phrases ---- */

typedef struct {
    const char *open, *close;
} Quotes;

/* What may enclose a placeholder in another language where the source has quotes. */
static const Quotes QUOTES[] = {{"\xE2\x80\x9E", "\xE2\x80\x9C"},
                                {"\xC2\xBB", "\xC2\xAB"},
                                {"\xC2\xAB", "\xC2\xBB"},
                                {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                                {"\"", "\""},
                                {"'", "'"}};
enum { QUOTE_COUNT = sizeof QUOTES / sizeof *QUOTES };

static bool is_quote(StrView text, bool last) {
    if (text.length == 0) return false;
    size_t at = last ? utf8_before(text, text.length) : 0;
    int c = utf8_next(text, &at);
    return c == '"' || c == '\'' || c == '`' || c == 0xAB || c == 0xBB || (c >= 0x2018 && c <= 0x201F);
}

/* The source tokens that write the mark; none if the model has no attention, or cuts the text in another way.
 * The search for the next mark begins at *next. */
typedef struct {
    int from, to, next;
} Position;

static bool has_tokens(const IdList *ids, Tokens source, int at) {
    return ids->count > 0 && (int)ids->count <= source.length - at &&
           memcmp(source.ids + at, ids->ids, ids->count * sizeof *ids->ids) == 0;
}

static void find_position(const Seq2Seq *model, Tokens source, StrView mark, Position *position) {
    IdList ids = {0}, behind = {0};
    position->from = position->to = 0;
    if (!seq2seq_has_attention(model)) return;
    tokenizer_encode(seq2seq_source(model), mark, &ids);
    tokenizer_encode_after_text(seq2seq_source(model), mark, &behind);
    for (int at = position->next; at < source.length && position->to == 0; at++) {
        const IdList *tokens = has_tokens(&ids, source, at)      ? &ids
                               : has_tokens(&behind, source, at) ? &behind
                                                                 : NULL;
        if (!tokens) continue;
        position->from = at;
        position->next = position->to = at + (int)tokens->count;
    }
    id_list_free(&ids);
    id_list_free(&behind);
}

static void add_placeholder(Constraints *constraints, Tokenizer *target, StrView text, StrView mark,
                            const Position *position) {
    StrView before = {text.data, (size_t)(mark.data - text.data)};
    StrView after = {mark.data + mark.length, text.length - before.length - mark.length};
    StrBuf quoted[QUOTE_COUNT] = {0};
    StrView ways[1 + QUOTE_COUNT] = {mark};
    int count = 1;
    for (size_t q = 0; q < QUOTE_COUNT && is_quote(before, true) && is_quote(after, false); q++) {
        strbuf_add(&quoted[q], sv(QUOTES[q].open));
        strbuf_add(&quoted[q], mark);
        strbuf_add(&quoted[q], sv(QUOTES[q].close));
        ways[count++] = strbuf_view(&quoted[q]);
    }
    constraints_add_alternatives(constraints, target, ways, count, position->from, position->to);
    for (size_t q = 0; q < QUOTE_COUNT; q++) strbuf_free(&quoted[q]);
}

bool marked_chunk_constrain(const MarkedChunk *chunk, Constraints *constraints, const Seq2Seq *model,
                            Tokens source) {
    PlaceholderList list = {0};
    Position position = {0};
    StrView text = strbuf_view(&chunk->text.in_place);
    placeholders_find(text, &list);
    bool fits = list.count > 0;
    for (int i = 0; i < list.count && fits; i++) {
        StrView mark = list.items[i].text;
        if (!marked_text_has(&chunk->text, mark)) continue; /* words in angle brackets are translated */
        fits = constraints->phrase_count + 2 * (1 + QUOTE_COUNT) <= CONSTRAINTS_MAX;
        if (!fits) break;
        find_position(model, source, mark, &position);
        add_placeholder(constraints, seq2seq_target(model), text, mark, &position);
    }
    placeholders_free(&list);
    return fits;
}

/* ---- the last resort ---- */

void marked_chunk_restore(MarkedChunk *chunk, const Seq2Seq *model, const Tokens *sources, int models,
                          const HypothesisList *hypotheses, const DecodeOptions *options,
                          const StrList *unknown) {
    Translation translation;
    ChunkResults results = {.model = model,
                            .sources = sources,
                            .models = models,
                            .results = hypotheses,
                            .chunks = 1,
                            .unknown = unknown};
    translation_join(&translation, &results, options);
    chunk->outputs = mem_alloc((size_t)translation.count, sizeof *chunk->outputs);
    chunk->output_count = translation.count;
    for (int rank = 0; rank < translation.count; rank++)
        markup_restore(&chunk->text, &translation, rank, seq2seq_source(model), seq2seq_target(model),
                       &chunk->outputs[rank]);
    translation_free(&translation);
}
