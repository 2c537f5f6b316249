/* gradient_check.h - compares a gradient with finite differences.
 *
 * Each derivative is compared, including its sign, with a central difference of fourth order:
 *   (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12 h
 * Units   the error is relative to the larger of both numbers, or to GRADIENT_FLOOR if that is larger
 */
#ifndef GRADIENT_CHECK_H
#define GRADIENT_CHECK_H

#include "kern/tensor.h"

#define GRADIENT_STEP      1.5e-4
#define GRADIENT_FLOOR     1e-3
#define GRADIENT_TOLERANCE 1e-7
#define GRADIENT_NOTHING   1e-5 /* the test fails if no derivative is larger than this */

typedef struct {
    const char *name;     /* for messages */
    real *values;         /* the variables of the function; restored afterwards */
    size_t count;         /* of values */
    const real *gradient; /* the derivatives to check */
    size_t gradient_count;
    bool may_vanish; /* if false, derivatives that are all near zero are an error */
} Gradient;

/* Returns NULL, or an error message that is valid until the next call. */
const char *gradient_fault(const Gradient *gradient, double (*function)(void *context), void *context);

#endif
