/* quantize.h - weights of 16 or 8 bits, row after row, as in quantized model files.
 *
 * All weights are rounded here, both for a file and when a model is loaded, so that both give the same
 * numbers. Only weights of products and embedding tables are quantized. Biases, normalizations and other
 * parameters with one number per unit stay floats.
 *
 * bf16   the upper half of a float, rounded to the nearest
 * int8   whole numbers q, -127 to 127, and a scale for each column of a weight, or for each row of a table
 *        and of the output layer (one scale per output of the product): W = q scale, where the scale is the
 *        greatest absolute value, divided by 127
 */
#ifndef AUTOGRAD_QUANTIZE_H
#define AUTOGRAD_QUANTIZE_H

#include "autograd/params.h"

/* Is this parameter quantized? */
static inline bool quantize_applies(const Param *p) { return p->panel_use != PANELS_NONE || p->looked_up; }
/* Does each row have a scale, or each column? */
static inline bool quantize_by_row(const Param *p) { return p->panel_use != PANELS_AFFINE; }
static inline size_t quantize_scales(const Param *p) {
    return (size_t)(quantize_by_row(p) ? p->rows : p->columns);
}

/* x, q [rows, columns] of the parameter; scales [quantize_scales] */
void quantize_int8(const Param *p, const real *x, int8_t *q, real *scales);
void dequantize_int8(const Param *p, const int8_t *q, const real *scales, real *x);
void quantize_bf16(const Param *p, const real *x, uint16_t *halves);
void dequantize_bf16(const Param *p, const uint16_t *halves, real *x);

#endif
