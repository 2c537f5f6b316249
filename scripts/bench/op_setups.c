/* op_setups.c - the table of ops with their operands. */
#include "op_setups.h"

int op_size(const OpSizes *s, int unit) {
    switch (unit) {
    case SIZE_ONE:
        return 1;
    case SIZE_B:
        return s->B;
    case SIZE_BS:
        return s->B * s->S;
    case SIZE_V:
        return s->V;
    default:
        return unit * s->H;
    }
}

enum { SITE = 1 };
static const double DROPPED = 0.2;

static Tensor *affine(Tape *t, OpRig *r) { return op_affine(t, r->x[0], r->weight, r->bias, NULL, false); }
static Tensor *add(Tape *t, OpRig *r) { return op_add(t, r->x[0], r->x[1]); }
static Tensor *tanh_of(Tape *t, OpRig *r) { return op_tanh(t, r->x[0]); }
static Tensor *sigmoid(Tape *t, OpRig *r) { return op_sigmoid(t, r->x[0]); }
static Tensor *relu(Tape *t, OpRig *r) { return op_relu(t, r->x[0]); }
static Tensor *scale(Tape *t, OpRig *r) { return op_scale(t, r->x[0], (real)0.7); }
static Tensor *glu(Tape *t, OpRig *r) { return op_glu(t, r->x[0]); }
static Tensor *dropout(Tape *t, OpRig *r) { return op_dropout(t, r->x[0], DROPPED, SITE, r->row_keys); }
static Tensor *dropout_weights(Tape *t, OpRig *r) {
    return op_dropout_weights(t, r->x[0], DROPPED, SITE, r->row_keys, r->spans);
}
static Tensor *layer_norm(Tape *t, OpRig *r) { return op_layer_norm(t, r->x[0], r->weight, r->bias); }
static Tensor *unit_rows(Tape *t, OpRig *r) { return op_unit_rows(t, r->x[0]); }
static Tensor *half_square(Tape *t, OpRig *r) { return op_half_square(t, r->x[0]); }
static Tensor *concat(Tape *t, OpRig *r) { return op_concat(t, r->x[0], r->x[1]); }
static Tensor *gather(Tape *t, OpRig *r) { return op_gather(t, r->x[0], r->index, r->x[0]->rows); }
static Tensor *embedding(Tape *t, OpRig *r) {
    return op_embedding(t, r->weight, r->index, op_size(&r->size, SIZE_BS));
}
/* spans->first are the starts of the sentences but for the end of the last: one sentence fewer. */
static Tensor *segment_mean(Tape *t, OpRig *r) {
    return op_segment_mean(t, r->x[0], r->spans->first, r->size.B - 1);
}
static Tensor *gru(Tape *t, OpRig *r) { return op_gru(t, r->x[0], r->x[1], r->x[2]); }
static Tensor *lstm(Tape *t, OpRig *r) {
    Tensor *next;
    return op_lstm(t, r->x[0], r->x[1], r->x[2], &next);
}
static Tensor *score_additive(Tape *t, OpRig *r) {
    return op_score_additive(t, r->x[0], r->x[1], r->weight, r->spans);
}
static Tensor *score_dot(Tape *t, OpRig *r) {
    DotScore form = {.heads = 1, .scale = (real)0.0625};
    return op_score_dot(t, r->x[0], r->x[1], &form, r->spans);
}
static Tensor *score_position(Tape *t, OpRig *r) { return op_score_position(t, r->x[0], 1, NULL, r->spans); }
static Tensor *masked_softmax(Tape *t, OpRig *r) { return op_masked_softmax(t, r->x[0], r->spans); }
static Tensor *context(Tape *t, OpRig *r) { return op_context(t, r->x[0], r->x[1], r->spans); }
static Tensor *cross_entropy(Tape *t, OpRig *r) {
    return op_cross_entropy(t, r->x[0], r->weight, r->bias, r->index, 0.1, 1, &r->loss);
}

