/* ops.c - each op of the tape with the sizes of a model, forward and backward, on one thread.
 *
 * Traffic is the memory traffic without caches: each operand and result once, an accumulated gradient twice.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "bench/rig.h"
#include "autograd/op_table.h"

enum { RUNS = 9 };

/* B sentences of S tokens, H numbers in a state, V words. */
typedef struct {
    int B, S, H, V;
} OpSizes;

/* The operands of an op. */
typedef struct {
    OpSizes size;
    const struct OpSetup *setup;
    const Param *weight, *bias; /* as declared by the setup, or NULL */
    Tensor *const *x;           /* operands, on the tape */
    int *index;                 /* [B S], each within 0 .. B S - 1 */
    uint32_t *row_keys;         /* [B S] */
    int *first, *length;        /* [B] of the sentences */
    const Spans *spans;         /* B rows, each with the S keys of its sentence */
    CrossEntropy loss;
} Operands;

/* ---- one use of each op ------------------------------------------------------------------------------ */

/* Sizes: a positive number is a multiple of H; the others are these constants. */
enum { SIZE_ONE = -1, SIZE_B = -2, SIZE_BS = -3, SIZE_V = -4 };

typedef struct {
    int rows, columns;
} Shape;

typedef struct OpSetup {
    Shape operand[RIG_OPERANDS]; /* 0: no more operands */
    Shape weight;
    bool bias; /* [1, columns of the weight], or rows if it is an output layer */
    Tensor *(*run)(Tape *tape, Operands *operands);
    double (*flops)(const OpSizes *size); /* of products, forward; NULL: bound by memory and functions */
} OpSetup;

static int op_size(const OpSizes *s, int unit) {
    const int others[] = {0, 1, s->B, s->B * s->S, s->V};
    return unit < 0 ? others[-unit] : unit * s->H;
}

enum { STREAM = 1 };
static const double DROPPED = 0.2;

static Tensor *affine(Tape *t, Operands *r) { return op_affine(t, r->x[0], r->weight, r->bias, NULL, false); }
static Tensor *add(Tape *t, Operands *r) { return op_add(t, r->x[0], r->x[1]); }
static Tensor *tanh_of(Tape *t, Operands *r) { return op_tanh(t, r->x[0]); }
static Tensor *scale(Tape *t, Operands *r) { return op_scale(t, r->x[0], (real)0.7); }
static Tensor *glu(Tape *t, Operands *r) { return op_glu(t, r->x[0]); }
static Tensor *dropout(Tape *t, Operands *r) { return op_dropout(t, r->x[0], DROPPED, STREAM, r->row_keys); }
static Tensor *relu(Tape *t, Operands *r) { return op_relu(t, r->x[0], DROPPED, STREAM, r->row_keys); }
static Tensor *activation(Tape *t, Operands *r) {
    return op_activation(t, r->x[0], ACTIVATION_SWISH, DROPPED, STREAM, r->row_keys);
}
static Tensor *residual(Tape *t, Operands *r) {
    return op_residual(t, r->x[0], r->x[1], DROPPED, STREAM, r->row_keys);
}
static Tensor *dropout_weights(Tape *t, Operands *r) {
    return op_dropout_weights(t, r->x[0], DROPPED, STREAM, r->row_keys, r->spans);
}
static Tensor *layer_norm(Tape *t, Operands *r) {
    return op_layer_norm(t, r->x[0], r->weight, r->bias, 1e-5);
}
static Tensor *unit_rows(Tape *t, Operands *r) { return op_unit_rows(t, r->x[0]); }
static Tensor *half_square(Tape *t, Operands *r) { return op_half_square(t, r->x[0]); }
static Tensor *concat(Tape *t, Operands *r) { return op_concat(t, r->x[0], r->x[1]); }
static Tensor *gather(Tape *t, Operands *r) { return op_gather(t, r->x[0], r->index, r->x[0]->rows); }
static Tensor *embedding(Tape *t, Operands *r) {
    return op_embedding(t, r->weight, r->index, op_size(&r->size, SIZE_BS));
}
/* spans->first are the starts of the sentences but for the end of the last: one sentence fewer. */
static Tensor *segment_mean(Tape *t, Operands *r) {
    return op_segment_mean(t, r->x[0], r->spans->first, r->size.B - 1);
}
static Tensor *gru(Tape *t, Operands *r) { return op_gru(t, r->x[0], r->x[1], r->x[2]); }
static Tensor *lstm(Tape *t, Operands *r) {
    Tensor *next;
    return op_lstm(t, r->x[0], r->x[1], r->x[2], &next);
}
static Tensor *ssru(Tape *t, Operands *r) { return op_ssru(t, r->x[0], r->x[1], r->index); }
static Tensor *score_additive(Tape *t, Operands *r) {
    return op_score_additive(t, r->x[0], r->x[1], r->weight, r->spans);
}
static Tensor *score_dot(Tape *t, Operands *r) {
    DotScore form = {.heads = 1, .scale = (real)0.0625};
    return op_score_dot(t, r->x[0], r->x[1], &form, r->spans);
}
static Tensor *score_position(Tape *t, Operands *r) {
    return op_score_position(t, r->x[0], 1, NULL, r->spans);
}
static Tensor *masked_softmax(Tape *t, Operands *r) { return op_masked_softmax(t, r->x[0], r->spans); }
static Tensor *context(Tape *t, Operands *r) { return op_context(t, r->x[0], r->x[1], r->spans); }
static Tensor *cross_entropy(Tape *t, Operands *r) {
    const LossOptions options = {r->weight, r->bias, .label_smoothing = 0.1, .scale = 1};
    return op_cross_entropy(t, r->x[0], r->index, &options, &r->loss);
}
static double affine_flops(const OpSizes *s) { return 2.0 * s->B * s->H * 3 * s->H; }
static double pair_flops(const OpSizes *s) { return 2.0 * s->B * s->S * s->H; }
/* The logits and both gradients: all three are made in the forward pass. */
static double loss_flops(const OpSizes *s) { return 6.0 * s->B * s->S * s->H * s->V; }

