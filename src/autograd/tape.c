/* tape.c - tensors, sequences, and the walk backwards. */
#include "autograd/tape.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "autograd/op_table.h"
#include "autograd/matmul.h"

#define OP_ROW(NAME, name) {#name, op_##name##_forward, op_##name##_backward},
const Op OPS[OP_COUNT] = {OP_TABLE(OP_ROW)};

enum { SEQUENCE_BUFFERS = 256 };

struct TapeSequence {
    int total_rows;
    int first_row, rows, next; /* the step that is open; next: buffer of its next tensor */
    int buffers;
    bool open;
    Tensor buffer[SEQUENCE_BUFFERS];
};

Tape *tape_new(const ParamSet *params, bool record) {
    Tape *tape = mem_alloc(1, sizeof *tape);
    *tape = (Tape){.arena = arena_new(), .record = record, .params = params};
    tape->scratch = mem_aligned_uninitialized(kern->scratch, 1);
    return tape;
}

void tape_free(Tape *tape) {
    if (!tape) return;
    arena_free(tape->arena);
    mem_free(tape->scratch);
    mem_free(tape->pending);
    mem_free(tape);
}

void tape_reset(Tape *tape) {
    arena_reset(tape->arena);
    tape->first = tape->last = NULL;
    tape->pending_count = 0;
    tape->sequence = NULL;
    tape->gather_size = 0;
}

void tape_deferred_init(Tape *tape, const Tape *owner) {
    *tape = (Tape){.arena = owner->arena,
                   .record = owner->record,
                   .deferred = true,
                   .params = owner->params,
                   .scratch = owner->scratch,
                   .pending = tape->pending,
                   .pending_capacity = tape->pending_capacity};
}

void tape_deferred_free(Tape *tape) { mem_free(tape->pending); }

void *tape_alloc(Tape *tape, size_t bytes) { return arena_alloc(tape->arena, bytes ? bytes : 1); }

static Tensor tensor_new(Tape *tape, int rows, int columns) {
    size_t bytes = (size_t)rows * (size_t)columns * sizeof(real);
    Tensor x = {.data = tape_alloc(tape, bytes), .rows = rows, .columns = columns};
    if (tape->record) {
        x.grad = tape_alloc(tape, bytes);
        x.grad_buffer = tape_alloc(tape, sizeof *x.grad_buffer);
        *x.grad_buffer = (GradBuffer){.at = x.grad};
    }
    return x;
}

static Tensor *keep(Tape *tape, Tensor x) {
    Tensor *copy = tape_alloc(tape, sizeof *copy);
    *copy = x;
    return copy;
}

Tensor *tape_tensor(Tape *tape, int rows, int columns) { return keep(tape, tensor_new(tape, rows, columns)); }

Tensor *tape_step_tensor(Tape *tape, int rows, int columns) {
    TapeSequence *s = tape->sequence;
    if (!s || !s->open) return tape_tensor(tape, rows, columns);
    assert(rows == s->rows && s->next < SEQUENCE_BUFFERS);
    if (s->next == s->buffers) s->buffer[s->buffers++] = tensor_new(tape, s->total_rows, columns);
    const Tensor *buffer = &s->buffer[s->next++];
    assert(buffer->columns == columns && "every step must make the same tensors");
    return tape_rows(tape, buffer, s->first_row, rows);
}

Tensor *tape_tensor_zeroed(Tape *tape, int rows, int columns) {
    Tensor *x = tape_tensor(tape, rows, columns);
    memset(x->data, 0, tensor_size(x) * sizeof(real));
    return x;
}

Tensor *tape_tensor_filled(Tape *tape, int rows, int columns, real value) {
    Tensor *x = tape_tensor(tape, rows, columns);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = value;
    return x;
}

Tensor *tape_tensor_sharing(Tape *tape, const Tensor *x) {
    if (!x->grad) return tape_tensor(tape, x->rows, x->columns);
    Tensor y = *x;
    y.data = tape_alloc(tape, tensor_size(x) * sizeof *y.data);
    return keep(tape, y);
}

Tensor *tape_rows(Tape *tape, const Tensor *x, int first, int rows) {
    assert(first >= 0 && rows >= 0 && first + rows <= x->rows);
    Tensor view = {
        .data = tensor_row(x, first), .rows = rows, .columns = x->columns, .grad_buffer = x->grad_buffer};
    if (x->grad) view.grad = x->grad + (size_t)first * (size_t)x->columns;
    return keep(tape, view);
}

Tensor *tape_reshape(Tape *tape, const Tensor *x, int rows, int columns) {
    assert(rows >= 0 && columns >= 0 && (size_t)rows * (size_t)columns == tensor_size(x));
    Tensor view = *x;
    view.rows = rows, view.columns = columns;
    return keep(tape, view);
}

real *tape_gradient(Tape *tape, const Param *param) {
    if (tape->grads) return tape->grads + param->offset;
    for (size_t i = tape->pending_count; i-- > 0;)
        if (tape->pending[i].kind == GRADIENT_SUM && tape->pending[i].weight == param)
            return tape->pending[i].sum;
    real *sum = arena_alloc_zeroed(tape->arena, (size_t)param->rows * (size_t)param->columns * sizeof *sum);
    weight_gradient_defer(tape, (WeightGradient){.kind = GRADIENT_SUM, .weight = param, .sum = sum});
    return sum;
}

void tape_sequence_begin(Tape *tape, int total_rows) {
    assert(!tape->sequence);
    tape->sequence = tape_alloc(tape, sizeof *tape->sequence);
    *tape->sequence = (TapeSequence){.total_rows = total_rows};
}

void tape_step_begin(Tape *tape, int first_row, int rows) {
    TapeSequence *s = tape->sequence;
    assert(s && !s->open && first_row + rows <= s->total_rows);
    s->open = true;
    s->first_row = first_row;
    s->rows = rows;
    s->next = 0;
}

void tape_step_end(Tape *tape) { tape->sequence->open = false; }

Tensor *tape_all_steps(Tape *tape, const Tensor *step) {
    const TapeSequence *s = tape->sequence;
    for (int i = 0; i < s->buffers; i++) {
        const Tensor *b = &s->buffer[i];
        if (step->data >= b->data && step->data < b->data + tensor_size(b)) return keep(tape, *b);
    }
    assert(false && "tape_whole: the tensor was not made inside a step");
    return NULL;
}

void tape_sequence_end(Tape *tape) { tape->sequence = NULL; }

Tensor *tape_run(Tape *tape, Node node) {
    if (!tape->deferred) OPS[node.op].forward(tape, &node);
    if (tape->record || tape->deferred) {
        Node *copy = tape_alloc(tape, sizeof *copy);
        *copy = node;
        copy->previous = tape->last;
        if (tape->last)
            tape->last->next = copy;
        else
            tape->first = copy;
        tape->last = copy;
    }
    return node.out;
}

Tensor *tape_run_same_shape(Tape *tape, OpId op, Tensor *x, const void *data) {
    Tensor *y = tape_step_tensor(tape, x->rows, x->columns);
    return tape_run(tape, (Node){.op = op, .in = {x}, .out = y, .data = data});
}

void tape_end_backward(Tape *tape) {
    tape->first = tape->last = NULL;
    weight_gradients_finish(tape);
}

void tape_backward(Tape *tape) {
    for (const Node *node = tape->last; node; node = node->previous) OPS[node->op].backward(tape, node);
    tape_end_backward(tape);
}