static double affine_flops(const OpSizes *s) { return 2.0 * s->B * s->H * 3 * s->H; }
static double pair_flops(const OpSizes *s) { return 2.0 * s->B * s->S * s->H; }
/* The logits and both gradients: all three are made in the forward pass. */
static double loss_flops(const OpSizes *s) { return 6.0 * s->B * s->S * s->H * s->V; }

#define WIDE                                                                                                 \
    { SIZE_BS, 1 }
#define STEP                                                                                                 \
    { SIZE_B, 1 }
const OpSetup OP_SETUPS[OP_COUNT] = {
    [OP_AFFINE] = {OP_AFFINE, {STEP}, {1, 3}, true, affine, affine_flops},
    [OP_ADD] = {OP_ADD, {WIDE, WIDE}, {0}, false, add, NULL},
    [OP_TANH] = {OP_TANH, {WIDE}, {0}, false, tanh_of, NULL},
    [OP_SIGMOID] = {OP_SIGMOID, {WIDE}, {0}, false, sigmoid, NULL},
    [OP_RELU] = {OP_RELU, {WIDE}, {0}, false, relu, NULL},
    [OP_SCALE] = {OP_SCALE, {WIDE}, {0}, false, scale, NULL},
    [OP_GLU] = {OP_GLU, {{SIZE_BS, 2}}, {0}, false, glu, NULL},
    [OP_DROPOUT] = {OP_DROPOUT, {WIDE}, {0}, false, dropout, NULL},
    [OP_DROPOUT_WEIGHTS] = {OP_DROPOUT_WEIGHTS, {{SIZE_ONE, SIZE_BS}}, {0}, false, dropout_weights, NULL},
    [OP_LAYER_NORM] = {OP_LAYER_NORM, {WIDE}, {SIZE_ONE, 1}, true, layer_norm, NULL},
    [OP_UNIT_ROWS] = {OP_UNIT_ROWS, {WIDE}, {0}, false, unit_rows, NULL},
    [OP_HALF_SQUARE] = {OP_HALF_SQUARE, {WIDE}, {0}, false, half_square, NULL},
    [OP_CONCAT] = {OP_CONCAT, {WIDE, WIDE}, {0}, false, concat, NULL},
    [OP_GATHER] = {OP_GATHER, {WIDE}, {0}, false, gather, NULL},
    [OP_EMBEDDING] = {OP_EMBEDDING, {{0}}, {SIZE_BS, 1}, false, embedding, NULL},
    [OP_SEGMENT_MEAN] = {OP_SEGMENT_MEAN, {WIDE}, {0}, false, segment_mean, NULL},
    [OP_GRU] = {OP_GRU, {{SIZE_B, 3}, {SIZE_B, 3}, STEP}, {0}, false, gru, NULL},
    [OP_LSTM] = {OP_LSTM, {{SIZE_B, 4}, {SIZE_B, 4}, STEP}, {0}, false, lstm, NULL},
    [OP_SCORE_ADDITIVE] = {OP_SCORE_ADDITIVE, {STEP, WIDE}, {SIZE_ONE, 1}, false, score_additive, NULL},
    [OP_SCORE_DOT] = {OP_SCORE_DOT, {STEP, WIDE}, {0}, false, score_dot, pair_flops},
    [OP_SCORE_POSITION] = {OP_SCORE_POSITION, {STEP}, {0}, false, score_position, NULL},
    [OP_MASKED_SOFTMAX] = {OP_MASKED_SOFTMAX, {{SIZE_ONE, SIZE_BS}}, {0}, false, masked_softmax, NULL},
    [OP_CONTEXT] = {OP_CONTEXT, {{SIZE_ONE, SIZE_BS}, WIDE}, {0}, false, context, pair_flops},
    [OP_CROSS_ENTROPY] = {OP_CROSS_ENTROPY, {WIDE}, {SIZE_V, 1}, true, cross_entropy, loss_flops},
};
