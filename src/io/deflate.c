/* deflate.c - compression with zlib. */
#include "io/deflate.h"

#include <zlib.h>
#include "base/mem.h"

void deflate_add(StrView bytes, StrBuf *out) {
    uLongf size = compressBound((uLong)bytes.length);
    unsigned char *compressed = mem_alloc(size, 1);
    /* compressBound is enough space, so the only possible failure is exhausted memory. */
    if (compress2(compressed, &size, (const unsigned char *)bytes.data, (uLong)bytes.length,
                  Z_BEST_COMPRESSION) != Z_OK)
        mem_exhausted(bytes.length);
    strbuf_add(out, (StrView){(const char *)compressed, size});
    mem_free(compressed);
}
