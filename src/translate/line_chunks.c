/* line_chunks.c - see line_chunks.h. */
#include "translate/line_chunks.h"

#include <string.h>
#include "base/log.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/copied_text.h"
#include "tokenizer/line_split.h"
#include "translate/chunk_constraints.h"
#include "translate/sentences.h"
#include "translate/target_language.h"

static void warn_long(const TranslatorOptions *options, StrView text, const TextList *texts, long number) {
    int limit = options->search.decode.max_input_length;
    const char *what = options->split ? "a sentence of line" : "line";
    if (texts->count < 2 || options->quiet) return;
    if (options->crop)
        log_warn("%s %ld is longer than %d tokens: cropped to its first %zu of %zu bytes", what, number,
                 limit, texts->items[0].length, text.length);
    else
        log_warn("%s %ld is longer than %d tokens: translated in %d chunks", what, number, limit,
                 texts->count);
}

/* Add the chunk that a part of a line stands for; returns whether it has something to translate. */
static bool chunks_add_part(Chunks *chunks, int line, StrView part, const char **end) {
    StrView source = chunks->markups ? markup_source(&chunks->markups[line], part) : part;
    const char *last = source.data + source.length;
    if (last <= *end) return false;
    if (source.data < *end) source = (StrView){*end, (size_t)(last - *end)}; /* cut in a mark */
    if (!chunks_add_source(chunks, line, chunks->markups ? &chunks->markups[line] : NULL, source))
        return false;
    chunks_add_gap(chunks, *end, source.data);
    *end = source.data + source.length;
    return true;
}

/* Cut a text that may be too long and add its chunks; returns their number. `*end`: the end of the line's
 * chunks so far. */
static int chunks_add_text(Chunks *chunks, int line, StrView text, long number, const char **end) {
    const TranslatorOptions *options = chunks->options;
    TextList texts = {0};
    int added = 0;
    line_split(seq2seq_source(chunks->models[0]), text, options->search.decode.max_input_length, &texts);
    if (options->raw && texts.count == 1) texts.items[0] = text; /* with its white space */
    warn_long(options, text, &texts, number);
    for (int i = 0; i < texts.count && (i == 0 || !options->crop); i++)
        added += chunks_add_part(chunks, line, texts.items[i], end);
    if (options->crop && added > 0) {
        if (chunks->markups) text = markup_source(&chunks->markups[line], text);
        *end = text.data + text.length;
    }
    text_list_free(&texts);
    return added;
}

/* The parts of a line that are translated separately, without the white space around them. */
static void split_text(const Chunks *chunks, StrView text, TextList *parts) {
    split_sentences(text, chunks->options->wrapped, parts);
    if (chunks->options->split) return;
    int sentences = parts->count;
    parts->count = 0;
    if (chunks->options->raw)
        text_list_add(parts, text);
    else if (chunks->options->whole)
        split_whole(text, parts);
    else
        split_lines(text, chunks->options->wrapped, parts);
    chunks->notes->unsplit += sentences > parts->count;
}

/* Is the text copied? With tags, its marks decide (chunks_add_source). */
static bool is_copied(const TranslatorOptions *options, StrView text) {
    return !options->raw && !options->tags && !options->translate_symbols && text_is_copied(text) &&
           !chunks_has_term(options, text);
}

/* Take the translation of a sentence from the memory, into the next gap. */
static bool take_from_memory(Chunks *chunks, int line, StrView part, const char **end) {
    const TranslatorOptions *options = chunks->options;
    StrView source = chunks->markups ? markup_source(&chunks->markups[line], part) : part;
    StrBuf text = {0};
    MemoryMatch match;
    bool taken =
        source.data >= *end && memory_translate(options->memory, source, options->tags, &match, &text);
    if (taken) {
        strbuf_add(&chunks->gap, (StrView){*end, (size_t)(source.data - *end)});
        strbuf_add(&chunks->gap, strbuf_view(&text));
        *end = source.data + source.length;
        chunks->from_memory[line] = true;
    }
    strbuf_free(&text);
    return taken;
}

/* Cut the line and add its chunks; returns their number. */
int chunks_add_line(Chunks *chunks, int i, StrView line, const LineConstraints *constraints, long number) {
    const TranslatorOptions *options = chunks->options;
    bool constrained = constraints && (constraints->prefix.length > 0 || constraints->phrase_count > 0);
    if (!line.data) line = SV(""); /* for the pointers of gaps */
    chunks->language[i] = target_language_take(seq2seq_source(chunks->models[0]), options, &line, number,
                                               &chunks->notes->warned_of_language);
    StrView text = line;
    TextList parts = {0};
    int added = 0;
    if (chunks->markups) {
        Markup *markup = &chunks->markups[i];
        markup_find(line, markup);
        line = (StrView){strbuf_text(&markup->repaired), markup->repaired.length};
        text = (StrView){strbuf_text(&markup->masked), markup->masked.length};
    }
    const char *end = line.data;
    if (!unicode_is_blank(text)) split_text(chunks, text, &parts);
    for (int p = 0; p < parts.count; p++)
        if (!constrained && options->memory && parts.count > 1 &&
            take_from_memory(chunks, i, parts.items[p], &end))
            continue;
        else if (constrained || !is_copied(options, parts.items[p]))
            added += chunks_add_text(chunks, i, parts.items[p], number, &end);
    if (options->raw && added == 0) end = line.data + line.length;
    chunks_add_gap(chunks, end, line.data + line.length);
    if (constraints || options->glossary)
        chunks_constrain(chunks, constraints, number, chunks->count - added, &chunks->unknown[i]);
    text_list_free(&parts);
    return added;
}
