/* markup.h - tags and placeholders inside a text, and the text without them.
 *
 *   tags          <b> </b> <br/> <a href="x"> <!-- --> <!DOCTYPE html>: a letter must follow the < or </
 *   placeholders  {0} {name} {{name}} ${name} %s %1$s %(name)s %% and entities such as &nbsp; or &#39;;
 *                 with a unit behind (%dms), but %score is text
 *
 * An opening tag and the next closing one of its name are a pair if pairs stay nested; all others are single.
 * Tags of pairs leave nothing behind in the text. Singles leave a space where none is beside them.
 *
 * What HTML says of names and attributes holds:
 *   - Tags of blocks (<p> </td> <br>; markup.c has the list) and line ends in <pre> are breaks: texts before
 *     and behind have nothing to do with each other. A pair that reaches across is two halves, which have no
 *     partner. A break takes in the white space beside it and the other marks that no text parts from it.
 *     Between texts it leaves a MARKUP_BREAK.
 *   - Elements that are not to be translated (<script> <style> translate="no" class="notranslate") are one
 *     mark with all that they contain.
 *
 * Owner   what is found views `sound`, a copy of the text in valid UTF-8; markup_free releases all of it
 */
#ifndef TEXT_MARKUP_H
#define TEXT_MARKUP_H

#include "base/strview.h"

/* White space that ends a sentence; plain texts have it nowhere else. */
#define MARKUP_BREAK '\f'

typedef enum { MARK_SINGLE, MARK_OPEN, MARK_CLOSE, MARK_BREAK } MarkKind;

typedef struct {
    StrView text;
    MarkKind kind;
    bool block;                     /* of a break */
    int partner;                    /* of a pair without a break in it: the other one's index; else -1 */
    size_t position;                /* in the plain text */
    bool space_before, space_after; /* of a single: white space or an end of the text beside it */
} Mark;

typedef struct {
    StrBuf sound, plain;
    Mark *items; /* [count] as they follow in the text */
    int count;
    size_t capacity;
} Markup;

/* `markup` is zeroed. */
void markup_find(StrView text, Markup *markup);
void markup_free(Markup *markup);

#endif
