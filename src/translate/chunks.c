/* chunks.c - see chunks.h. */
#include "translate/chunks.h"

#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "tokenizer/respell.h"
#include "tokenizer/spelled_text.h"

Chunks chunks_new(const Seq2Seq *const *models, int model_count, const TranslatorOptions *options,
                  LineNotes *notes, int lines) {
    return (Chunks){.models = models,
                    .model_count = model_count,
                    .options = options,
                    .notes = notes,
                    .arena = arena_new(),
                    .language = mem_alloc((size_t)lines, sizeof(StrView)),
                    .from_memory = mem_alloc((size_t)lines, sizeof(bool)),
                    .unknown = mem_alloc((size_t)lines, sizeof(StrList))};
}

/* The tokens of a text behind a language token, if `language` is not empty; without text there are none.
 * `unknown` may be NULL. */
Tokens chunks_tokens(Chunks *chunks, Tokenizer *tokenizer, StrView language, StrView text, StrList *unknown) {
    int id = language.length > 0 ? tokenizer_language(tokenizer, language) : -1;
    chunks->ids.count = 0;
    if (id >= 0) id_list_add(&chunks->ids, id);
    tokenizer_encode_spelled(tokenizer, text, &chunks->ids, unknown);
    if (chunks->ids.count == 1 && id >= 0) chunks->ids.count = 0;
    size_t bytes = chunks->ids.count * sizeof(int);
    int *ids = arena_alloc(chunks->arena, bytes);
    if (bytes > 0) memcpy(ids, chunks->ids.ids, bytes);
    return (Tokens){ids, (int)chunks->ids.count};
}

static bool has_unknown(Tokens tokens) {
    for (int i = 0; i < tokens.length; i++)
        if (tokens.ids[i] == VOCAB_UNK) return true;
    return false;
}

/* The same for a source: in other characters where the tokenizer does not know those of the text. */
static Tokens chunks_source(Chunks *chunks, Tokenizer *tokenizer, StrView language, StrView text,
                            StrList *unknown) {
    bool raw = chunks->options->raw;
    StrBuf spaced = {0}, repaired = {0}, respelled = {0};
    if (!raw && text_replace_no_break_spaces(tokenizer, text, &spaced)) text = strbuf_view(&spaced);
    Tokens tokens = chunks_tokens(chunks, tokenizer, language, text, raw ? unknown : NULL);
    if (!raw && has_unknown(tokens)) {
        utf8_repair(text, &repaired);
        text_respell(tokenizer, strbuf_view(&repaired), &respelled);
        tokens = chunks_tokens(chunks, tokenizer, language, strbuf_view(&respelled), unknown);
    }
    strbuf_free(&spaced);
    strbuf_free(&repaired);
    strbuf_free(&respelled);
    return tokens;
}

/* Set the tokens that the models read for a chunk; false if the first model has none. */
bool chunks_encode(Chunks *chunks, int chunk, StrView text) {
    size_t models = (size_t)chunks->model_count, first = (size_t)chunk * models;
    strlist_free(&chunks->source_unknown[chunk]);
    for (size_t m = 0; m < models; m++) {
        StrList *unknown = m == 0 ? &chunks->source_unknown[chunk] : NULL;
        chunks->sources[first + m] = chunks_source(chunks, seq2seq_source(chunks->models[m]),
                                                   chunks->language[chunks->line[chunk]], text, unknown);
        if (m == 0 && chunks->sources[first].length == 0) return false;
    }
    return true;
}

/* Add one chunk of a line; returns false if the first model has no tokens for it. `marked` moves into it, or
 * is released. `capitals`: `text` is in small letters now. */
bool chunks_add(Chunks *chunks, int line, StrView text, MarkedChunk marked, bool capitals) {
    size_t count = (size_t)chunks->count + 1;
    MEM_GROW(chunks->sources, chunks->sources_capacity, count * (size_t)chunks->model_count);
    MEM_GROW(chunks->line, chunks->line_capacity, count);
    MEM_GROW(chunks->source_unknown, chunks->unknown_capacity, count);
    MEM_GROW(chunks->marked, chunks->marked_capacity, count);
    MEM_GROW(chunks->texts, chunks->texts_capacity, count);
    MEM_GROW(chunks->capitals, chunks->capitals_capacity, count);
    chunks->line[chunks->count] = line;
    chunks->source_unknown[chunks->count] = (StrList){0};
    chunks->marked[chunks->count] = marked;
    chunks->texts[chunks->count] = marked.is_marked ? strbuf_view(&marked.text.plain) : text;
    chunks->any_marked |= marked.is_marked;
    if (marked.is_marked) text = marked_chunk_text(&marked);
    chunks->capitals[chunks->count] = capitals;
    bool added = chunks_encode(chunks, chunks->count, text);
    if (added) return chunks->count++ >= 0;
    marked_chunk_free(&marked);
    strlist_free(&chunks->source_unknown[chunks->count]);
    return false;
}

