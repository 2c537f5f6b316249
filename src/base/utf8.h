/* utf8.h - code points from bytes and to bytes. The Unicode Standard 15.0, table 3-7 (well-formed sequences).
 *
 * Fails   never: ill-formed bytes decode as U+FFFD, one per maximal subpart, and are counted by utf8_repair
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/strview.h"

#define UTF8_REPLACEMENT 0xFFFD

/* The code point at text.data[*position], which advances past it; *position < text.length. */
int utf8_next(StrView text, size_t *position);
/* The start of the code point that ends at `at`, in well-formed text; at > 0. */
size_t utf8_before(StrView text, size_t at);
void utf8_add(StrBuf *out, int code_point);
static inline bool utf8_continues(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }
size_t utf8_count(StrView text); /* code points */
bool utf8_valid(StrView text);
/* Does this character control a terminal? U+0000 to U+001F, U+007F to U+009F, and the characters that change
 * the direction of text, U+202A to U+202E and U+2066 to U+2069. */
bool utf8_is_control(int code_point);
size_t utf8_valid_length(StrView text); /* bytes before the first ill-formed sequence */
/* Appends `text`, with U+FFFD for ill-formed sequences and NUL bytes; returns the number of replacements. */
size_t utf8_repair(StrView text, StrBuf *out);

#endif
