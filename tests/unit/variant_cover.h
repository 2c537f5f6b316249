/* variant_cover.h - few models in which every two choices that can meet do meet.
 *
 * A factor is a key of the configuration with the values that are tried. The choices of options, the score
 * table among them, are read from the option table: a new one is covered by itself. A factor that has no
 * effect in a model ("model.encoder.width" where nothing is a convolution) counts as absent there and keeps
 * its default.
 */
#ifndef VARIANT_COVER_H
#define VARIANT_COVER_H

#include "base/rng.h"
#include "unit/model_variants.h"

enum { COVER_FACTORS = 19, COVER_ABSENT = -1 };

/* Number of the value of each factor, or COVER_ABSENT. */
typedef struct {
    int value[COVER_FACTORS];
} Choice;

const char *cover_key(int factor);
int cover_values(int factor); /* how many */
/* "model.cell=lstm model.heads=2 ...": of all factors that are there. */
void cover_settings(const Choice *choice, StrBuf *settings);
/* "model.cell=lstm" */
void cover_setting(int factor, int value, StrBuf *setting);
/* A choice by chance, but factors `fixed` has are as it says; false if it is refused or a fixed factor would
 * be absent. */
bool cover_draw(Rng *rng, const Choice *fixed, Choice *choice);

/* The covering set; made once, lives until the program ends. */
const Choice *cover_choices(int *count);
/* MODEL_VARIANTS followed by the covering set; ends with a row without a name. */
const ModelVariant *cover_variants(void);

#endif
