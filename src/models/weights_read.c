/* weights_read.c - see weights_read.h. */
#include "models/weights_read.h"

#include <math.h>
#include <string.h>
#include "base/hashmap.h"
#include "base/mem.h"
#include "base/workers.h"
#include "autograd/quantize.h"

enum {
    WINDOW = 2 << 20, /* bytes of items, or one item */
    SLICE = 1 << 19,  /* approximate bytes of a slice of a table */
    MAX_THREADS = 4,  /* one thread reads, and more workers would wait for it */
};

/* A tensor of the file, or a slice of rows of a table: the numbers of a parameter, or their scales. */
typedef struct {
    Param *param;
    SafeTensor part; /* its data after it was read */
    int first, rows; /* of the parameter, if these are numbers */
    bool is_scales;
    size_t scales; /* index of the first scale of the item among all scales */
    StatusRecord fault;
} Item;

typedef struct {
    size_t first, end; /* items */
    unsigned char *buffer;
    StatusRecord fault;
} Window;

typedef struct {
    SafeFile *file;
    size_t first; /* tensor of the file that is read */
    ParamSet *params;
    WeightFormat stored;
    bool packed;
    Item *items; /* in the order of the file */
    size_t count, capacity;
    real *scales;
    Window now, next;
    unsigned char *scratch; /* `scratch_size` bytes for each thread */
    size_t scratch_size;
} WeightsReader;

/* ---- checking the names and sizes ---- */

const char *weights_dtype(const Param *param, WeightFormat stored) {
    if (quantize_applies(param) && stored == WEIGHT_INT8) return "I8";
    if (quantize_applies(param) && stored == WEIGHT_BF16) return "BF16";
    return sizeof(real) == 4 ? "F32" : "F64";
}

void weights_scale_shape(const Param *param, long long shape[2]) {
    shape[0] = quantize_by_row(param) ? param->rows : 1;
    shape[1] = quantize_by_row(param) ? 1 : param->columns;
}

static size_t element_size(const Param *param, WeightFormat stored) {
    const char *dtype = weights_dtype(param, stored);
    return dtype[0] == 'I' ? 1 : dtype[0] == 'B' ? 2 : sizeof(real);
}

static bool has_scales(const Param *p, WeightFormat stored) {
    return quantize_applies(p) && stored == WEIGHT_INT8;
}

size_t weights_bytes(const Param *p, WeightFormat stored) {
    size_t scales = has_scales(p, stored) ? quantize_scales(p) : 0;
    return param_size(p) * element_size(p, stored) + scales * sizeof(real);
}

/* The file is untrusted: compare its sizes before memory is allocated for them. */
static Status check_size(const WeightsReader *r) {
    size_t tensors = 0, bytes = 0, there = 0, needed = 0;
    for (int i = 0; i < r->params->count; i++) {
        const Param *p = r->params->items[i];
        tensors += has_scales(p, r->stored) ? 2 : 1;
        needed += param_size(p);
        bytes += weights_bytes(p, r->stored);
    }
    for (size_t i = r->first; i < safetensors_count(r->file); i++) there += safetensors_at(r->file, i)->bytes;
    if (safetensors_count(r->file) - r->first != tensors)
        return status_fail(STATUS_DATA, "it has %zu tensors, its configuration asks for %zu",
                           safetensors_count(r->file) - r->first, tensors);
    if (bytes == there) return STATUS_OK;
    return status_fail(STATUS_DATA, "its configuration describes %zu parameters of %zu bytes, it holds %zu",
                       needed, bytes, there);
}

/* The tensors of each parameter, and in `by_name` the number of the parameter, or that and `count` for
 * scales. */
static Status require_tensors(const WeightsReader *r, HashMap *by_name) {
    StrBuf name = {0};
    Status status = STATUS_OK;
    for (int i = 0, count = r->params->count; i < count && status == STATUS_OK; i++) {
        const Param *p = r->params->items[i];
        const SafeTensor *tensor;
        long long shape[2] = {p->rows, p->columns};
        hashmap_set(by_name, sv(p->name), i);
        status = safetensors_require(r->file, p->name, weights_dtype(p, r->stored), 2, shape, &tensor);
        if (status != STATUS_OK || !has_scales(p, r->stored)) continue;
        strbuf_clear(&name);
        strbuf_format(&name, "%s" WEIGHTS_SCALE_SUFFIX, p->name);
        weights_scale_shape(p, shape);
        hashmap_set(by_name, strbuf_view(&name), count + i);
        status = safetensors_require(r->file, strbuf_text(&name), "F32", 2, shape, &tensor);
    }
    strbuf_free(&name);
    return status;
}

