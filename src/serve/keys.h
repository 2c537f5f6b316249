/* keys.h - who may ask: a text file with one key a line; # begins a comment. A key is never empty.
 *
 * Threads any, except keys_free
 * Fails   as file_read_text; STATUS_DATA for a file without a key
 */
#ifndef SERVE_KEYS_H
#define SERVE_KEYS_H

#include <stdbool.h>
#include "base/status.h"

typedef struct Keys Keys;

Keys *keys_new(void); /* everybody may ask until a file is read */
void keys_free(Keys *keys);
/* Into new ones, before anybody asks. */
Status keys_read(Keys *keys, const char *path);
void keys_swap(Keys *keys, Keys *fresh); /* `fresh` is this thread's own */
/* `key` may be NULL or empty: no key, which is allowed only if no file was read. */
bool keys_allow(Keys *keys, const char *key);

#endif
