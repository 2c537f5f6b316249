/* label.h - pieces of text in pictures: how wide they are on a terminal, and how to cut them.
 *
 * Units   width in terminal columns, as unicode_width counts them
 * Fails   never: ill-formed bytes and controls become U+FFFD, so that a label cannot steer a terminal; spaces
 *         other than U+0020 are shown as U+2423, an open box. Nor can it turn what stands beside it: what
 *         overrides the direction of text becomes U+FFFD, too, and label_keep_order ends right-to-left text
 */
#ifndef VIZ_LABEL_H
#define VIZ_LABEL_H

#include "base/strview.h"

/* Append the next character with the marks on it; returns its width and advances *position. */
int label_add_next(StrBuf *out, StrView text, size_t *position);
int label_width(const char *text);
int label_count(const char *text); /* characters, marks not counted */
/* Something of right-to-left letters was appended from byte `start` on: append a left-to-right mark (U+200E,
 * of no width), or a terminal would put it and its neighbours into the opposite order. */
void label_keep_order(StrBuf *out, size_t start);
/* Append `text`, cut to `width` columns with an ellipsis; returns the columns used. */
int label_add(StrBuf *out, const char *text, int width);
/* The same, filled up with spaces on the left. */
void label_add_right(StrBuf *out, const char *text, int width);

#endif