/* The rows of a slice of a parameter: all rows, if slices cannot be packed. */
static int slice_rows(const WeightsReader *r, const Param *p) {
    if (!r->packed || !quantize_applies(p) || !params_can_pack_rows(p)) return p->rows;
    size_t panel = (size_t)p->columns * element_size(p, r->stored) * KERN_PACK_COLUMNS;
    int panels = panel < SLICE ? (int)(SLICE / panel) : 1;
    return p->rows / KERN_PACK_COLUMNS < panels ? p->rows : panels * KERN_PACK_COLUMNS;
}

static void add_item(WeightsReader *r, const Item *item) {
    MEM_GROW(r->items, r->capacity, r->count + 1);
    r->items[r->count++] = *item;
}

/* The numbers of a parameter, slice after slice. `scales`: its first scale */
static void add_numbers(WeightsReader *r, Param *p, const SafeTensor *tensor, size_t scales) {
    size_t row_bytes = tensor->bytes / (size_t)p->rows;
    for (int first = 0, rows; first < p->rows; first += rows) {
        rows = slice_rows(r, p);
        if (rows > p->rows - first) rows = p->rows - first;
        Item item = {.param = p, .part = *tensor, .first = first, .rows = rows, .scales = scales};
        if (quantize_by_row(p)) item.scales += (size_t)first;
        item.part.shape[0] = rows;
        item.part.bytes = (size_t)rows * row_bytes;
        add_item(r, &item);
    }
}

/* There are as many tensors as are required, so each has its place. Scales come before their numbers: they
 * are wider. */
static Status arrange_items(WeightsReader *r, const HashMap *by_name) {
    int count = r->params->count;
    size_t next = 1, *scales_of = mem_alloc((size_t)count, sizeof *scales_of); /* 0: not yet */
    Status status = STATUS_OK;
    for (size_t i = r->first; i < safetensors_count(r->file) && status == STATUS_OK; i++) {
        const SafeTensor *tensor = safetensors_at(r->file, i);
        int entry = (int)hashmap_get(by_name, sv(tensor->name), 0), index = entry % count;
        Param *p = r->params->items[index];
        if (entry >= count) {
            scales_of[index] = next;
            next += quantize_scales(p);
            add_item(r, &(Item){.param = p, .part = *tensor, .is_scales = true, .scales = scales_of[index]});
        } else if (has_scales(p, r->stored) && scales_of[index] == 0) {
            status = status_fail(STATUS_DATA, "tensor '%.200s': its scales are not before it", tensor->name);
        } else {
            add_numbers(r, p, tensor, scales_of[index]);
        }
    }
    r->scales = mem_alloc(next, sizeof *r->scales);
    mem_free(scales_of);
    return status;
}

static Status list_items(WeightsReader *r) {
    HashMap *by_name = hashmap_new();
    Status status = require_tensors(r, by_name);
    if (status == STATUS_OK) status = arrange_items(r, by_name);
    hashmap_free(by_name);
    return status;
}

/* ---- reading ---- */

static bool needs_no_conversion(const WeightsReader *r, const Param *p) {
    return element_size(p, r->stored) == sizeof(real) && p->offset != PARAM_ONLY_PACKED;
}

/* The numbers of an item in the block. */
static real *block_of(const WeightsReader *r, const Item *item) {
    return param_data(r->params, item->param) + (size_t)item->first * (size_t)item->param->columns;
}

/* The destination of an item: its final memory, or the next bytes of the window. */
static void *destination_of(const WeightsReader *r, const Item *item, unsigned char **next) {
    if (item->is_scales) return r->scales + item->scales;
    if (needs_no_conversion(r, item->param)) return block_of(r, item);
    void *destination = *next;
    *next += mem_round_up(item->part.bytes);
    return destination;
}

