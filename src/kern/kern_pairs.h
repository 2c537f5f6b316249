/* kern_pairs.h - pairs of bfloat16 in 32-bit words, for instructions that multiply pairs. For kern_impl.c
 * alone, if vectors have 64 bytes.
 *
 * bfloat16 is the upper half of a float.
 */
#ifndef KERN_KERN_PAIRS_H
#define KERN_KERN_PAIRS_H

#include <immintrin.h>
#include "kern/kern_vector.h"

typedef uint32_t Word;

/* The upper half of each lane becomes the nearest bfloat16; the lower half is not cleared. */
INLINE IntVec rounded_halves(Vec x) { return (IntVec)x + 0x8000; }

/* Words of the upper halves of two vectors; `low` is in the lower half of each word. */
INLINE IntVec join_halves(IntVec low, IntVec high) {
    return (IntVec)_mm512_srli_epi32((__m512i)low, 16) | (high & (int32_t)0xFFFF0000);
}

/* Transposes 16 by 16 words in place. */
static void transpose_words(Word *words) {
    enum { SIDE = 16 };
    __m512i a[SIDE], b[SIDE];
    for (int i = 0; i < SIDE; i++) a[i] = _mm512_loadu_si512(words + i * SIDE);
    for (int i = 0; i < SIDE; i += 2) {
        b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
    for (int i = 0; i < SIDE; i += 4)
        for (int j = 0; j < 2; j++) {
            a[i + 2 * j] = _mm512_unpacklo_epi64(b[i + j], b[i + j + 2]);
            a[i + 2 * j + 1] = _mm512_unpackhi_epi64(b[i + j], b[i + j + 2]);
        }
    for (int i = 0; i < 4; i++) { /* quarters of lines i, i + 4, i + 8, i + 12 */
        __m512i even0 = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88),
                odd0 = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xDD);
        __m512i even1 = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0x88),
                odd1 = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0xDD);
        _mm512_storeu_si512(words + i * SIDE, _mm512_shuffle_i32x4(even0, even1, 0x88));
        _mm512_storeu_si512(words + (i + 4) * SIDE, _mm512_shuffle_i32x4(odd0, odd1, 0x88));
        _mm512_storeu_si512(words + (i + 8) * SIDE, _mm512_shuffle_i32x4(even0, even1, 0xDD));
        _mm512_storeu_si512(words + (i + 12) * SIDE, _mm512_shuffle_i32x4(odd0, odd1, 0xDD));
    }
}

#endif
