/* safetensors_write.c - writes tensors with digests of header and payload, atomically. */
#include "models/safetensors.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "io/fileio.h"
#include "io/json.h"
#include "io/json_write.h"
#include "base/mem.h"
#include "io/sha256.h"
#include "base/strview.h"
#include "models/safetensors_format.h"

static int compare_tensors(const void *a, const void *b) {
    const SafeTensor *x = *(const SafeTensor *const *)a, *y = *(const SafeTensor *const *)b;
    int order = safetensors_dtype_order(x->dtype) - safetensors_dtype_order(y->dtype);
    return order ? order : strcmp(x->name, y->name);
}

static void add_pair(StrBuf *header, const char *key, const char *value) {
    json_write_string(header, sv(key));
    strbuf_add_char(header, ':');
    json_write_string(header, sv(value));
}

static void add_tensor(StrBuf *header, const SafeTensor *tensor, size_t begin) {
    strbuf_add_char(header, ',');
    json_write_string(header, sv(tensor->name));
    strbuf_format(header, ":{\"dtype\":\"%s\",\"shape\":[", tensor->dtype);
    for (int i = 0; i < tensor->rank; i++) strbuf_format(header, "%s%lld", i ? "," : "", tensor->shape[i]);
    strbuf_format(header, "],\"data_offsets\":[%zu,%zu]}", begin, begin + tensor->bytes);
}

/* The JSON with its own digest filled in. */
static void build_header(StrBuf *header, const SafeTensor *const *sorted, size_t count,
                         const char *const (*metadata)[2], size_t metadata_count,
                         const char *payload_sha256) {
    char zeros[SAFETENSORS_DIGEST + 1];
    memset(zeros, '0', SAFETENSORS_DIGEST);
    zeros[SAFETENSORS_DIGEST] = '\0';
    strbuf_add(header, SV("{\"__metadata__\":{"));
    add_pair(header, SAFETENSORS_HEADER_KEY, zeros);
    strbuf_add_char(header, ',');
    add_pair(header, SAFETENSORS_PAYLOAD_KEY, payload_sha256);
    for (size_t i = 0; i < metadata_count; i++) {
        strbuf_add_char(header, ',');
        add_pair(header, metadata[i][0], metadata[i][1]);
    }
    strbuf_add_char(header, '}');
    size_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        add_tensor(header, sorted[i], begin);
        begin += sorted[i]->bytes;
    }
    strbuf_add_char(header, '}');
    while (header->length % 8 != 0) strbuf_add_char(header, ' ');
    Sha256 hash;
    char digits[65];
    sha256_begin(&hash);
    sha256_add(&hash, header->data, header->length);
    sha256_end(&hash, digits);
    memcpy(safetensors_header_digits(header->data, header->length), digits, SAFETENSORS_DIGEST);
}

/* The reader must accept the header: no duplicate names, not too large. */
static Status check_header(const char *path, const StrBuf *header) {
    if (header->length > SAFETENSORS_MAX_HEADER)
        return status_fail(STATUS_DATA, "cannot write '%.700s': its header would exceed 16 MiB", path);
    Json *root;
    Status status = json_parse_header(&root, strbuf_view(header));
    json_free(root);
    return status == STATUS_OK ? status : status_context(status, "cannot write '%.700s'", path);
}

static Status write_all(OutFile *file, const StrBuf *header, const SafeTensor *const *sorted, size_t count) {
    uint64_t length = header->length;
    file_write(file, &length, sizeof length); /* if this fails, the next write fails, too */
    TRY(file_write(file, header->data, header->length));
    for (size_t i = 0; i < count; i++) TRY(file_write(file, sorted[i]->data, sorted[i]->bytes));
    return STATUS_OK;
}

static void digest_payload(const SafeTensor *const *sorted, size_t count, char digits[65]) {
    Sha256 hash;
    sha256_begin(&hash);
    for (size_t i = 0; i < count; i++) sha256_add(&hash, sorted[i]->data, sorted[i]->bytes);
    sha256_end(&hash, digits);
}

Status safetensors_check(const char *path, const SafeTensor *tensors, size_t count,
                         const char *const (*metadata)[2], size_t metadata_count) {
    const SafeTensor **sorted = mem_alloc(count, sizeof *sorted);
    StrBuf header = {0};
    char digits[SAFETENSORS_DIGEST + 1];
    memset(digits, '0', SAFETENSORS_DIGEST);
    digits[SAFETENSORS_DIGEST] = '\0';
    for (size_t i = 0; i < count; i++) sorted[i] = &tensors[i];
    build_header(&header, sorted, count, metadata, metadata_count, digits);
    Status status = check_header(path, &header);
    strbuf_free(&header);
    mem_free(sorted);
    return status;
}

static Status check_finite(const char *path, const SafeTensor *tensors, size_t count) {
    size_t wrong;
    for (size_t i = 0; i < count; i++)
        if (!safetensors_all_finite(&tensors[i], &wrong))
            return status_fail(STATUS_DATA,
                               "cannot write '%.700s': tensor '%.200s': number %zu is not finite", path,
                               tensors[i].name, wrong);
    return STATUS_OK;
}

Status safetensors_write(const char *path, const SafeTensor *tensors, size_t count,
                         const char *const (*metadata)[2], size_t metadata_count) {
    TRY(check_finite(path, tensors, count));
    return safetensors_write_unchecked(path, tensors, count, metadata, metadata_count);
}

Status safetensors_write_unchecked(const char *path, const SafeTensor *tensors, size_t count,
                                   const char *const (*metadata)[2], size_t metadata_count) {
    OutFile *file;
    TRY(file_create(&file, path));
    const SafeTensor **sorted = mem_alloc(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = 0;
        assert(tensors[i].rank >= 0 && tensors[i].rank <= SAFETENSORS_MAX_RANK);
        bool sound = safetensors_tensor_bytes(tensors[i].dtype, tensors[i].rank, tensors[i].shape, &bytes);
        assert(sound && bytes == tensors[i].bytes);
        (void)sound;
        sorted[i] = &tensors[i];
    }
    qsort(sorted, count, sizeof *sorted, compare_tensors);
    char payload_sha256[65];
    digest_payload(sorted, count, payload_sha256);
    StrBuf header = {0};
    build_header(&header, sorted, count, metadata, metadata_count, payload_sha256);
    Status status = check_header(path, &header);
    if (status == STATUS_OK) status = write_all(file, &header, sorted, count);
    if (status == STATUS_OK)
        status = file_commit(file);
    else
        file_discard(file);
    strbuf_free(&header);
    mem_free(sorted);
    return status;
}
