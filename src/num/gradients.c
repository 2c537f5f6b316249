/* gradients.c - see gradients.h. */
#include "num/gradients.h"

#include <stdlib.h>
#include "base/mem.h"
#include "num/kern.h"
#include "num/product.h"

/* Numbers: they stay in the second-level cache, and are enough for products to be fast. */
enum { SLICE = 1 << 17 };

/* What one parameter gets; where it is the bias of a product, the product is here once more. */
typedef struct {
    WeightGradient *items;
    size_t count, capacity;
} Share;

typedef struct {
    int param, first, rows, columns;
} Slice;

struct Gradients {
    const ParamSet *params;
    Share *shares; /* [params->count] */
    Slice *slices;
    size_t count, capacity;
};

static int larger_first(const void *a, const void *b) {
    const Slice *x = a, *y = b;
    if (x->rows * x->columns != y->rows * y->columns)
        return x->rows * x->columns > y->rows * y->columns ? -1 : 1;
    if (x->param != y->param) return x->param < y->param ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

Gradients *gradients_new(const ParamSet *params) {
    Gradients *g = mem_alloc(1, sizeof *g);
    *g = (Gradients){.params = params, .shares = mem_alloc((size_t)params->count + 1, sizeof *g->shares)};
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        int step = SLICE / p->columns > 1 ? SLICE / p->columns : 1;
        for (int first = 0; first < p->rows; first += step) {
            MEM_GROW(g->slices, g->capacity, g->count + 1);
            g->slices[g->count++] =
                (Slice){i, first, p->rows - first < step ? p->rows - first : step, p->columns};
        }
    }
    /* Threads take them in this order, and small ones at the end are shared most evenly. */
    if (g->count) qsort(g->slices, g->count, sizeof *g->slices, larger_first);
    return g;
}

void gradients_free(Gradients *g) {
    if (!g) return;
    for (int i = 0; i < g->params->count; i++) mem_free(g->shares[i].items);
    mem_free(g->shares);
    mem_free(g->slices);
    mem_free(g);
}

int gradients_slices(const Gradients *g) { return (int)g->count; }

/* ---- who gets what ------------------------------------------------------------------------------------- */

static void share_add(Share *share, const WeightGradient *g) {
    MEM_GROW(share->items, share->capacity, share->count + 1);
    share->items[share->count++] = *g;
}

void gradients_collect(Gradients *g, const Tape *tapes, int count) {
    for (int i = 0; i < g->params->count; i++) g->shares[i].count = 0;
    for (int t = 0; t < count; t++)
        for (size_t i = 0; i < tapes[t].pending_count; i++) {
            const WeightGradient *kept = &tapes[t].pending[i];
            share_add(&g->shares[kept->weight->index], kept);
            if (kept->bias) share_add(&g->shares[kept->bias->index], kept);
        }
}

/* ---- adding a slice ------------------------------------------------------------------------------------ */

/* Rows first .. first + rows - 1 of the weight as it is stored. */
static void add_product(const WeightGradient *g, const Slice *s, const Tape *worker, real *to) {
    if (g->transposed)
        product_for_gradient(worker, s->rows, g->inputs, g->rows, g->dy + s->first, g->stride, g->x, to);
    else
        product_for_gradient(worker, s->rows, g->outputs, g->rows, g->x + s->first, g->inputs, g->dy, to);
}

static void add_lookups(const WeightGradient *g, const Slice *s, real *to) {
    size_t n = (size_t)g->outputs;
    for (int r = 0; r < g->rows; r++) {
        int row = g->ids[r] - s->first;
        if (row >= 0 && row < s->rows)
            kern->add(n, g->dy + (size_t)r * (size_t)g->stride, to + (size_t)row * n);
    }
}

void gradients_add(const Gradients *g, int slice, const Tape *worker, real *grads) {
    const Slice *s = &g->slices[slice];
    const Param *param = g->params->items[s->param];
    const Share *share = &g->shares[s->param];
    size_t offset = (size_t)s->first * (size_t)param->columns;
    real *to = grads + param->offset + offset;
    for (size_t i = 0; i < share->count; i++) {
        const WeightGradient *item = &share->items[i];
        if (item->kind == GRADIENT_SUM)
            kern->add((size_t)s->rows * (size_t)param->columns, item->sum + offset, to);
        else if (item->kind == GRADIENT_LOOKUP)
            add_lookups(item, s, to);
        else if (item->bias == param)
            kern->column_sums(item->rows, item->outputs, item->dy, to);
        else
            add_product(item, s, worker, to);
    }
}
