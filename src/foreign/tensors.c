/* tensors.c - see tensors.h; the list of tensors and the readers of the simpler containers. */
#include "foreign/tensors.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "io/bytes.h"
#include "io/zip.h"
#include "io/json.h"

void foreign_tensors_free(ForeignTensors *tensors) {
    for (size_t i = 0; i < tensors->count; i++) {
        mem_free(tensors->items[i].name);
        mem_free(tensors->items[i].data);
    }
    mem_free(tensors->items);
    if (tensors->by_name) hashmap_free(tensors->by_name);
    strbuf_free(&tensors->settings);
    *tensors = (ForeignTensors){0};
}

ForeignTensor *foreign_tensors_find(const ForeignTensors *tensors, const char *name) {
    int64_t index = tensors->by_name ? hashmap_get(tensors->by_name, sv(name), -1) : -1;
    return index < 0 ? NULL : &tensors->items[index];
}

double foreign_tensors_number(const ForeignTensors *tensors, const char *name, double missing) {
    ForeignTensor *tensor = foreign_tensors_find(tensors, name);
    if (!tensor || tensor->rows * tensor->columns != 1) return missing;
    tensor->used = true;
    return (double)tensor->data[0];
}

size_t foreign_type_size(ForeignType type) {
    static const size_t sizes[FOREIGN_TYPES] = {4, 2, 2, 1, 2, 4};
    return sizes[type];
}

/* IEEE 754 binary16: exact in a float. */
static float from_half(uint16_t half) {
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float size = exponent == 31  ? (mantissa ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)mantissa, -24)
                                 : ldexpf((float)(mantissa + 1024), exponent - 25);
    return half & 0x8000 ? -size : size;
}

static float from_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static float number_at(const char *data, size_t index, ForeignType type) {
    ByteReader reader =
        bytes_from((StrView){data, (index + 1) * foreign_type_size(type)}, index * foreign_type_size(type));
    uint32_t bits = (uint32_t)bytes_number(&reader, foreign_type_size(type));
    switch (type) {
    case FOREIGN_F32:
        return from_bits(bits);
    case FOREIGN_F16:
        return from_half((uint16_t)bits);
    case FOREIGN_BF16:
        return from_bits(bits << 16);
    case FOREIGN_I8:
        return (float)(int8_t)bits;
    case FOREIGN_I16:
        return (float)(int16_t)bits;
    default:
        return (float)(int32_t)bits;
    }
}

static Status convert(float *to, size_t count, ForeignType type, const char *data, StrView name) {
    if (type == FOREIGN_F32)
        memcpy(to, data, count * sizeof *to);
    else
        for (size_t i = 0; i < count; i++) to[i] = number_at(data, i, type);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(to[i]))
            return status_fail(STATUS_DATA, "tensor '%.*s': number %zu is not finite", SV_ARG(name), i);
    return STATUS_OK;
}

Status foreign_tensors_add(ForeignTensors *tensors, StrView name, int rank, const uint64_t *shape,
                           ForeignType type, StrView bytes, ForeignTensor **added) {
    uint64_t columns = rank > 0 ? shape[rank - 1] : 1, rows = 1, most = bytes.length;
    for (int i = 0; i + 1 < rank; i++) {
        if (shape[i] > most / (rows ? rows : 1))
            rows = most + 1;
        else
            rows *= shape[i];
    }
    if (name.length == 0 || name.length > 200 || memchr(name.data, '\0', name.length))
        return status_fail(STATUS_DATA, "a tensor has a malformed name");
    if (tensors->count >= FOREIGN_TENSORS)
        return status_fail(STATUS_DATA, "it has more than %d tensors", FOREIGN_TENSORS);
    if (rows == 0 || columns == 0 || columns > most || rows > most / columns ||
        rows * columns != most / foreign_type_size(type) || most % foreign_type_size(type))
        return status_fail(STATUS_DATA, "tensor '%.*s': its %zu bytes do not fit its shape", SV_ARG(name),
                           bytes.length);
    if (!tensors->by_name) tensors->by_name = hashmap_new();
    if (hashmap_get(tensors->by_name, name, -1) >= 0)
        return status_fail(STATUS_DATA, "tensor '%.*s' occurs twice", SV_ARG(name));
    hashmap_set(tensors->by_name, name, (int64_t)tensors->count);
    MEM_GROW(tensors->items, tensors->capacity, tensors->count + 1);
    ForeignTensor *tensor = &tensors->items[tensors->count++];
    *tensor = (ForeignTensor){
        .name = mem_strndup(name.data, name.length), .rows = (size_t)rows, .columns = (size_t)columns};
    tensor->type = (int)type;
    tensor->data = mem_alloc(tensor->rows * tensor->columns, sizeof *tensor->data);
    if (added) *added = tensor;
    return convert(tensor->data, tensor->rows * tensor->columns, type, bytes.data, name);
}

