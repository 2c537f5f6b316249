/* mean.c - two ways to add up and divide. */
#include "bleu/mean.h"

#include <math.h>
#include <stdint.h>

static double round_if(double value, bool single) { return single ? (double)(float)value : value; }

/* Blocks of 128 in eight partial sums, added in pairs. */
static double numpy_sum(const double *values, size_t count, bool single) {
    if (count < 8) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) sum = round_if(sum + values[i], single);
        return sum;
    }
    if (count <= 128) {
        double part[8];
        size_t i = 8;
        for (size_t j = 0; j < 8; j++) part[j] = values[j];
        for (; i < count - count % 8; i += 8)
            for (size_t j = 0; j < 8; j++) part[j] = round_if(part[j] + values[i + j], single);
        double left =
            round_if(round_if(part[0] + part[1], single) + round_if(part[2] + part[3], single), single);
        double right =
            round_if(round_if(part[4] + part[5], single) + round_if(part[6] + part[7], single), single);
        double sum = round_if(left + right, single);
        for (; i < count; i++) sum = round_if(sum + values[i], single);
        return sum;
    }
    size_t half = count / 2;
    half -= half % 8;
    return round_if(numpy_sum(values, half, single) + numpy_sum(values + half, count - half, single), single);
}

double mean_numpy(const double *values, size_t count, bool single) {
    return round_if(numpy_sum(values, count, single) / (double)count, single);
}

/* A number from 0 up with all the bits that sums of doubles can have, in words of 32 bits, the lowest
 * first. Its lowest bit is worth 2^-LOWEST, 64 bits below that of the smallest double. */
enum { LOWEST = 1074 + 64, WORDS = (LOWEST + 1024) / 32 + 2 };

static void add_exactly(uint64_t sum[WORDS], double value) {
    int exponent;
    uint64_t bits = (uint64_t)ldexp(frexp(value, &exponent), 53);
    int shift = exponent - 53 + LOWEST;
    uint64_t *word = sum + shift / 32;
    word[0] += (bits << shift % 32) & UINT32_MAX;
    word[1] += (bits >> (32 - shift % 32)) & UINT32_MAX;
    word[2] += shift % 32 ? bits >> 32 >> (32 - shift % 32) : 0;
}

/* The first 64 bits, the last of them set if any bit after it is, round to the double that all bits would. */
static double round_once(const uint64_t words[WORDS]) {
    int top = WORDS - 1;
    while (top > 2 && words[top] == 0) top--;
    uint64_t head = words[top] << 32 | words[top - 1];
    int zeros = 0;
    for (; zeros < 32 && words[top] && !(words[top] >> (31 - zeros)); zeros++) {
    }
    head = head << zeros | (zeros ? words[top - 2] >> (32 - zeros) : 0);
    bool rest = (uint32_t)(words[top - 2] << zeros) != 0;
    for (int i = 0; i < top - 2; i++) rest = rest || words[i];
    return ldexp((double)(head | rest), 32 * (top - 1) - zeros - LOWEST);
}

double mean_exact(const double *values, size_t count, bool single) {
    uint64_t words[WORDS] = {0}, carry = 0;
    for (size_t i = 0; i < count; i++) add_exactly(words, values[i]);
    for (size_t i = 0; i < WORDS; i++, carry >>= 32) words[i] = (uint32_t)(carry += words[i]);
    for (size_t i = WORDS, left = 0; i-- > 0;) {
        uint64_t part = (uint64_t)left << 32 | words[i];
        words[i] = part / count;
        left = part % count;
        words[0] |= i == 0 && left > 0;
    }
    return round_if(round_once(words), single);
}
