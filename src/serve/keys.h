/* keys.h - API keys: a text file with one key per line. A line that begins with # is a comment. No key is
 * empty.
 *
 * Threads any, except keys_free
 * Fails   as file_read_text; STATUS_DATA for a file without a key
 */
#ifndef SERVE_KEYS_H
#define SERVE_KEYS_H

#include <stdbool.h>
#include "base/status.h"

typedef struct Keys Keys;

Keys *keys_new(void); /* allows every request until a file is read */
void keys_free(Keys *keys);
/* `keys` is new and no other thread uses it yet. */
Status keys_read(Keys *keys, const char *path);
void keys_swap(Keys *keys, Keys *new_keys); /* no other thread uses `new_keys` */
/* A `key` of NULL or "" is no key, which is allowed only if no file was read. */
bool keys_allow(Keys *keys, const char *key);

#endif
