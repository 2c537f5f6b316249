/* transformer.h - a Transformer block: self-attention, attention to the source (decoder only), feed-forward network, each with a
 * residual connection and layer normalisation.
 * Vaswani et al. 2017, section 3; normalisation before each part instead of after it: Wang et al. 2019, Xiong et al. 2020
 *
 * Shapes  x [n, D] -> [n, D]
 */
#ifndef LAYERS_TRANSFORMER_H
#define LAYERS_TRANSFORMER_H

#include "layers/history.h"
#include "layers/multihead.h"
#include "layers/norm.h"

typedef enum { NORM_PRE, NORM_POST } NormPlace;
#define NORM_CHOICES "pre|post" /* in the order of NormPlace */

typedef struct {
    int size, feed_forward, heads;
    int reach;       /* of relative positions in self-attention; 0 = none */
    int source_size; /* M of what cross-attention looks at; 0 = no cross-attention */
    NormPlace norm;
} TransformerForm;

typedef struct {
    NormPlace norm;
    bool crosses;
    Multihead self, cross;
    Linear inner, outer; /* the feed-forward network */
    Norm self_norm, cross_norm, feed_norm;
} TransformerBlock;

/* One run of a block. */
typedef struct {
    const Spans *spans;  /* which rows each row may look at, of its own sentence */
    const int *position; /* [n] each row's place in its sentence */
    /* When blocks are run step by step: which one this is, and where each row came by; the last step is this one, whose keys and values
     * are put into now[block]. NULL: all rows of the sentences are there, the block looks at x itself. */
    const History *history;
    StepMemory *now;
    int block;
    const AttentionMemory *source; /* from transformer_remember, for cross-attention */
    const Spans *source_spans;
    double dropout, attention_dropout;
    uint32_t stream; /* of the block's first dropout; it has TRANSFORMER_STREAMS */
    const uint32_t *row_keys;
    Tensor *cross_weights; /* result: [heads, total] of source_spans */
} TransformerRun;

enum { TRANSFORMER_STREAMS = 6 };

TransformerBlock transformer_new(ParamSet *params, const char *name, const TransformerForm *form);
AttentionMemory transformer_remember(Tape *tape, const TransformerBlock *block, Tensor *source);
Tensor *transformer_run(Tape *tape, const TransformerBlock *block, Tensor *x, TransformerRun *run);

#endif
