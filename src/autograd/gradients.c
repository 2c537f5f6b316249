/* gradients.c - see gradients.h. */
#include "autograd/gradients.h"

#include <stdlib.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "autograd/matmul.h"

/* Bounds of a slice: large enough that preparing the operands costs little against the products, small enough
 * that all threads are busy to the end. */
enum { SLICE_MIN = 1 << 16, SLICE_MAX = 1 << 18, LINES_MIN = 256, SLICES_OF_THREAD = 16 };

/* The pending gradients of one parameter. */
typedef struct {
    WeightGradient *items; /* in the order of the tapes; joined products in a row are one item */
    size_t count, capacity;
    size_t closed;       /* number of items at the front that no product joins any more */
    const real **a, **b; /* [rows] operands of the products, for matmul_gradient */
    size_t rows, a_capacity, b_capacity;
} PendingSum;

typedef struct {
    int param;
    int first, rows, column, columns;
} Slice;

struct Gradients {
    const ParamSet *params;
    PendingSum *sums; /* [params->count] */
    Slice *slices;
    size_t count, capacity;
};

static int larger_first(const void *a, const void *b) {
    const Slice *x = a, *y = b;
    if (x->rows * x->columns != y->rows * y->columns)
        return x->rows * x->columns > y->rows * y->columns ? -1 : 1;
    if (x->param != y->param) return x->param < y->param ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

static int min_int(int a, int b) { return a < b ? a : b; }

/* As near to the preferred width of the kernels as equal slices allow, in whole vectors. */
static int slice_width(const Param *p) {
    int most = kern->outer_columns, parts = (p->columns + most - 1) / most;
    if (p->rows == 1) return p->columns;
    return ((p->columns + parts - 1) / parts + 15) / 16 * 16;
}

static int slice_size(const ParamSet *params, int threads) {
    size_t even = params->size / ((size_t)threads * SLICES_OF_THREAD);
    return even < SLICE_MIN ? SLICE_MIN : even > SLICE_MAX ? SLICE_MAX : (int)even;
}

/* Slices of a parameter are as equal as possible. */
static int slice_height(const Param *p, int width, int size) {
    int most = size / width > LINES_MIN ? size / width : LINES_MIN;
    int parts = (p->rows + most - 1) / most;
    return (p->rows + parts - 1) / parts;
}

Gradients *gradients_new(const ParamSet *params, int threads) {
    Gradients *g = mem_alloc(1, sizeof *g);
    *g = (Gradients){.params = params, .sums = mem_alloc((size_t)params->count + 1, sizeof *g->sums)};
    int size = slice_size(params, threads);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        int width = slice_width(p), height = slice_height(p, width, size);
        for (int first = 0; first < p->rows; first += height)
            for (int column = 0; column < p->columns; column += width) {
                MEM_GROW(g->slices, g->capacity, g->count + 1);
                g->slices[g->count++] = (Slice){i, first, min_int(p->rows - first, height), column,
                                                min_int(p->columns - column, width)};
            }
    }
    /* Threads take them in this order; small ones at the end balance the load. */
    if (g->count) qsort(g->slices, g->count, sizeof *g->slices, larger_first);
    return g;
}

void gradients_free(Gradients *g) {
    if (!g) return;
    for (int i = 0; i < g->params->count; i++) {
        mem_free(g->sums[i].items);
        mem_free(g->sums[i].a);
        mem_free(g->sums[i].b);
    }
    mem_free(g->sums);
    mem_free(g->slices);
    mem_free(g);
}

int gradients_slices(const Gradients *g) { return (int)g->count; }

/* ---- collecting ---- */

static void sum_add(PendingSum *sum, const WeightGradient *g) {
    MEM_GROW(sum->items, sum->capacity, sum->count + 1);
    sum->items[sum->count++] = *g;
}

static void sum_add_product(PendingSum *sum, const WeightGradient *g) {
    size_t rows = sum->rows + (size_t)g->rows;
    WeightGradient *last = sum->count > sum->closed ? &sum->items[sum->count - 1] : NULL;
    if (last && last->kind == GRADIENT_PRODUCT)
        last->rows += g->rows;
    else
        sum_add(sum, g);
    MEM_GROW(sum->a, sum->a_capacity, rows);
    MEM_GROW(sum->b, sum->b_capacity, rows);
    weight_gradient_rows(g, sum->a + sum->rows, sum->b + sum->rows);
    sum->rows = rows;
}

void gradients_collect(Gradients *g, const Tape *tapes, int count, int joined) {
    for (int i = 0; i < g->params->count; i++) g->sums[i].count = g->sums[i].rows = 0;
    for (int t = 0; t < count; t++) {
        for (int i = 0; t % joined == 0 && i < g->params->count; i++) g->sums[i].closed = g->sums[i].count;
        for (size_t i = 0; i < tapes[t].pending_count; i++) {
            const WeightGradient *pending = &tapes[t].pending[i];
            if (pending->kind == GRADIENT_PRODUCT)
                sum_add_product(&g->sums[pending->weight->index], pending);
            else
                sum_add(&g->sums[pending->weight->index], pending);
            if (pending->bias) sum_add(&g->sums[pending->bias->index], pending);
        }
    }
}

/* ---- adding a slice ---- */

/* `to`: where the slice begins in the gradient block; its rows are `columns` numbers apart. */
static void add_lookups(const WeightGradient *g, const Slice *s, real *to, int columns) {
    for (int r = 0; r < g->rows; r++) {
        int row = g->ids[r] - s->first;
        if (row >= 0 && row < s->rows)
            kern->add((size_t)s->columns, g->dy + (size_t)r * (size_t)g->stride + s->column,
                      to + (size_t)row * (size_t)columns);
    }
}

static void add_sum(const Slice *s, const real *from, real *to, int columns) {
    for (int r = 0; r < s->rows; r++, from += columns, to += columns) kern->add((size_t)s->columns, from, to);
}

void gradients_add(const Gradients *g, int slice, const Tape *worker, real *grads) {
    const Slice *s = &g->slices[slice];
    const Param *param = g->params->items[s->param];
    const PendingSum *sum = &g->sums[s->param];
    int columns = param->columns;
    size_t offset = (size_t)s->first * (size_t)columns + (size_t)s->column;
    real *to = grads + param->offset + offset;
    int row = 0;
    for (size_t i = 0; i < sum->count; i++) {
        const WeightGradient *item = &sum->items[i];
        if (item->kind == GRADIENT_SUM)
            add_sum(s, item->sum + offset, to, columns);
        else if (item->kind == GRADIENT_LOOKUP)
            add_lookups(item, s, to, columns);
        else if (item->bias == param) /* one slice */
            kern->column_sums(item->rows, item->outputs, item->dy, to);
        else {
            matmul_gradient(worker, &(MatmulGradient){.M = s->rows,
                                                      .N = s->columns,
                                                      .rows = item->rows,
                                                      .a = sum->a + row,
                                                      .a_column = s->first,
                                                      .b = sum->b + row,
                                                      .b_column = s->column,
                                                      .dw = to,
                                                      .lddw = columns});
            row += item->rows;
        }
    }
}
