/* tree_hash.h - a digest of much data that several threads compute at once: the SHA-256 of the SHA-256s of
 * its pieces of 4 MiB. FIPS 180-4; the tree is Merkle's, 1979, two levels high.
 *
 * Parts are added one after the other; a piece never goes over the end of a part, so where parts end is part
 * of the digest.
 * Fails   reading: STATUS_RUNTIME with path and system error; STATUS_DATA if the file ends too early
 */
#ifndef BASE_TREE_HASH_H
#define BASE_TREE_HASH_H

#include "base/sha256.h"
#include "base/status.h"
#include "base/workers.h"

void tree_hash_add(Sha256 *hash, const void *data, size_t bytes, Workers *workers);
/* `bytes` of an open file from `offset` on; they go to `data` unless it is NULL. `path`: for messages. */
Status tree_hash_read(Sha256 *hash, int fd, const char *path, uint64_t offset, void *data, size_t bytes,
                      Workers *workers);
/* All of a file, as one part. */
Status tree_hash_file(Sha256 *hash, const char *path, Workers *workers);

#endif
