/* ops.c - the op table. */
#include "num/op_rows.h"

#define OP_ROW(name)                                                                                         \
    { #name, name##_forward, name##_backward }

const Op OPS[OP_COUNT] = {
    [OP_AFFINE] = OP_ROW(affine),
    [OP_ADD] = OP_ROW(add),
    [OP_TANH] = OP_ROW(tanh),
    [OP_SIGMOID] = OP_ROW(sigmoid),
    [OP_DROPOUT] = OP_ROW(dropout),
    [OP_LAYER_NORM] = OP_ROW(layer_norm),
    [OP_CONCAT] = OP_ROW(concat),
    [OP_GATHER] = OP_ROW(gather),
    [OP_EMBEDDING] = OP_ROW(embedding),
    [OP_SEGMENT_MEAN] = OP_ROW(segment_mean),
    [OP_GRU] = OP_ROW(gru),
    [OP_SCORE_ADDITIVE] = OP_ROW(score_additive),
    [OP_MASKED_SOFTMAX] = OP_ROW(masked_softmax),
    [OP_CONTEXT] = OP_ROW(context),
    [OP_CROSS_ENTROPY] = OP_ROW(cross_entropy),
};
