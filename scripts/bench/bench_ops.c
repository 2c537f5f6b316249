/* bench_ops.c - each op of the tape, forward and backward, on one thread.
 *
 * Time is the processor time of the thread, so that other work on the machine matters little. Traffic counts each operand and result
 * once, and a gradient that is added to twice: what must move if nothing stays in a cache.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench.h"
#include "measure/measure.h"
#include "op_setups.h"

enum { RUNS = 9, CALLS_MOST = 64 };

typedef struct {
    const OpSetup *setup;
    OpRig rig;
    Tape *tape;
    int *index, *first, *length;
    uint32_t *row_keys;
    real *noise[OPERANDS_MOST + 1]; /* for the operands, and the gradient of the result */
    size_t noise_size[OPERANDS_MOST];
} OpRun;

/* ---- making and running ---------------------------------------------------------------------------------------------------- */

static void declare(OpRun *op) {
    const OpSetup *setup = op->setup;
    OpRig *rig = &op->rig;
    if (!setup->weight.rows) return;
    bool output = setup->op == OP_CROSS_ENTROPY;
    int rows = op_size(&rig->size, setup->weight.rows), columns = op_size(&rig->size, setup->weight.columns);
    rig->weight = params_add(rig->params, "weight", rows, columns, INIT_NORMAL, 0.1,
                             output                   ? PACK_OUTPUT
                             : setup->op == OP_AFFINE ? PACK_AFFINE
                                                      : PACK_NONE);
    if (setup->bias)
        rig->bias = params_add(rig->params, "bias", 1, output ? rows : columns, INIT_NORMAL, 0.1, PACK_NONE);
}

static OpRun *op_new(const OpSetup *setup, OpSizes size) {
    OpRun *op = mem_alloc(1, sizeof *op);
    size_t tokens = (size_t)size.B * (size_t)size.S;
    *op = (OpRun){.setup = setup, .rig = {.size = size, .params = params_new()}};
    op->rig.params->packs_backward = true;
    declare(op);
    params_initialize(op->rig.params, 1);
    params_pack_all(op->rig.params);
    op->tape = tape_new(op->rig.params, true);
    op->tape->grads = params_block(op->rig.params);
    op->tape->training = true;
    op->tape->dropout_key = 5;
    op->index = mem_alloc(tokens, sizeof *op->index);
    op->row_keys = mem_alloc(tokens, sizeof *op->row_keys);
    op->first = mem_alloc((size_t)size.B, sizeof *op->first);
    op->length = mem_alloc((size_t)size.B, sizeof *op->length);
    for (size_t i = 0; i < tokens; i++) {
        op->index[i] = (int)(i * 31 % tokens % (size_t)size.V);
        op->row_keys[i] = (uint32_t)i;
    }
    for (int b = 0; b < size.B; b++) op->first[b] = b * size.S, op->length[b] = size.S;
    op->rig.index = op->index;
    op->rig.row_keys = op->row_keys;
    for (int i = 0; i < OPERANDS_MOST && setup->operand[i].rows; i++) {
        op->noise_size[i] = (size_t)op_size(&size, setup->operand[i].rows) *
                            (size_t)op_size(&size, setup->operand[i].columns);
        op->noise[i] = mem_alloc(op->noise_size[i], sizeof(real));
        measure_fill(op->noise[i], op->noise_size[i], (uint64_t)i + 1);
    }
    return op;
}

static void op_free(OpRun *op) {
    for (int i = 0; i <= OPERANDS_MOST; i++) mem_free(op->noise[i]);
    mem_free(op->index);
    mem_free(op->row_keys);
    mem_free(op->first);
    mem_free(op->length);
    mem_free(op->tape->grads);
    tape_free(op->tape);
    params_free(op->rig.params);
    mem_free(op);
}