/* ---- safetensors ---- */

static Status add_safetensor(ForeignTensors *tensors, const Json *entry, StrView data) {
    static const struct {
        const char *name;
        ForeignType type;
    } types[] = {{"F32", FOREIGN_F32}, {"F16", FOREIGN_F16}, {"BF16", FOREIGN_BF16}};
    const Json *dtype = json_get(entry, "dtype"), *shape = json_get(entry, "shape"),
               *offsets = json_get(entry, "data_offsets");
    StrView name = sv(json_key(entry));
    uint64_t sizes[FOREIGN_RANK], range[2];
    if (json_type(dtype) != JSON_STRING || json_type(shape) != JSON_ARRAY ||
        json_type(offsets) != JSON_ARRAY || json_count(offsets) != 2 || json_count(shape) > FOREIGN_RANK)
        return status_fail(STATUS_DATA, "tensor '%.*s': its description is malformed", SV_ARG(name));
    size_t rank = 0, at = 0;
    for (const Json *item = json_first(shape); item; item = json_after(item)) {
        if (json_type(item) != JSON_NUMBER)
            return status_fail(STATUS_DATA, "tensor '%.*s': its shape is malformed", SV_ARG(name));
        sizes[rank++] = (uint64_t)json_number(item);
    }
    for (const Json *item = json_first(offsets); item; item = json_after(item)) {
        if (json_type(item) != JSON_NUMBER)
            return status_fail(STATUS_DATA, "tensor '%.*s': its place is malformed", SV_ARG(name));
        range[at++] = (uint64_t)json_number(item);
    }
    if (range[0] > range[1] || range[1] > data.length)
        return status_fail(STATUS_DATA, "tensor '%.*s' extends beyond the end of the file", SV_ARG(name));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, json_string(dtype)) == 0)
            return foreign_tensors_add(tensors, name, (int)rank, sizes, types[i].type,
                                       (StrView){data.data + range[0], (size_t)(range[1] - range[0])}, NULL);
    return STATUS_OK;
}

Status foreign_read_safetensors(ForeignTensors *tensors, StrView file) {
    ByteReader reader = {file, 0, false};
    StrView header = bytes_take(&reader, bytes_u64(&reader));
    Json *root;
    if (reader.bad || header.length > 16 << 20)
        return status_fail(STATUS_DATA, "the file is truncated, or it is not a safetensors file");
    TRY(json_parse_header(&root, header));
    Status status = STATUS_OK;
    StrView data = {file.data + reader.at, file.length - reader.at};
    for (const Json *entry = json_first(root); entry && status == STATUS_OK; entry = json_after(entry))
        if (strcmp(json_key(entry), "__metadata__") != 0) status = add_safetensor(tensors, entry, data);
    json_free(root);
    if (status != STATUS_OK) foreign_tensors_free(tensors);
    return status;
}

/* Text up to a NUL. */
static void add_settings(ForeignTensors *tensors, StrView text) {
    if (text.length > 0)
        strbuf_add(&tensors->settings, (StrView){text.data, strnlen(text.data, text.length)});
}

/* ---- NumPy ---- */

/* The text behind a key of the header, which is the text of a Python dictionary. */
static StrView npy_value(StrView header, const char *key) {
    const char *at = header.length ? memmem(header.data, header.length, key, strlen(key)) : NULL;
    if (!at) return (StrView){0};
    at += strlen(key);
    return sv_trim((StrView){at, (size_t)(header.data + header.length - at)});
}

static Status npy_shape(StrView text, uint64_t *shape, int *rank) {
    *rank = 0;
    if (text.length == 0 || text.data[0] != '(') return status_fail(STATUS_DATA, "no shape");
    for (size_t i = 1; i < text.length && text.data[i] != ')';) {
        uint64_t number = 0;
        size_t start = i;
        for (; i < text.length && text.data[i] >= '0' && text.data[i] <= '9' && i - start < 15; i++)
            number = number * 10 + (uint64_t)(text.data[i] - '0');
        if (i == start || *rank == FOREIGN_RANK) return status_fail(STATUS_DATA, "its shape is malformed");
        shape[(*rank)++] = number;
        while (i < text.length && (text.data[i] == ',' || text.data[i] == ' ')) i++;
    }
    return STATUS_OK;
}

