/* attention.h - attention: weights over source positions, and the context under these weights.
 * Dive into Deep Learning, sections 11.1 and 11.3. Here and elsewhere the equation numbers are those of its
 * version 1.0
 *
 * All score functions, and the table of them, are in attention_scores.c: configuration choices, --help and
 * tests follow from its rows.
 *
 * Shapes  query [n, Q]  values [sum S, K]  keys [sum S, A]  ->  weights [1, total] by spans, context [n, K]
 *         A: the hidden units of additive and concat; for other scores the width of the query
 * Units   the weights of a row sum to 1 over its span. A row with an empty span has no weights, and its
 *         context is 0
 * Owner   results live on the tape
 * Fails   never at run time
 */
#ifndef LAYERS_ATTENTION_H
#define LAYERS_ATTENTION_H

#include "layers/linear.h"

typedef struct Attention Attention;

/* Keys and values, computed once per sentence for all queries. */
typedef struct {
    Tensor *values; /* [sum S, K] */
    Tensor *keys;   /* [sum S, A]; NULL if the score does not read keys */
    Tensor *bias;   /* [sum S, 1] added to each key's scores, or NULL */
    /* For attention over a key/value cache, which only dot-product scores support: [total] rows anywhere in
     * memory, as in op_score_gathered; otherwise NULL. */
    const real *const *key_rows, *const *value_rows;
} KeysValues;

/* A row of the table. */
typedef struct {
    const char *name, *formula;
    /* Declare the parameters. */
    void (*declare)(ParamSet *params, Attention *attention);
    /* Compute keys and bias from kv->values. */
    void (*project_keys)(Tape *tape, const Attention *attention, KeysValues *kv);
    /* a(q, k) of each query and each key of its span: [1, total]. */
    Tensor *(*scores)(Tape *tape, const Attention *attention, Tensor *query, const KeysValues *kv,
                      const Spans *spans);
} AttentionScore;

extern const AttentionScore ATTENTION_SCORES[];
extern const int ATTENTION_SCORE_COUNT;
extern const char ATTENTION_NAMES[]; /* "|additive|dot|..." */
#define ATTENTION_CHOICES (ATTENTION_NAMES + 1)
int attention_score_named(const char *name); /* the row with this name, which must exist */
/* Is this the row of models without attention? */
bool attention_is_none(int score);

typedef struct {
    int query, value; /* Q and K */
    int hidden;       /* A, for scores with a hidden layer */
    int positions;    /* positions that the location score distinguishes */
} AttentionSizes;

struct Attention {
    const AttentionScore *score;
    const char *name; /* prefix of its parameters */
    AttentionSizes size;
    Linear query;   /* [Q, A] additive and concat; [Q, positions] location */
    Linear key;     /* [K, A] additive and concat; [K, Q] general, or other scores if K differs from Q */
    const Param *v; /* [1, A] additive and concat */
    const Param *sharpness; /* [1, 1] cosine */
};

/* `score`: a row of ATTENTION_SCORES. `name` is copied. */
Attention attention_new(ParamSet *params, const char *name, int score, AttentionSizes size);
KeysValues attention_project_keys(Tape *tape, const Attention *attention, Tensor *values);

/* The weights [1, total]: the softmax of the scores over each row's span; masked softmax, section 11.3.2. */
Tensor *attention_weights(Tape *tape, const Attention *attention, Tensor *query, const KeysValues *kv,
                          const Spans *spans);

/* Dropout of the weights; p = 0: none. */
typedef struct {
    double p;
    uint32_t stream;
    const uint32_t *row_keys; /* [n] */
} AttentionDropout;

/* The context [n, K]: the weighted sum of the values, after dropout of the weights. With weights [N, total]
 * of N heads each head has its own columns of the values. */
Tensor *attention_context(Tape *tape, Tensor *weights, const KeysValues *kv, const Spans *spans,
                          AttentionDropout dropout);

#endif
