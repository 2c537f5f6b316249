/* safetensors.h - reads and writes named tensors in files of the safetensors format, with all checks.
 * https://github.com/huggingface/safetensors, "Format"
 *
 * File    8 bytes little-endian header length N | N bytes of JSON, padded with spaces to a multiple of 8 |
 *         the tensors without gaps, row-major, little-endian
 * Sums    Two entries of __metadata__ are added when writing and checked when reading: "payload_sha256", the
 *         digest of all tensor bytes, and "header_sha256", the digest of the N bytes of JSON with its own 64
 *         digits replaced by '0'. A file of another program has neither; one alone is an error.
 * Strict  regular file; header at most 16 MiB, strict JSON (io/json.h) of plain integers; known dtypes;
 *         rank at most 8; no overflow; tensors cover the rest of the file exactly. Memory for the tensors is
 *         allocated only after all sizes are checked against the size of the file.
 * Owner   a SafeFile owns everything that its functions return
 * Fails   STATUS_DATA for a bad file, STATUS_RUNTIME when reading or writing fails; messages begin with the
 *         path
 */
#ifndef MODELS_SAFETENSORS_H
#define MODELS_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include "base/status.h"

enum { SAFETENSORS_MAX_RANK = 8 };

typedef struct {
    const char *name;
    const char *dtype; /* "F32", "F64", "BF16", "U64", "I64", "I8", "U32", "U16" or "U8" */
    int rank;          /* 0 = a single number */
    long long shape[SAFETENSORS_MAX_RANK];
    const void *data; /* 64-byte aligned after reading */
    size_t bytes;     /* product of the shape times the size of one element */
} SafeTensor;

/* Replace the file at `path` atomically. Metadata are pairs {key, value}. STATUS_DATA, and the old file
 * stays, if no reader would accept the file: a number that is not finite, a duplicate name, a header that
 * is too large. */
Status safetensors_write(const char *path, const SafeTensor *tensors, size_t count,
                         const char *const (*metadata)[2], size_t metadata_count);
/* The same without a check of the numbers, for tests of the readers. */
Status safetensors_write_unchecked(const char *path, const SafeTensor *tensors, size_t count,
                                   const char *const (*metadata)[2], size_t metadata_count);

/* Would safetensors_write_unchecked accept this? Nothing is written. */
Status safetensors_check(const char *path, const SafeTensor *tensors, size_t count,
                         const char *const (*metadata)[2], size_t metadata_count);

typedef struct SafeFile SafeFile;

Status safetensors_open(SafeFile **file, const char *path);
/* The same in steps, for callers that choose where the numbers go, or that work meanwhile: first the
 * header; then the next bytes of the tensors, in the order of the file, part after part; then the digest of
 * everything that was read. The numbers are not to be trusted before. The file stays open until
 * safetensors_close; `data` of the tensors is NULL. */
Status safetensors_open_header(SafeFile **file, const char *path);
Status safetensors_read_next(SafeFile *file, void *buffer, size_t bytes);
Status safetensors_check_digest(SafeFile *file);
/* Reads what is left of the file, and checks the digest: an error may come from damage. */
Status safetensors_check_rest(SafeFile *file);
void safetensors_close(SafeFile *file);
const struct stat *safetensors_stat(const SafeFile *file); /* of the file that was opened */
/* False: another program wrote the file, or the digests were removed. */
bool safetensors_has_digests(const SafeFile *file);

size_t safetensors_count(const SafeFile *file);
const SafeTensor *safetensors_at(const SafeFile *file, size_t index); /* in the order of the file's bytes */
const SafeTensor *safetensors_find(const SafeFile *file, const char *name); /* NULL if absent */
/* The tensor with this name, dtype and shape; STATUS_DATA with both shapes if they differ. */
Status safetensors_require(const SafeFile *file, const char *name, const char *dtype, int rank,
                           const long long *shape, const SafeTensor **tensor);
const char *safetensors_metadata(const SafeFile *file, const char *key); /* NULL if absent */
size_t safetensors_metadata_count(const SafeFile *file);
/* Pair `index` in the order of the file. */
void safetensors_metadata_at(const SafeFile *file, size_t index, const char **key, const char **value);

/* STATUS_DATA with the tensor's name and the position if a number is not finite. `tensor` may be a part of a
 * tensor, from its number `first` on. */
Status safetensors_check_tensor(const SafeFile *file, const SafeTensor *tensor, size_t first);
Status safetensors_check_finite(const SafeFile *file); /* of all of them */

#endif