#define WIDE                                                                                                 \
    { SIZE_BS, 1 }
#define STEP                                                                                                 \
    { SIZE_B, 1 }
static const OpSetup OP_SETUPS[OP_COUNT] = {
    [OP_AFFINE] = {{STEP}, {1, 3}, true, affine, affine_flops},
    [OP_ADD] = {{WIDE, WIDE}, {0}, false, add, NULL},
    [OP_TANH] = {{WIDE}, {0}, false, tanh_of, NULL},
    [OP_SCALE] = {{WIDE}, {0}, false, scale, NULL},
    [OP_GLU] = {{{SIZE_BS, 2}}, {0}, false, glu, NULL},
    [OP_DROPOUT] = {{WIDE}, {0}, false, dropout, NULL},
    [OP_RELU] = {{WIDE}, {0}, false, relu, NULL},
    [OP_ACTIVATION] = {{WIDE}, {0}, false, activation, NULL},
    [OP_RESIDUAL] = {{WIDE, WIDE}, {0}, false, residual, NULL},
    [OP_DROPOUT_WEIGHTS] = {{{SIZE_ONE, SIZE_BS}}, {0}, false, dropout_weights, NULL},
    [OP_LAYER_NORM] = {{WIDE}, {SIZE_ONE, 1}, true, layer_norm, NULL},
    [OP_UNIT_ROWS] = {{WIDE}, {0}, false, unit_rows, NULL},
    [OP_HALF_SQUARE] = {{WIDE}, {0}, false, half_square, NULL},
    [OP_CONCAT] = {{WIDE, WIDE}, {0}, false, concat, NULL},
    [OP_GATHER] = {{WIDE}, {0}, false, gather, NULL},
    [OP_EMBEDDING] = {{{0}}, {SIZE_BS, 1}, false, embedding, NULL},
    [OP_SEGMENT_MEAN] = {{WIDE}, {0}, false, segment_mean, NULL},
    [OP_GRU] = {{{SIZE_B, 3}, {SIZE_B, 3}, STEP}, {0}, false, gru, NULL},
    [OP_LSTM] = {{{SIZE_B, 4}, {SIZE_B, 4}, STEP}, {0}, false, lstm, NULL},
    [OP_SSRU] = {{WIDE, WIDE}, {0}, false, ssru, NULL},
    [OP_SCORE_ADDITIVE] = {{STEP, WIDE}, {SIZE_ONE, 1}, false, score_additive, NULL},
    [OP_SCORE_DOT] = {{STEP, WIDE}, {0}, false, score_dot, pair_flops},
    [OP_SCORE_POSITION] = {{STEP}, {0}, false, score_position, NULL},
    [OP_MASKED_SOFTMAX] = {{{SIZE_ONE, SIZE_BS}}, {0}, false, masked_softmax, NULL},
    [OP_CONTEXT] = {{{SIZE_ONE, SIZE_BS}, WIDE}, {0}, false, context, pair_flops},
    [OP_CROSS_ENTROPY] = {{WIDE}, {SIZE_V, 1}, true, cross_entropy, loss_flops},
};

/* ---- measuring --------------------------------------------------------------------------------------- */

static Tensor *run_op(Tape *tape, Rig *rig) {
    Operands *operands = rig->context;
    return operands->setup->run(tape, operands);
}

static void make_spans(Rig *rig) {
    Operands *o = rig->context;
    o->spans = spans_new(rig->tape, o->first, o->length, o->size.B);
}

static Operands operands_new(OpSizes size) {
    size_t tokens = (size_t)size.B * (size_t)size.S, sentences = (size_t)size.B;
    Operands o = {.size = size};
    o.index = mem_alloc(tokens, sizeof *o.index);
    o.row_keys = mem_alloc(tokens, sizeof *o.row_keys);
    o.first = mem_alloc(sentences, sizeof *o.first);
    o.length = mem_alloc(sentences, sizeof *o.length);
    for (size_t i = 0; i < tokens; i++) {
        o.index[i] = (int)(i * 31 % tokens % (size_t)size.V);
        o.row_keys[i] = (uint32_t)i;
    }
    for (int b = 0; b < size.B; b++) o.first[b] = b * size.S, o.length[b] = size.S;
    return o;
}

