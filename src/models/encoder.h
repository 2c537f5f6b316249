/* encoder.h - from embedded source tokens to one annotation per token, in one of three ways:
 *   encoder_rnn.c  recurrent layers
 *   encoder.c      Transformer blocks (Vaswani et al. 2017, section 3.1)
 *   encoder.c      gated convolutions (Gehring et al. 2017)
 * Each feeds any decoder. The table of families in encoder.c has a row for each way.
 *
 * Shapes  x [rows, D] -> annotations [rows, K], rows as in sequences.h; K = H, or 2 H of a bidirectional RNN
 */
#ifndef MODELS_ENCODER_H
#define MODELS_ENCODER_H

#include "layers/conv.h"
#include "models/encoder_rnn.h"
#include "models/transformer_stack.h"

/* A row of the table. `encoder` points to the parameters of the family, its member of Encoder.params. */
typedef struct {
    /* Declare the parameters. */
    void (*declare)(ParamSet *params, const ModelOptions *options, void *encoder);
    EncoderOutput (*run)(Tape *tape, const void *encoder, Tensor *x, const Sequences *source);
} EncoderFamily;

typedef struct {
    const ModelOptions *options;
    PositionalEncoding positions; /* [D, H] if D differs from H */
    Conv conv[MODEL_MAX_LAYERS];  /* [width H, 2 H] */
    Norm norm;                    /* [1, H] of the last layer's output */
} ConvEncoder;

typedef struct {
    const EncoderFamily *family; /* by options->encoder_style */
    union {
        RnnEncoder rnn;
        TransformerStack blocks;
        ConvEncoder conv;
    } params;
} Encoder;

/* `options` must outlive the encoder. Run it with encoder.family->run(tape, &encoder.params, x, source). */
Encoder encoder_new(ParamSet *params, const ModelOptions *options);

/* The encoder's final state [B, K]: the last annotation of each sentence; of a bidirectional RNN the forward
 * half of the last one and the backward half of the first. `start` [B + 1] as in sequences.h. */
Tensor *encoder_final_state(Tape *tape, const ModelOptions *options, Tensor *annotations, const int *start,
                            int B);

#endif