/* The window of items from `first` on, and the size of its buffer. */
static size_t window_end(const WeightsReader *r, size_t first, size_t *buffer) {
    size_t end = first, bytes = 0;
    *buffer = 0;
    for (; end < r->count; end++) {
        size_t size = r->items[end].part.bytes;
        if (end > first && bytes + size > WINDOW) break;
        bytes += size;
        if (!r->items[end].is_scales && !needs_no_conversion(r, r->items[end].param))
            *buffer += mem_round_up(size);
    }
    return end;
}

static Status read_window(const WeightsReader *r, const Window *window) {
    unsigned char *next = window->buffer;
    for (size_t i = window->first; i < window->end; i++) {
        void *destination = destination_of(r, &r->items[i], &next);
        TRY(safetensors_read_next(r->file, destination, r->items[i].part.bytes));
        r->items[i].part.data = destination;
    }
    return STATUS_OK;
}

/* ---- converting a tensor ---- */

static Status check_scales(const SafeTensor *tensor) {
    const real *scales = tensor->data;
    for (size_t i = 0; i < tensor->bytes / sizeof *scales; i++)
        if (!(scales[i] >= 0 && scales[i] * 127 < (real)INFINITY))
            return status_fail(STATUS_DATA, "tensor '%.200s': number %zu is not a valid scale", tensor->name,
                               i);
    return STATUS_OK;
}

static Status check_bytes(const SafeTensor *tensor) {
    const int8_t *bytes = tensor->data;
    if (!memchr(bytes, 0x80, tensor->bytes)) return STATUS_OK;
    return status_fail(STATUS_DATA, "tensor '%.200s': it has a -128, beyond -127 to 127", tensor->name);
}

/* A parameter of the item's rows alone, for quantize.h. */
static Param rows_of(const Item *item) {
    Param rows = *item->param;
    rows.rows = item->rows;
    return rows;
}

static void store_int8(const WeightsReader *r, const Item *item, const int8_t *q, const real *scales) {
    Param *p = item->param, rows = rows_of(item);
    if (r->packed) params_pack_int8(r->params, p, q, scales, item->first, item->rows);
    if (p->offset != PARAM_ONLY_PACKED) dequantize_int8(&rows, q, scales, block_of(r, item));
}

static void store_floats(const WeightsReader *r, const Item *item, real *x, unsigned char *scratch) {
    Param rows = rows_of(item);
    if (r->packed && r->params->format == WEIGHT_INT8) {
        real *scales = (real *)(void *)scratch;
        int8_t *q = (int8_t *)(scales + quantize_scales(&rows));
        quantize_int8(&rows, x, q, scales);
        store_int8(r, item, q, scales);
        return;
    }
    if (r->packed && r->params->format == WEIGHT_BF16) {
        quantize_bf16(&rows, x, (uint16_t *)(void *)scratch);
        dequantize_bf16(&rows, (const uint16_t *)(void *)scratch, x);
    }
    if (r->packed) params_pack_rows(r->params, item->param, x, item->first, item->rows);
}

static Status convert_item(const WeightsReader *r, const Item *item, unsigned char *scratch) {
    Param *p = item->param;
    TRY(safetensors_check_tensor(r->file, &item->part, (size_t)item->first * (size_t)p->columns));
    if (item->is_scales) return check_scales(&item->part);
    if (!quantize_applies(p)) return STATUS_OK;
    if (r->stored == WEIGHT_INT8) {
        TRY(check_bytes(&item->part));
        store_int8(r, item, item->part.data, r->scales + item->scales);
    } else if (r->stored == WEIGHT_BF16) {
        Param rows = rows_of(item);
        real *x = p->offset != PARAM_ONLY_PACKED ? block_of(r, item) : (real *)(void *)scratch;
        dequantize_bf16(&rows, item->part.data, x);
        if (r->packed) params_pack_rows(r->params, p, x, item->first, item->rows);
    } else {
        store_floats(r, item, (real *)(uintptr_t)item->part.data, scratch);
    }
    return STATUS_OK;
}

/* Task 0 reads the next window, the others convert the items of the current one. */
static void run_task(void *context, int task, int thread) {
    WeightsReader *r = context;
    if (task == 0) {
        status_save(&r->next.fault, read_window(r, &r->next));
        return;
    }
    size_t i = r->now.first + (size_t)task - 1;
    Status status = convert_item(r, &r->items[i], r->scratch + (size_t)thread * r->scratch_size);
    if (status != STATUS_OK) status_save(&r->items[i].fault, status);
}

