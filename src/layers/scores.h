/* scores.h - the functions behind the rows of the score table; attention.h is the interface to use. */
#ifndef LAYERS_SCORES_H
#define LAYERS_SCORES_H

#include "layers/attention.h"

#define SCORE_DECLARE(name)                                                                                  \
    void score_##name##_declare(ParamSet *params, Attention *attention);                                     \
    Tensor *score_##name##_keys(Tape *tape, const Attention *attention, Tensor *values);                     \
    Tensor *score_##name##_scores(Tape *tape, const Attention *attention, Tensor *query, Tensor *keys,       \
                                  const Spans *spans)

SCORE_DECLARE(additive);

#endif
