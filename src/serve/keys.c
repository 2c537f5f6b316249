/* keys.c - comparing takes as long whatever is wrong with a key. */
#include "serve/keys.h"

#include <pthread.h>
#include <string.h>
#include "base/fileio.h"
#include "base/mem.h"
#include "base/strview.h"

enum { LARGEST_FILE = 1 << 20 };

struct Keys {
    pthread_mutex_t lock;
    StrList list;
    bool asked_for;
};

Keys *keys_new(void) {
    Keys *keys = mem_alloc(1, sizeof *keys);
    pthread_mutex_init(&keys->lock, NULL);
    return keys;
}

void keys_free(Keys *keys) {
    if (!keys) return;
    strlist_free(&keys->list);
    pthread_mutex_destroy(&keys->lock);
    mem_free(keys);
}

Status keys_read(Keys *keys, const char *path) {
    StrBuf content = {0};
    Status status = file_read_text(path, LARGEST_FILE, &content);
    StrView rest = strbuf_view(&content), line;
    while (status == STATUS_OK && sv_next(&rest, '\n', &line)) {
        line = sv_trim(line);
        if (line.length > 0 && line.data[0] != '#') strlist_add(&keys->list, line);
    }
    strbuf_free(&content);
    if (status == STATUS_OK && keys->list.count == 0)
        status = status_fail(STATUS_DATA, "'%s': there is no key in it", path);
    keys->asked_for = true;
    return status;
}

void keys_swap(Keys *keys, Keys *fresh) {
    pthread_mutex_lock(&keys->lock);
    StrList list = keys->list;
    bool asked_for = keys->asked_for;
    keys->list = fresh->list;
    keys->asked_for = fresh->asked_for;
    pthread_mutex_unlock(&keys->lock);
    fresh->list = list;
    fresh->asked_for = asked_for;
}

/* `key` is not empty. */
static bool same_key(const char *key, const char *given) {
    size_t length = strlen(key), given_length = strlen(given);
    unsigned different = length != given_length;
    for (size_t i = 0; i < given_length; i++)
        different |= (unsigned char)given[i] ^ (unsigned char)key[i % length];
    return different == 0;
}

bool keys_allow(Keys *keys, const char *key) {
    bool allowed = false;
    pthread_mutex_lock(&keys->lock);
    for (size_t i = 0; i < keys->list.count && key && key[0]; i++)
        allowed |= same_key(keys->list.items[i], key);
    allowed |= !keys->asked_for;
    pthread_mutex_unlock(&keys->lock);
    return allowed;
}