static void operands_free(Operands *o) {
    mem_free(o->index);
    mem_free(o->row_keys);
    mem_free(o->first);
    mem_free(o->length);
}

static void declare_weights(ParamSet *params, OpId id, Operands *o) {
    const OpSetup *setup = o->setup;
    bool output = id == OP_CROSS_ENTROPY;
    int rows = op_size(&o->size, setup->weight.rows), columns = op_size(&o->size, setup->weight.columns);
    o->weight = o->bias = NULL;
    if (rows)
        o->weight = params_add(params, "weight", rows, columns, INIT_NORMAL, 0.1,
                               output            ? PANELS_OUTPUT
                               : id == OP_AFFINE ? PANELS_AFFINE
                                                 : PANELS_NONE);
    if (setup->bias)
        o->bias = params_add(params, "bias", 1, output ? rows : columns, INIT_NORMAL, 0.1, PANELS_NONE);
}

static Rig *op_rig(OpId id, Operands *o) {
    Rig *rig = rig_new(run_op, o);
    o->setup = &OP_SETUPS[id];
    o->x = rig->x;
    rig->set_up = make_spans;
    for (const Shape *s = o->setup->operand; s < o->setup->operand + RIG_OPERANDS && s->rows; s++)
        rig_operand(rig, op_size(&o->size, s->rows), op_size(&o->size, s->columns));
    declare_weights(rig->params, id, o);
    return rig;
}

/* Enough calls on one tape for 0.2 ms, so that reading the clock is negligible. */
static void count_calls(Rig *rig) {
    double once[MEASURE_PARTS] = {0};
    rig_run(rig, 1, once);
    rig->calls = (int)fmax(1, fmin(RIG_CALLS, 2e-4 / fmax(once[0] + once[1], 1e-6)));
}

/* Bytes that one call moves. An embedding reads the rows it returns. */
static void traffic(const Rig *rig, OpId id, double moved[MEASURE_PARTS]) {
    double out = (double)rig->result, in = id == OP_EMBEDDING ? out : (double)rig->params->size;
    for (int i = 0; i < rig->operands; i++) in += (double)tensor_size(rig->x[i]);
    moved[0] = sizeof(real) * (in + out);
    moved[1] = sizeof(real) * (3 * in + 2 * out);
}

static void report_op(Report *r, OpId id, const Rig *rig, const OpSizes *size, Sample sample[MEASURE_PARTS]) {
    static const char *const WAY[] = {"forward", "backward"};
    double moved[MEASURE_PARTS], flops = OP_SETUPS[id].flops ? OP_SETUPS[id].flops(size) : 0;
    int parts = id == OP_CROSS_ENTROPY ? 1 : 2; /* its forward pass does everything */
    traffic(rig, id, moved);
    for (int p = 0; p < parts; p++) {
        double rate = 1e-9 * (flops > 0 ? (p + 1) * flops : moved[p]) / sample_median(&sample[p]);
        report_seconds(r, OPS[id].name, WAY[p], "ns", LESS_IS_BETTER, 1e9, &sample[p]);
        report_value(r, OPS[id].name, WAY[p], flops > 0 ? "GFLOP/s" : "GB/s", NOT_JUDGED, rate);
    }
}

static Status measure_op(Bench *bench, OpId id, Operands *operands, double seconds) {
    Sample sample[MEASURE_PARTS] = {0};
    Rig *rig = op_rig(id, operands);
    Status status = rig_start(rig, OPS[id].name);
    if (status == STATUS_OK) {
        count_calls(rig);
        measure(&(Trial){.run = rig_run, .context = rig}, seconds / RUNS, RUNS, sample);
        report_op(&bench->report, id, rig, &operands->size, sample);
    }
    for (int p = 0; p < MEASURE_PARTS; p++) sample_free(&sample[p]);
    rig_free(rig);
    return status;
}

Status bench_ops(Bench *bench) {
    TRY(bench_subject(bench));
    OpSizes size = {.B = 64, .S = 14, .H = bench->config->model.hidden};
    size.V = vocab_size(tokenizer_vocab(bench->target));
    Operands operands = operands_new(size);
    Status status = STATUS_OK;
    char title[128];
    bench->report.section = "ops";
    for (int i = 0; i < OP_COUNT && status == STATUS_OK; i++) {
        log_progress("ops: %d of %d, %s", i + 1, OP_COUNT, OPS[i].name);
        status = measure_op(bench, (OpId)i, &operands, bench_seconds(bench, 0.12, OP_COUNT));
    }
    operands_free(&operands);
    TRY(status);
    log_progress_end();
    snprintf(title, sizeof title, "Ops: %d sentences of %d tokens, %d units, %d words; one thread, a call",
             size.B, size.S, size.H, size.V);
    return report_show(&bench->report, title,
                       "steps: 64 rows; rates count each operand once; the loss is all in its forward");
}
