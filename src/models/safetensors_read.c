/* safetensors_read.c - reads tensors from untrusted files. */
#include "models/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/hashmap.h"
#include "io/json.h"
#include "base/mem.h"
#include "base/mem_scope.h"
#include "io/sha256.h"
#include "base/strview.h"
#include "base/utf8.h"
#include "models/safetensors_format.h"

enum { LENGTH_BYTES = 8 };
enum {
    CHUNK = 256 << 10
}; /* bytes read at a time, so that they are still in the cache when they are digested */

/* A tensor with its place in the payload. */
typedef struct {
    SafeTensor tensor;
    size_t begin, end;
} Entry;

struct SafeFile {
    char *path;
    int fd;
    struct stat info;
    size_t payload_bytes; /* size of the file without its header */
    char *header;         /* `header_length` bytes and a NUL */
    size_t header_length;
    Json *root; /* owns the names */
    const Json *metadata;
    Entry *entries; /* by place in the file */
    size_t count;
    HashMap *by_name;
    Sha256 digest;     /* of what was read of the payload */
    size_t bytes_read; /* bytes of it */
    unsigned char *data;
};

__attribute__((format(printf, 2, 3))) static Status bad(const SafeFile *file, const char *format, ...) {
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return status_fail(STATUS_DATA, "'%.400s': %s", file->path, reason);
}

static Status read_fully(SafeFile *file, void *data, size_t bytes) {
    unsigned char *next = data;
    for (size_t remaining = bytes; remaining > 0;) {
        ssize_t got = read(file->fd, next, remaining);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return status_fail(STATUS_RUNTIME, "cannot read '%.700s': %s", file->path, strerror(errno));
        if (got == 0) return bad(file, "the file became shorter while it was read");
        next += got;
        remaining -= (size_t)got;
    }
    return STATUS_OK;
}

static Status fail_folder(const SafeFile *file) {
    char inside[4096];
    snprintf(inside, sizeof inside, "%s%sbest.safetensors", file->path,
             sv_ends(sv(file->path), SV("/")) ? "" : "/");
    Status status = bad(file, "it is a folder");
    if (file_exists(inside)) return status_hint(status, "the model in it is '%.400s'", inside);
    return status_hint(status, "a model is a file: the best.safetensors of a run directory");
}

/* Do the bytes of the header length look like text? No header is that long. */
static bool is_text(const uint64_t *length) {
    char bytes[LENGTH_BYTES];
    memcpy(bytes, length, sizeof bytes);
    for (int i = 0; i < LENGTH_BYTES; i++)
        if ((unsigned char)bytes[i] < 0x20 && !(bytes[i] >= '\t' && bytes[i] <= '\r')) return false;
    return utf8_valid_length((StrView){bytes, LENGTH_BYTES}) > LENGTH_BYTES - 4; /* one may be cut */
}

/* The path names a file of another kind. */
static Status hint_models(Status status) {
    return status_hint(status, "models are the best.safetensors and last.safetensors of a run directory");
}

/* Reads the header. Its length is checked against the file before memory is allocated for it. */
static Status read_header(SafeFile *file) {
    /* Not blocking: opening a pipe without a writer would wait forever. */
    file->fd = file_open(file->path, O_RDONLY | O_NONBLOCK, 0);
    if (file->fd < 0)
        return status_fail(STATUS_RUNTIME, "cannot open '%.700s': %s", file->path, strerror(errno));
    mem_scope_set_file(file->fd);
    if (fstat(file->fd, &file->info) != 0)
        return status_fail(STATUS_RUNTIME, "cannot read '%.700s': %s", file->path, strerror(errno));
    if (S_ISDIR(file->info.st_mode)) return fail_folder(file);
    if (!S_ISREG(file->info.st_mode)) return bad(file, "not a regular file");
    uint64_t size = (uint64_t)file->info.st_size, length;
    if (size < LENGTH_BYTES + 2)
        return hint_models(bad(file, "not a model file: too short (%llu bytes)", (unsigned long long)size));
    TRY(read_fully(file, &length, LENGTH_BYTES));
    const char *packed = file_compressed_kind((StrView){(const char *)&length, LENGTH_BYTES});
    if (packed) return hint_models(bad(file, "not a model file: it is %s; unpack it", packed));
    if (is_text(&length)) return hint_models(bad(file, "not a model file: it looks like text"));
    if (length < 2 || length > size - LENGTH_BYTES || length > SAFETENSORS_MAX_HEADER)
        return hint_models(
            bad(file, "not a safetensors file, or truncated: a header of %llu bytes in a file of %llu",
                (unsigned long long)length, (unsigned long long)size));
    if (size > PTRDIFF_MAX) return bad(file, "too large for this machine");
    file->header_length = (size_t)length;
    file->payload_bytes = (size_t)(size - LENGTH_BYTES - length);
    file->header = mem_alloc(file->header_length + 1, 1);
    TRY(read_fully(file, file->header, file->header_length));
    if (file->header[0] != '{')
        return bad(file, "not a safetensors file: the header does not begin with '{'");
    return STATUS_OK;
}

