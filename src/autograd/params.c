/* params.c - named weights in one block. */
#include "autograd/params.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "kern/kern.h"

ParamSet *params_new(void) { return mem_alloc(1, sizeof(ParamSet)); }

void params_free(ParamSet *params) {
    if (!params) return;
    for (int i = 0; i < params->count; i++) {
        Param *p = params->items[i];
        mem_free(p->name);
        if (!params->packed) {
            mem_free(p->packed);
            mem_free(p->packed_transpose);
        }
        mem_free(p);
    }
    mem_free(params->items);
    strlist_free(&params->names);
    for (size_t i = 0; i < params->numbers_count; i++) mem_free(params->numbers[i]);
    mem_free(params->numbers);
    mem_free(params->data);
    mem_free(params->packed);
    mem_free(params);
}

Param *params_add(ParamSet *params, const char *name, int rows, int columns, Init init, double scale,
                  PanelUse panel_use) {
    assert(!params->data && rows > 0 && columns > 0);
    Param *p = mem_alloc(1, sizeof *p);
    *p = (Param){.name = mem_strdup(name),
                 .rows = rows,
                 .columns = columns,
                 .index = params->count,
                 .offset = params->size,
                 .init = init,
                 .scale = scale,
                 .panel_use = panel_use};
    MEM_GROW(params->items, params->capacity, (size_t)params->count + 1);
    params->items[params->count++] = p;
    params->size += (param_size(p) + 15) / 16 * 16;
    return p;
}

const char *params_keep_name(ParamSet *params, const char *name) {
    strlist_add(&params->names, sv(name));
    return params->names.items[params->names.count - 1];
}

real *params_keep_numbers(ParamSet *params, size_t count) {
    real *numbers = mem_alloc(count, sizeof *numbers);
    MEM_GROW(params->numbers, params->numbers_capacity, params->numbers_count + 1);
    params->numbers[params->numbers_count++] = numbers;
    return numbers;
}

real *params_block(const ParamSet *params) {
    return mem_aligned(params->size ? params->size : 1, sizeof(real));
}

real *params_take_block(ParamSet *params) {
    real *block = params->data;
    params->data = NULL;
    return block;
}
void params_allocate(ParamSet *params) { params->data = params_block(params); }

bool params_can_pack_rows(const Param *p) { return p->panel_use != PANELS_AFFINE; }

/* The packed copy for the forward pass, and the sizes of its product. NULL: the weight has none. A table that
 * is only looked up has one if that makes it smaller. */
static void **forward_copy(const ParamSet *params, Param *p, int *K, int *N) {
    bool by_rows = params_can_pack_rows(p);
    *K = by_rows ? p->columns : p->rows;
    *N = by_rows ? p->rows : p->columns;
    if (p->panel_use == PANELS_NONE && !(p->looked_up && params->format == WEIGHT_INT8)) return NULL;
    return by_rows ? &p->packed_transpose : &p->packed;
}

void params_allocate_packed(ParamSet *params, WeightFormat format) {
    size_t bytes = 0;
    int K, N;
    params->format = format;
    params->size = 0;
    for (int i = 0; i < params->count; i++) {
        Param *p = params->items[i];
        bool has_copy = forward_copy(params, p, &K, &N);
        bool in_block = !has_copy || (p->looked_up && !kern->weights[format].column);
        p->offset = in_block ? params->size : PARAM_ONLY_PACKED;
        if (in_block) params->size += (param_size(p) + 15) / 16 * 16;
        if (has_copy) bytes += mem_round_up(kern->weights[format].size(K, N));
    }
    params_allocate(params);
    char *next = params->packed = mem_aligned_uninitialized(bytes ? bytes : 1, 1);
    for (int i = 0; i < params->count; i++) {
        void **copy = forward_copy(params, params->items[i], &K, &N);
        if (!copy) continue;
        *copy = next;
        next += mem_round_up(kern->weights[format].size(K, N));
    }
}

Param *params_find(const ParamSet *params, const char *name) {
    for (int i = 0; i < params->count; i++)
        if (!strcmp(params->items[i]->name, name)) return params->items[i];
    return NULL;
}

static uint64_t name_hash(const char *name) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h;
}

/* Number `i` of a parameter; callers go through the numbers in order. */
static double initial_value(const Param *p, size_t i, Rng *rng) {
    switch (p->init) {
    case INIT_ONE:
        return 1;
    case INIT_CONSTANT:
        return p->scale;
    case INIT_FORGET:
        return i % (size_t)p->columns / ((size_t)p->columns / 4) == 1 ? 1 : 0;
    case INIT_NORMAL:
        return p->scale * rng_normal(rng);
    case INIT_GLOROT:
        return sqrt(6.0 / (p->rows + p->columns)) * (2 * rng_uniform(rng) - 1);
    case INIT_UNIFORM:
        return p->scale * (2 * rng_uniform(rng) - 1);
    case INIT_ZERO:
        break;
    }
    return 0;
}

