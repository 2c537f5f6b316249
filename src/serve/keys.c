/* keys.c - keys are compared in a time that does not depend on the first wrong byte. */
#include "serve/keys.h"

#include <pthread.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "base/strview.h"

enum { LARGEST_FILE = 1 << 20 };
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

struct Keys {
    pthread_mutex_t lock;
    StrList list;
    bool required;
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
    if (sv_starts(rest, SV(BYTE_ORDER_MARK))) rest = (StrView){rest.data + 3, rest.length - 3};
    while (status == STATUS_OK && sv_next(&rest, '\n', &line)) {
        line = sv_trim(line);
        if (line.length > 0 && line.data[0] != '#') strlist_add(&keys->list, line);
    }
    strbuf_free(&content);
    if (status == STATUS_OK && keys->list.count == 0)
        status = status_fail(STATUS_DATA, "'%s' has no key", path);
    keys->required = true;
    return status;
}

void keys_swap(Keys *keys, Keys *new_keys) {
    pthread_mutex_lock(&keys->lock);
    StrList list = keys->list;
    bool required = keys->required;
    keys->list = new_keys->list;
    keys->required = new_keys->required;
    pthread_mutex_unlock(&keys->lock);
    new_keys->list = list;
    new_keys->required = required;
}

/* `key` is not empty. */
static bool same_key(const char *key, const char *candidate) {
    size_t length = strlen(key), candidate_length = strlen(candidate);
    unsigned different = length != candidate_length;
    for (size_t i = 0; i < candidate_length; i++)
        different |= (unsigned char)candidate[i] ^ (unsigned char)key[i % length];
    return different == 0;
}

bool keys_allow(Keys *keys, const char *key) {
    bool allowed = false;
    pthread_mutex_lock(&keys->lock);
    for (size_t i = 0; i < keys->list.count && key && key[0]; i++)
        allowed |= same_key(keys->list.items[i], key);
    allowed |= !keys->required;
    pthread_mutex_unlock(&keys->lock);
    return allowed;
}
