/* matmul.c - see matmul.h. */
#include "autograd/matmul.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "kern/gemm.h"
#include "kern/kern.h"
#include "autograd/tapes.h"

void matmul_weight(const Tape *tape, const Param *weight, bool transposed, const MatmulRows *rows,
                   bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    const void *packed = transposed ? weight->packed_transpose : weight->packed;
    if (packed)
        kern->weights[tape->params->format].multiply(rows->rows, N, K, rows->x, rows->ldx, packed, rows->y,
                                                     rows->ldy, accumulate, tape->scratch);
    else
        gemm(false, transposed, rows->rows, N, K, rows->x, rows->ldx, param_data(tape->params, weight),
             transposed ? K : N, accumulate ? 1 : 0, rows->y, rows->ldy);
}

/* ---- several blocks of rows ---- */

static void copy_rows(int rows, int columns, const real *from, int ldfrom, real *to, int ldto) {
    for (int r = 0; r < rows; r++)
        memcpy(to + (size_t)r * (size_t)ldto, from + (size_t)r * (size_t)ldfrom,
               (size_t)columns * sizeof *to);
}

/* Working memory of a batched product; it stays on the tape and is reused while it is large enough. */
static void *gather_buffer(Tape *tape, size_t bytes) {
    if (bytes > tape->gather_size) {
        tape->gather_size = 2 * bytes;
        tape->gather_buffer = tape_alloc(tape, tape->gather_size);
    }
    return tape->gather_buffer;
}

static int total_rows(const MatmulRows *blocks, int count) {
    int rows = 0;
    for (int i = 0; i < count; i++) rows += blocks[i].rows;
    return rows;
}

/* Copies the blocks into one matrix, multiplies it, and copies the result back. */
static void multiply_copies(Tape *tape, const Param *weight, bool transposed, const MatmulRows *blocks,
                            int count, bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    int rows = total_rows(blocks, count), row = 0;
    real *x = gather_buffer(tape, (size_t)rows * (size_t)(K + N) * sizeof *x);
    real *y = x + (size_t)rows * (size_t)K;
    for (int i = 0; i < count; row += blocks[i++].rows) {
        const MatmulRows *b = &blocks[i];
        copy_rows(b->rows, K, b->x, b->ldx, x + (size_t)row * (size_t)K, K);
        if (accumulate) copy_rows(b->rows, N, b->y, b->ldy, y + (size_t)row * (size_t)N, N);
    }
    matmul_weight(tape, weight, transposed, &(MatmulRows){rows, x, K, y, N}, accumulate);
    row = 0;
    for (int i = 0; i < count; row += blocks[i++].rows)
        copy_rows(blocks[i].rows, N, y + (size_t)row * (size_t)N, N, blocks[i].y, blocks[i].ldy);
}

/* Multiplies the rows where they are. */
static void multiply_rows(Tape *tape, const Param *weight, bool transposed, const MatmulRows *blocks,
                          int count, bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    int rows = total_rows(blocks, count), row = 0;
    GemmRow *at = gather_buffer(tape, (size_t)rows * sizeof *at);
    for (int i = 0; i < count; i++)
        for (int r = 0; r < blocks[i].rows; r++)
            at[row++] = (GemmRow){blocks[i].x + (size_t)r * (size_t)blocks[i].ldx,
                                  blocks[i].y + (size_t)r * (size_t)blocks[i].ldy};
    kern->weights[tape->params->format].multiply_rows(
        rows, N, K, at, transposed ? weight->packed_transpose : weight->packed, accumulate, tape->scratch);
}

void matmul_batched(Tape *tape, const Param *weight, bool transposed, const MatmulRows *blocks, int count,
                    bool accumulate) {
    enum { FEW_ROWS = 32 }; /* a product of more is fast enough alone */
    const void *packed = transposed ? weight->packed_transpose : weight->packed;
    assert(count <= TAPES_MAX);
    if (count > 1 && packed && kern->weights[tape->params->format].multiply_rows) {
        multiply_rows(tape, weight, transposed, blocks, count, accumulate);
        return;
    }
    MatmulRows small[TAPES_MAX];
    int small_count = 0;
    for (int i = 0; i < count; i++) {
        if (count > 1 && blocks[i].rows <= FEW_ROWS)
            small[small_count++] = blocks[i];
        else
            matmul_weight(tape, weight, transposed, &blocks[i], accumulate);
    }
    if (small_count) multiply_copies(tape, weight, transposed, small, small_count, accumulate);
}

