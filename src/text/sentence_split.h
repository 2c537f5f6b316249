/* sentence_split.h - cut a long line of text into pieces that a model can take. */
#ifndef TEXT_SENTENCE_SPLIT_H
#define TEXT_SENTENCE_SPLIT_H

#include "text/tokenizer.h"

typedef struct {
    StrView *items; /* into the line, without spaces around */
    int count;
    size_t capacity;
} PieceList;

void piece_list_free(PieceList *list);
/* Append the pieces of `line`, each of about `limit` tokens at most. Where to cut: see translator.h. A line
 * that fits is one piece; white space alone is none. */
void split_line(Tokenizer *tokenizer, StrView line, int limit, PieceList *pieces);

#endif