static Status add_npy(ForeignTensors *tensors, StrView name, StrView file) {
    ByteReader reader = {file, 0, false};
    StrView magic = bytes_take(&reader, 6);
    unsigned major = bytes_u8(&reader);
    bytes_u8(&reader);
    StrView header = bytes_take(&reader, major == 1 ? bytes_u16(&reader) : bytes_u32(&reader));
    uint64_t shape[FOREIGN_RANK];
    int rank;
    if (reader.bad || !sv_equal(magic, SV("\x93NUMPY")) || major < 1 || major > 3)
        return status_fail(STATUS_DATA, "it is not a NumPy array");
    StrView descr = npy_value(header, "'descr':"), order = npy_value(header, "'fortran_order':");
    StrView data = {file.data + reader.at, file.length - reader.at};
    if (!sv_starts(order, SV("False"))) return status_fail(STATUS_DATA, "it is stored column by column");
    TRY(npy_shape(npy_value(header, "'shape':"), shape, &rank));
    if (sv_starts(name, SV("special:"))) {
        if (!sv_equal(name, SV("special:model.yml"))) return STATUS_OK;
        strbuf_clear(&tensors->settings);
        add_settings(tensors, data);
        return STATUS_OK;
    }
    if (!sv_starts(descr, SV("'<f4'")) && !sv_starts(descr, SV("'<f2'")))
        return status_fail(STATUS_DATA, "its numbers are of the type %.*s, not <f4 or <f2",
                           descr.length < 8 ? (int)descr.length : 8, descr.data);
    return foreign_tensors_add(tensors, name, rank, shape,
                               descr.data[3] == '4' && descr.data[2] == 'f' ? FOREIGN_F32 : FOREIGN_F16, data,
                               NULL);
}

Status foreign_read_npz(ForeignTensors *tensors, StrView file) {
    Zip zip;
    StrBuf content = {0};
    TRY(zip_open(&zip, file));
    Status status = STATUS_OK;
    for (size_t i = 0; i < zip.count && status == STATUS_OK; i++) {
        StrView name = zip.entries[i].name;
        if (!sv_ends(name, SV(".npy"))) continue;
        name.length -= strlen(".npy");
        strbuf_clear(&content);
        status = zip_read(&zip, i, &content);
        if (status == STATUS_OK) status = add_npy(tensors, name, strbuf_view(&content));
        if (status != STATUS_OK) status = status_context(status, "array '%.*s'", SV_ARG(name));
    }
    strbuf_free(&content);
    zip_free(&zip);
    if (status != STATUS_OK) foreign_tensors_free(tensors);
    return status;
}

/* ---- Marian's binary ---- */

enum {
    MARIAN_ITEMS = 10000,
    MARIAN_INT8 = 0x101,
    MARIAN_FLOAT16 = 0x402,
    MARIAN_FLOAT32 = 0x404,
    MARIAN_INTGEMM8 = 0x10001,
    MARIAN_INTGEMM8_FORK = 0x4101, /* of browsermt's and Mozilla's forks */
};

/* Bytes of the transposed matrix, or of a table as it is, then the multiplier: W = q / multiplier. */
static Status add_intgemm8(ForeignTensors *tensors, StrView name, int rank, const uint64_t *shape,
                           StrView data) {
    ForeignTensor *tensor;
    uint64_t rows = rank == 2 ? shape[0] : 0, columns = rank == 2 ? shape[1] : 0;
    if (rows == 0 || columns == 0 || rows > data.length / columns || rows * columns + 4 > data.length)
        return status_fail(STATUS_DATA, "tensor '%.*s': its %zu bytes do not fit its shape", SV_ARG(name),
                           data.length);
    size_t count = (size_t)(rows * columns);
    TRY(foreign_tensors_add(tensors, name, 2, shape, FOREIGN_I8, (StrView){data.data, count}, &tensor));
    float multiplier = number_at(data.data + count, 0, FOREIGN_F32);
    if (!(multiplier > 0) || !isfinite(multiplier) || !isfinite(127 / multiplier))
        return status_fail(STATUS_DATA, "tensor '%.*s': its multiplier is not a positive number",
                           SV_ARG(name));
    bool is_table = sv_ends(name, SV("Wemb"));
    const signed char *bytes = (const signed char *)data.data;
    tensor->quantized = true;
    tensor->scale = 1 / multiplier;
    for (size_t i = 0; i < count; i++) {
        size_t row = i / tensor->columns, column = i % tensor->columns;
        int q = bytes[is_table ? i : column * tensor->rows + row];
        tensor->data[i] = (float)(q < -127 ? -127 : q) / multiplier;
    }
    return STATUS_OK;
}