/* The text from `start` to `end` stands before the next chunk, or after the last one of its line. */
void chunks_add_gap(Chunks *chunks, const char *start, const char *end) {
    MEM_GROW(chunks->gaps, chunks->gaps_capacity, (size_t)chunks->gap_count + 1);
    StrView gap = {start, (size_t)(end - start)};
    if (chunks->gap.length > 0) {
        strbuf_add(&chunks->gap, gap);
        gap = arena_text(chunks->arena, strbuf_view(&chunks->gap));
        strbuf_clear(&chunks->gap);
    }
    if (!utf8_valid(gap) || memchr(start, 0, gap.length)) {
        StrBuf repaired = {0};
        utf8_repair(gap, &repaired);
        gap = arena_text(chunks->arena, strbuf_view(&repaired));
        strbuf_free(&repaired);
    }
    chunks->gaps[chunks->gap_count++] = gap;
}

static bool has_tags(const MarkedText *text) {
    for (int i = 0; i < text->count; i++)
        if (text->items[i].is_tag) return true;
    return false;
}

/* All views of the marks are into `source`. */
static bool chunks_add_marked(Chunks *chunks, int line, const Markup *markup, StrView source, bool capitals) {
    MarkedText text = {0};
    MarkedChunk marked;
    marked_text_make(markup, source, &text);
    if (!text.has_letters && !chunks->options->translate_symbols) {
        marked_text_free(&text);
        return false;
    }
    marked_chunk_make(&marked, text, chunks->models, chunks->model_count);
    if (chunks->options->tags_aside && has_tags(&marked.text)) marked.in_place = false;
    return chunks_add(chunks, line, source, marked, capitals);
}

bool chunks_has_term(const TranslatorOptions *options, StrView text) {
    GlossaryTerm term;
    return options->glossary && glossary_find(options->glossary, text, &term, 0, 1) > 0;
}

/* Has the source marks, or entities? */
static bool has_marks(const Markup *markup, StrView source) {
    return markup &&
           (memchr(source.data, '&', source.length) ||
            markup_first_mark(markup, source.data) < markup_first_mark(markup, source.data + source.length));
}

bool chunks_add_source(Chunks *chunks, int line, const Markup *markup, StrView source) {
    if (chunks->options->raw) return chunks_add(chunks, line, source, (MarkedChunk){0}, false);
    StrBuf repaired = {0};
    StrView text = source;
    if (!markup) {
        utf8_repair(source, &repaired);
        text = strbuf_view(&repaired);
    }
    SpelledText spelled = spelled_text_make(seq2seq_source(chunks->models[0]), markup, text,
                                            !chunks->options->read_unknown, chunks->arena);
    bool marked = markup || spelled.markup.count > 0, added = false;
    if (marked) added = chunks_add_marked(chunks, line, &spelled.markup, spelled.text, spelled.capitals);
    if (!marked || (!markup && !added && chunks_has_term(chunks->options, source)))
        added = chunks_add(chunks, line, spelled.text, (MarkedChunk){0}, spelled.capitals);
    if (added && !has_marks(markup, source)) chunks->texts[chunks->count - 1] = source;
    mem_free(spelled.markup.items);
    strbuf_free(&repaired);
    return added;
}

void chunks_free(Chunks *chunks, int lines) {
    for (int c = 0; c < chunks->count; c++) {
        if (chunks->results) hypotheses_free(&chunks->results[c]);
        strlist_free(&chunks->source_unknown[c]);
        marked_chunk_free(&chunks->marked[c]);
    }
    for (int i = 0; chunks->markups && i < lines; i++) markup_free(&chunks->markups[i]);
    mem_free(chunks->markups);
    mem_free(chunks->line);
    mem_free(chunks->source_unknown);
    mem_free(chunks->marked);
    for (int c = 0; chunks->constraints && c < chunks->count; c++) constraints_free(&chunks->constraints[c]);
    mem_free(chunks->results);
    mem_free(chunks->sources);
    mem_free(chunks->targets);
    mem_free(chunks->unknown);
    mem_free(chunks->language);
    mem_free(chunks->gaps);
    mem_free(chunks->from_memory);
    strbuf_free(&chunks->gap);
    mem_free(chunks->texts);
    mem_free(chunks->capitals);
    mem_free(chunks->constraints);
    mem_free(chunks->required);
    id_list_free(&chunks->ids);
    arena_free(chunks->arena);
}
