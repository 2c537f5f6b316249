/* line_split.h - splits a long line of text into chunks that fit a model. */
#ifndef TOKENIZER_LINE_SPLIT_H
#define TOKENIZER_LINE_SPLIT_H

#include "tokenizer/tokenizer.h"

typedef struct {
    StrView *items; /* [count] views into the line, without spaces around them */
    int count;
    size_t capacity;
} TextList;

void text_list_add(TextList *list, StrView text);
void text_list_free(TextList *list);
/* Appends the chunks of `line`, each of about `limit` tokens at most. See translator.h for the positions of
 * the cuts. A line that fits is one chunk; white space has none. */
void line_split(Tokenizer *tokenizer, StrView line, int limit, TextList *chunks);

#endif
