/* markup.h - finds tags and placeholders in a text, and makes the text without them.
 *
 *   tags          <b> </b> <br/> <a href="x"> <!-- --> <!DOCTYPE html>: a letter must follow the < or </
 *   placeholders  {0} {name} {{name}} ${name} %s %1$s %(name)s %% and entities such as &nbsp; or &#39;;
 *                 also before a unit (%dms), but %score is text
 *
 * An opening tag and the next closing tag of its name are a pair if pairs stay nested; all others are
 * single. In the plain text, pairs are removed, and singles become a space unless there is one next to them.
 *
 * Names and attributes have the meaning of HTML:
 *   - Tags of blocks (<p> </td> <br>; markup.c has the list) and line ends in <pre> are breaks: the texts on
 *     both sides are unrelated. Tags of a pair with a break in between have no partner. A break includes the
 *     adjacent white space and marks. Between texts it becomes a MARKUP_BREAK.
 *   - An element that must not be translated (<script> <style> translate="no" class="notranslate") is one
 *     mark, with its content.
 *
 * Owner   marks are views into `repaired`, a copy of the text in valid UTF-8; markup_free releases everything
 */
#ifndef TEXT_MARKUP_H
#define TEXT_MARKUP_H

#include "base/strview.h"

/* White space that ends a sentence. Plain texts contain it only for breaks. */
#define MARKUP_BREAK '\f'

typedef enum { MARK_SINGLE, MARK_OPEN, MARK_CLOSE, MARK_BREAK } MarkKind;

typedef struct {
    StrView text;
    MarkKind kind;
    bool block;                     /* tag of a block, or line end in <pre> */
    int partner;                    /* index of the other tag of a pair without a break in it, else -1 */
    size_t position;                /* in the plain text */
    bool space_before, space_after; /* singles: next to white space or an end of the text */
} Mark;

typedef struct {
    StrBuf repaired, plain;
    Mark *items; /* [count] in the order of the text */
    int count;
    size_t capacity;
} Markup;

/* `markup` is zeroed. */
void markup_find(StrView text, Markup *markup);
void markup_free(Markup *markup);

#endif
