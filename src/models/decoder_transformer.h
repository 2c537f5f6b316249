/* decoder_transformer.h - a stack of Transformer blocks that attend to the target so far and to the source.
 * Vaswani et al. 2017, section 3.1
 *
 * Step by step, the state holds the keys and values of earlier steps, so that a step costs one row per
 * hypothesis; with SSRUs it holds one vector per block and hypothesis.
 *
 * Shapes  those of decoder.h
 */
#ifndef MODELS_DECODER_TRANSFORMER_H
#define MODELS_DECODER_TRANSFORMER_H

#include "models/state.h"
#include "models/transformer_stack.h"

/* The functions of a DecoderFamily (decoder.h); `decoder` is a TransformerStack. */
void decoder_transformer_declare(ParamSet *params, const char *name, const ModelOptions *options,
                                 void *decoder);
void decoder_transformer_init_state(Tape *tape, const void *decoder, const EncoderOutput *output,
                                    Encoded *encoded);
Tensor *decoder_transformer_step(const void *decoder, const StepContext *step, Tensor *embedded);
Tensor *decoder_transformer_forced(Tape *tape, const void *decoder, const Encoded *encoded,
                                   const Sequences *target, Tensor *embedded);

#endif
