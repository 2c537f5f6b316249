/* decoder_transformer.h - a stack of Transformer blocks that look at the target so far and at the source.
 * Vaswani et al. 2017, section 3.1
 *
 * Step by step, the keys and values of earlier steps are kept in the state, so that a step costs one row per hypothesis.
 *
 * Shapes  n rows; embedded [n, D]; blocks and readout [n, H]
 */
#ifndef MODELS_DECODER_TRANSFORMER_H
#define MODELS_DECODER_TRANSFORMER_H

#include "layers/posenc.h"
#include "layers/sequences.h"
#include "layers/transformer.h"
#include "models/state.h"

typedef struct {
    const ModelOptions *options;
    Linear input; /* from embedding to block size, where these differ */
    Posenc posenc;
    TransformerBlock block[MODEL_MAX_LAYERS];
    Norm norm; /* pre-normalisation: of the last block's output */
} TransformerDecoder;

TransformerDecoder decoder_transformer_new(ParamSet *params, const ModelOptions *options);
void decoder_transformer_prepare(Tape *tape, const TransformerDecoder *decoder, Tensor *annotations,
                                 Encoded *encoded);
Tensor *decoder_transformer_step(Tape *tape, const TransformerDecoder *decoder, const Encoded *encoded,
                                 const Spans *spans, Tensor *embedded, DecoderState *state,
                                 AttentionWeights *attention);
Tensor *decoder_transformer_forced(Tape *tape, const TransformerDecoder *decoder, const Encoded *encoded,
                                   const Sequences *target, Tensor *embedded);

#endif
