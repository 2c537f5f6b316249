/* fuzz_safetensors.c - a tensor file is refused with a message, or is sound and survives being written again.
 *
 * Input: the file.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "models/safetensors.h"

static void require(int condition) {
    if (!condition) abort();
}

static char folder[32], in_path[64], out_path[64];

static void remove_files(void) {
    unlink(in_path);
    unlink(out_path);
    rmdir(folder);
}

static void put_file(const uint8_t *data, size_t size) {
    if (!in_path[0]) {
        /* In memory where there is such a folder: every written file is synced. */
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
        require(mkdtemp(folder) != NULL);
        strcat(strcpy(in_path, folder), "/in");
        strcat(strcpy(out_path, folder), "/out");
        atexit(remove_files);
    }
    int fd = open(in_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

/* Both ends of every tensor are read, so that the sanitizer sees a size that lies. */
static unsigned touch(const SafeTensor *tensor) {
    const unsigned char *bytes = tensor->data;
    require((uintptr_t)bytes % 64 == 0);
    return tensor->bytes ? (unsigned)bytes[0] + bytes[tensor->bytes - 1] : 0;
}

static void check_same(const SafeFile *a, const SafeFile *b) {
    require(safetensors_count(a) == safetensors_count(b) && safetensors_metadata(b, "payload_sha256"));
    for (size_t i = 0; i < safetensors_count(a); i++) {
        const SafeTensor *x = safetensors_at(a, i), *y;
        require(safetensors_require(b, x->name, x->dtype, x->rank, x->shape, &y) == STATUS_OK);
        require(touch(x) == touch(y) && x->bytes == y->bytes);
        require(x->bytes == 0 || memcmp(x->data, y->data, x->bytes) == 0);
    }
}

static void write_again(const SafeFile *file) {
    size_t count = safetensors_count(file), pairs = safetensors_metadata_count(file), kept = 0;
    SafeTensor *tensors = calloc(count + 1, sizeof *tensors);
    const char *(*metadata)[2] = calloc(pairs + 1, sizeof *metadata);
    require(tensors && metadata);
    for (size_t i = 0; i < count; i++) tensors[i] = *safetensors_at(file, i);
    for (size_t i = 0; i < pairs; i++) {
        safetensors_metadata_at(file, i, &metadata[kept][0], &metadata[kept][1]);
        require(strcmp(safetensors_metadata(file, metadata[kept][0]), metadata[kept][1]) == 0);
        bool digest = strstr(metadata[kept][0], "_sha256") != NULL;
        kept += !digest;
    }
    const char *const(*constant)[2] = (const char *const(*)[2])metadata;
    require(safetensors_write(out_path, tensors, count, constant, kept) == STATUS_OK);
    SafeFile *copy;
    require(safetensors_open(&copy, out_path) == STATUS_OK);
    check_same(file, copy);
    for (size_t i = 0; i < kept; i++)
        require(strcmp(safetensors_metadata(copy, metadata[i][0]), metadata[i][1]) == 0);
    safetensors_close(copy);
    free(tensors);
    free(metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    put_file(data, size);
    SafeFile *file;
    Status status = safetensors_open(&file, in_path);
    if (status != STATUS_OK) {
        require(status == STATUS_DATA && !file && strstr(status_message(), in_path) != NULL);
        return 0;
    }
    safetensors_check_finite(file);
    write_again(file);
    safetensors_close(file);
    return 0;
}
