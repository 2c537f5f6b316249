/* op_setups.h - one use of each op at the sizes that it has in a model: operands made once, the op run as often as wanted. */
#ifndef BENCH_OP_SETUPS_H
#define BENCH_OP_SETUPS_H

#include "num/op_table.h"

/* B sentences of S tokens, H numbers in a state, V words. */
typedef struct {
    int B, S, H, V;
} OpSizes;

enum { OPERANDS_MOST = 4 };

typedef struct {
    OpSizes size;
    ParamSet *params;
    const Param *weight, *bias; /* as declared by the setup, or NULL */
    Tensor *x[OPERANDS_MOST];   /* operands, on the tape */
    const int *index;           /* [B S], each within 0 .. B S - 1 */
    const uint32_t *row_keys;   /* [B S] */
    const Spans *spans;         /* B rows, each with the S keys of its sentence */
    CrossEntropy loss;
} OpRig;

typedef struct {
    OpId op;
    struct {
        int rows, columns;
    } operand[OPERANDS_MOST]; /* in units of OpUnit; 0: no more operands */
    struct {
        int rows, columns;
    } weight;
    bool bias; /* [1, columns of the weight], or rows if it is an output layer */
    Tensor *(*run)(Tape *tape, OpRig *rig);
    double (*flops)(
        const OpSizes *size); /* of products, forward; NULL: the op is bound by memory and functions */
} OpSetup;

/* How sizes are written in a setup: a positive number is that many times H; these stand for the others. */
enum { SIZE_ONE = -1, SIZE_B = -2, SIZE_BS = -3, SIZE_V = -4 };
int op_size(const OpSizes *size, int unit);

extern const OpSetup OP_SETUPS[OP_COUNT]; /* a row for each op, in their order */

#endif
