/* decoder.h - one target token after another, in two families that share one interface: recurrent decoders of
 * three styles (decoder_recurrent.h) and the Transformer's (decoder_transformer.h).
 *
 * A search calls family->init_state and family->map_annotations once per batch, and family->step for each
 * token. Training calls family->init_state, and decoder_forced for all steps of known targets at once, which
 * gives the same numbers.
 *
 * Shapes  n rows; embedded [n, D] after dropout; state parts [n, H]; context [n, K]; readout [n, E] is the
 *         input of the output layer
 */
#ifndef MODELS_DECODER_H
#define MODELS_DECODER_H

#include "models/decoder_recurrent.h"
#include "models/decoder_transformer.h"

/* A row of the table in decoder.c. `decoder` points to the parameters of the family, its member of
 * Decoder.params. */
typedef struct {
    /* Declare the parameters; their names begin with `name`. */
    void (*declare)(ParamSet *params, const char *name, const ModelOptions *options, void *decoder);
    /* Set encoded->source and encoded->initial; without attention also encoded->start, one row a sentence. */
    void (*init_state)(Tape *tape, const void *decoder, const EncoderOutput *output, Encoded *encoded);
    /* Before the first step, on a tape that does not record: compute what is the same at every step. NULL:
     * nothing is. */
    void (*map_annotations)(Tape *tape, const void *decoder, Encoded *encoded);
    /* Returns the readout. */
    Tensor *(*step)(const void *decoder, const StepContext *step, Tensor *embedded);
    /* The readout of all steps; see decoder_forced. */
    Tensor *(*forced)(Tape *tape, const void *decoder, const Encoded *encoded, const Sequences *target,
                      Tensor *embedded);
} DecoderFamily;

typedef struct {
    const DecoderFamily *family; /* by options->decoder_style */
    const ModelOptions *options;
    union {
        RecurrentDecoder recurrent;
        TransformerStack blocks;
    } params;
} Decoder;

/* `options` must outlive the decoder. */
Decoder decoder_new(ParamSet *params, const char *name, const ModelOptions *options);
/* The readout of all steps, after dropout. Rows of `embedded` and of the result as in `target`; sentence b of
 * `target` translates sentence b of `encoded`. */
Tensor *decoder_forced(Tape *tape, const Decoder *decoder, const Encoded *encoded, const Sequences *target,
                       Tensor *embedded);

#endif
