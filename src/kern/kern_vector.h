/* kern_vector.h - vectors as wide as the flags allow; exp, tanh, sigmoid on them. For kern_impl.c alone.
 *
 * Accuracy  3e-7 absolute (relative for exp) in single precision; libm in double precision. NaN stays NaN.
 */
#ifndef KERN_KERN_VECTOR_H
#define KERN_KERN_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "kern/tensor.h"
#ifdef __SSE2__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES  64
#define PANEL_VECTORS 4 /* 6 x 4 accumulators of 32 registers */
#elif defined(__AVX2__)
#define VECTOR_BYTES  32
#define PANEL_VECTORS 2 /* 6 x 2 accumulators of 16 registers */
#elif defined(__aarch64__)
#define VECTOR_BYTES  16
#define PANEL_VECTORS 4 /* 6 x 4 accumulators of 32 registers */
#else
#define VECTOR_BYTES  16
#define PANEL_VECTORS 2
#endif
#define LANES      (VECTOR_BYTES / (int)sizeof(real))
#define PANEL      (LANES * PANEL_VECTORS)
#define BLOCK_ROWS 6

/* Tile units: the macros of gcc, and those of older releases of clang. */
#if (defined(__AMX_BF16__) && defined(__AMX_INT8__)) || (defined(__AMXBF16__) && defined(__AMXINT8__))
#define TILE_UNITS
#endif

#define INLINE static inline __attribute__((always_inline))

typedef real Vec __attribute__((vector_size(VECTOR_BYTES)));
#ifdef REAL_DOUBLE
typedef int64_t IntVec __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int32_t IntVec __attribute__((vector_size(VECTOR_BYTES)));
#endif

typedef int16_t ShortVec __attribute__((vector_size(VECTOR_BYTES)));

