/* reference.h - values that PyTorch computed in double precision, and comparing with them.
 *
 * tests/golden/torch/ITEM.json holds cases; a case has the sections "in", "out" and "grad", each with fields
 * of a shape and row-major data. "about" in each file tells its conventions. tests/gradcheck compiles the
 * same sources in double precision.
 *
 * Owner   fields live until reference_close
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "kern/tensor.h"

typedef struct Reference Reference;

typedef struct {
    const char *name;
    int rank, shape[4];
    size_t count;
    double *data;
} Field;

/* Failing to open or to find something fails the test. */
Reference *reference_open(const char *item, const char *name);
void reference_close(Reference *reference);
Field reference_field(Reference *reference, const char *section, const char *field);
Field reference_blank(Reference *reference, const char *name, int rows, int columns); /* all 0 */
bool reference_has(const Reference *reference, const char *section, const char *field);

/* How exact the numbers of the file are, or our arithmetic, whichever is coarser: allowed is relative *
 * |expected| + absolute. */
typedef struct {
    double relative, absolute;
} Tolerance;
extern const Tolerance REFERENCE_NINE_DIGITS, REFERENCE_SIX_DIGITS;

/* NULL if all numbers agree, else what is wrong: valid until the next call. */
const char *reference_fault(const Field *expected, const real *actual, size_t count, Tolerance tolerance);
/* The same, failing the test. */
void reference_check(const Field *expected, const real *actual, size_t count, Tolerance tolerance);

/* Copies between a field and a block of numbers; counts must agree. A transposed field is [columns, rows] of
 * the block, and `first` skips that many columns of the field: part of the columns of a joint weight. */
void reference_copy(const Field *field, real *block, size_t count);
void reference_copy_transposed(const Field *field, int first, real *block, int rows, int columns);
/* The part of a field that reference_copy_transposed would copy, as a field of the block's shape. */
Field reference_transposed(Reference *reference, const Field *field, int first, int rows, int columns);

#endif
