/* seed.h - the seed of resampling, as the environment variable SACREBLEU_SEED has it. */
#ifndef BLEU_SEED_H
#define BLEU_SEED_H

#include "base/status.h"
#include "bleu/pcg64.h"

typedef struct {
    Pcg64 generator;
    char given[80];  /* as the environment has it, in lower case: for signatures of confidence intervals */
    char number[80]; /* without leading zeros: for those of paired tests */
} Seed;

/* NULL is 12345; "none" takes 128 bits from the system. */
Status seed_read(Seed *seed, const char *text);

#endif
