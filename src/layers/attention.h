/* attention.h - weights over source positions and the context they give.
 * Dive into Deep Learning, sections 11.1 and 11.3. Here and elsewhere its equations have the numbers of
 * version 1.0
 *
 * All score functions, and the table of them, are in attention_scores.c: configuration choices, --help and
 * tests follow from its rows.
 *
 * Shapes  query [n, Q]  values [sum S, K]  keys [sum S, A]  ->  weights [1, total] by spans, context [n, K]
 *         A: the hidden units of additive and concat; of other scores as wide as what they are compared with
 * Units   the weights of a row sum to 1 over its span; there are none outside. A row with an empty span has
 *         no weights and its context is 0
 * Owner   results live on the tape
 * Fails   never at run time
 */
#ifndef LAYERS_ATTENTION_H
#define LAYERS_ATTENTION_H

#include "layers/linear.h"

typedef struct Attention Attention;

/* What attention looks at: made once per sentence, whatever the queries are. */
typedef struct {
    Tensor *values;
    Tensor *keys; /* NULL if the score does not look at keys */
    Tensor *bias; /* [sum S, 1] added to each key's scores, or NULL */
    /* Attention over a key/value cache, which scores that are dot products know: rows that lie anywhere, as
     * in op_score_gathered; else NULL. */
    const real *const *key_rows, *const *value_rows;
} KeysValues;

/* A row of the table. */
typedef struct {
    const char *name, *formula;
    /* Declare the parameters. */
    void (*declare)(ParamSet *params, Attention *attention);
    /* Keys and bias from kv->values. */
    void (*project_keys)(Tape *tape, const Attention *attention, KeysValues *kv);
    /* a(q, k) of each query and each key of its span: [1, total]. */
    Tensor *(*scores)(Tape *tape, const Attention *attention, Tensor *query, const KeysValues *kv,
                      const Spans *spans);
} AttentionScore;

extern const AttentionScore ATTENTION_SCORES[];
extern const int ATTENTION_SCORE_COUNT;
extern const char ATTENTION_NAMES[]; /* "|additive|dot|..." */
#define ATTENTION_CHOICES (ATTENTION_NAMES + 1)
int attention_score_named(const char *name); /* its row; it must be there */
/* Is this the row of models without attention? */
bool attention_is_none(int score);

typedef struct {
    int query, value; /* Q and K */
    int hidden;       /* A, of scores with a hidden layer */
    int positions;    /* keys that scores by position tell apart */
} AttentionSizes;

struct Attention {
    const AttentionScore *score;
    const char *name; /* prefix of its parameters */
    AttentionSizes size;
    Linear query, key;
    const Param *v;         /* [1, A] */
    const Param *sharpness; /* [1, 1] */
};

/* `score`: a row of ATTENTION_SCORES. `name` is kept. */
Attention attention_new(ParamSet *params, const char *name, int score, AttentionSizes size);
KeysValues attention_project_keys(Tape *tape, const Attention *attention, Tensor *values);

/* The weights [1, total]: the softmax of the scores over each row's span; masked softmax, section 11.3.2. */
Tensor *attention_weights(Tape *tape, const Attention *attention, Tensor *query, const KeysValues *kv,
                          const Spans *spans);

/* Dropout of the weights: nothing is dropped where p = 0. */
typedef struct {
    double p;
    uint32_t stream;
    const uint32_t *row_keys; /* [n] */
} AttentionDropout;

/* The context [n, K]: the sum of the values under the weights, some of which are dropped; weights [N, total]
 * of N heads give each head its share of the columns. */
Tensor *attention_context(Tape *tape, Tensor *weights, const KeysValues *kv, const Spans *spans,
                          AttentionDropout dropout);

#endif
