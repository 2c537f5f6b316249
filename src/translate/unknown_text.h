/* unknown_text.h - text that a model never saw and reads as <unk>: characters, or words if its tokens are
 * words.
 *
 * Owner   a zeroed UnknownText has none; unknown_text_free releases it
 */
#ifndef TRANSLATE_UNKNOWN_TEXT_H
#define TRANSLATE_UNKNOWN_TEXT_H

#include "translate/translation.h"

typedef struct {
    long count, first_line; /* first_line 0: there are no lines to speak of */
    char *first;
} UnknownText;

/* Count those of one line's translation. Not U+FFFD: who repaired the bytes has said so. */
void unknown_text_add(UnknownText *unknown, const Translation *translation, const Tokenizer *source,
                      long line);
/* Warn if there are any. */
void unknown_text_report(const UnknownText *unknown, const Seq2Seq *model);
void unknown_text_free(UnknownText *unknown);

#endif
