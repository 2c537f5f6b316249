/* model_variants.h - one small model for each way of putting a model together, and a batch for it.
 *
 * tests/gradcheck compiles the same source in double precision.
 */
#ifndef MODEL_VARIANTS_H
#define MODEL_VARIANTS_H

#include "models/seq2seq.h"

typedef struct {
    const char *name;
    const char *settings; /* "model.decoder=bahdanau model.tie=none": keys of the configuration */
} ModelVariant;

extern const ModelVariant MODEL_VARIANTS[]; /* ends with a row without a name */

enum { VARIANT_WORDS = 5, VARIANT_SENTENCES = 5 }; /* words of each language */

/* Random weights, biases and gains included; not packed. `more`: further settings, or NULL. Release with seq2seq_free. */
Seq2Seq *variant_new(const ModelVariant *variant, const char *more, uint64_t seed);
/* Sentences of different lengths, empty ones on either side among them. seed_update 0 = no dropout. */
TrainingBatch variant_batch(uint64_t seed_update);

#endif
