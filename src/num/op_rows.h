/* op_rows.h - the forward and backward functions behind the rows of the op table; ops.h is the interface to use. */
#ifndef NUM_OP_ROWS_H
#define NUM_OP_ROWS_H

#include "num/ops.h"

#define OP_ROW_DECLARE(name)                                                                                 \
    void name##_forward(Tape *tape, const Node *node);                                                       \
    void name##_backward(Tape *tape, const Node *node)

OP_ROW_DECLARE(affine);
OP_ROW_DECLARE(add);
OP_ROW_DECLARE(tanh);
OP_ROW_DECLARE(sigmoid);
OP_ROW_DECLARE(relu);
OP_ROW_DECLARE(scale);
OP_ROW_DECLARE(glu);
OP_ROW_DECLARE(dropout);
OP_ROW_DECLARE(dropout_weights);
OP_ROW_DECLARE(layer_norm);
OP_ROW_DECLARE(unit_rows);
OP_ROW_DECLARE(half_square);
OP_ROW_DECLARE(concat);
OP_ROW_DECLARE(gather);
OP_ROW_DECLARE(embedding);
OP_ROW_DECLARE(segment_mean);
OP_ROW_DECLARE(gru);
OP_ROW_DECLARE(lstm);
OP_ROW_DECLARE(score_additive);
OP_ROW_DECLARE(score_dot);
OP_ROW_DECLARE(score_position);
OP_ROW_DECLARE(masked_softmax);
OP_ROW_DECLARE(context);
OP_ROW_DECLARE(cross_entropy);

#endif
