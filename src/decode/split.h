/* split.h - cut a long line of text into pieces that a model can take. */
#ifndef DECODE_SPLIT_H
#define DECODE_SPLIT_H

#include "text/segmenter.h"

typedef struct {
    StrView *items; /* into the line, without spaces around */
    int count;
    size_t capacity;
} PieceList;

void piece_list_free(PieceList *list);
/* Directly behind an end mark, does this character belong to what ends there, as quotes and brackets do? Some
 * quotes close in one language and open in another: behind wide marks they open. */
bool split_is_closing(int c, bool wide);
/* Is this a full-width . , or : between digits, as in 3.5, 1,000 and 12:30? Nothing ends there. */
bool split_is_in_number(int before, int c, int after);
/* Append the pieces of `line`, each of about `limit` tokens at most. Where to cut: see translator.h. A line
 * that fits is one piece; white space alone is none. */
void split_line(Segmenter *segmenter, StrView line, int limit, PieceList *pieces);

#endif