typedef struct {
    uint64_t name, type, rank, bytes;
    StrView text;
    uint64_t shape[FOREIGN_RANK];
} MarianItem;

static Status add_marian_item(ForeignTensors *tensors, const MarianItem *item, StrView data) {
    uint64_t count = 1;
    for (uint64_t i = 0; i < item->rank; i++) count *= item->shape[i];
    if (sv_starts(item->text, SV("special:"))) {
        if (sv_equal(item->text, SV("special:model.yml"))) add_settings(tensors, data);
        return STATUS_OK;
    }
    if (sv_ends(item->text, SV("_QuantMultA"))) return STATUS_OK; /* scales of activations */
    if (item->type == MARIAN_INTGEMM8 || item->type == MARIAN_INTGEMM8_FORK)
        return add_intgemm8(tensors, item->text, (int)item->rank, item->shape, data);
    if (item->type != MARIAN_FLOAT32 && item->type != MARIAN_FLOAT16)
        return status_hint(
            status_fail(STATUS_DATA, "tensor '%.*s': its type 0x%llx is not supported", SV_ARG(item->text),
                        (unsigned long long)item->type),
            "float32, float16 and intgemm8 are supported, but not formats that are packed for one processor");
    ForeignType type = item->type == MARIAN_FLOAT32 ? FOREIGN_F32 : FOREIGN_F16;
    if (count > data.length / foreign_type_size(type))
        return status_fail(STATUS_DATA, "tensor '%.*s': its bytes do not fit its shape", SV_ARG(item->text));
    data.length = (size_t)count * foreign_type_size(type);
    return foreign_tensors_add(tensors, item->text, (int)item->rank, item->shape, type, data, NULL);
}

static Status read_marian_items(ForeignTensors *tensors, ByteReader *reader, MarianItem *items,
                                size_t count) {
    for (size_t i = 0; i < count; i++) {
        items[i].name = bytes_u64(reader);
        items[i].type = bytes_u64(reader);
        items[i].rank = bytes_u64(reader);
        items[i].bytes = bytes_u64(reader);
        if (items[i].rank > FOREIGN_RANK || items[i].name == 0) reader->bad = true;
    }
    for (size_t i = 0; i < count; i++) {
        items[i].text = bytes_take(reader, items[i].name);
        if (items[i].text.length) items[i].text.length--; /* its NUL */
    }
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < items[i].rank && k < FOREIGN_RANK; k++) {
            items[i].shape[k] = bytes_u32(reader);
            if (items[i].shape[k] == 0 || items[i].shape[k] > INT32_MAX / 64) reader->bad = true;
        }
    bytes_take(reader, bytes_u64(reader));
    if (reader->bad)
        return status_fail(STATUS_DATA, "Marian's file is damaged: its list of tensors cannot be read");
    for (size_t i = 0; i < count; i++) {
        StrView data = bytes_take(reader, items[i].bytes);
        if (reader->bad)
            return status_fail(STATUS_DATA, "Marian's file is truncated in '%.*s'", SV_ARG(items[i].text));
        TRY(add_marian_item(tensors, &items[i], data));
    }
    return STATUS_OK;
}

Status foreign_read_marian(ForeignTensors *tensors, StrView file) {
    ByteReader reader = {file, 0, false};
    uint64_t version = bytes_u64(&reader), count = bytes_u64(&reader);
    if (version == 2) return status_fail(STATUS_DATA, "Marian's file is encrypted");
    if (reader.bad || version != 1 || count > MARIAN_ITEMS || count > file.length / 32)
        return status_fail(STATUS_DATA, "it is not a binary file of Marian, version 1");
    MarianItem *items = mem_alloc((size_t)count + 1, sizeof *items);
    Status status = read_marian_items(tensors, &reader, items, (size_t)count);
    mem_free(items);
    if (status != STATUS_OK) foreign_tensors_free(tensors);
    return status;
}

/* ---- CTranslate2 ---- */

static StrView ct2_text(ByteReader *reader) {
    StrView text = bytes_take(reader, bytes_u16(reader));
    if (text.length) text.length--; /* its NUL */
    return text;
}

