/* file_store.h - translated files that wait for their clients, in memory.
 *
 * A name has 128 random bits, so who knows it may have the file. A file leaves when its time is over, or when
 * a newer one needs its place: the oldest first.
 *
 * Owner   a StoredFile is counted: the store and each file_store_find hold it; stored_file_release
 * Threads any
 * Fails   file_store_new: NULL. file_store_add: NULL if the file is larger than the store, or memory or
 *         random numbers run out
 */
#ifndef SERVE_FILE_STORE_H
#define SERVE_FILE_STORE_H

#include "base/strview.h"

typedef struct FileStore FileStore;

typedef struct {
    FileStore *store;
    char *name;        /* 32 hexadecimal digits, a full stop, and the title */
    const char *title; /* the name that the client sees */
    StrView content;
} StoredFile;

/* `most_bytes`: of all files together. `seconds`: how long a file stays. */
FileStore *file_store_new(size_t most_bytes, double seconds);
void file_store_free(FileStore *store); /* no file may be held */
/* Copies the content, and the title: a name without "/". `now`: clock_seconds(). */
const StoredFile *file_store_add(FileStore *store, StrView title, StrView content, double now);
/* NULL: there is no file of this name. */
const StoredFile *file_store_find(FileStore *store, StrView name);
void stored_file_release(const StoredFile *file);
/* Removes files whose time is over. */
void file_store_expire(FileStore *store, double now);
size_t file_store_bytes(FileStore *store);

#endif
