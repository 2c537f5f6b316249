/* tree_hash.c - pieces are tasks. */
#include "base/tree_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/mem.h"

enum { PIECE = 4 << 20, BUFFER = 64 << 10, HEX = 64 };

typedef struct {
    unsigned char *data; /* to hash, or where to put what is read; NULL: nowhere */
    size_t bytes;
    int fd; /* to read from, or -1 */
    const char *path;
    uint64_t offset;
    char (*digest)[HEX + 1]; /* [pieces] */
    StatusRecord *failed;    /* [threads] */
} Part;

static Status read_fully(const Part *part, uint64_t offset, unsigned char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t got = pread(part->fd, data, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return status_fail(STATUS_RUNTIME, "cannot read '%.700s': %s", part->path, strerror(errno));
        if (got == 0) return status_fail(STATUS_DATA, "'%.700s' is cut off", part->path);
        data += got;
        bytes -= (size_t)got;
        offset += (uint64_t)got;
    }
    return STATUS_OK;
}

/* In steps that stay in the cache between reading and hashing. */
static Status hash_piece(const Part *part, size_t start, size_t bytes, Sha256 *hash) {
    unsigned char *buffer = part->data ? NULL : mem_alloc(BUFFER, 1);
    Status status = STATUS_OK;
    for (size_t done = 0, step; done < bytes && status == STATUS_OK; done += step) {
        step = bytes - done < BUFFER ? bytes - done : BUFFER;
        unsigned char *data = buffer ? buffer : part->data + start + done;
        if (part->fd >= 0) status = read_fully(part, part->offset + start + done, data, step);
        if (status == STATUS_OK) sha256_add(hash, data, step);
    }
    mem_free(buffer);
    return status;
}

static void run_piece(void *context, int task, int thread) {
    const Part *part = context;
    size_t start = (size_t)task * PIECE, left = part->bytes - start;
    Sha256 hash;
    sha256_begin(&hash);
    Status status = hash_piece(part, start, left < PIECE ? left : PIECE, &hash);
    if (status != STATUS_OK) status_save(&part->failed[thread], status);
    sha256_end(&hash, part->digest[task]);
}

static Status run_part(Sha256 *hash, Part *part, Workers *workers) {
    size_t pieces = (part->bytes + PIECE - 1) / PIECE, threads = (size_t)workers_count(workers);
    Status status = STATUS_OK;
    part->digest = mem_alloc(pieces + 1, sizeof *part->digest);
    part->failed = mem_alloc(threads, sizeof *part->failed);
    workers_run(workers, (int)pieces, run_piece, part);
    for (size_t i = 0; i < threads && status == STATUS_OK; i++)
        if (part->failed[i].code != STATUS_OK) status = status_restore(&part->failed[i]);
    uint64_t bytes = part->bytes;
    sha256_add(hash, &bytes, sizeof bytes);
    for (size_t i = 0; i < pieces; i++) sha256_add(hash, part->digest[i], HEX);
    mem_free(part->digest);
    mem_free(part->failed);
    return status;
}

void tree_hash_add(Sha256 *hash, const void *data, size_t bytes, Workers *workers) {
    Part part = {.data = (unsigned char *)data, .bytes = bytes, .fd = -1};
    run_part(hash, &part, workers); /* only reading fails */
}

Status tree_hash_read(Sha256 *hash, int fd, const char *path, uint64_t offset, void *data, size_t bytes,
                      Workers *workers) {
    Part part = {.data = data, .bytes = bytes, .fd = fd, .path = path, .offset = offset};
    return run_part(hash, &part, workers);
}

Status tree_hash_file(Sha256 *hash, const char *path, Workers *workers) {
    struct stat about;
    int fd = file_open(path, O_RDONLY, 0);
    if (fd < 0) return status_fail(STATUS_RUNTIME, "cannot open '%.700s': %s", path, strerror(errno));
    Status status = STATUS_OK;
    if (fstat(fd, &about) != 0)
        status = status_fail(STATUS_RUNTIME, "cannot read '%.700s': %s", path, strerror(errno));
    else
        status = tree_hash_read(hash, fd, path, 0, NULL, (size_t)about.st_size, workers);
    close(fd);
    return status;
}
