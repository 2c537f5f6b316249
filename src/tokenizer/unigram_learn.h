/* unigram_learn.h - learns the pieces of a unigram language model from counted words.
 * Kudo 2018, "Subword regularization", section 3.2; the constants are those of SentencePiece's trainer
 *
 * Seeds are the repeated substrings of words. Rounds of EM estimate their probabilities, and each round
 * drops the quarter whose loss costs the text the least likelihood, until `pieces` are left.
 *
 * Exact   the result depends on the words and their order alone
 */
#ifndef TOKENIZER_UNIGRAM_LEARN_H
#define TOKENIZER_UNIGRAM_LEARN_H

#include "base/hashmap.h"
#include "base/progress_line.h"
#include "sentencepiece/sentencepiece.h"

enum { UNIGRAM_PIECE_CHARACTERS = 16, UNIGRAM_SEEDS = 1000000 };

/* `words`: pre-tokens that begin with U+2581 after a space, and their counts. The pieces have all characters
 * seen `min_count` times, the most frequent ones if there are more than `pieces`. NULL: there are none.
 * `progress` may be NULL. */
SentencePiece *unigram_learn(const HashMap *words, int pieces, int min_count, ProgressLine *progress);

#endif
