/* useful_work.h - the arithmetic that a batch needs, whoever computes it.
 *
 * Two operations for each weight and each token that meets it, forward, and four backward; attention counts scores and contexts the
 * same way. Functions, normalisation, dropout and the optimiser count nothing, nor does any padding.
 */
#ifndef BENCH_USEFUL_WORK_H
#define BENCH_USEFUL_WORK_H

#include "models/seq2seq.h"

/* Sums over the sentence pairs of a batch; S source and T target tokens, each with its </s>. */
typedef struct {
    double sentences, source, target;
    double source_pairs, target_pairs, cross_pairs; /* S S, T (T + 1) / 2, S T */
} Work;

void work_add(Work *work, int source_length, int target_length); /* lengths with </s> */
/* Operations of one forward and backward pass. */
double work_flops(const Seq2Seq *model, const Work *work);

#endif
