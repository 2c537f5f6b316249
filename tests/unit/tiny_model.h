/* tiny_model.h - a small random model with few words. */
#ifndef TINY_MODEL_H
#define TINY_MODEL_H

#include "models/seq2seq.h"

/* `words`: number of words of each language. Weights are drawn from `seed` and then enlarged, so that the
 * model has clear preferences. Release with seq2seq_free. */
Seq2Seq *tiny_model_new(int words, uint64_t seed);
/* A model with a decoder for each direction. */
Seq2Seq *tiny_model_both_ways(int words, uint64_t seed);
/* From now on the model decodes from right to left. */
void tiny_model_reverse(Seq2Seq *model);
/* A shortlist: source token s has `width` consecutive target tokens; the first depends on s and `m`. */
void tiny_model_give_lists(Seq2Seq *model, int words, int m, int width);
/* Sentence `number` of an endless text in words that the model knows; `length` words. */
void tiny_model_sentence(int words, int number, int length, StrBuf *line);
/* The same sentence as tokens; release with tiny_model_forget. */
Tokens tiny_model_tokens(const Seq2Seq *model, int words, int number, int length);
void tiny_model_forget(Tokens tokens);

#endif
