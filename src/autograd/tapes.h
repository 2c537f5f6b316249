/* tapes.h - batched execution of several deferred tapes, so that their small products become large ones.
 *
 * A step of a recurrent layer multiplies one row of each sentence by a weight: with few sentences on a
 * tape, reading the weight takes longer than the arithmetic. tapes_run takes the deferred tapes in turns,
 * each up to its next product. Products by the same weight become one, and so do the output layers. A row
 * of a product does not depend on the other rows (kern.h), so the numbers are those of each tape run alone.
 *
 * Threads all tapes belong to the calling thread
 */
#ifndef AUTOGRAD_TAPES_H
#define AUTOGRAD_TAPES_H

#include "autograd/tape.h"

enum { TAPES_MAX = 16 };

/* Run the deferred ops of these tapes, TAPES_MAX at most, and their backward passes. */
void tapes_run(Tape *const *tapes, int count);

#endif
