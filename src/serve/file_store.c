/* file_store.c - a list of files, oldest first. Allocates outside of memory scopes, because the files outlive
 * their requests. */
#include "serve/file_store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { KEY_BYTES = 16, KEY_DIGITS = 2 * KEY_BYTES };

typedef struct Entry Entry;
struct Entry {
    StoredFile file;
    Entry *next;
    double until;
    int references;
    char bytes[]; /* the name with its NUL, and the content */
};

struct FileStore {
    size_t most_bytes;
    double seconds;
    pthread_mutex_t lock;
    Entry *first, *last;
    size_t bytes;
};

FileStore *file_store_new(size_t most_bytes, double seconds) {
    FileStore *store = calloc(1, sizeof *store);
    if (!store) return NULL;
    store->most_bytes = most_bytes;
    store->seconds = seconds;
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

/* The functions of this section need the lock. */

static void release(Entry *entry) {
    if (--entry->references == 0) free(entry);
}

static void remove_first(FileStore *store) {
    Entry *entry = store->first;
    store->first = entry->next;
    if (!store->first) store->last = NULL;
    store->bytes -= entry->file.content.length;
    release(entry);
}

static void append(FileStore *store, Entry *entry) {
    while (store->bytes > store->most_bytes - entry->file.content.length) remove_first(store);
    *(store->last ? &store->last->next : &store->first) = entry;
    store->last = entry;
    store->bytes += entry->file.content.length;
}

/* ---- without the lock ---- */

void file_store_free(FileStore *store) {
    if (!store) return;
    while (store->first) remove_first(store);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* One reference is the store's, the other one the caller's. */
static Entry *entry_new(FileStore *store, StrView title, StrView content) {
    unsigned char key[KEY_BYTES];
    size_t name = KEY_DIGITS + 1 + title.length + 1;
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) return NULL;
    Entry *entry = malloc(sizeof *entry + name + content.length);
    if (!entry) return NULL;
    *entry = (Entry){.file = {.store = store, .name = entry->bytes}, .references = 2};
    for (size_t i = 0; i < KEY_BYTES; i++) snprintf(entry->bytes + 2 * i, 3, "%02x", (unsigned)key[i]);
    snprintf(entry->bytes + KEY_DIGITS, title.length + 2, ".%.*s", SV_ARG(title));
    entry->file.title = entry->bytes + KEY_DIGITS + 1;
    if (content.length > 0) memcpy(entry->bytes + name, content.data, content.length);
    entry->file.content = (StrView){entry->bytes + name, content.length};
    return entry;
}

const StoredFile *file_store_add(FileStore *store, StrView title, StrView content, double now) {
    Entry *entry = content.length <= store->most_bytes ? entry_new(store, title, content) : NULL;
    if (!entry) return NULL;
    entry->until = now + store->seconds;
    pthread_mutex_lock(&store->lock);
    append(store, entry);
    pthread_mutex_unlock(&store->lock);
    return &entry->file;
}

const StoredFile *file_store_find(FileStore *store, StrView name) {
    const StoredFile *found = NULL;
    pthread_mutex_lock(&store->lock);
    for (Entry *entry = store->first; entry && !found; entry = entry->next) {
        if (!sv_equal(sv(entry->file.name), name)) continue;
        entry->references++;
        found = &entry->file;
    }
    pthread_mutex_unlock(&store->lock);
    return found;
}

void stored_file_release(const StoredFile *file) {
    if (!file) return;
    FileStore *store = file->store;
    pthread_mutex_lock(&store->lock);
    release((Entry *)(uintptr_t)file); /* its first member */
    pthread_mutex_unlock(&store->lock);
}

void file_store_expire(FileStore *store, double now) {
    pthread_mutex_lock(&store->lock);
    while (store->first && store->first->until <= now) remove_first(store);
    pthread_mutex_unlock(&store->lock);
}

size_t file_store_bytes(FileStore *store) {
    pthread_mutex_lock(&store->lock);
    size_t bytes = store->bytes;
    pthread_mutex_unlock(&store->lock);
    return bytes;
}
