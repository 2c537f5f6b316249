/* label.h - labels in pictures: their width on a terminal, and cutting.
 *
 * Units   width in terminal columns, as unicode_width counts them
 * Fails   never: ill-formed bytes and control characters become U+FFFD, so that a label cannot control a
 *         terminal; spaces other than U+0020 become U+2423, an open box. A label cannot reverse its
 *         neighbours: characters that override the direction of text become U+FFFD, and label_keep_order ends
 *         right-to-left text
 */
#ifndef VIZ_LABEL_H
#define VIZ_LABEL_H

#include "base/strview.h"

/* Appends the next character with its combining marks; returns its width and advances *position. */
int label_add_next(StrBuf *out, StrView text, size_t *position);
int label_width(const char *text);
int label_count(const char *text); /* number of characters without combining marks */
/* If the text from byte `start` on has right-to-left letters, appends a left-to-right mark (U+200E, of no
 * width). Otherwise a terminal would reverse the order of the text and its neighbours. */
void label_keep_order(StrBuf *out, size_t start);
/* Appends `text`, cut to `width` columns with an ellipsis; returns the width. */
int label_add(StrBuf *out, const char *text, int width);
/* The same, padded with spaces on the left. */
void label_add_right(StrBuf *out, const char *text, int width);

#endif
