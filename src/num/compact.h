/* compact.h - weights of 16 or 8 bits, row after row, as small model files hold them.
 *
 * Weights are rounded here and nowhere else, be it for a file or when one is read, so that a weight that is
 * rounded when a model is loaded and one that was rounded into a file are the same. What is small: weights of
 * products and tables of embeddings; biases, normalizations and what else has one number per unit stay
 * floats.
 *
 * bf16   the upper half of a float, rounded to the nearest
 * int8   whole numbers q, -127 to 127, and a scale for each column of a weight, or for each row of a table
 *        and of the output layer (each stands for one output of the product): W = q scale, the scale being
 *        the greatest of them by size, divided by 127
 */
#ifndef NUM_COMPACT_H
#define NUM_COMPACT_H

#include "num/params.h"

/* Is this parameter one of those that are rounded? */
static inline bool compact_has(const Param *p) { return p->packing != PACK_NONE || p->looked_up; }
/* Does each row have a scale, or each column? */
static inline bool compact_by_row(const Param *p) { return p->packing != PACK_AFFINE; }
static inline size_t compact_scales(const Param *p) {
    return (size_t)(compact_by_row(p) ? p->rows : p->columns);
}

/* x, q [rows, columns] of the parameter; scales [compact_scales] */
void compact_int8(const Param *p, const real *x, int8_t *q, real *scales);
void compact_expand_int8(const Param *p, const int8_t *q, const real *scales, real *x);
void compact_bf16(const Param *p, const real *x, uint16_t *halves);
void compact_expand_bf16(const Param *p, const uint16_t *halves, real *x);

#endif
