/* unicode.h - properties of characters; words, lower case and normal forms. The only user of utf8proc.
 * Unicode Standard Annexes 11 (East Asian width), 15 (normal forms) and 44 (general categories);
 * The Unicode Standard, 3.13 (final sigma); Python's str methods
 *
 * White space is Python's str.isspace, because scores must equal those of a Python program: ASCII white
 * space, the separators 1C-1F, U+0085, and spaces of every width, no-break spaces too; not U+200B and U+FEFF,
 * which occur inside words. A blank line has only white space, U+200B and U+FEFF. None of them can be
 * translated: a blank line is not used for training and translates to the empty line.
 *
 * Fails   never: ill-formed bytes count as U+FFFD; normal forms need valid UTF-8 (utf8_repair first)
 */
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H

#include "base/strview.h"

/* ---- characters ---- */

/* CHAR_SPACE: ASCII white space, U+0085, U+2028, U+2029. Spaces of other widths and no-break spaces (U+00A0,
 * U+202F, U+2009, U+3000 ...) are CHAR_OTHER: byte-pair encoding treats them as text. */
typedef enum { CHAR_SPACE, CHAR_LETTER, CHAR_MARK, CHAR_DIGIT, CHAR_OTHER } CharClass;
CharClass unicode_class(int code_point);

/* The first letter of the general category: P, N, S, or any other. */
typedef enum { UNICODE_OTHER, UNICODE_PUNCTUATION, UNICODE_NUMBER, UNICODE_SYMBOL } UnicodeKind;
UnicodeKind unicode_kind(int code_point);

bool unicode_is_space(int code_point);
bool unicode_is_control(int code_point);       /* Cc: U+0000 to U+001F, U+007F to U+009F */
bool unicode_is_upper(int code_point);         /* general category Lu or Lt */
bool unicode_is_lower(int code_point);         /* Ll */
bool unicode_is_right_to_left(int code_point); /* a letter of Hebrew, Arabic, ... */
/* Default_Ignorable_Code_Point: soft hyphen, zero-width space and joiners, variation selectors ... */
bool unicode_is_ignorable(int code_point);
/* Columns in a terminal: 0 for control and combining characters, 2 for wide characters, else 1. */
int unicode_width(int code_point);

/* ---- text ---- */

bool unicode_is_blank(StrView text);
/* str.rstrip(): the text without white space at its end. */
StrView unicode_trim_end(StrView text);
/* str.split(), one word per call: cuts the next word off `rest`; false at the end. */
bool unicode_next_word(StrView *rest, StrView *word);
/* Appends str.lower(): one code point may become two (U+0130), and a sigma at the end of a word is final. */
void unicode_lower(StrView text, StrBuf *out);

/* Appends the text in capitals, one code point for each: a sharp s becomes U+1E9E. */
void unicode_upper(StrView text, StrBuf *out);

typedef enum { NORMALIZE_NONE, NORMALIZE_NFC, NORMALIZE_NFKC } NormalForm;
#define NORMALIZE_CHOICES "none|nfc|nfkc"

/* Appends the normal form of `text`, which is valid UTF-8, to `out`. `lowercase` maps each character by
 * itself, like the textbook's str.lower except for U+0130 and final sigmas. It does not fold case: U+00DF, a
 * sharp s, stays. */
void unicode_normalize(StrView text, NormalForm form, bool lowercase, StrBuf *out);

#endif
