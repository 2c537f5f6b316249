/* attention.h - weights over source positions and the context they give.
 * Bahdanau et al. 2015, A.1.2; Luong et al. 2015, section 3.1; Graves et al. 2014; Vaswani et al. 2017, section 3.2.1
 *
 * A score function is one file score_<name>.c and one row of ATTENTION_SCORES in scores.h; configuration choices, --help and
 * tests follow from the row.
 *
 * Shapes  query [n, Q]  values [sum S, K]  keys [sum S, A]  ->  weights [1, total] by spans, context [n, K]
 * Units   the weights of a row sum to 1 over its span; there are none outside. A row with an empty span has no weights and its
 *         context is 0
 * Owner   results live on the tape
 * Fails   never at run time
 */
#ifndef LAYERS_ATTENTION_H
#define LAYERS_ATTENTION_H

#include "layers/linear.h"

typedef struct Attention Attention;

/* What attention looks at; the parts that do not depend on the query are made once per sentence. */
typedef struct {
    Tensor *values;
    Tensor *keys; /* NULL if the score does not look at keys */
    Tensor *bias; /* [sum S, 1] added to each key's scores, or NULL */
    /* Multi-head attention only, instead of tensors: rows that lie anywhere, as in op_score_apart. */
    const real *const *key_rows, *const *value_rows;
} AttentionMemory;

typedef struct {
    const char *name, *formula;
    /* Declare the parameters. */
    void (*declare)(ParamSet *params, Attention *attention);
    /* Keys and bias of memory->values. */
    void (*remember)(Tape *tape, const Attention *attention, AttentionMemory *memory);
    Tensor *(*scores)(Tape *tape, const Attention *attention, Tensor *query, const AttentionMemory *memory,
                      const Spans *spans);
} AttentionScore;

extern const AttentionScore ATTENTION_SCORES[];
extern const int ATTENTION_SCORE_COUNT;
extern const char ATTENTION_NAMES[]; /* "|additive|dot|..." */
#define ATTENTION_CHOICES (ATTENTION_NAMES + 1)

struct Attention {
    const AttentionScore *score;
    const char *name;                       /* prefix of its parameters */
    int query_size, value_size, inner_size; /* Q, K, A */
    int positions;                          /* keys that scores by position tell apart */
    Linear query, key;                      /* as far as the score uses them */
    const Param *v, *sharpness;
};

typedef struct {
    int score;                              /* row of the table */
    int query_size, value_size, inner_size; /* Q, K and the hidden units of scores that have some */
    int positions;
} AttentionForm;

Attention attention_new(ParamSet *params, const char *name, AttentionForm form);
AttentionMemory attention_remember(Tape *tape, const Attention *attention, Tensor *values);

/* Dropout of the weights: nothing is dropped where p = 0. */
typedef struct {
    double p;
    uint32_t site;
    const uint32_t *row_keys; /* [n] */
} AttentionDropout;

/* The weights [1, total] alone. */
Tensor *attention_weights(Tape *tape, const Attention *attention, Tensor *query,
                          const AttentionMemory *memory, const Spans *spans);
/* Context [n, K]; *weights receives the weights as they were before dropout. */
Tensor *attention_context(Tape *tape, const Attention *attention, Tensor *query,
                          const AttentionMemory *memory, const Spans *spans, AttentionDropout dropout,
                          Tensor **weights);

/* Parts that scores share. */

/* A map without bias, "name.side.weight" [inputs, outputs], whose weights begin within `shrink` times the bounds of Glorot and
 * Bengio 2010: scores that grow with the size of their vectors must begin smaller, or the softmax starts where its gradient vanishes. */
Linear attention_map(ParamSet *params, const Attention *attention, const char *side, int inputs, int outputs,
                     double shrink);
/* For scores of query and key that must have one size: declares the map that makes keys of the query's size where the values have
 * another, and applies it (the values themselves where not). */
void attention_match_declare(ParamSet *params, Attention *attention, double shrink);
Tensor *attention_match(Tape *tape, const Attention *attention, Tensor *values);

#endif
