/* params.c - named weights in one block. */
#include "num/params.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "num/kern.h"

ParamSet *params_new(void) { return mem_alloc(1, sizeof(ParamSet)); }

void params_free(ParamSet *params) {
    if (!params) return;
    for (int i = 0; i < params->count; i++) {
        Param *p = params->items[i];
        mem_free(p->name);
        mem_free(p->packed);
        mem_free(p->packed_transpose);
        mem_free(p);
    }
    mem_free(params->items);
    strlist_free(&params->names);
    mem_free(params->data);
    mem_free(params);
}

Param *params_add(ParamSet *params, const char *name, int rows, int columns, Init init, double scale,
                  Packing packing) {
    assert(!params->data && rows > 0 && columns > 0);
    Param *p = mem_alloc(1, sizeof *p);
    *p = (Param){.name = mem_strdup(name),
                 .rows = rows,
                 .columns = columns,
                 .offset = params->size,
                 .init = init,
                 .scale = scale,
                 .packing = packing};
    MEM_GROW(params->items, params->capacity, (size_t)params->count + 1);
    params->items[params->count++] = p;
    size_t size = (size_t)rows * (size_t)columns;
    params->size += (size + 15) / 16 * 16;
    return p;
}

const char *params_keep_name(ParamSet *params, const char *name) {
    strlist_add(&params->names, sv(name));
    return params->names.items[params->names.count - 1];
}

real *params_block(const ParamSet *params) {
    return mem_aligned(params->size ? params->size : 1, sizeof(real));
}
void params_allocate(ParamSet *params) { params->data = params_block(params); }

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

/* Number `i` of a parameter; the numbers are asked for in order. */
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
        size_t size = (size_t)p->rows * (size_t)p->columns;
        Rng rng = rng_new(rng_key(seed, name_hash(p->name), 0, 0));
        for (size_t j = 0; j < size; j++) data[j] = (real)initial_value(p, j, &rng);
    }
}

static void pack(const WeightProduct *product, const real *data, int K, int N, bool transposed, void **out) {
    if (!*out) *out = mem_aligned_unset(product->size(K, N), 1);
    product->pack(K, N, data, transposed, *out);
}

void params_pack(ParamSet *params, int index) {
    Param *p = params->items[index];
    const real *data = param_data(params, p);
    bool both = p->packing != PACK_NONE && params->packs_backward;
    const WeightProduct *product = &kern->weights[params->format];
    if (both || p->packing == PACK_AFFINE) pack(product, data, p->rows, p->columns, false, &p->packed);
    if (both || p->packing == PACK_OUTPUT)
        pack(product, data, p->columns, p->rows, true, &p->packed_transpose);
}

void params_pack_all(ParamSet *params) {
    for (int i = 0; i < params->count; i++) params_pack(params, i);
}

void params_repack(ParamSet *params, WeightFormat format) {
    for (int i = 0; i < params->count; i++) {
        Param *p = params->items[i];
        mem_free(p->packed);
        mem_free(p->packed_transpose);
        p->packed = p->packed_transpose = NULL;
    }
    params->format = format;
    params_pack_all(params);
}
