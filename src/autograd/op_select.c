/* op_select.c - ops that move rows: embedding lookup, gathering, joining, means of segments. */
#include <assert.h>
#include <string.h>
#include "kern/kern.h"
#include "autograd/op_table.h"
#include "autograd/matmul.h"

static void copy_rows(const real *from, size_t n, const int *index, int rows, real *to) {
    for (int r = 0; r < rows; r++, to += n) {
        if (index[r] < 0)
            memset(to, 0, n * sizeof *to);
        else
            memcpy(to, from + (size_t)index[r] * n, n * sizeof *to);
    }
}
static void add_rows(const real *from, size_t n, const int *index, int rows, real *to) {
    for (int r = 0; r < rows; r++, from += n)
        if (index[r] >= 0) kern->add(n, from, to + (size_t)index[r] * n);
}

void op_gather_forward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    copy_rows(x->data, (size_t)x->columns, node->data, y->rows, y->data);
}
void op_gather_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) add_rows(tensor_gradient(y), (size_t)x->columns, node->data, y->rows, tensor_gradient(x));
}
Tensor *op_gather(Tape *tape, Tensor *x, const int *index, int rows) {
    return tape_run(
        tape, (Node){.op = OP_GATHER, .in = {x}, .out = tape_tensor(tape, rows, x->columns), .data = index});
}

typedef struct {
    const Param *table;
    const int *ids;
} Lookup;

void op_embedding_forward(Tape *tape, const Node *node) {
    const Lookup *l = node->data;
    const Tensor *y = node->out;
    for (int r = 0; r < y->rows; r++)
        if (l->ids[r] < 0)
            memset(tensor_row(y, r), 0, (size_t)y->columns * sizeof(real));
        else
            params_row(tape->params, l->table, l->ids[r], tensor_row(y, r));
}
void op_embedding_backward(Tape *tape, const Node *node) {
    const Lookup *l = node->data;
    const Tensor *y = node->out;
    if (tape->grads)
        add_rows(tensor_gradient(y), (size_t)y->columns, l->ids, y->rows, tape->grads + l->table->offset);
    else
        weight_gradient_defer(tape, (WeightGradient){.kind = GRADIENT_LOOKUP,
                                                     .weight = l->table,
                                                     .dy = tensor_gradient(y),
                                                     .rows = y->rows,
                                                     .outputs = y->columns,
                                                     .stride = y->columns,
                                                     .ids = l->ids});
}
Tensor *op_embedding(Tape *tape, const Param *table, const int *ids, int rows) {
    Lookup *l = tape_alloc(tape, sizeof *l);
    *l = (Lookup){table, ids};
    return tape_run(tape,
                    (Node){.op = OP_EMBEDDING, .out = tape_tensor(tape, rows, table->columns), .data = l});
}

void op_concat_forward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *a = node->in[0], *b = node->in[1], *y = node->out;
    for (int r = 0; r < y->rows; r++) {
        memcpy(tensor_row(y, r), tensor_row(a, r), (size_t)a->columns * sizeof(real));
        memcpy(tensor_row(y, r) + a->columns, tensor_row(b, r), (size_t)b->columns * sizeof(real));
    }
}
static void concat_part_backward(const Tensor *y, int first, const Tensor *part) {
    bool is_zero;
    real *to = tensor_gradient_begin(part, &is_zero), *from = tensor_gradient(y) + first;
    size_t n = (size_t)part->columns;
    for (int r = 0; to && r < y->rows; r++, to += n, from += y->columns)
        if (is_zero)
            memcpy(to, from, n * sizeof *to);
        else
            kern->add(n, from, to);
}
void op_concat_backward(Tape *tape, const Node *node) {
    (void)tape;
    concat_part_backward(node->out, 0, node->in[0]);
    concat_part_backward(node->out, node->in[0]->columns, node->in[1]);
}
Tensor *op_concat(Tape *tape, Tensor *a, Tensor *b) {
    assert(a->rows == b->rows);
    Tensor *y = tape_step_tensor(tape, a->rows, a->columns + b->columns);
    return tape_run(tape, (Node){.op = OP_CONCAT, .in = {a, b}, .out = y});
}

void op_segment_mean_forward(Tape *tape, const Node *node) {
    (void)tape;
    const int *start = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    size_t n = (size_t)x->columns;
    memset(y->data, 0, tensor_size(y) * sizeof(real));
    for (int b = 0; b < y->rows; b++) {
        real weight = 1 / (real)(start[b + 1] - start[b]);
        for (int s = start[b]; s < start[b + 1]; s++)
            kern->axpy(n, weight, tensor_row(x, s), tensor_row(y, b));
    }
}
void op_segment_mean_backward(Tape *tape, const Node *node) {
    (void)tape;
    const int *start = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    size_t n = (size_t)x->columns;
    if (!x->grad) return;
    for (int b = 0; b < y->rows; b++) {
        real weight = 1 / (real)(start[b + 1] - start[b]);
        for (int s = start[b]; s < start[b + 1]; s++)
            kern->axpy(n, weight, tensor_grad_row(y, b), tensor_grad_row(x, s));
    }
}
Tensor *op_segment_mean(Tape *tape, Tensor *x, const int *start, int segments) {
    return tape_run(tape, (Node){.op = OP_SEGMENT_MEAN,
                                 .in = {x},
                                 .out = tape_tensor(tape, segments, x->columns),
                                 .data = start});
}