static Status read_shape(const SafeFile *file, const Json *shape, SafeTensor *tensor) {
    if (!shape || json_type(shape) != JSON_ARRAY || json_count(shape) > SAFETENSORS_MAX_RANK)
        return bad(file, "tensor '%.200s': its shape is not a list of at most 8 sizes", tensor->name);
    for (const Json *size = json_first(shape); size; size = json_after(size)) {
        if (json_type(size) != JSON_NUMBER)
            return bad(file, "tensor '%.200s': a size is not a number", tensor->name);
        tensor->shape[tensor->rank++] = (long long)json_number(size);
    }
    return STATUS_OK;
}

static Status read_offsets(const SafeFile *file, const Json *offsets, Entry *entry) {
    const char *name = entry->tensor.name;
    const Json *begin = offsets ? json_first(offsets) : NULL, *end = begin ? json_after(begin) : NULL;
    if (!end || json_type(offsets) != JSON_ARRAY || json_after(end) || json_type(begin) != JSON_NUMBER ||
        json_type(end) != JSON_NUMBER)
        return bad(file, "tensor '%.200s': its data_offsets are not two numbers", name);
    /* Exact: json_parse_header lets only integers below 2^53 pass. */
    double first = json_number(begin), last = json_number(end);
    if (first > last || last > (double)file->payload_bytes) {
        Status status = bad(
            file, "tensor '%.200s': data_offsets %.0f to %.0f are not inside the file's %zu bytes of data",
            name, first, last, file->payload_bytes);
        return first > last ? status : status_hint(status, "is the file incomplete? copy it again");
    }
    entry->begin = (size_t)first;
    entry->end = (size_t)last;
    return STATUS_OK;
}

static Status read_entry(const SafeFile *file, const Json *member, Entry *entry) {
    SafeTensor *tensor = &entry->tensor;
    tensor->name = json_key(member);
    if (!tensor->name[0]) return bad(file, "a tensor without a name");
    const Json *dtype = json_get(member, "dtype");
    if (json_type(member) != JSON_OBJECT || json_count(member) != 3 || !dtype ||
        json_type(dtype) != JSON_STRING)
        return bad(file, "tensor '%.200s': not an object of dtype, shape and data_offsets", tensor->name);
    tensor->dtype = json_string(dtype);
    if (safetensors_element_size(tensor->dtype) == 0)
        return bad(file, "tensor '%.200s': dtype '%.40s' is not supported", tensor->name, tensor->dtype);
    TRY(read_shape(file, json_get(member, "shape"), tensor));
    TRY(read_offsets(file, json_get(member, "data_offsets"), entry));
    if (!safetensors_tensor_bytes(tensor->dtype, tensor->rank, tensor->shape, &tensor->bytes) ||
        tensor->bytes != entry->end - entry->begin)
        return bad(file, "tensor '%.200s': its shape does not fit its %zu bytes", tensor->name,
                   entry->end - entry->begin);
    return STATUS_OK;
}

