/* sha256_x86.c - SHA-256 by the SHA extensions. Gulley et al. 2013, "Intel SHA Extensions" */
#include "io/sha256_blocks.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

static bool has_instructions(void) {
    static atomic_int known; /* 0 unknown, 1 no, 2 yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        unsigned a, b, c, d;
        bool sse = __get_cpuid(1, &a, &b, &c, &d) && (c >> 9 & 1) && (c >> 19 & 1); /* SSSE3, SSE4.1 */
        bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
        answer = sse && sha ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* The instructions take the eight words as ABEF and CDGH, highest first. */
__attribute__((target("sha,ssse3,sse4.1"))) static void compress(uint32_t state[8],
                                                                 const unsigned char *block, size_t blocks) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; blocks > 0; blocks--, block += 64) {
        __m128i abef_before = abef, cdgh_before = cdgh, w[4];
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), big_endian);
#pragma GCC unroll 16 /* an eighth faster: the places in `w` are constants */
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i & 3];
            if (i >= 4) { /* `now` still holds the words of 16 rounds ago */
                __m128i last = w[(i + 3) & 3], sum = _mm_sha256msg1_epu32(*now, w[(i + 1) & 3]);
                sum = _mm_add_epi32(sum, _mm_alignr_epi8(last, w[(i + 2) & 3], 4));
                *now = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i k = _mm_loadu_si128((const __m128i *)(SHA256_ROUND_CONSTANTS + 4 * i));
            __m128i sum = _mm_add_epi32(*now, k);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool sha256_x86_compress(uint32_t state[8], const unsigned char *block, size_t blocks) {
    if (!has_instructions()) return false;
    compress(state, block, blocks);
    return true;
}

#else

bool sha256_x86_compress(uint32_t state[8], const unsigned char *block, size_t blocks) {
    (void)state;
    (void)block;
    (void)blocks;
    return false;
}

#endif
