/* tiny_model.h - a small random model over few words, for tests of what is built on models. */
#ifndef TINY_MODEL_H
#define TINY_MODEL_H

#include "models/seq2seq.h"

/* `words`: how many words each language has. Weights are drawn from `seed` and then enlarged, so that the
 * model has opinions. Release with seq2seq_free. */
Seq2Seq *tiny_model_new(int words, uint64_t seed);
/* One with a decoder for each direction. */
Seq2Seq *tiny_model_both_ways(int words, uint64_t seed);
/* From now on it writes from right to left. */
void tiny_model_turn(Seq2Seq *model);
/* Source token s has the `width` target tokens from one that depends on s and on `m` on. */
void tiny_model_give_lists(Seq2Seq *model, int words, int m, int width);
/* Sentence `number` of an endless text in words that the model knows; `length` words. */
void tiny_model_sentence(int words, int number, int length, StrBuf *line);
/* The same sentence as tokens; release with tiny_model_forget. */
Tokens tiny_model_tokens(const Seq2Seq *model, int words, int number, int length);
void tiny_model_forget(Tokens tokens);

#endif
