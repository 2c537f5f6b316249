/* decoder.h - one target token after another, in two families that share one interface: recurrent (decoder_recurrent.h) and
 * Transformer (decoder_transformer.h).
 *
 * decoder_prepare once per batch, then decoder_prepare_steps and decoder_step after step; or decoder_forced for all steps of known targets at once, which
 * gives the same numbers.
 *
 * Shapes  n rows; embedded [n, D] after dropout; readout [n, E] is what the output layer reads
 */
#ifndef MODELS_DECODER_H
#define MODELS_DECODER_H

#include "models/decoder_recurrent.h"
#include "models/decoder_transformer.h"

typedef struct {
    const ModelOptions *options;
    RecurrentDecoder recurrent; /* one of the two, by options->decoder_style */
    TransformerDecoder transformer;
} Decoder;

Decoder decoder_new(ParamSet *params, const ModelOptions *options); /* `options` is kept */
int decoder_readout_size(const ModelOptions *options);              /* E: columns of the output table */
/* Set encoded->memory and encoded->initial. */
void decoder_prepare(Tape *tape, const Decoder *decoder, const EncoderOutput *output, Tensor *annotations,
                     Encoded *encoded);
/* Before the first step, on a tape that does not record: whatever need not be made at every step. */
void decoder_prepare_steps(Tape *tape, const Decoder *decoder, Encoded *encoded);
/* *state is replaced; `attention` may be NULL. */
Tensor *decoder_step(Tape *tape, const Decoder *decoder, const Encoded *encoded, const Spans *spans,
                     Tensor *embedded, DecoderState *state, AttentionWeights *attention);
/* Rows of `embedded` and of the result, which is dropped out, as in `target`; sentence b of `target` translates sentence b of `encoded`. */
Tensor *decoder_forced(Tape *tape, const Decoder *decoder, const Encoded *encoded, const Sequences *target,
                       Tensor *embedded);

#endif
