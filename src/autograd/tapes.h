/* tapes.h - several tapes run side by side, so that their small products become large ones.
 *
 * A step of a recurrent layer multiplies one row of each sentence by a weight: with few sentences on a tape,
 * reading the weight takes longer than the arithmetic. Tapes that wait (Tape.deferred) have put off all ops;
 * here they are run in turns, each as far as its next product, and products by the same weight become one;
 * so do their output layers. A row of a product does not depend on the others (kern.h): the numbers are those
 * of each tape run alone.
 *
 * Threads all tapes belong to the calling one
 */
#ifndef AUTOGRAD_TAPES_H
#define AUTOGRAD_TAPES_H

#include "autograd/tape.h"

enum { TAPES_MAX = 16 };

/* Run what these tapes, TAPES_MAX at most, have put off, and then tape_backward of each. */
void tapes_run(Tape *const *tapes, int count);

#endif