/* ---- gradients of weights ---- */

/* matmul_gradient by the BLAS library, which needs matrices: in blocks that fit the working memory. */
static void gather_and_multiply(const Tape *tape, const MatmulGradient *g) {
    enum { DEPTH = 128, SIDE = 256 };
    real *left = tape->scratch, *right = left + DEPTH * SIDE;
    _Static_assert(2 * DEPTH * SIDE <= KERN_SCRATCH_MIN, "there is room for both");
    for (int r0 = 0, depth; r0 < g->rows; r0 += depth) {
        depth = g->rows - r0 < DEPTH ? g->rows - r0 : DEPTH;
        for (int n = 0, width; n < g->N; n += width) {
            width = g->N - n < SIDE ? g->N - n : SIDE;
            for (int r = 0; r < depth; r++)
                memcpy(right + r * width, g->b[r0 + r] + g->b_column + n, (size_t)width * sizeof *right);
            for (int m = 0, height; m < g->M; m += height) {
                height = g->M - m < SIDE ? g->M - m : SIDE;
                for (int r = 0; r < depth; r++)
                    memcpy(left + r * height, g->a[r0 + r] + g->a_column + m, (size_t)height * sizeof *left);
                gemm(true, false, height, width, depth, left, height, right, width, 1,
                     g->dw + (size_t)m * (size_t)g->lddw + n, g->lddw);
            }
        }
    }
}

void matmul_gradient(const Tape *tape, const MatmulGradient *g) {
    const WeightProduct *product = &kern->weights[tape->params->format];
    if (product->outer)
        product->outer(g->M, g->N, g->rows, g->a, (size_t)g->a_column, g->b, (size_t)g->b_column, g->dw,
                       g->lddw, tape->scratch);
    else
        gather_and_multiply(tape, g);
}

static bool outer_is_native(void) { return kern->weights[WEIGHT_BF16X3].outer; }
const char *matmul_library(void) { return outer_is_native() ? "none" : gemm_kernel(); }
Status matmul_self_test(int threads) { return outer_is_native() ? STATUS_OK : gemm_self_test(threads); }

/* ---- deferred gradients of weights ---- */

void weight_gradient_defer(Tape *tape, WeightGradient gradient) {
    MEM_GROW(tape->pending, tape->pending_capacity, tape->pending_count + 1);
    tape->pending[tape->pending_count++] = gradient;
}

int weight_gradient_rows(const WeightGradient *g, const real **a, const real **b) {
    const real **x = g->transposed ? b : a, **dy = g->transposed ? a : b;
    for (int r = 0; r < g->rows; r++) {
        x[r] = g->x + (size_t)r * (size_t)g->inputs;
        dy[r] = g->dy + (size_t)r * (size_t)g->stride;
    }
    return g->rows;
}

/* Adds all pending gradients of the weight to the gradient block, as one product. `from`: index of the
 * first. */
static void add_weight_gradient(Tape *tape, const Param *weight, size_t from) {
    int rows = 0, row = 0;
    for (size_t i = from; i < tape->pending_count; i++)
        if (tape->pending[i].weight == weight) rows += tape->pending[i].rows;
    const real **a = tape_alloc(tape, 2 * (size_t)rows * sizeof *a), **b = a + rows;
    for (size_t i = from; i < tape->pending_count; i++) {
        WeightGradient *g = &tape->pending[i];
        if (g->weight != weight) continue;
        row += weight_gradient_rows(g, a + row, b + row);
        if (g->bias) kern->column_sums(g->rows, g->outputs, g->dy, tape->grads + g->bias->offset);
        g->weight = NULL;
    }
    matmul_gradient(tape, &(MatmulGradient){.M = weight->rows,
                                            .N = weight->columns,
                                            .rows = rows,
                                            .a = a,
                                            .b = b,
                                            .dw = tape->grads + weight->offset,
                                            .lddw = weight->columns});
}

void weight_gradients_finish(Tape *tape) {
    if (!tape->grads) return;
    for (size_t i = 0; i < tape->pending_count; i++)
        if (tape->pending[i].weight) add_weight_gradient(tape, tape->pending[i].weight, i);
    tape->pending_count = 0;
}