/* A fresh tape with the operands on it. */
static void set_up(OpRun *op) {
    const OpSizes *size = &op->rig.size;
    tape_reset(op->tape);
    for (int i = 0; i < OPERANDS_MOST && op->noise[i]; i++) {
        op->rig.x[i] = tape_tensor(op->tape, op_size(size, op->setup->operand[i].rows),
                                   op_size(size, op->setup->operand[i].columns));
        memcpy(op->rig.x[i]->data, op->noise[i], op->noise_size[i] * sizeof(real));
    }
    op->rig.spans = spans_new(op->tape, op->first, op->length, size->B);
}

static void give_gradient(OpRun *op, const Tensor *y) {
    size_t count = tensor_size(y);
    if (!op->noise[OPERANDS_MOST]) {
        op->noise[OPERANDS_MOST] = mem_alloc(count, sizeof(real));
        measure_fill(op->noise[OPERANDS_MOST], count, 77);
        if (count == 1) op->noise[OPERANDS_MOST][0] = 1; /* a loss */
    }
    memcpy(y->grad, op->noise[OPERANDS_MOST], count * sizeof(real));
}

/* ---- is it right? ---------------------------------------------------------------------------------------------------------- */

/* Sum of the result times the gradient that it was given; a loss is taken in full precision. */
static double value(OpRun *op) {
    set_up(op);
    const Tensor *y = op->setup->run(op->tape, &op->rig);
    if (op->setup->op == OP_CROSS_ENTROPY) return op->rig.loss.loss;
    double sum = 0;
    for (size_t i = 0; i < tensor_size(y); i++)
        sum += (double)y->data[i] * (double)op->noise[OPERANDS_MOST][i];
    return sum;
}

/* Operands and weights as one long vector. */
typedef struct {
    real *at[OPERANDS_MOST + 1];
    size_t size[OPERANDS_MOST + 1];
    real *direction[OPERANDS_MOST + 1];
    int parts;
} Point;

static void move(OpRun *op, const Point *point, double step) {
    for (int p = 0; p < point->parts; p++)
        for (size_t i = 0; i < point->size[p]; i++) point->at[p][i] += (real)step * point->direction[p][i];
    if (op->rig.params->size) params_pack_all(op->rig.params);
}

static void point_add(Point *point, real *at, const real *gradient, size_t size) {
    int p = point->parts++;
    point->at[p] = at;
    point->size[p] = size;
    point->direction[p] = mem_alloc(size, sizeof(real));
    memcpy(point->direction[p], gradient, size * sizeof(real));
}

/* Along its own gradient the value must rise as fast as the gradient is long. */
static Status check(OpRun *op) {
    Point point = {0};
    set_up(op);
    memset(op->tape->grads, 0, op->rig.params->size * sizeof(real));
    Tensor *y = op->setup->run(op->tape, &op->rig);
    bool sound = measure_sound(measure_mass(y->data, tensor_size(y)));
    give_gradient(op, y);
    tape_backward(op->tape);
    for (int i = 0; i < OPERANDS_MOST && op->noise[i]; i++)
        point_add(&point, op->noise[i], op->rig.x[i]->grad, op->noise_size[i]);
    if (op->rig.params->size) point_add(&point, op->rig.params->data, op->tape->grads, op->rig.params->size);
    double square = 0, numbers = 0;
    for (int p = 0; p < point.parts; p++) {
        for (size_t i = 0; i < point.size[p]; i++)
            square += (double)point.direction[p][i] * (double)point.direction[p][i];
        numbers += (double)point.size[p];
    }
    double step = 0.005 * sqrt(numbers / square); /* moves each number by about 0.005 */
    move(op, &point, step);
    double above = value(op);
    move(op, &point, -2 * step);
    double below = value(op);
    move(op, &point, step);
    for (int p = 0; p < point.parts; p++) mem_free(point.direction[p]);
    double rise = (above - below) / (2 * step);
    if (sound && fabs(rise - square) <= 0.02 * square) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "%s: %s", OPS[op->setup->op].name,
                       sound ? "its gradient does not agree with its result"
                             : "its result is zero or not finite");
}

/* ---- how fast is it? --------------------------------------------------------------------------------------------------------- */

typedef struct {
    double forward, backward; /* seconds a call */
} Times;

