/* gradients.h - the parameters' gradients of several tapes, summed by several threads.
 *
 * A tape without a gradient block keeps its pending weight gradients (matmul.h). This module divides the
 * parameters into slices, blocks of a weight as it is stored, and sums each slice from the first tape to the
 * last. The order of a sum does not depend on the thread, and the slice stays in the cache meanwhile. Many
 * short tapes, which keep many threads busy, do not need a gradient block each.
 *
 * Owner   tapes belong to the caller and must not be reset until all slices were added
 */
#ifndef AUTOGRAD_GRADIENTS_H
#define AUTOGRAD_GRADIENTS_H

#include "autograd/tape.h"

typedef struct Gradients Gradients;

Gradients *gradients_new(const ParamSet *params,
                         int threads); /* threads: the number of threads that will add slices */
void gradients_free(Gradients *gradients);
/* Collect the pending gradients of these tapes, in their order, for gradients_add. The products of every
 * `joined` tapes (fewer at the end) become one product; rounding may depend on this number. */
void gradients_collect(Gradients *gradients, const Tape *tapes, int count, int joined);
int gradients_slices(
    const Gradients *gradients); /* depends on the parameters and the number of threads only */
/* Add a slice to a gradient block. `worker`: the tape whose working memory is used. */
void gradients_add(const Gradients *gradients, int slice, const Tape *worker, real *grads);

#endif
