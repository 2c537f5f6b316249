/* sites.h - numbers of the places in the model that drop units, so that no two share a mask. */
#ifndef MODELS_SITES_H
#define MODELS_SITES_H

enum {
    SITE_SOURCE_EMBEDDING = 1,
    SITE_TARGET_EMBEDDING = 2,
    SITE_ENCODER_OUTPUT = 3,
    SITE_READOUT = 4,
    SITE_SOURCE_WORD = 5,
    SITE_TARGET_WORD = 6,
    SITE_ATTENTION = 7,
    SITE_ENCODER_LAYER = 100, /* + layer */
    SITE_DECODER_LAYER = 200, /* + layer */
    SITE_ENCODER_BLOCK = 300, /* + TRANSFORMER_SITES layer */
    SITE_DECODER_BLOCK = 400  /* + TRANSFORMER_SITES layer */
};

#endif
