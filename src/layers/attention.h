/* attention.h - weights over source positions and the context they give.
 * Bahdanau et al. 2015, A.1.2; Luong et al. 2015, eq. 7-8
 *
 * A score function is one file score_<name>.c and one row of ATTENTION_SCORES; configuration choices, --help and tests follow
 * from the row.
 *
 * Shapes  query [n, Q]  values [sum S, K]  keys [sum S, A]  ->  weights [1, total] by spans, context [n, K]
 * Units   the weights of a row sum to 1 over its span; there are none outside
 * Owner   results live on the tape
 * Fails   never at run time
 */
#ifndef LAYERS_ATTENTION_H
#define LAYERS_ATTENTION_H

#include "layers/linear.h"

typedef struct Attention Attention;

typedef struct {
    const char *name, *formula;
    void (*declare)(ParamSet *params, Attention *attention);
    Tensor *(*keys)(Tape *tape, const Attention *attention, Tensor *values); /* once per sentence */
    Tensor *(*scores)(Tape *tape, const Attention *attention, Tensor *query, Tensor *keys,
                      const Spans *spans);
} AttentionScore;

extern const AttentionScore ATTENTION_SCORES[];
extern const int ATTENTION_SCORE_COUNT;
const char *attention_choices(void); /* "additive|..." for the option table */

struct Attention {
    const AttentionScore *score;
    const char *name;                       /* prefix of its parameters */
    int query_size, value_size, inner_size; /* Q, K, A */
    Linear query, key;                      /* as far as the score uses them */
    const Param *v;
};

Attention attention_new(ParamSet *params, const char *name, int score, int query_size, int value_size,
                        int inner_size);
Tensor *attention_keys(Tape *tape, const Attention *attention, Tensor *values);
/* Context [n, K]; *weights receives the weights. */
Tensor *attention_context(Tape *tape, const Attention *attention, Tensor *query, Tensor *keys, Tensor *values,
                          const Spans *spans, Tensor **weights);

#endif
