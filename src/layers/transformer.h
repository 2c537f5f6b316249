/* transformer.h - a Transformer block: the sublayers self-attention, cross-attention to the source (decoder
 * only) and feed-forward network, each with a residual connection and layer normalization. Vaswani et al.
 * 2017, section 3; Dive into Deep Learning, section 11.7; normalization before each sublayer instead of
 * after it: Wang et al. 2019, Xiong et al. 2020; an SSRU instead of the decoder's self-attention: ssru.h
 *
 * Shapes  x [n, D] -> [n, D]
 */
#ifndef LAYERS_TRANSFORMER_H
#define LAYERS_TRANSFORMER_H

#include "layers/kv_cache.h"
#include "layers/multihead.h"
#include "layers/ssru.h"

typedef enum { NORM_PRE, NORM_POST } NormPlace;
#define NORM_CHOICES "pre|post" /* in the order of NormPlace */

typedef enum { AUTOREG_SELF_ATTENTION, AUTOREG_SSRU } Autoregression;
#define AUTOREG_CHOICES "self_attention|ssru" /* in the order of Autoregression */

typedef struct {
    int size, feed_forward, heads; /* D, hidden units of the feed-forward network, N */
    int max_relative_position;     /* in self-attention; 0 = no relative positions */
    int source_size;               /* M: columns of the source of cross-attention; 0 = no cross-attention */
    NormPlace norm;
    double norm_epsilon;
    ActivationFunction activation; /* of the feed-forward network */
    bool attention_bias;
    Autoregression autoreg; /* how a row reads the rows before it; an encoder has self-attention */
} TransformerForm;

typedef struct {
    const char *name; /* prefix of its parameters */
    NormPlace norm;
    bool crosses;
    Autoregression autoreg;
    ActivationFunction activation;
    Multihead self, cross;                 /* [D, D], and [M, D] for keys and values of `cross` */
    Ssru ssru;                             /* [D, D] instead of `self` */
    Linear inner;                          /* [D, feed_forward] the feed-forward network ... */
    Linear outer;                          /* [feed_forward, D] ... */
    Norm self_norm, cross_norm, feed_norm; /* [1, D] */
} TransformerBlock;

/* One run of a stack of blocks. */
typedef struct {
    const Spans *spans;  /* the rows of its sentence that each row attends to */
    const int *position; /* [n] each row's position in its sentence */
    /* Step by step: the cache, whose last step is the current one; the block writes its keys and values to
     * now[block]. NULL: all rows at once, a block attends to x itself. */
    const KvCache *cache;
    KvStep *now;
    Tensor **ssru;            /* [blocks] step by step: the state of each SSRU, which the block replaces */
    const KeysValues *source; /* [blocks] from transformer_project_source, for cross-attention */
    const Spans *source_spans;
    double dropout, attention_dropout;
    uint32_t stream; /* of the first block's first dropout; each block has TRANSFORMER_STREAMS. From block
                      * TRANSFORMER_LOWER_BLOCKS on they begin at ten times this number */
    const uint32_t *row_keys;
    Tensor **cross_weights; /* [blocks] results: [heads, total] of source_spans */
} TransformerRun;

enum { TRANSFORMER_STREAMS = 6, TRANSFORMER_LOWER_BLOCKS = 8 };

TransformerBlock transformer_new(ParamSet *params, const char *name, const TransformerForm *form);
/* Keys and values for cross-attention, computed once per sentence. */
KeysValues transformer_project_source(Tape *tape, const TransformerBlock *block, Tensor *source);
/* `index`: the number of this block in the run. */
Tensor *transformer_run(Tape *tape, const TransformerBlock *block, Tensor *x, const TransformerRun *run,
                        int index);

#endif
