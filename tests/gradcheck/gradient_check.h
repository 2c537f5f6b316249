/* gradient_check.h - are these numbers the derivatives of that function?
 *
 * Each claimed derivative is compared, sign included, with a central difference of fourth order:
 *   (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12 h
 * Units   the error is relative to the larger of both numbers, but at least to GRADIENT_FLOOR
 */
#ifndef GRADIENT_CHECK_H
#define GRADIENT_CHECK_H

#include "kern/tensor.h"

#define GRADIENT_STEP      1.5e-4
#define GRADIENT_FLOOR     1e-3
#define GRADIENT_TOLERANCE 1e-7
#define GRADIENT_NOTHING   1e-5 /* if no derivative is larger, nothing was tested */

typedef struct {
    const char *name;     /* for messages */
    real *values;         /* where the function is varied; restored afterwards */
    size_t count;         /* of values */
    const real *gradient; /* what is claimed */
    size_t gradient_count;
    bool may_vanish; /* otherwise derivatives that are all about zero are a fault */
} Gradient;

/* NULL if all is well, else what is wrong: valid until the next call. */
const char *gradient_fault(const Gradient *gradient, double (*function)(void *context), void *context);

#endif
