/* chunk_constraints.h - the words that translations of chunks must contain, and whether they do. */
#ifndef TRANSLATE_CHUNK_CONSTRAINTS_H
#define TRANSLATE_CHUNK_CONSTRAINTS_H

#include "translate/chunks.h"

/* Sets the constraints of a line's chunks, from `first` on: terms of the glossary, and those of the line for
 * its first chunk. `line`: NULL is allowed. `unknown`: texts of the <unk>s of the prefix. */
void chunks_constrain(Chunks *chunks, const LineConstraints *line, long number, int first, StrList *unknown);
/* Adds the terms that a chunk must contain as constraints, at their positions in its tokens. Terms of a model
 * without attention have no positions. */
void chunks_add_terms(Chunks *chunks, int chunk);
/* Lists the words that a line must contain by whether each is met: every chunk that requires it contains it.
 * A line without chunks meets none. The line's chunks begin at `first`; `constraints` may be NULL. */
void chunks_check_constraints(const Chunks *chunks, const LineConstraints *constraints, int first,
                              Translation *out);

#endif
