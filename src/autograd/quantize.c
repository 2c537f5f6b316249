/* quantize.c - see quantize.h. */
#include "autograd/quantize.h"

#include <math.h>
#include <string.h>

/* ---- int8 ---- */

/* Adding 1.5 * 2^23 rounds to an integer, whose lowest byte is then the float's lowest byte. */
static int8_t round_byte(float x) {
    float rounded = x + 12582912.0f;
    int32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return (int8_t)(bits & 255);
}

/* The factor from numbers to bytes, given the greatest absolute value. */
static float inverse_scale(float most) { return most > 0 && 127 / most <= 3e38f ? 127 / most : 0; }

/* The value of one byte step, given the greatest absolute value. 127 times the scale must stay finite. */
static real scale_of(float most) {
    float scale = most / 127;
    return (real)(isfinite(most) && isinf(scale * 127) ? nextafterf(scale, 0) : scale);
}

/* The greatest absolute value. Without the sign bit, floats order like their bits. */
static float greatest(const real *x, int count) {
    int32_t most = 0;
    for (int i = 0; i < count; i++) {
        float number = (float)x[i];
        int32_t bits;
        memcpy(&bits, &number, sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    float size;
    memcpy(&size, &most, sizeof size);
    return size;
}

static void rows_to_int8(const Param *p, const real *x, int8_t *q, real *scales) {
    for (int r = 0; r < p->rows; r++, x += p->columns, q += p->columns) {
        float most = greatest(x, p->columns);
        scales[r] = scale_of(most);
        most = inverse_scale(most);
        for (int c = 0; c < p->columns; c++) q[c] = round_byte((float)x[c] * most);
    }
}

/* In blocks of columns, so that the maxima of a block stay in the cache. */
static void columns_to_int8(const Param *p, const real *x, int8_t *q, real *scales) {
    enum { BLOCK = 256 };
    size_t step = (size_t)p->columns;
    for (int first = 0; first < p->columns; first += BLOCK) {
        int width = p->columns - first < BLOCK ? p->columns - first : BLOCK;
        float most[BLOCK] = {0};
        for (size_t r = 0; r < (size_t)p->rows; r++) {
            const real *row = x + r * step + first;
            for (int c = 0; c < width; c++) {
                float size = fabsf((float)row[c]);
                most[c] = size > most[c] ? size : most[c];
            }
        }
        for (int c = 0; c < width; c++) {
            scales[first + c] = scale_of(most[c]);
            most[c] = inverse_scale(most[c]);
        }
        for (size_t r = 0; r < (size_t)p->rows; r++) {
            const real *row = x + r * step + first;
            int8_t *to = q + r * step + first;
            for (int c = 0; c < width; c++) to[c] = round_byte((float)row[c] * most[c]);
        }
    }
}

void quantize_int8(const Param *p, const real *x, int8_t *q, real *scales) {
    if (quantize_by_row(p))
        rows_to_int8(p, x, q, scales);
    else
        columns_to_int8(p, x, q, scales);
}

void dequantize_int8(const Param *p, const int8_t *q, const real *scales, real *x) {
    for (int r = 0; r < p->rows; r++, x += p->columns, q += p->columns) {
        if (quantize_by_row(p))
            for (int c = 0; c < p->columns; c++) x[c] = (real)q[c] * scales[r];
        else
            for (int c = 0; c < p->columns; c++) x[c] = (real)q[c] * scales[c];
    }
}

/* ---- bf16 ---- */

/* Rounds to nearest; a number that would round to infinity is cut off to the greatest finite one. */
void quantize_bf16(const Param *p, const real *x, uint16_t *halves) {
    for (size_t i = 0; i < param_size(p); i++) {
        float number = (float)x[i];
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        uint32_t half = (bits + 0x8000) >> 16;
        halves[i] = (uint16_t)((half & 0x7f80) == 0x7f80 ? bits >> 16 : half);
    }
}

void dequantize_bf16(const Param *p, const uint16_t *halves, real *x) {
    for (size_t i = 0; i < param_size(p); i++) {
        uint32_t bits = (uint32_t)halves[i] << 16;
        float number;
        memcpy(&number, &bits, sizeof number);
        x[i] = (real)number;
    }
}