static Times time_calls(OpRun *op, int calls) {
    Tensor *y[CALLS_MOST];
    set_up(op);
    double begin = measure_thread_seconds();
    for (int i = 0; i < calls; i++) y[i] = op->setup->run(op->tape, &op->rig);
    Times times = {.forward = (measure_thread_seconds() - begin) / calls};
    for (int i = 0; i < calls; i++) give_gradient(op, y[i]);
    begin = measure_thread_seconds();
    tape_backward(op->tape);
    times.backward = (measure_thread_seconds() - begin) / calls;
    return times;
}

/* Bytes of one call. An embedding reads the rows it returns. */
static void traffic(const OpRun *op, const Tensor *y, double *forward, double *backward) {
    double in = 0, out = (double)tensor_size(y);
    for (int i = 0; i < OPERANDS_MOST && op->noise[i]; i++) in += (double)op->noise_size[i];
    in += op->setup->op == OP_EMBEDDING ? out : (double)op->rig.params->size;
    *forward = sizeof(real) * (in + out);
    *backward = sizeof(real) * (3 * in + 2 * out);
}

static Status measure(Bench *bench, OpRun *op, double seconds) {
    Sample sample[4] = {0};
    double bytes[2], rate;
    const OpSizes *size = &op->rig.size;
    TRY(check(op));
    Times once = time_calls(op, 1);
    double total = fmax(once.forward + once.backward, 1e-6);
    int calls = (int)fmax(1, fmin(CALLS_MOST, 2e-4 / total)),
        repeats = (int)fmax(1, fmin(1000, seconds / RUNS / (total * calls)));
    set_up(op);
    traffic(op, op->setup->run(op->tape, &op->rig), &bytes[0], &bytes[1]);
    double flops = op->setup->flops ? op->setup->flops(size) : 0;
    bool whole = op->setup->op == OP_CROSS_ENTROPY; /* its forward pass does everything */
    for (int run = 0; run < RUNS; run++) {
        Times sum = {0, 0};
        for (int i = 0; i < repeats; i++) {
            Times times = time_calls(op, calls);
            sum.forward += times.forward / repeats;
            sum.backward += times.backward / repeats;
        }
        sample_add(&sample[0], 1e9 * sum.forward);
        sample_add(&sample[1], 1e9 * sum.backward);
        rate = flops > 0 ? flops : bytes[0];
        sample_add(&sample[2], 1e-9 * rate / sum.forward);
        rate = flops > 0 ? 2 * flops : bytes[1];
        sample_add(&sample[3], 1e-9 * rate / sum.backward);
    }
    const char *name = OPS[op->setup->op].name, *unit = flops > 0 ? "GFLOP/s" : "GB/s";
    BenchReport *report = &bench->report;
    bench_report_add(report, "ops", name, "forward", "ns", LESS_IS_BETTER, &sample[0]);
    if (!whole) bench_report_add(report, "ops", name, "backward", "ns", LESS_IS_BETTER, &sample[1]);
    bench_report_add(report, "ops", name, "forward", unit, NOT_JUDGED, &sample[2]);
    if (!whole) bench_report_add(report, "ops", name, "backward", unit, NOT_JUDGED, &sample[3]);
    return STATUS_OK;
}

Status bench_ops(Bench *bench) {
    OpSizes size = {.B = 64, .S = 14, .H = bench->config->model.hidden};
    size.V = vocab_size(segmenter_vocab(bench->target));
    double seconds = bench_seconds(bench, 0.12, OP_COUNT);
    char title[128];
    for (int i = 0; i < OP_COUNT; i++) {
        log_progress("ops: %d of %d, %s", i + 1, OP_COUNT, OPS[i].name);
        OpRun *op = op_new(&OP_SETUPS[i], size);
        Status status = measure(bench, op, seconds);
        op_free(op);
        TRY(status);
    }
    log_progress_end();
    snprintf(title, sizeof title, "Ops: %d sentences of %d tokens, %d units, %d words; one thread, a call",
             size.B, size.S, size.H, size.V);
    return bench_report_show(&bench->report, title,
                             "steps: 64 rows; rates count each operand once; the loss is all in its forward");
}
