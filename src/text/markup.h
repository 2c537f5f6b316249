/* markup.h - tags and placeholders inside a text, and the text without them.
 *
 *   tags          <b> </b> <br/> <a href="x"> <!-- -->: a letter must follow the < or </
 *   placeholders  {0} {name} {{name}} ${name} %s %1$s %(name)s %% and entities such as &nbsp; or &#39;
 *
 * An opening tag and the next closing one of its name are a pair if pairs stay nested; all others are single.
 * Pairs leave nothing behind in the text. Singles leave a space where none is beside them.
 *
 * Owner   what is found views `sound`, a copy of the text in valid UTF-8; markup_free releases all of it
 */
#ifndef TEXT_MARKUP_H
#define TEXT_MARKUP_H

#include "base/strview.h"

typedef enum { MARK_SINGLE, MARK_OPEN, MARK_CLOSE } MarkKind;

typedef struct {
    StrView text;
    MarkKind kind;
    int partner;                    /* of a pair: the other one's index; else -1 */
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
