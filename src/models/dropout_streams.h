/* dropout_streams.h - numbers of the random streams of the model's dropouts: no two dropouts share a mask. */
#ifndef MODELS_DROPOUT_STREAMS_H
#define MODELS_DROPOUT_STREAMS_H

enum {
    DROPOUT_SOURCE_EMBEDDING = 1,
    DROPOUT_TARGET_EMBEDDING = 2,
    DROPOUT_ENCODER_OUTPUT = 3,
    DROPOUT_READOUT = 4,
    DROPOUT_SOURCE_WORD = 5,
    DROPOUT_TARGET_WORD = 6,
    DROPOUT_ATTENTION = 7,
    DROPOUT_INTRA_ATTENTION = 8,
    DROPOUT_ENCODER_LAYER = 100, /* + layer */
    DROPOUT_DECODER_LAYER = 200, /* + layer */
    DROPOUT_ENCODER_BLOCK = 300, /* + TRANSFORMER_STREAMS layer; from layer 8 on 3000 + ... */
    DROPOUT_DECODER_BLOCK = 400, /* the same; 4000 + ... */
    DROPOUT_ENCODER_STATE = 500, /* + 2 layer + direction */
    DROPOUT_DECODER_STATE = 600, /* + layer */
    DROPOUT_SECOND_STATE = 700
};

#endif
