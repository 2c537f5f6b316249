/* rng.c - Philox4x32-10 and the distributions built on it. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

static uint64_t splitmix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

void rng_philox(uint64_t key, uint64_t high, uint64_t low, uint32_t out[4]) {
    uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32), c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c0, p1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint64_t rng_key(uint64_t seed, uint64_t a, uint64_t b, uint64_t c) {
    return splitmix(splitmix(splitmix(splitmix(seed) ^ a) ^ b) ^ c);
}

Rng rng_new(uint64_t key) { return (Rng){.key = key}; }

uint32_t rng_u32(Rng *rng) {
    uint32_t block[4];
    rng_philox(rng->key, 0, rng->counter / 4, block);
    return block[rng->counter++ % 4];
}

double rng_uniform(Rng *rng) { return rng_u32(rng) * 0x1p-32; }

/* Box-Muller, the cosine half only: keeping the sine for the next call would be hidden state. */
double rng_normal(Rng *rng) {
    double u = (rng_u32(rng) + 1.0) * 0x1p-32; /* (0, 1]: its logarithm is finite */
    double v = rng_uniform(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586477 * v);
}

/* Lemire 2019: the high half of the product is the result, its low half shows whether the result is
 * biased. */
uint32_t rng_below(Rng *rng, uint32_t n) {
    assert(n > 0);
    uint64_t product = (uint64_t)rng_u32(rng) * n;
    if ((uint32_t)product < n) {
        uint32_t threshold = (0u - n) % n;
        while ((uint32_t)product < threshold) product = (uint64_t)rng_u32(rng) * n;
    }
    return (uint32_t)(product >> 32);
}

void rng_shuffle(Rng *rng, int *items, size_t count) {
    assert(count <= UINT32_MAX);
    for (size_t i = count; i > 1; i--) {
        size_t j = rng_below(rng, (uint32_t)i);
        int item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}