static int compare_entries(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* In order, each tensor must begin where the one before ends, and the last one ends the file. */
static Status check_cover(const SafeFile *file) {
    size_t reached = 0;
    for (size_t i = 0; i < file->count; i++) {
        const Entry *entry = &file->entries[i];
        if (entry->begin != reached)
            return bad(file, "tensor '%.200s': %s before it", entry->tensor.name,
                       entry->begin > reached ? "a gap" : "an overlap");
        reached = entry->end;
    }
    if (reached != file->payload_bytes)
        return bad(file, "%zu bytes of data where the tensors need %zu", file->payload_bytes, reached);
    return STATUS_OK;
}

static Status check_metadata(const SafeFile *file) {
    if (!file->metadata) return STATUS_OK;
    if (json_type(file->metadata) != JSON_OBJECT) return bad(file, "__metadata__ is not an object");
    for (const Json *pair = json_first(file->metadata); pair; pair = json_after(pair))
        if (json_type(pair) != JSON_STRING)
            return bad(file, "__metadata__ '%.200s' is not a string", json_key(pair));
    return STATUS_OK;
}

static Status read_entries(SafeFile *file) {
    Status status = json_parse_header(&file->root, (StrView){file->header, file->header_length});
    if (status != STATUS_OK) return status_context(status, "'%.400s': the header", file->path);
    file->metadata = json_get(file->root, "__metadata__");
    TRY(check_metadata(file));
    file->entries = mem_alloc(json_count(file->root), sizeof *file->entries);
    for (const Json *member = json_first(file->root); member; member = json_after(member))
        if (member != file->metadata) TRY(read_entry(file, member, &file->entries[file->count++]));
    qsort(file->entries, file->count, sizeof *file->entries, compare_entries);
    TRY(check_cover(file));
    file->by_name = hashmap_new();
    for (size_t i = 0; i < file->count; i++)
        hashmap_set(file->by_name, sv(file->entries[i].tensor.name), (int)i);
    return STATUS_OK;
}

/* Digests are 64 lower-case hexadecimal digits. */
static bool is_digest(const char *text) {
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static Status check_header_digest(SafeFile *file) {
    const char *payload = safetensors_metadata(file, SAFETENSORS_PAYLOAD_KEY);
    const char *header = safetensors_metadata(file, SAFETENSORS_HEADER_KEY);
    if (!payload && !header) return STATUS_OK;
    if (!payload || !header || !is_digest(payload) || !is_digest(header))
        return bad(file, "damaged: checksums are missing or malformed");
    char *digits = safetensors_header_digits(file->header, file->header_length);
    if (!digits) return bad(file, "damaged: the checksum of the header cannot be found in it");
    memset(digits, '0', SAFETENSORS_DIGEST);
    Sha256 hash;
    char actual[65];
    sha256_begin(&hash);
    sha256_add(&hash, file->header, file->header_length);
    sha256_end(&hash, actual);
    if (strcmp(actual, header) != 0) return bad(file, "damaged: the checksum of the header is wrong");
    return STATUS_OK;
}

Status safetensors_read_next(SafeFile *file, void *place, size_t bytes) {
    unsigned char *to = place;
    for (size_t done = 0, size; done < bytes; done += size) {
        size = bytes - done < CHUNK ? bytes - done : CHUNK;
        TRY(read_fully(file, to + done, size));
        sha256_add(&file->digest, to + done, size);
    }
    file->bytes_read += bytes;
    return STATUS_OK;
}

Status safetensors_check_rest(SafeFile *file) {
    unsigned char *buffer = mem_alloc(CHUNK, 1);
    Status status = STATUS_OK;
    while (status == STATUS_OK && file->bytes_read < file->payload_bytes) {
        size_t remaining = file->payload_bytes - file->bytes_read;
        status = safetensors_read_next(file, buffer, remaining < CHUNK ? remaining : CHUNK);
    }
    mem_free(buffer);
    return status == STATUS_OK ? safetensors_check_digest(file) : status;
}

Status safetensors_check_digest(SafeFile *file) {
    const char *expected = safetensors_metadata(file, SAFETENSORS_PAYLOAD_KEY);
    char actual[65];
    sha256_end(&file->digest, actual);
    if (expected && strcmp(actual, expected) != 0)
        return bad(file, "damaged: the checksum of the data is wrong");
    return STATUS_OK;
}

static Status read_start(SafeFile *file) {
    TRY(read_header(file));
    TRY(read_entries(file));
    sha256_begin(&file->digest);
    return check_header_digest(file);
}

Status safetensors_open_header(SafeFile **opened, const char *path) {
    SafeFile *file = mem_alloc(1, sizeof *file);
    file->path = mem_strdup(path);
    file->fd = -1;
    *opened = NULL;
    Status status = read_start(file);
    if (status == STATUS_OK)
        *opened = file;
    else
        safetensors_close(file);
    return status;
}

static void close_descriptor(SafeFile *file) {
    mem_scope_set_file(-1);
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

/* Reads each tensor to aligned memory; the files of other programs may be unaligned. */
static Status read_payload(SafeFile *file) {
    size_t total = 0;
    for (size_t i = 0; i < file->count; i++) total += mem_round_up(file->entries[i].tensor.bytes);
    file->data = mem_aligned_uninitialized(total, 1);
    unsigned char *place = file->data;
    for (size_t i = 0; i < file->count; i++) {
        SafeTensor *tensor = &file->entries[i].tensor;
        TRY(safetensors_read_next(file, place, tensor->bytes));
        tensor->data = place;
        place += mem_round_up(tensor->bytes);
    }
    return safetensors_check_digest(file);
}

Status safetensors_open(SafeFile **opened, const char *path) {
    TRY(safetensors_open_header(opened, path));
    Status status = read_payload(*opened);
    close_descriptor(*opened);
    if (status == STATUS_OK) return status;
    safetensors_close(*opened);
    *opened = NULL;
    return status;
}

void safetensors_close(SafeFile *file) {
    if (!file) return;
    close_descriptor(file);
    json_free(file->root);
    hashmap_free(file->by_name);
    mem_free(file->entries);
    mem_free(file->data);
    mem_free(file->header);
    mem_free(file->path);
    mem_free(file);
}

const struct stat *safetensors_stat(const SafeFile *file) { return &file->info; }

bool safetensors_has_digests(const SafeFile *file) {
    return safetensors_metadata(file, SAFETENSORS_PAYLOAD_KEY) !=
           NULL; /* one alone is refused when the file is opened */
}

size_t safetensors_count(const SafeFile *file) { return file->count; }

const SafeTensor *safetensors_at(const SafeFile *file, size_t index) { return &file->entries[index].tensor; }

const SafeTensor *safetensors_find(const SafeFile *file, const char *name) {
    int index = (int)hashmap_get(file->by_name, sv(name), -1);
    return index < 0 ? NULL : &file->entries[index].tensor;
}

static void add_shape(StrBuf *text, const char *dtype, int rank, const long long *shape) {
    strbuf_format(text, "%s [", dtype);
    for (int i = 0; i < rank; i++) strbuf_format(text, "%s%lld", i ? ", " : "", shape[i]);
    strbuf_add_char(text, ']');
}

Status safetensors_require(const SafeFile *file, const char *name, const char *dtype, int rank,
                           const long long *shape, const SafeTensor **found) {
    const SafeTensor *tensor = safetensors_find(file, name);
    if (!tensor) return bad(file, "tensor '%.200s' is missing", name);
    bool same = strcmp(tensor->dtype, dtype) == 0 && tensor->rank == rank;
    for (int i = 0; i < rank && same; i++) same = tensor->shape[i] == shape[i];
    *found = tensor;
    if (same) return STATUS_OK;
    StrBuf text = {0};
    add_shape(&text, tensor->dtype, tensor->rank, tensor->shape);
    strbuf_add(&text, SV(" instead of "));
    add_shape(&text, dtype, rank, shape);
    Status status = bad(file, "tensor '%.200s' is %s", name, strbuf_text(&text));
    strbuf_free(&text);
    return status;
}

const char *safetensors_metadata(const SafeFile *file, const char *key) {
    const Json *value = file->metadata ? json_get(file->metadata, key) : NULL;
    return value ? json_string(value) : NULL;
}

size_t safetensors_metadata_count(const SafeFile *file) {
    return file->metadata ? json_count(file->metadata) : 0;
}

void safetensors_metadata_at(const SafeFile *file, size_t index, const char **key, const char **value) {
    const Json *pair = json_first(file->metadata);
    while (index--) pair = json_after(pair);
    *key = json_key(pair);
    *value = json_string(pair);
}

Status safetensors_check_tensor(const SafeFile *file, const SafeTensor *tensor, size_t first) {
    size_t wrong;
    if (safetensors_all_finite(tensor, &wrong)) return STATUS_OK;
    return bad(file, "tensor '%.200s': number %zu is not finite", tensor->name, first + wrong);
}

Status safetensors_check_finite(const SafeFile *file) {
    for (size_t i = 0; i < file->count; i++) TRY(safetensors_check_tensor(file, &file->entries[i].tensor, 0));
    return STATUS_OK;
}
