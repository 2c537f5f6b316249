/* ops.c - the op table. */
#include "num/op_rows.h"

#define OP_ROW(name)                                                                                         \
    { #name, name##_forward, name##_backward }

const Op OPS[OP_COUNT] = {
    [OP_AFFINE] = OP_ROW(affine),
    [OP_ADD] = OP_ROW(add),
    [OP_TANH] = OP_ROW(tanh),
    [OP_SIGMOID] = OP_ROW(sigmoid),
    [OP_RELU] = OP_ROW(relu),
    [OP_SCALE] = OP_ROW(scale),
    [OP_GLU] = OP_ROW(glu),
    [OP_DROPOUT] = OP_ROW(dropout),
    [OP_DROPOUT_WEIGHTS] = OP_ROW(dropout_weights),
    [OP_LAYER_NORM] = OP_ROW(layer_norm),
    [OP_UNIT_ROWS] = OP_ROW(unit_rows),
    [OP_HALF_SQUARE] = OP_ROW(half_square),
    [OP_CONCAT] = OP_ROW(concat),
    [OP_GATHER] = OP_ROW(gather),
    [OP_EMBEDDING] = OP_ROW(embedding),
    [OP_SEGMENT_MEAN] = OP_ROW(segment_mean),
    [OP_GRU] = OP_ROW(gru),
    [OP_LSTM] = OP_ROW(lstm),
    [OP_SCORE_ADDITIVE] = OP_ROW(score_additive),
    [OP_SCORE_DOT] = OP_ROW(score_dot),
    [OP_SCORE_POSITION] = OP_ROW(score_position),
    [OP_MASKED_SOFTMAX] = OP_ROW(masked_softmax),
    [OP_CONTEXT] = OP_ROW(context),
    [OP_CROSS_ENTROPY] = OP_ROW(cross_entropy),
};
