/* op_cases.h - small graphs for the gradient check of each op.
 *
 * A case declares parameters and builds a graph from leaves. The bench runs the graph many times with the
 * same leaves and parameters and varies one of their numbers each time.
 *
 * Owner   the bench owns leaves and parameters
 */
#ifndef OP_CASES_H
#define OP_CASES_H

#include "base/rng.h"
#include "autograd/op_table.h"

enum { BENCH_LEAVES = 8 };

typedef struct OpBench OpBench;

enum {
    CASE_TRAINING = 1,     /* dropout is active */
    CASE_LOSS = 2,         /* the result is a loss: its own gradient is 1 */
    CASE_SPARE_PARAMS = 4, /* declares parameters that it does not use */
    CASE_MAY_VANISH = 8,   /* derivatives of leaves may all be zero */
    CASE_EVERY_SCORE = 16  /* runs once for each row of ATTENTION_SCORES, see bench_score */
};

typedef struct {
    OpId op; /* the graph must contain a node of this op */
    const char *name;
    void (*declare)(ParamSet *params); /* NULL: no parameters */
    Tensor *(*run)(Tape *tape, OpBench *bench);
    int flags;
} OpCase;

extern int bench_score; /* the current row of ATTENTION_SCORES in a case with CASE_EVERY_SCORE */

struct OpBench {
    const OpCase *item;
    ParamSet *params;
    struct {
        real *values;
        size_t size;
        Tensor *tensor; /* of the last run */
    } leaf[BENCH_LEAVES];
    int leaves; /* the number of leaves */
    int next;   /* index of the next leaf of the current run */
    Rng rng;
};

/* The next leaf of the graph. The first run fills it with random numbers. */
Tensor *bench_leaf(OpBench *bench, Tape *tape, int rows, int columns);
/* Constants: they have no gradient, even if the tape records. */
Tensor *bench_constant(Tape *tape, int rows, int columns);
const Param *bench_param(const OpBench *bench, const char *name);

/* Each table ends with a case without a name. */
extern const OpCase AFFINE_CASES[], POINTWISE_CASES[], NORM_CASES[], SELECT_CASES[], RECURRENT_CASES[],
    SCORE_CASES[], ATTENTION_CASES[], LOSS_CASES[];
extern const OpCase *const OP_CASES[]; /* all tables, then NULL */

/* Returns an error if a row of the op table lacks a function or a case, or NULL. */
const char *op_rows_fault(const Op *ops, int count, const OpCase *const *tables);

#endif
