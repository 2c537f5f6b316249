/* scores.h - the table of score functions; attention.h is the interface to use. */
#ifndef LAYERS_SCORES_H
#define LAYERS_SCORES_H

#include "layers/attention.h"

/* One row per score: its name, which is also that of its file score_<name>.c, and its formula. */
#define SCORE_TABLE(ROW)                                                                                     \
    ROW(additive, "v . tanh(W q + U k)")                                                                     \
    ROW(dot, "q . k")                                                                                        \
    ROW(scaled_dot, "q . k / sqrt(d)")                                                                       \
    ROW(general, "q . W k")                                                                                  \
    ROW(cosine, "b q . k / (|q| |k|)")                                                                       \
    ROW(distance, "-|q - k|^2 / 2")                                                                          \
    ROW(location, "(W q)[position of k]")                                                                    \
    ROW(concat, "v . tanh(W [q; k])")

#define SCORE_DECLARE(name, formula)                                                                         \
    void score_##name##_declare(ParamSet *params, Attention *attention);                                     \
    void score_##name##_remember(Tape *tape, const Attention *attention, AttentionMemory *memory);           \
    Tensor *score_##name##_scores(Tape *tape, const Attention *attention, Tensor *query,                     \
                                  const AttentionMemory *memory, const Spans *spans);
SCORE_TABLE(SCORE_DECLARE)

#endif
