/* tape_fixture.h - a tape for the tests of ops, and numbers on it. */
#ifndef UNIT_TAPE_FIXTURE_H
#define UNIT_TAPE_FIXTURE_H

#include "base/rng.h"
#include "kern/kern.h"
#include "autograd/ops.h"

static ParamSet *params;
static Tape *tape;

/* After the parameters of the test have been added. */
static inline void tape_set_up(void) {
    kern_select();
    params_initialize(params, 1);
    tape = tape_new(params, false);
}

static inline int tape_tear_down(void **state) {
    (void)state;
    tape_free(tape);
    params_free(params);
    return 0;
}

/* Between -1 and 1. */
static inline Tensor *numbers(int rows, int columns, uint64_t seed) {
    Tensor *x = tape_tensor(tape, rows, columns);
    Rng rng = rng_new(seed);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)(2 * rng_uniform(&rng) - 1);
    return x;
}

#endif
