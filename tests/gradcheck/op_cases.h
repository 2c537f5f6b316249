/* op_cases.h - for each op: small graphs that use it, to check its gradients on.
 *
 * A case declares parameters and builds a graph from leaves. The bench runs the graph again and again with
 * the same leaves and parameters while single numbers of them are varied.
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
    CASE_EVERY_SCORE = 16  /* repeated for every row of ATTENTION_SCORES: bench_score */
};

typedef struct {
    OpId op; /* that must be among the nodes of the graph */
    const char *name;
    void (*declare)(ParamSet *params); /* NULL: no parameters */
    Tensor *(*run)(Tape *tape, OpBench *bench);
    int flags;
} OpCase;

extern int bench_score; /* the row that a case with CASE_EVERY_SCORE is repeated for just now */

struct OpBench {
    const OpCase *item;
    ParamSet *params;
    struct {
        real *values;
        size_t size;
        Tensor *tensor; /* of the last run */
    } leaf[BENCH_LEAVES];
    int leaves; /* that exist */
    int next;   /* of the run that is going on */
    Rng rng;
};

/* The next leaf of the graph: random when the bench meets it first. */
Tensor *bench_leaf(OpBench *bench, Tape *tape, int rows, int columns);
/* Fixed numbers that have no gradient, even where the tape records. */
Tensor *bench_constant(Tape *tape, int rows, int columns);
const Param *bench_param(const OpBench *bench, const char *name);

/* Tables that end with a case without a name. */
extern const OpCase AFFINE_CASES[], POINTWISE_CASES[], NORM_CASES[], SELECT_CASES[], RECURRENT_CASES[],
    SCORE_CASES[], ATTENTION_CASES[], LOSS_CASES[];
extern const OpCase *const OP_CASES[]; /* all of them, then NULL */

/* What is wrong with the op table or with the cases, or NULL: each row needs all its functions and a case. */
const char *op_rows_fault(const Op *ops, int count, const OpCase *const *tables);

#endif
