/* product.c - which kernel computes the products of a model, and when. */
#include "num/product.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "num/gemm.h"
#include "num/kern.h"

/* Count the arithmetic of a product [M, K] x [K, N]. */
static void count_flops(const Tape *tape, int M, int N, int K) {
    if (tape->profile) profile_count_flops(tape->profile, 2.0 * M * N * K);
}

void product_with_weight(const Tape *tape, const Param *weight, bool transposed, int M, const real *x,
                         int ldx, real *y, int ldy, bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    const void *packed = transposed ? weight->packed_transpose : weight->packed;
    count_flops(tape, M, N, K);
    if (packed)
        kern->weights[tape->params->format].multiply(M, N, K, x, ldx, packed, y, ldy, accumulate,
                                                     tape->scratch);
    else
        gemm(false, transposed, M, N, K, x, ldx, param_data(tape->params, weight), transposed ? K : N,
             accumulate ? 1 : 0, y, ldy);
}

static void copy_lines(int rows, int columns, const real *from, int ldfrom, real *to, int ldto) {
    for (int r = 0; r < rows; r++)
        memcpy(to + (size_t)r * (size_t)ldto, from + (size_t)r * (size_t)ldfrom,
               (size_t)columns * sizeof *to);
}

/* Room for so many numbers on the tape, the same at each call while it is enough. */
static real *room_for(Tape *tape, size_t numbers) {
    if (numbers > tape->room_size) {
        tape->room_size = 2 * numbers;
        tape->room = tape_alloc(tape, tape->room_size * sizeof *tape->room);
    }
    return tape->room;
}

void product_of_tapes(Tape *tape, const Param *weight, bool transposed, const ProductRows *parts, int count,
                      bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    int rows = 0, row = 0;
    for (int i = 0; i < count; i++) rows += parts[i].rows;
    if (count == 1) {
        product_with_weight(tape, weight, transposed, rows, parts->x, parts->ldx, parts->y, parts->ldy,
                            accumulate);
        return;
    }
    real *x = room_for(tape, (size_t)rows * (size_t)(K + N)), *y = x + (size_t)rows * (size_t)K;
    for (int i = 0; i < count; row += parts[i++].rows) {
        const ProductRows *p = &parts[i];
        copy_lines(p->rows, K, p->x, p->ldx, x + (size_t)row * (size_t)K, K);
        if (accumulate) copy_lines(p->rows, N, p->y, p->ldy, y + (size_t)row * (size_t)N, N);
    }
    product_with_weight(tape, weight, transposed, rows, x, K, y, N, accumulate);
    row = 0;
    for (int i = 0; i < count; row += parts[i++].rows)
        copy_lines(parts[i].rows, N, y + (size_t)row * (size_t)N, N, parts[i].y, parts[i].ldy);
}

void product_for_gradient(const Tape *tape, int M, int N, int rows, const real *a, int lda, const real *b,
                          int ldb, real *dw, int lddw) {
    count_flops(tape, M, N, rows);
    if (kern->outer) {
        assert(ldb == N && lddw == N);
        kern->outer(M, N, rows, a, lda, b, dw, tape->scratch);
        return;
    }
    gemm(true, false, M, N, rows, a, lda, b, ldb, 1, dw, lddw);
}

/* ---- weight gradients, all steps at once ---- */

/* The `columns` wide matrices of all runs as one matrix: in place where they already lie one after the
 * other. */
static const real *join_runs(Tape *tape, const WeightGradient *const *runs, int count, bool dy, int columns,
                             int rows) {
    bool adjacent = true;
    const real *expect = NULL;
    for (int i = 0; i < count; i++) {
        const real *data = dy ? runs[i]->dy : runs[i]->x;
        if (i && data != expect) adjacent = false;
        expect = data + (size_t)runs[i]->rows * (size_t)columns;
    }
    if (adjacent) return dy ? runs[0]->dy : runs[0]->x;
    real *joined = tape_alloc(tape, (size_t)rows * (size_t)columns * sizeof *joined), *to = joined;
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)runs[i]->rows * (size_t)columns;
        memcpy(to, dy ? runs[i]->dy : runs[i]->x, size * sizeof *to);
        to += size;
    }
    return joined;
}

/* The runs of one map as a single product. */
static WeightGradient join(Tape *tape, const WeightGradient *const *runs, int count) {
    WeightGradient whole = *runs[0];
    whole.rows = 0;
    for (int i = 0; i < count; i++) whole.rows += runs[i]->rows;
    whole.x = join_runs(tape, runs, count, false, whole.inputs, whole.rows);
    whole.dy = join_runs(tape, runs, count, true, whole.outputs, whole.rows);
    return whole;
}

static void add_weight_gradient(Tape *tape, const WeightGradient *g) {
    real *dw = tape->grads + g->weight->offset;
    int in = g->inputs, out = g->outputs;
    if (g->transposed)
        product_for_gradient(tape, out, in, g->rows, g->dy, out, g->x, in, dw, in);
    else
        product_for_gradient(tape, in, out, g->rows, g->x, in, g->dy, out, dw, out);
    if (g->bias) kern->column_sums(g->rows, g->outputs, g->dy, tape->grads + g->bias->offset);
}

/* Can the first one be a run of steps, and is the second one, too, of the same map? */
static bool same_map(const WeightGradient *a, const WeightGradient *b) {
    return a->kind == GRADIENT_PRODUCT && b->kind == GRADIENT_PRODUCT && a->weight == b->weight &&
           a->bias == b->bias && a->transposed == b->transposed && a->stride == a->outputs &&
           b->stride == b->outputs;
}

void product_defer_gradient(Tape *tape, WeightGradient gradient) {
    MEM_GROW(tape->pending, tape->pending_capacity, tape->pending_count + 1);
    tape->pending[tape->pending_count++] = gradient;
}

/* Steps were passed in reverse, so the runs of one weight are gathered from the last to the first. */
void product_end_gradients(Tape *tape) {
    size_t count = tape->pending_count, kept = count;
    if (!count) return;
    const WeightGradient **runs = tape_alloc(tape, (count + 1) * sizeof *runs);
    for (size_t i = count; i-- > 0;) {
        WeightGradient head = tape->pending[i];
        if (!head.weight) continue;
        int found = 0;
        for (size_t j = i + 1; j-- > 0;)
            if (same_map(&tape->pending[j], &head)) runs[found++] = &tape->pending[j];
        if (found) head = join(tape, runs, found);
        for (int j = 0; j < found; j++) tape->pending[runs[j] - tape->pending].weight = NULL;
        if (tape->grads)
            add_weight_gradient(tape, &head);
        else
            tape->pending[--kept] = head; /* all from here on are done with */
    }
    memmove(tape->pending, tape->pending + kept, (count - kept) * sizeof *tape->pending);
    tape->pending_count = count - kept;
}
