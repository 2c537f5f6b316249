/* rig.h - runs an op or a layer on a tape, forward and backward, with random operands.
 *
 * Time is processor time of the thread, so that other work on the machine matters little.
 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "bench/measure.h"
#include "autograd/ops.h"

enum { RIG_OPERANDS = 4, RIG_CALLS = 64 };

typedef struct Rig Rig;
struct Rig {
    Tensor *(*run)(Tape *tape, Rig *rig);
    void (*set_up)(Rig *rig); /* builds other tensors on the tape, not timed; or NULL */
    void *context;            /* of these two */
    ParamSet *params;         /* to be filled before rig_start */
    Tape *tape;
    struct {
        int rows, columns;
        real *noise;
    } operand[RIG_OPERANDS];
    int operands;
    Tensor *x[RIG_OPERANDS]; /* the operands, on the tape */
    const Tensor *y;         /* a result of the last run */
    real *gradient;          /* of the result ... */
    size_t result;           /* ... and its size */
    int calls;               /* on one tape at most: 1 after rig_start */
    size_t bytes;            /* of the tape's arena that one call takes */
};

Rig *rig_new(Tensor *(*run)(Tape *tape, Rig *rig), void *context);
void rig_operand(Rig *rig, int rows, int columns);
/* Fails if the result of a run or a gradient is zero or not finite. */
Status rig_start(Rig *rig, const char *name);
/* For Trial: seconds[0] forward, seconds[1] backward. */
Status rig_run(void *rig, int repeats, double seconds[MEASURE_PARTS]);
void rig_free(Rig *rig);

#endif