INLINE Vec load(const real *p) {
    Vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(real *p, Vec v) { memcpy(p, &v, sizeof v); }
/* Instructions that the compiler does not find by itself.
 * load_some, store_some: the first n < LANES numbers; the other lanes are 0. A memcpy of unknown length would
 * be a call that costs more than the rest of the loop.
 * multiply_add: a b + c with one rounding everywhere. The compiler fuses a product and a sum in some places
 * and not in others: code between them, such as checks of the address sanitizer, decides. Doubles have no
 * instruction here, but there is no code between product and sum, because both follow all loads.
 * greater_words: a comparison and a choice would make the chain of a maximum three times as long.
 * widen: LANES * 2 bytes to 16 bits each. add_products: sum + a[2 i] b[2 i] + a[2 i + 1] b[2 i + 1]; all
 * pairs of a are equal. */
#if VECTOR_BYTES == 64 && !defined(REAL_DOUBLE)
INLINE Vec load_some(const real *p, size_t n) {
    return (Vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
INLINE void store_some(real *p, Vec v, size_t n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
}
INLINE Vec multiply_add(Vec a, Vec b, Vec c) { return (Vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
INLINE IntVec greater_words(IntVec a, IntVec b) { return (IntVec)_mm512_max_epi32((__m512i)a, (__m512i)b); }
INLINE ShortVec widen(const int8_t *p) {
    return (ShortVec)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p));
}
INLINE IntVec add_products(IntVec sum, ShortVec a, ShortVec b) {
    return sum + (IntVec)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
#elif VECTOR_BYTES == 32 && !defined(REAL_DOUBLE)
INLINE __m256i lanes_below(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
INLINE Vec load_some(const real *p, size_t n) { return (Vec)_mm256_maskload_ps(p, lanes_below(n)); }
INLINE void store_some(real *p, Vec v, size_t n) { _mm256_maskstore_ps(p, lanes_below(n), (__m256)v); }
INLINE Vec multiply_add(Vec a, Vec b, Vec c) { return (Vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
INLINE IntVec greater_words(IntVec a, IntVec b) { return (IntVec)_mm256_max_epi32((__m256i)a, (__m256i)b); }
INLINE ShortVec widen(const int8_t *p) {
    return (ShortVec)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
}
INLINE IntVec add_products(IntVec sum, ShortVec a, ShortVec b) {
    return sum + (IntVec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
#else
INLINE Vec load_some(const real *p, size_t n) {
    Vec v = {0};
    for (size_t i = 0; i < LANES - 1; i++)
        if (i < n) v[i] = p[i];
    return v;
}
INLINE void store_some(real *p, Vec v, size_t n) {
    for (size_t i = 0; i < LANES - 1; i++)
        if (i < n) p[i] = v[i];
}
#if defined(__aarch64__) && !defined(REAL_DOUBLE)
INLINE Vec multiply_add(Vec a, Vec b, Vec c) {
    return (Vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE IntVec greater_words(IntVec a, IntVec b) { return (IntVec)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
INLINE ShortVec widen(const int8_t *p) { return (ShortVec)vmovl_s8(vld1_s8(p)); }
INLINE IntVec add_products(IntVec sum, ShortVec a, ShortVec b) {
    int16x4_t even = vmovn_s32((int32x4_t)b), odd = vshrn_n_s32((int32x4_t)b, 16);
    int32x4_t half = vmlal_laneq_s16((int32x4_t)sum, even, (int16x8_t)a, 0);
    return (IntVec)vmlal_laneq_s16(half, odd, (int16x8_t)a, 1);
}
#else
INLINE Vec multiply_add(Vec a, Vec b, Vec c) { return a * b + c; }
#ifndef REAL_DOUBLE
INLINE IntVec greater_words(IntVec a, IntVec b) {
    IntVec first = a > b;
    return (a & first) | (b & ~first);
}
INLINE ShortVec widen(const int8_t *p) {
    int8_t bytes __attribute__((vector_size(VECTOR_BYTES / 2)));
    memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(bytes, ShortVec);
}
INLINE IntVec add_products(IntVec sum, ShortVec a, ShortVec b) {
#ifdef __SSE2__
    return sum + (IntVec)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    return sum + ((IntVec)a << 16 >> 16) * ((IntVec)b << 16 >> 16) + ((IntVec)a >> 16) * ((IntVec)b >> 16);
#endif
}
#endif
#endif
#endif
/* At most n numbers, perhaps none; the other lanes are 0. */
INLINE Vec load_upto(const real *p, int n) {
    return n >= LANES ? load(p) : n > 0 ? load_some(p, (size_t)n) : (Vec){0};
}
INLINE void store_upto(real *p, Vec v, int n) {
    if (n >= LANES)
        store(p, v);
    else if (n > 0)
        store_some(p, v, (size_t)n);
}
INLINE Vec choose(IntVec mask, Vec yes, Vec no) { return (Vec)((mask & (IntVec)yes) | (~mask & (IntVec)no)); }
INLINE Vec splat(real x) { return x - (Vec){0}; }
INLINE real sum_lanes(Vec v) {
    real s = 0;
    for (int i = 0; i < LANES; i++) s += v[i];
    return s;
}

/* A step of sum_each and greatest_each, which take LANES - 1 of them. It rearranges the lanes of a and b into
 * *even and *odd, so that one operation on these combines neighbouring lanes: first lanes within 128 bits,
 * which takes one instruction, then groups of 128 bits. `left`: number of vectors that are left. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE
#endif
#endif
#if defined(REAL_DOUBLE) && VECTOR_BYTES == 16
#define EVEN_LANES 0, 2
#define ODD_LANES  1, 3
#elif VECTOR_BYTES == 16
#define EVEN_LANES 0, 2, 4, 6
#define ODD_LANES  1, 3, 5, 7
#elif VECTOR_BYTES == 32 && !defined(REAL_DOUBLE)
#define EVEN_LANES  0, 2, 8, 10, 4, 6, 12, 14
#define ODD_LANES   1, 3, 9, 11, 5, 7, 13, 15
#define EVEN_GROUPS 0, 1, 2, 3, 8, 9, 10, 11
#define ODD_GROUPS  4, 5, 6, 7, 12, 13, 14, 15
#elif VECTOR_BYTES == 64 && !defined(REAL_DOUBLE)
#define EVEN_LANES  0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30
#define ODD_LANES   1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31
#define EVEN_GROUPS 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define ODD_GROUPS  4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#else
#undef HAVE_SHUFFLE
#endif
INLINE void part_lanes(int left, Vec a, Vec b, Vec *even, Vec *odd) {
    (void)left;
#ifdef HAVE_SHUFFLE
#ifdef EVEN_GROUPS
    if (left <= LANES / 4) {
        *even = __builtin_shufflevector(a, b, EVEN_GROUPS);
        *odd = __builtin_shufflevector(a, b, ODD_GROUPS);
        return;
    }
#endif
    *even = __builtin_shufflevector(a, b, EVEN_LANES);
    *odd = __builtin_shufflevector(a, b, ODD_LANES);
#else
    *even = *odd = a;
    for (int l = 0; l < LANES / 2; l++) {
        (*even)[l] = a[2 * l], (*odd)[l] = a[2 * l + 1];
        (*even)[LANES / 2 + l] = b[2 * l], (*odd)[LANES / 2 + l] = b[2 * l + 1];
    }
#endif
}
/* Lane s of the result is the sum of the lanes of x[s]. */
INLINE Vec sum_each(Vec x[LANES]) {
    for (int left = LANES; left > 1; left /= 2)
        for (int i = 0; i < left / 2; i++) {
            Vec even, odd;
            part_lanes(left, x[2 * i], x[2 * i + 1], &even, &odd);
            x[i] = even + odd;
        }
    return x[0];
}

/* ---- exp, tanh, sigmoid ---- */

#ifdef REAL_DOUBLE
/* The reference arithmetic: accuracy matters, speed does not. */
INLINE Vec vexp(Vec x) {
    for (int i = 0; i < LANES; i++) x[i] = exp(x[i]);
    return x;
}
INLINE Vec vtanh(Vec x) {
    for (int i = 0; i < LANES; i++) x[i] = tanh(x[i]);
    return x;
}
#else
/* 2^n * p(r) with x = n ln 2 + r and |r| <= ln 2 / 2; p is the Taylor series to degree 7. Adding 1.5 * 2^23
 * rounds to n, in the low bits of the sum. */
INLINE Vec vexp(Vec x) {
    x = choose(x > splat(88.0f), splat(88.0f), x);
    x = choose(x < splat(-87.0f), splat(-87.0f), x);
    Vec shifted = x * splat(1.44269504f) + splat(12582912.0f);
    Vec n = shifted - splat(12582912.0f);
    Vec r = x - n * splat(0.693359375f);
    r = r - n * splat(-2.12194440e-4f);
    Vec p = splat(1.0f / 5040);
    p = p * r + splat(1.0f / 720);
    p = p * r + splat(1.0f / 120);
    p = p * r + splat(1.0f / 24);
    p = p * r + splat(1.0f / 6);
    p = p * r + splat(0.5f);
    p = p * r + splat(1.0f);
    p = p * r + splat(1.0f);
    return (Vec)((IntVec)p + (((IntVec)shifted) << 23));
}

/* 1 - 2 / (exp(2x) + 1); near 0, where that loses digits, the Taylor series. */
INLINE Vec vtanh(Vec x) {
    Vec far = splat(1.0f) - splat(2.0f) / (vexp(x + x) + splat(1.0f));
    Vec s = x * x;
    Vec p = s * splat(62.0f / 2835) + splat(-17.0f / 315);
    p = p * s + splat(2.0f / 15);
    p = p * s + splat(-1.0f / 3);
    Vec near = x + x * s * p;
    return choose(s < splat(0.0625f), near, far);
}
#endif

INLINE Vec vsigmoid(Vec x) { return splat(1) / (splat(1) + vexp(-x)); }

/* Runs `body` over n numbers, a vector at a time; for the tail, LOAD and STORE take `left` numbers. */
#define FOR_VECTORS(n, body)                                                                                 \
    do {                                                                                                     \
        size_t i = 0;                                                                                        \
        for (; i + LANES <= (n); i += LANES) {                                                               \
            enum { whole = 1 };                                                                              \
            const size_t left = LANES;                                                                       \
            (void)left;                                                                                      \
            body                                                                                             \
        }                                                                                                    \
        if (i < (n)) {                                                                                       \
            enum { whole = 0 };                                                                              \
            const size_t left = (n)-i;                                                                       \
            body                                                                                             \
        }                                                                                                    \
    } while (0)
#define LOAD(p)     (whole ? load((p) + i) : load_some((p) + i, left))
#define STORE(p, v) (whole ? store((p) + i, (v)) : store_some((p) + i, (v), left))

/* For an inner loop: one loop overhead for four iterations. */
#define UNROLLED _Pragma("GCC unroll 4")

/* Prefetches bytes into the second-level cache. */
INLINE void fetch(const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)from + i, 0, 2);
}

/* Calls body(rows, first, ...) for blocks of `count` rows: as few blocks of at most BLOCK_ROWS rows as
 * possible, of sizes as equal as possible. `rows` is a constant at each call. */
INLINE int rows_of_block(int left) {
    int blocks = (left + BLOCK_ROWS - 1) / BLOCK_ROWS;
    return blocks > 0 ? (left + blocks - 1) / blocks : 0;
}
#define FOR_ROWS(count, ...) FOR_ROWS_BETWEEN(0, count, __VA_ARGS__)
/* body(rows, first, ahead, ...): `ahead`, a constant too, is true for the first block, which may prefetch the
 * next panel. */
#define FOR_ROWS_AHEAD(count, body, ...)                                                                     \
    {                                                                                                        \
        int head = rows_of_block(count);                                                                     \
        FOR_ROWS_BETWEEN(0, head, body, true, __VA_ARGS__)                                                   \
        FOR_ROWS_BETWEEN(head, count, body, false, __VA_ARGS__)                                              \
    }
#define FOR_ROWS_BETWEEN(begin, end, body, ...)                                                              \
    for (int first = (begin), some; first < (end); first += some) {                                          \
        some = rows_of_block((end)-first);                                                                   \
        switch (some) {                                                                                      \
        case 1:                                                                                              \
            body(1, first, __VA_ARGS__);                                                                     \
            break;                                                                                           \
        case 2:                                                                                              \
            body(2, first, __VA_ARGS__);                                                                     \
            break;                                                                                           \
        case 3:                                                                                              \
            body(3, first, __VA_ARGS__);                                                                     \
            break;                                                                                           \
        case 4:                                                                                              \
            body(4, first, __VA_ARGS__);                                                                     \
            break;                                                                                           \
        case 5:                                                                                              \
            body(5, first, __VA_ARGS__);                                                                     \
            break;                                                                                           \
        default:                                                                                             \
            body(BLOCK_ROWS, first, __VA_ARGS__);                                                            \
        }                                                                                                    \
    }

#endif
