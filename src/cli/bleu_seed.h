/* bleu_seed.h - the seed of resampling, from the environment variable SACREBLEU_SEED. */
#ifndef CLI_BLEU_SEED_H
#define CLI_BLEU_SEED_H

#include "base/status.h"
#include "metrics/pcg64.h"

typedef struct {
    Pcg64 generator;
    char given[80];  /* as the environment has it, in lower case: for signatures of confidence intervals */
    char number[80]; /* without leading zeros: for those of paired tests */
} BleuSeed;

/* 12345 if the variable is not set; "none" takes 128 bits from the system. */
Status bleu_seed_read(BleuSeed *seed);

#endif
