/* rig.c - makes the operands once, then runs the op any number of times. */
#include "bench/rig.h"

#include <string.h>
#include "base/mem.h"

Rig *rig_new(Tensor *(*run)(Tape *tape, Rig *rig), void *context) {
    Rig *rig = mem_alloc(1, sizeof *rig);
    *rig = (Rig){.run = run, .context = context, .params = params_new(), .calls = 1};
    rig->params->packs_backward = true;
    return rig;
}

static real *noise(size_t count, uint64_t stream) {
    real *numbers = mem_alloc(count, sizeof *numbers);
    measure_fill(numbers, count, stream);
    return numbers;
}

void rig_operand(Rig *rig, int rows, int columns) {
    int i = rig->operands++;
    rig->operand[i].rows = rows;
    rig->operand[i].columns = columns;
    rig->operand[i].noise = noise((size_t)rows * (size_t)columns, (uint64_t)i + 1);
}

/* A fresh tape with the operands on it. */
static void set_up(Rig *rig) {
    tape_reset(rig->tape);
    for (int i = 0; i < rig->operands; i++) {
        rig->x[i] = tape_tensor(rig->tape, rig->operand[i].rows, rig->operand[i].columns);
        memcpy(rig->x[i]->data, rig->operand[i].noise, tensor_size(rig->x[i]) * sizeof(real));
    }
    if (rig->set_up) rig->set_up(rig);
}

static void make_gradient(Rig *rig, size_t count) {
    rig->gradient = noise(rig->result = count, 77);
    if (count == 1) rig->gradient[0] = 1; /* of a loss */
}

Status rig_run(void *context, int repeats, double seconds[MEASURE_PARTS]) {
    Rig *rig = context;
    Tensor *y[RIG_CALLS];
    for (int left = repeats; left > 0; left -= rig->calls) {
        int calls = left < rig->calls ? left : rig->calls;
        set_up(rig);
        size_t before = arena_used(rig->tape->arena);
        double begin = measure_thread_seconds();
        for (int i = 0; i < calls; i++) y[i] = rig->run(rig->tape, rig);
        seconds[0] += measure_thread_seconds() - begin;
        if (!rig->gradient) make_gradient(rig, tensor_size(y[0]));
        for (int i = 0; i < calls; i++)
            memcpy(tensor_gradient(y[i]), rig->gradient, tensor_size(y[i]) * sizeof(real));
        begin = measure_thread_seconds();
        tape_backward(rig->tape);
        seconds[1] += measure_thread_seconds() - begin;
        rig->y = y[0];
        rig->bytes = (arena_used(rig->tape->arena) - before) / (size_t)calls;
    }
    return STATUS_OK;
}

/* What is zero or not finite after a run, or NULL. */
static const char *find_fault(Rig *rig) {
    double ignored[MEASURE_PARTS] = {0};
    rig_run(rig, 1, ignored);
    for (int i = 0; i < rig->operands; i++)
        if (!measure_sound(tensor_gradient(rig->x[i]), tensor_size(rig->x[i])))
            return "the gradient of an operand";
    for (int i = 0; i < rig->params->count; i++) {
        const Param *p = rig->params->items[i];
        if (!measure_sound(rig->tape->grads + p->offset, (size_t)p->rows * (size_t)p->columns))
            return p->name;
    }
    return measure_sound(rig->y->data, rig->result) ? NULL : "the result";
}

Status rig_start(Rig *rig, const char *name) {
    params_initialize(rig->params, 1);
    params_pack_all(rig->params);
    rig->tape = tape_new(rig->params, true);
    rig->tape->grads = params_block(rig->params);
    rig->tape->training = true; /* dropout drops */
    rig->tape->dropout_key = 5;
    const char *fault = find_fault(rig);
    return fault ? status_fail(STATUS_RUNTIME, "%s: %s is zero or not finite", name, fault) : STATUS_OK;
}

void rig_free(Rig *rig) {
    for (int i = 0; i < rig->operands; i++) mem_free(rig->operand[i].noise);
    mem_free(rig->gradient);
    mem_free(rig->tape->grads);
    tape_free(rig->tape);
    params_free(rig->params);
    mem_free(rig);
}
