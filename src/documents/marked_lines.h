/* marked_lines.h - texts whose markup is not HTML, as texts with tags: parts that must come back become
 * <m0/>, pairs <m1> </m1>, and & and < entities.
 *
 * Owner   the strings of a Codes are copies; codes_free releases them
 */
#ifndef DOCUMENTS_MARKED_LINES_H
#define DOCUMENTS_MARKED_LINES_H

#include "base/strview.h"

typedef struct {
    StrList open, close; /* of each number; close is empty for a single part */
    StrBuf escaped;      /* characters that get a backslash */
} Codes;

/* Appends a single part, and the two tags of a pair, to `text`. codes_open returns the pair's number. */
void codes_add_single(Codes *codes, StrView part, StrBuf *text);
int codes_open(Codes *codes, StrView open, StrView close, StrBuf *text);
void codes_close(int number, StrBuf *text);
/* Appends the text with its tags as the parts they stand for, which have CODES_SPACE for spaces, so that
 * lines_wrap does not change them; false if a number is unknown. */
#define CODES_SPACE '\x01'
bool codes_decode(const Codes *codes, StrView text, StrBuf *out);
void codes_free(Codes *codes);

/* Appends a text in lines of at most `width` columns, the first from column `start` on, with `indent` before
 * the others. Longer words have a line of their own; no line begins with the mark of an item or a heading. */
void lines_wrap(StrView text, int start, int width, StrView indent, StrBuf *out);
int text_columns(StrView text);
/* The length of "-", "*", "+", a bullet or "12." at `at`, with the white space after it; 0: there is none. */
size_t line_item_length(StrView line, size_t at);

#endif
