/* fuzz_safetensors.c - a tensor file is refused with a message, or is valid and can be written again.
 *
 * Input: the file.
 */
#include "fuzz/scratch.h"
#include "models/safetensors.h"

/* Reads the first and last byte of every tensor, so that the sanitizer detects a wrong size. */
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
    ScratchPath out = scratch_path("out");
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
    require(safetensors_write_unchecked(out.text, tensors, count, constant, kept) == STATUS_OK);
    SafeFile *copy;
    require(safetensors_open(&copy, out.text) == STATUS_OK);
    check_same(file, copy);
    for (size_t i = 0; i < kept; i++)
        require(strcmp(safetensors_metadata(copy, metadata[i][0]), metadata[i][1]) == 0);
    safetensors_close(copy);
    free(tensors);
    free(metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ScratchPath in = scratch_put("in", (StrView){(const char *)data, size});
    SafeFile *file;
    Status status = safetensors_open(&file, in.text);
    if (status != STATUS_OK) {
        require(status == STATUS_DATA && !file && strstr(status_message(), in.text) != NULL);
        return 0;
    }
    safetensors_check_finite(file);
    write_again(file);
    safetensors_close(file);
    return 0;
}
