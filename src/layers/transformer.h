/* transformer.h - a Transformer block: self-attention, attention to the source (decoder only), feed-forward
 * network, each with a residual connection and layer normalization.
 * Vaswani et al. 2017, section 3; Dive into Deep Learning, section 11.7; normalization before each part
 * instead of after it: Wang et al. 2019, Xiong et al. 2020
 *
 * Shapes  x [n, D] -> [n, D]
 */
#ifndef LAYERS_TRANSFORMER_H
#define LAYERS_TRANSFORMER_H

#include "layers/kv_cache.h"
#include "layers/multihead.h"

typedef enum { NORM_PRE, NORM_POST } NormPlace;
#define NORM_CHOICES "pre|post" /* in the order of NormPlace */

typedef struct {
    int size, feed_forward, heads;
    int max_relative_position; /* in self-attention; 0 = no relative positions */
    int source_size;           /* M of what cross-attention looks at; 0 = no cross-attention */
    NormPlace norm;
} TransformerForm;

typedef struct {
    const char *name; /* prefix of its parameters */
    NormPlace norm;
    bool crosses;
    Multihead self, cross;
    Linear inner, outer; /* the feed-forward network */
    Norm self_norm, cross_norm, feed_norm;
} TransformerBlock;

/* One run of a stack of blocks. */
typedef struct {
    const Spans *spans;  /* which rows each row may look at, of its own sentence */
    const int *position; /* [n] each row's place in its sentence */
    /* When blocks are run step by step: where each row came by; the last step is this one, whose keys and
     * values are put into now[block]. NULL: all rows are there, a block looks at x itself. */
    const KvCache *cache;
    KvStep *now;
    const KeysValues *source; /* [blocks] from transformer_project_source, for cross-attention */
    const Spans *source_spans;
    double dropout, attention_dropout;
    uint32_t stream; /* of the first block's first dropout; each block has TRANSFORMER_STREAMS */
    const uint32_t *row_keys;
    Tensor **cross_weights; /* [blocks] results: [heads, total] of source_spans */
} TransformerRun;

enum { TRANSFORMER_STREAMS = 6 };

TransformerBlock transformer_new(ParamSet *params, const char *name, const TransformerForm *form);
/* Keys and values for cross-attention: once per sentence. */
KeysValues transformer_project_source(Tape *tape, const TransformerBlock *block, Tensor *source);
/* `index`: which block of the run this is. */
Tensor *transformer_run(Tape *tape, const TransformerBlock *block, Tensor *x, const TransformerRun *run,
                        int index);

#endif
