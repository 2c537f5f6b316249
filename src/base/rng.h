/* rng.h - random numbers as a function of a key and a counter.
 * Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3" (Philox4x32-10)
 *
 * There is no hidden state: number i of stream (key) is always the same, on every thread and machine.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>
#include <stddef.h>

typedef struct {
    uint64_t key;
    uint64_t counter; /* index of the next 32-bit number */
} Rng;

/* Four 32-bit numbers for counter block (high, low) of stream `key`. */
void rng_philox(uint64_t key, uint64_t high, uint64_t low, uint32_t out[4]);

/* Mix several numbers into one stream key (splitmix64 over each). */
uint64_t rng_key(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);

Rng rng_new(uint64_t key);
uint32_t rng_u32(Rng *rng);
double rng_uniform(Rng *rng);             /* [0, 1) with 32 random bits */
double rng_normal(Rng *rng);              /* mean 0, variance 1 */
uint32_t rng_below(Rng *rng, uint32_t n); /* unbiased 0..n-1, n > 0 */
void rng_shuffle(Rng *rng, int *items, size_t count);

#endif
