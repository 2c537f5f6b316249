/* bpe_learn.h - learn merges from word counts.
 * Sennrich, Haddow and Birch 2016, algorithm 1; ties as in subword-nmt: greatest count, then greatest pair
 */
#ifndef TOKENIZER_BPE_LEARN_H
#define TOKENIZER_BPE_LEARN_H

#include "base/hashmap.h"
#include "base/progress_line.h"
#include "tokenizer/bpe.h"

enum { BPE_LEARN_LONGEST = 1000 }; /* bytes; longer words are ignored */

/* `words`: pre-tokens with their markers, and their counts. Stops when no pair occurs `min_count` times.
 * `progress` may be NULL. */
Bpe *bpe_learn(const HashMap *words, BpeMarker marker, int merges, int min_count, ProgressLine *progress);

#endif
