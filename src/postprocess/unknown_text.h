/* unknown_text.h - source text that a model cannot spell: it is copied, or read as <unk>. It is counted in
 * characters, or in words if it is copied or if the model's tokens are words.
 *
 * Owner   a zeroed UnknownText has none; unknown_text_free releases it
 */
#ifndef POSTPROCESS_UNKNOWN_TEXT_H
#define POSTPROCESS_UNKNOWN_TEXT_H

#include "postprocess/translation.h"

typedef struct {
    long count, first_line; /* first_line 0: there are no line numbers */
    char *first;            /* the first text */
} UnknownTexts;

typedef struct {
    UnknownTexts read, copied;
} UnknownText;

/* Counts the unknown texts of one line's source, except U+FFFD: repaired bytes have a warning of their
 * own. */
void unknown_text_add(UnknownText *unknown, const Translation *translation, const Tokenizer *source,
                      long line);
/* Warns if there are any. */
void unknown_text_report(const UnknownText *unknown, const Seq2Seq *model);
void unknown_text_free(UnknownText *unknown);

#endif
