/* matmul.c - which kernel computes the products of a model, and when. */
#include "autograd/matmul.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "kern/gemm.h"
#include "kern/kern.h"
#include "autograd/tapes.h"

void matmul_weight(const Tape *tape, const Param *weight, bool transposed, int M, const real *x, int ldx,
                   real *y, int ldy, bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    const void *packed = transposed ? weight->packed_transpose : weight->packed;
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

/* Room for so many bytes on the tape, the same at each call while it is enough. */
static void *room_for(Tape *tape, size_t bytes) {
    if (bytes > tape->room_size) {
        tape->room_size = 2 * bytes;
        tape->room = tape_alloc(tape, tape->room_size);
    }
    return tape->room;
}

/* Rows that lie apart from each other brought together, and what comes of them back again. */
static void multiply_copies(Tape *tape, const Param *weight, bool transposed, int N, int K,
                            const MatmulRows *parts, int count, bool accumulate) {
    int rows = 0, row = 0;
    for (int i = 0; i < count; i++) rows += parts[i].rows;
    real *x = room_for(tape, (size_t)rows * (size_t)(K + N) * sizeof *x), *y = x + (size_t)rows * (size_t)K;
    for (int i = 0; i < count; row += parts[i++].rows) {
        const MatmulRows *p = &parts[i];
        copy_lines(p->rows, K, p->x, p->ldx, x + (size_t)row * (size_t)K, K);
        if (accumulate) copy_lines(p->rows, N, p->y, p->ldy, y + (size_t)row * (size_t)N, N);
    }
    matmul_weight(tape, weight, transposed, rows, x, K, y, N, accumulate);
    row = 0;
    for (int i = 0; i < count; row += parts[i++].rows)
        copy_lines(parts[i].rows, N, y + (size_t)row * (size_t)N, N, parts[i].y, parts[i].ldy);
}

static void multiply_rows(Tape *tape, const WeightProduct *product, int N, int K, const void *packed,
                          const MatmulRows *parts, int count, bool accumulate) {
    int rows = 0, row = 0;
    for (int i = 0; i < count; i++) rows += parts[i].rows;
    GemmRow *at = room_for(tape, (size_t)rows * sizeof *at);
    for (int i = 0; i < count; i++)
        for (int r = 0; r < parts[i].rows; r++)
            at[row++] = (GemmRow){parts[i].x + (size_t)r * (size_t)parts[i].ldx,
                                  parts[i].y + (size_t)r * (size_t)parts[i].ldy};
    product->multiply_rows(rows, N, K, at, packed, accumulate, tape->scratch);
}

void matmul_batched(Tape *tape, const Param *weight, bool transposed, const MatmulRows *parts, int count,
                    bool accumulate) {
    enum { FEW_ROWS = 32 }; /* a product of more is fast enough alone */
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    const WeightProduct *product = &kern->weights[tape->params->format];
    const void *packed = transposed ? weight->packed_transpose : weight->packed;
    assert(count <= TAPES_TOGETHER);
    if (count > 1 && packed && product->multiply_rows) {
        multiply_rows(tape, product, N, K, packed, parts, count, accumulate);
        return;
    }
    MatmulRows few[TAPES_TOGETHER];
    int copied = 0;
    for (int i = 0; i < count; i++) {
        const MatmulRows *p = &parts[i];
        if (count > 1 && p->rows <= FEW_ROWS)
            few[copied++] = *p;
        else
            matmul_weight(tape, weight, transposed, p->rows, p->x, p->ldx, p->y, p->ldy, accumulate);
    }
    if (copied) multiply_copies(tape, weight, transposed, N, K, few, copied, accumulate);
}

/* matmul_gradient through the library, which wants matrices: in blocks that the working memory has room
 * for. */
static void gather_and_multiply(const Tape *tape, int M, int N, int rows, const real *const *a, int a0,
                                const real *const *b, int b0, real *dw, int lddw) {
    enum { DEPTH = 128, SIDE = 256 };
    real *left = tape->scratch, *right = left + DEPTH * SIDE;
    _Static_assert(2 * DEPTH * SIDE <= KERN_SCRATCH_MIN, "there is room for both");
    for (int r0 = 0, depth; r0 < rows; r0 += depth) {
        depth = rows - r0 < DEPTH ? rows - r0 : DEPTH;
        for (int n = 0, width; n < N; n += width) {
            width = N - n < SIDE ? N - n : SIDE;
            for (int r = 0; r < depth; r++)
                memcpy(right + r * width, b[r0 + r] + b0 + n, (size_t)width * sizeof *right);
            for (int m = 0, height; m < M; m += height) {
                height = M - m < SIDE ? M - m : SIDE;
                for (int r = 0; r < depth; r++)
                    memcpy(left + r * height, a[r0 + r] + a0 + m, (size_t)height * sizeof *left);
                gemm(true, false, height, width, depth, left, height, right, width, 1,
                     dw + (size_t)m * (size_t)lddw + n, lddw);
            }
        }
    }
}

void matmul_gradient(const Tape *tape, int M, int N, int rows, const real *const *a, int a0,
                     const real *const *b, int b0, real *dw, int lddw) {
    const WeightProduct *product = &kern->weights[tape->params->format];
    if (product->outer)
        product->outer(M, N, rows, a, (size_t)a0, b, (size_t)b0, dw, lddw, tape->scratch);
    else
        gather_and_multiply(tape, M, N, rows, a, a0, b, b0, dw, lddw);
}

static bool does_all(void) { return kern->weights[WEIGHT_BF16X3].outer; }
const char *matmul_library(void) { return does_all() ? "none" : gemm_kernel(); }
Status matmul_self_test(int threads) { return does_all() ? STATUS_OK : gemm_self_test(threads); }

/* ---- weight gradients, all steps at once ---- */

void gradient_defer(Tape *tape, WeightGradient gradient) {
    MEM_GROW(tape->pending, tape->pending_capacity, tape->pending_count + 1);
    tape->pending[tape->pending_count++] = gradient;
}

int gradient_rows(const WeightGradient *g, const real **a, const real **b) {
    const real **x = g->transposed ? b : a, **dy = g->transposed ? a : b;
    for (int r = 0; r < g->rows; r++) {
        x[r] = g->x + (size_t)r * (size_t)g->inputs;
        dy[r] = g->dy + (size_t)r * (size_t)g->stride;
    }
    return g->rows;
}

/* All that a weight gets, into the gradient block; `from`: the first that is pending. */
static void add_weight_gradient(Tape *tape, const Param *weight, size_t from) {
    int rows = 0, row = 0;
    for (size_t i = from; i < tape->pending_count; i++)
        if (tape->pending[i].weight == weight) rows += tape->pending[i].rows;
    const real **a = tape_alloc(tape, 2 * (size_t)rows * sizeof *a), **b = a + rows;
    for (size_t i = from; i < tape->pending_count; i++) {
        WeightGradient *g = &tape->pending[i];
        if (g->weight != weight) continue;
        row += gradient_rows(g, a + row, b + row);
        if (g->bias) kern->column_sums(g->rows, g->outputs, g->dy, tape->grads + g->bias->offset);
        g->weight = NULL;
    }
    matmul_gradient(tape, weight->rows, weight->columns, rows, a, 0, b, 0, tape->grads + weight->offset,
                    weight->columns);
}

void gradients_finish(Tape *tape) {
    if (!tape->grads) return;
    for (size_t i = 0; i < tape->pending_count; i++)
        if (tape->pending[i].weight) add_weight_gradient(tape, tape->pending[i].weight, i);
    tape->pending_count = 0;
}
