/* pcg64.h - the random numbers of numpy.random.default_rng(seed), bit for bit.
 * O'Neill 2014 (PCG-XSL-RR-128/64, and seed_seq); Lemire 2019 (bounded numbers without division)
 *
 * Resampling tests are reproducible across programs only with the same generator. Training uses base/rng.h
 * instead.
 */
#ifndef BLEU_PCG64_H
#define BLEU_PCG64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copying it copies the stream from here on. */
typedef struct {
    uint64_t state_high, state_low, step_high, step_low;
    uint32_t kept; /* the upper half of the last 64 bits, if not yet used */
    bool has_kept;
} Pcg64;

/* `entropy`: the seed as 32-bit words, least significant first, without leading zeros; at least one word. */
Pcg64 pcg64_seed(const uint32_t *entropy, size_t words);
/* generator.choice(n), replaced: 0..n-1; n = 1 takes no random bits. */
uint32_t pcg64_index(Pcg64 *generator, uint32_t n);

/* generator.integers(2, dtype=bool): one bit after the other of 32-bit numbers. */
typedef struct {
    uint32_t bits;
    int left;
} Pcg64Bits;
bool pcg64_bit(Pcg64 *generator, Pcg64Bits *bits); /* `bits` starts as {0} */

#endif
