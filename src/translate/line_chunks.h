/* line_chunks.h - cuts a line into chunks. */
#ifndef TRANSLATE_LINE_CHUNKS_H
#define TRANSLATE_LINE_CHUNKS_H

#include "translate/chunks.h"

/* Adds the chunks of line `i`, whose number in messages is `number`; returns how many there are.
 * `constraints` may be NULL. */
int chunks_add_line(Chunks *chunks, int i, StrView line, const LineConstraints *constraints, long number);

#endif
