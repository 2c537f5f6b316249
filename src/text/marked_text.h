/* marked_text.h - a sentence or chunk of a text with markup: what models read, and what their translation
 * must agree in.
 *
 * Models read the text with its placeholders and tags in place, entities as characters (`in_place`); or, if
 * they cannot write the placeholders, the text without them (`plain`). In the plain text pairs of tags are
 * removed, and single marks become a space unless there is one next to them.
 *
 * Output   the translation with entities written in the way of the source: a character that the source wrote
 *          as an entity comes back in that form, the n-th occurrence like the source's n-th. New < and & in
 *          HTML are escaped
 * Agrees   an output agrees if it has the source's placeholders (placeholders.h; tags whose partner is in
 *          another chunk keep their order), and none that it glues to a word or to another one, unless
 *          the source does so; and in branches of ICU's plurals and selects no new braces
 *
 * Owner    views are into `markup`, which must outlive the MarkedText
 */
#ifndef TEXT_MARKED_TEXT_H
#define TEXT_MARKED_TEXT_H

#include "text/markup.h"

typedef struct {
    StrView text;
    MarkKind kind; /* no breaks; an opening or closing tag without a partner has it in another chunk */
    bool is_tag;
    int partner;                    /* index of the other tag of a pair, else -1 */
    size_t position;                /* in `plain` */
    bool space_before, space_after; /* singles: next to white space or an end of the text */
} TextMark;

/* A character that the source writes as an entity at least once, or < or &. */
typedef struct {
    int c;
    StrView text; /* the entity, or the character itself */
} CharacterForm;

typedef struct {
    StrView source;
    StrBuf in_place, plain;
    TextMark *items; /* [count] */
    int count;
    bool has_letters;     /* apart from its marks: there is something to translate */
    bool fits_in_place;   /* no mark is an element with content or very long, and there are not very many */
    bool html, icu;       /* as in Markup */
    CharacterForm *forms; /* [form_count] in the order of the text */
    int form_count;
    PlaceholderList placeholders;
    size_t capacity, form_capacity;
} MarkedText;

/* `source`: a result of markup_source, or a text whose unknown words are the marks (unknown_words.h). `text`
 * is zeroed. */
void marked_text_make(const Markup *markup, StrView source, MarkedText *text);
void marked_text_free(MarkedText *text);
/* Is this one of the placeholders that an output must have? */
bool marked_text_has(const MarkedText *text, StrView placeholder);
bool marked_text_agrees(const MarkedText *text, StrView output);
/* Appends the output for a translation of the text in place. */
void marked_text_write(const MarkedText *text, StrView translation, StrBuf *out);

/* Writes an output in parts. Set the text and zero the rest to begin; release with mem_free(used). `all`: the
 * translation that the parts are views into, where words in angle brackets stay; may be empty. */
typedef struct {
    const MarkedText *text;
    StrView all;
    bool *used; /* [form_count] */
} TextWriter;

/* Appends characters of the translation; marks are added as they are. */
void text_writer_add(TextWriter *writer, StrView translation, StrBuf *out);

/* The output of the whole text, joined from its chunks: separates by spaces what joints have glued to
 * placeholders. Returns false if it has other placeholders than the text, because the texts of two chunks
 * make one. */
bool markup_finish(const Markup *markup, StrBuf *output);
/* Has the output of a chunk characters outside of placeholders that could begin or end one with the text
 * beside it? */
bool markup_is_open(StrView output);

/* Is this a character of words with spaces between them? */
bool text_is_word(int c);

#endif