static Status add_ct2_variable(ForeignTensors *tensors, ByteReader *reader, unsigned version) {
    static const ForeignType types[] = {FOREIGN_F32, FOREIGN_I8,  FOREIGN_I16,
                                        FOREIGN_I32, FOREIGN_F16, FOREIGN_BF16};
    StrView name = ct2_text(reader);
    unsigned rank = bytes_u8(reader), code;
    uint64_t shape[FOREIGN_RANK], bytes;
    ForeignTensor *tensor;
    if (rank > FOREIGN_RANK) reader->bad = true;
    for (unsigned i = 0; i < rank && !reader->bad; i++) shape[i] = bytes_u32(reader);
    code = bytes_u8(reader);
    bytes = bytes_u32(reader);
    if (version < 4) {
        bytes *= code;
        code = code == 4 ? 0 : code == 1 ? 1 : code == 2 ? 2 : 99;
    }
    StrView data = bytes_take(reader, bytes);
    if (reader->bad) return status_fail(STATUS_DATA, "model.bin is damaged or truncated");
    if (code >= sizeof types / sizeof *types)
        return status_fail(STATUS_DATA, "variable '%.*s': its type %u is not known", SV_ARG(name), code);
    TRY(foreign_tensors_add(tensors, name, (int)rank, shape, types[code], data, &tensor));
    tensor->quantized = types[code] == FOREIGN_I8 && tensor->rows > 1;
    return STATUS_OK;
}

/* W = q / scale, where there are scales: one for each row, or one. */
static Status apply_scales(ForeignTensors *tensors) {
    for (size_t i = 0; i < tensors->count; i++) {
        ForeignTensor *scale = &tensors->items[i];
        StrView name = sv(scale->name);
        if (!sv_ends(name, SV("_scale"))) continue;
        int64_t index =
            hashmap_get(tensors->by_name, (StrView){name.data, name.length - strlen("_scale")}, -1);
        size_t scales = scale->rows * scale->columns;
        if (index < 0) continue;
        ForeignTensor *weight = &tensors->items[index];
        if (scales != 1 && scales != weight->rows)
            return status_fail(STATUS_DATA, "variable '%s' does not fit its weight", scale->name);
        scale->used = true;
        for (size_t r = 0; r < weight->rows; r++) {
            float divisor = scale->data[scales == 1 ? 0 : r];
            if (!(divisor > 0) || !isfinite(2147483648.0f / divisor))
                return status_fail(STATUS_DATA, "variable '%s': number %zu is not a valid scale", scale->name,
                                   r);
            for (size_t c = 0; c < weight->columns; c++) weight->data[r * weight->columns + c] /= divisor;
        }
    }
    return STATUS_OK;
}

static Status read_ct2(ForeignTensors *tensors, ByteReader *reader) {
    unsigned version = bytes_u32(reader);
    if (reader->bad || version < 3 || version > 6)
        return status_fail(STATUS_DATA, "it is not a model.bin of CTranslate2, version 3 to 6");
    StrView specification = ct2_text(reader);
    tensors->revision = (int)bytes_u32(reader);
    if (!sv_starts(specification, SV("Transformer")) || sv_starts(specification, SV("TransformerDecoder")) ||
        sv_starts(specification, SV("TransformerEncoder")))
        return status_fail(STATUS_DATA, "CTranslate2's model is a '%.*s', not a TransformerSpec",
                           specification.length < 60 ? (int)specification.length : 60,
                           specification.data ? specification.data : "");
    uint32_t count = bytes_u32(reader);
    if (count == 0) return status_fail(STATUS_DATA, "model.bin has no variables");
    for (uint32_t i = 0; i < count; i++) TRY(add_ct2_variable(tensors, reader, version));
    TRY(apply_scales(tensors));
    count = bytes_u32(reader);
    for (uint32_t i = 0; i < count && !reader->bad; i++) {
        StrView alias = ct2_text(reader), name = ct2_text(reader);
        int64_t index = hashmap_get(tensors->by_name, name, -1);
        if (index < 0 || alias.length == 0)
            return status_fail(STATUS_DATA, "alias '%.*s' leads to nothing", SV_ARG(alias));
        hashmap_set(tensors->by_name, alias, index);
    }
    return reader->bad ? status_fail(STATUS_DATA, "model.bin is truncated") : STATUS_OK;
}

Status foreign_read_ctranslate2(ForeignTensors *tensors, StrView file) {
    ByteReader reader = {file, 0, false};
    Status status = read_ct2(tensors, &reader);
    if (status != STATUS_OK) foreign_tensors_free(tensors);
    return status;
}
