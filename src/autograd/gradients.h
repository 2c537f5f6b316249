/* gradients.h - the parameters' gradients of several tapes, added by several threads.
 *
 * A tape without a gradient block keeps what each parameter is to get (matmul.h). Here all of that is taken
 * apart by slices of the parameters, blocks of a weight as it is stored: a slice is added up from the first
 * tape to the last, the same way whoever does it, and stays in the cache meanwhile. So many short tapes,
 * which keep many threads busy, cost no gradient block each.
 *
 * Owner   tapes belong to the caller and must not be reset until all slices were added
 */
#ifndef AUTOGRAD_GRADIENTS_H
#define AUTOGRAD_GRADIENTS_H

#include "autograd/tape.h"

typedef struct Gradients Gradients;

Gradients *gradients_new(const ParamSet *params, int threads); /* so many will add slices */
void gradients_free(Gradients *gradients);
/* From now on slices are of what these tapes have kept, in their order. The products of `joined` tapes, of
 * fewer at the end, become one; rounding may depend on how many. */
void gradients_collect(Gradients *gradients, const Tape *tapes, int count, int joined);
int gradients_slices(const Gradients *gradients); /* those of the same parameters and threads are as many */
/* Add a slice to a gradient block. `worker`: whose working memory is used. */
void gradients_add(const Gradients *gradients, int slice, const Tape *worker, real *grads);

#endif