/* ---- the whole file ---- */

/* Size of a thread's working memory: that of the largest item. */
static size_t scratch_size(const WeightsReader *r) {
    size_t most = 0;
    WeightFormat format = r->params->format;
    if (!r->packed || format == WEIGHT_FLOAT32 || (format == WEIGHT_INT8 && r->stored == WEIGHT_INT8))
        return 0;
    for (size_t i = 0; i < r->count; i++) {
        const Param p = rows_of(&r->items[i]);
        size_t bytes = quantize_scales(&p) * sizeof(real) + param_size(&p);
        if (format == WEIGHT_BF16)
            bytes = param_size(&p) * (r->stored == WEIGHT_BF16 ? sizeof(real) : sizeof(uint16_t));
        bool used = quantize_applies(&p) && !(r->stored == WEIGHT_BF16 && p.offset != PARAM_ONLY_PACKED);
        if (used && bytes > most) most = bytes;
    }
    return mem_round_up(most);
}

static Status read_windows(WeightsReader *r, Workers *workers) {
    size_t largest = 1;
    for (size_t i = 0, buffer; i < r->count;) {
        i = window_end(r, i, &buffer);
        if (buffer > largest) largest = buffer;
    }
    unsigned char *buffers[2] = {mem_aligned_uninitialized(largest, 1),
                                 mem_aligned_uninitialized(largest, 1)};
    r->scratch_size = scratch_size(r);
    r->scratch = mem_aligned_uninitialized((size_t)workers_count(workers) * r->scratch_size + 1, 1);
    Status status = STATUS_OK;
    for (int turn = 0; status == STATUS_OK && (r->next.first < r->count || r->now.first < r->now.end);
         turn++) {
        size_t unused;
        r->next.buffer = buffers[turn % 2];
        r->next.end = window_end(r, r->next.first, &unused);
        workers_run(workers, 1 + (int)(r->now.end - r->now.first), run_task, r);
        status = status_restore(&r->next.fault);
        r->now = r->next;
        r->next.first = r->next.end;
    }
    mem_free(buffers[0]);
    mem_free(buffers[1]);
    mem_free(r->scratch);
    return status;
}

/* A wrong digest is reported before any error that the damage caused. */
static Status read_items(WeightsReader *r) {
    Workers *workers =
        workers_new(workers_default_count() < MAX_THREADS ? workers_default_count() : MAX_THREADS);
    Status status = read_windows(r, workers);
    workers_free(workers);
    if (status == STATUS_OK) status = safetensors_check_digest(r->file);
    for (size_t i = 0; i < r->count && status == STATUS_OK; i++)
        if (r->items[i].fault.code != STATUS_OK) status = status_restore(&r->items[i].fault);
    return status;
}

Status weights_check_depth(const ParamSet *params, WeightFormat format) {
    for (int i = 0; i < params->count && format == WEIGHT_INT8; i++) {
        const Param *p = params->items[i];
        int depth = p->panel_use == PANELS_AFFINE ? p->rows : p->panel_use == PANELS_OUTPUT ? p->columns : 0;
        if (depth <= KERN_INT8_MAX_K) continue;
        Status s =
            status_fail(STATUS_DATA, "'%s' sums %d numbers, more than 8-bit arithmetic can", p->name, depth);
        return status_hint(s, "use --precision bf16");
    }
    return STATUS_OK;
}

Status weights_read(SafeFile *file, size_t first, WeightFormat stored, ParamSet *params, WeightFormat format,
                    bool packed) {
    WeightsReader r = {.file = file, .first = first, .params = params, .stored = stored, .packed = packed};
    params->format = stored == WEIGHT_FLOAT32 ? format : stored;
    Status status = check_size(&r);
    if (status == STATUS_OK) status = weights_check_depth(params, params->format);
    if (status == STATUS_OK) status = list_items(&r);
    if (status == STATUS_OK) {
        if (packed)
            params_allocate_packed(params, params->format);
        else
            params_allocate(params);
        status = read_items(&r);
    }
    mem_free(r.scales);
    mem_free(r.items);
    return status;
}
