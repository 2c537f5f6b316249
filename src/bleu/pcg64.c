/* pcg64.c - seeding by a hashed pool of four words, 128-bit congruential steps, rotated output. */
#include "bleu/pcg64.h"

__extension__ typedef unsigned __int128 Wide;

enum { POOL = 4 };

/* Hash one word; the multiplier moves on with every call. */
static uint32_t hash_word(uint32_t value, uint32_t *multiplier, uint32_t step) {
    value ^= *multiplier;
    *multiplier *= step;
    value *= *multiplier;
    return value ^ (value >> 16);
}

static uint32_t mix_words(uint32_t a, uint32_t b) {
    uint32_t mixed = 0xCA01F9DDu * a - 0x4973F715u * b;
    return mixed ^ (mixed >> 16);
}

static void fill_pool(uint32_t pool[POOL], const uint32_t *entropy, size_t words) {
    const uint32_t step = 0x931E8875u;
    uint32_t multiplier = 0x43B0D7E5u;
    for (size_t i = 0; i < POOL; i++) pool[i] = hash_word(i < words ? entropy[i] : 0, &multiplier, step);
    for (size_t from = 0; from < POOL; from++)
        for (size_t to = 0; to < POOL; to++)
            if (from != to) pool[to] = mix_words(pool[to], hash_word(pool[from], &multiplier, step));
    for (size_t from = POOL; from < words; from++)
        for (size_t to = 0; to < POOL; to++)
            pool[to] = mix_words(pool[to], hash_word(entropy[from], &multiplier, step));
}

static Wide wide(uint64_t high, uint64_t low) { return (Wide)high << 64 | low; }

static void set_state(Pcg64 *generator, Wide state) {
    generator->state_high = (uint64_t)(state >> 64);
    generator->state_low = (uint64_t)state;
}

static Wide step_state(const Pcg64 *generator, Wide state) {
    const Wide multiplier = wide(2549297995355413924u, 4865540595714422341u);
    return state * multiplier + wide(generator->step_high, generator->step_low);
}

Pcg64 pcg64_seed(const uint32_t *entropy, size_t words) {
    uint32_t pool[POOL], multiplier = 0x8B51F9DDu;
    uint64_t seeds[4];
    fill_pool(pool, entropy, words);
    for (int i = 0; i < 4; i++) {
        uint64_t low = hash_word(pool[2 * i % POOL], &multiplier, 0x58F38DEDu);
        uint64_t high = hash_word(pool[(2 * i + 1) % POOL], &multiplier, 0x58F38DEDu);
        seeds[i] = high << 32 | low;
    }
    Pcg64 generator = {0};
    Wide step = wide(seeds[2], seeds[3]) << 1 | 1;
    generator.step_high = (uint64_t)(step >> 64);
    generator.step_low = (uint64_t)step;
    set_state(&generator, step_state(&generator, step_state(&generator, 0) + wide(seeds[0], seeds[1])));
    return generator;
}

static uint64_t next64(Pcg64 *generator) {
    set_state(generator, step_state(generator, wide(generator->state_high, generator->state_low)));
    uint64_t folded = generator->state_high ^ generator->state_low;
    unsigned turn = (unsigned)(generator->state_high >> 58);
    return folded >> turn | folded << (-turn & 63);
}

static uint32_t next32(Pcg64 *generator) {
    if (generator->has_kept) {
        generator->has_kept = false;
        return generator->kept;
    }
    uint64_t both = next64(generator);
    generator->kept = (uint32_t)(both >> 32);
    generator->has_kept = true;
    return (uint32_t)both;
}

uint32_t pcg64_index(Pcg64 *generator, uint32_t n) {
    if (n <= 1) return 0;
    uint64_t product = (uint64_t)next32(generator) * n;
    if ((uint32_t)product < n) { /* possibly one of the few values that would make small results likelier */
        uint32_t threshold = (UINT32_MAX - (n - 1)) % n;
        while ((uint32_t)product < threshold) product = (uint64_t)next32(generator) * n;
    }
    return (uint32_t)(product >> 32);
}

bool pcg64_bit(Pcg64 *generator, Pcg64Bits *bits) {
    if (bits->left == 0) {
        bits->bits = next32(generator);
        bits->left = 32;
    } else {
        bits->bits >>= 1;
    }
    bits->left--;
    return bits->bits & 1;
}
