/* markup.h - finds tags and placeholders in a text, and the parts of it that are translated.
 *
 * Marks are the placeholders of placeholders.h. An opening tag and the next closing tag of its name are a
 * pair if pairs stay nested; all other marks are single. Words in angle brackets (tag_is_word) without a
 * partner are text. Entities that stand for a character that a model can
 * read are no marks but text.
 *
 * Names and attributes have the meaning of HTML:
 *   - Tags of blocks (<p> </td> <br>; markup.c has the list) and the parts of ICU's
 *     plurals and selects are breaks: the texts on both sides are unrelated. Tags of a pair with a break in
 *     between have no partner. A break includes the adjacent white space and tags.
 *   - An element that must not be translated (<script> <style> <pre> <code> <kbd> <samp> <var> <math>,
 *     translate="no", class="notranslate"; <ph> <it> <bpt> <ept> <ut> of XLIFF) is one mark, with its
 *     content.
 *
 * The masked text is for rules that cut texts into sentences and chunks: its breaks are MARKUP_BREAK, a
 * placeholder or an untranslatable text is a word, tags are nothing, or a space between texts that a single
 * tag separates, and entities are characters. markup_source maps parts of it back.
 *
 * Owner   marks are views into `repaired`, a copy of the text in valid UTF-8; markup_free releases everything
 */
#ifndef TEXT_MARKUP_H
#define TEXT_MARKUP_H

#include "text/placeholders.h"

/* White space that ends a sentence. Masked texts contain it only for breaks. */
#define MARKUP_BREAK '\f'

typedef enum { MARK_SINGLE, MARK_OPEN, MARK_CLOSE, MARK_BREAK } MarkKind;

typedef struct {
    StrView text;
    MarkKind kind;
    PlaceholderKind type;
    bool is_element; /* with its content, which must not be translated */
    bool is_visible; /* an element whose content is text */
    bool block;      /* tag of a block, part of ICU's skeleton */
    int partner;     /* index of the other tag of a pair without a break in it, else -1 */
    size_t position; /* in the masked text */
} Mark;

/* Bytes of `repaired` in the masked text. */
typedef struct {
    size_t masked, source; /* where they begin */
    size_t length;         /* in `repaired` */
    bool whole;            /* the masked text has other bytes for all of them */
} MarkupRun;

typedef struct {
    StrBuf repaired, masked;
    Mark *items; /* [count] in the order of the text */
    int count;
    bool html;    /* it has entities, closing or empty tags: new < and & are escaped */
    bool icu;     /* it has plurals or selects: their branches contain no other braces */
    bool literal; /* entities are text */
    MarkupRun *runs;
    int run_count;
    size_t capacity, run_capacity;
} Markup;

/* Does the tag begin or end a block, or a line? */
bool tag_is_block(StrView tag);
/* Must the element of this opening tag stay as it is? */
bool tag_is_untranslatable(StrView tag);
/* The tag after its name, for tag_next_attribute, which cuts the next attribute off `rest`; false if there is
 * none. A value is without its quotes; it is empty if there is none. */
StrView tag_attributes(StrView tag);
bool tag_next_attribute(StrView *rest, StrView *name, StrView *value);
/* `markup` is zeroed. */
void markup_find(StrView text, Markup *markup);
void markup_free(Markup *markup);
/* The part of `repaired` that a part of the masked text stands for, with the marks inside of it; tags around
 * the whole part are left out. */
StrView markup_source(const Markup *markup, StrView part);
/* The first mark that begins at or after `at`, a position in `repaired`. */
int markup_first_mark(const Markup *markup, const char *at);

#endif