void params_initialize(ParamSet *params, uint64_t seed) {
    if (!params->data) params_allocate(params);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        assert(p->init != INIT_FORGET || p->columns % 4 == 0);
        real *data = param_data(params, p);
        size_t size = param_size(p);
        Rng rng = rng_new(rng_key(seed, name_hash(p->name), 0, 0));
        for (size_t j = 0; j < size; j++) data[j] = (real)initial_value(p, j, &rng);
    }
}

enum { SLICE_SIZE = 1 << 16 }; /* approximate numbers of a slice of a packed copy */

static bool has_copy(const ParamSet *params, const Param *p, bool transposed) {
    if (p->panel_use == PANELS_NONE) return false;
    return params->packs_backward || transposed == (p->panel_use == PANELS_OUTPUT);
}

/* The product reads a copy as [K, N]. */
static int rows_of_copy(const Param *p, bool transposed) { return transposed ? p->columns : p->rows; }
static int columns_of_copy(const Param *p, bool transposed) { return transposed ? p->rows : p->columns; }

static int slices_of_copy(const Param *p, bool transposed) {
    int most = (columns_of_copy(p, transposed) + KERN_PACK_COLUMNS - 1) / KERN_PACK_COLUMNS;
    size_t slices = param_size(p) / SLICE_SIZE + 1;
    return slices < (size_t)most ? (int)slices : most;
}

/* The first column of slice `slice` out of `slices`. */
static int first_column(int columns, int slice, int slices) {
    long long panels = (columns + KERN_PACK_COLUMNS - 1) / KERN_PACK_COLUMNS;
    return slice < slices ? (int)(panels * slice / slices) * KERN_PACK_COLUMNS : columns;
}

static void pack_copy(const ParamSet *params, const Param *p, bool transposed, int slice) {
    int K = rows_of_copy(p, transposed), N = columns_of_copy(p, transposed),
        slices = slices_of_copy(p, transposed), first = first_column(N, slice, slices);
    const real *numbers = param_data(params, p) + (transposed ? (size_t)first * (size_t)K : 0);
    kern->weights[params->format].pack(K, N, numbers, transposed, first, first_column(N, slice + 1, slices),
                                       transposed ? p->packed_transpose : p->packed);
}

/* Allocates the copies that do not exist yet; returns the number of slices of all copies. */
static int begin_packing(ParamSet *params) {
    int slices = 0;
    for (int i = 0; i < 2 * params->count; i++) {
        Param *p = params->items[i / 2];
        bool transposed = i % 2;
        void **copy = transposed ? &p->packed_transpose : &p->packed;
        if (!has_copy(params, p, transposed)) continue;
        size_t size =
            kern->weights[params->format].size(rows_of_copy(p, transposed), columns_of_copy(p, transposed));
        if (!*copy) *copy = mem_aligned_uninitialized(size, 1);
        slices += slices_of_copy(p, transposed);
    }
    return slices;
}

static void pack_slice(void *context, int slice, int thread) {
    const ParamSet *params = context;
    (void)thread;
    for (int i = 0; i < 2 * params->count; i++) {
        const Param *p = params->items[i / 2];
        if (!has_copy(params, p, i % 2)) continue;
        int slices = slices_of_copy(p, i % 2);
        if (slice < slices) {
            pack_copy(params, p, i % 2, slice);
            return;
        }
        slice -= slices;
    }
}

void params_pack_all(ParamSet *params) {
    int slices = begin_packing(params);
    for (int i = 0; i < slices; i++) pack_slice(params, i, 0);
}

void params_pack_parallel(ParamSet *params, Workers *workers) {
    workers_run(workers, begin_packing(params), pack_slice, params);
}

void params_pack_rows(const ParamSet *params, Param *p, const real *numbers, int first, int rows) {
    int K, N;
    void **copy = forward_copy(params, p, &K, &N);
    bool by_rows = params_can_pack_rows(p);
    if (copy)
        kern->weights[params->format].pack(K, N, numbers, by_rows, by_rows ? first : 0,
                                           by_rows ? first + rows : N, *copy);
}

void params_pack_int8(const ParamSet *params, Param *p, const int8_t *numbers, const real *scales, int first,
                      int rows) {
    int K, N;
    void **copy = forward_copy(params, p, &K, &N);
    bool by_rows = params_can_pack_rows(p);
    assert(params->format == WEIGHT_INT8);
    if (copy)
        kern->pack_int8(K, N, numbers, scales, by_rows, by_rows ? first : 0, by_rows ? first + rows : N,
                        *copy);
}

void params_row(const ParamSet *params, const Param *p, int row, real *out) {
    if (p->offset == PARAM_ONLY_PACKED)
        kern->weights[params->format].column(p->columns, p->rows, p->packed_transpose, row, out);
    else
        memcpy(out, param_data(params, p) + (size_t)row * (size_t)p->columns,
               (size_t)p->columns * sizeof *out);
}

bool params_has_bytes(const ParamSet *params, const Param *p) {
    return p->offset == PARAM_ONLY_PACKED && params->format == WEIGHT_INT8;
}

real params_row_bytes(const Param *p, int row, int8_t *out) {
    return kern->column_int8(p->columns, p->rows, p->packed_transpose, row, out);
}
