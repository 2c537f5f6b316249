/* model_variants.h - small variants of the model for tests, and a batch for them.
 *
 * tests/unit/models/variants.c requires a variant for each choice of an option, and that each setting has an
 * effect.
 *
 * tests/gradcheck compiles the same source in double precision.
 */
#ifndef MODEL_VARIANTS_H
#define MODEL_VARIANTS_H

#include "models/seq2seq.h"

typedef struct {
    const char *name;
    const char *settings; /* "model.decoder.style=bahdanau model.tie=none": keys of the configuration */
} ModelVariant;

extern const ModelVariant MODEL_VARIANTS[]; /* ends with a row without a name */

enum { VARIANT_WORDS = 5, VARIANT_SENTENCES = 5 }; /* words of each language */

/* The base configuration of all variants: very small sizes. */
void variant_sizes(ModelOptions *options);
/* `more`: further settings, or NULL. */
bool variant_allowed(const ModelVariant *variant, const char *more);
/* Random weights, biases and gains included; not packed. Release with seq2seq_free. */
Seq2Seq *variant_new(const ModelVariant *variant, const char *more, uint64_t seed);
/* Copies the weights of `both`, a model of two decoders, into `one`, a model of one of these decoders. */
void variant_take_decoder(Seq2Seq *one, const Seq2Seq *both, bool right_to_left);
/* Sentences of different lengths, empty ones on either side among them. seed_update 0 = no dropout. */
TrainingBatch variant_batch(uint64_t seed_update);

#endif
