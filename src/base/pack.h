/* pack.h - values as bytes, one behind the other, for another process of the same program. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <string.h>
#include "base/strview.h"

static inline void pack(StrBuf *out, const void *values, size_t bytes) {
    if (bytes > 0) strbuf_add(out, (StrView){values, bytes});
}

/* `*from` moves behind what was taken. */
static inline void unpack(const char **from, void *values, size_t bytes) {
    if (bytes > 0) memcpy(values, *from, bytes);
    *from += bytes;
}

#endif
