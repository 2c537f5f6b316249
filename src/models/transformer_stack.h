/* transformer_stack.h - a stack of Transformer blocks, the encoder's or the decoder's.
 * Vaswani et al. 2017, section 3.1; Dive into Deep Learning, section 11.7
 *
 * Shapes  embedded [n, D] -> [n, H]
 */
#ifndef MODELS_TRANSFORMER_STACK_H
#define MODELS_TRANSFORMER_STACK_H

#include "layers/positions.h"
#include "layers/transformer.h"
#include "config/config.h"

typedef struct {
    const ModelOptions *options;
    int layers;
    PositionalEncoding positions;
    TransformerBlock block[MODEL_MAX_LAYERS];
    Norm norm; /* [1, H] pre-normalization: of the last block's output */
} TransformerStack;

/* `name`: prefix of the parameters. `source_size` as in TransformerForm: 0 for an encoder. `options` must
 * outlive the stack. */
TransformerStack transformer_stack_new(ParamSet *params, const char *name, const ModelOptions *options,
                                       int layers, int source_size);
/* `run` has everything except the rates of dropout. */
Tensor *transformer_stack_run(Tape *tape, const TransformerStack *stack, Tensor *embedded,
                              TransformerRun run);

#endif
