/* transformer_stack.h - Transformer blocks one on the other, the encoder's or the decoder's.
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
    Norm norm; /* pre-normalization: of the last block's output */
} TransformerStack;

/* `name`: of the parameters. `source_size` as in TransformerForm. `options` is kept. */
TransformerStack transformer_stack_new(ParamSet *params, const char *name, const ModelOptions *options,
                                       int layers, int source_size);
/* `run` says everything but the rates of dropout. */
Tensor *transformer_stack_run(Tape *tape, const TransformerStack *stack, Tensor *embedded,
                              TransformerRun run);

#endif
