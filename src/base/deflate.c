/* deflate.c - see deflate.h. */
#include "base/deflate.h"

#include <zlib.h>
#include "base/mem.h"

void deflate_add(StrView bytes, StrBuf *out) {
    uLongf size = compressBound((uLong)bytes.length);
    unsigned char *packed = mem_alloc(size, 1);
    /* There is room enough, so that only memory can be missing. */
    if (compress2(packed, &size, (const unsigned char *)bytes.data, (uLong)bytes.length,
                  Z_BEST_COMPRESSION) != Z_OK)
        mem_exhausted(bytes.length);
    strbuf_add(out, (StrView){(const char *)packed, size});
    mem_free(packed);
}
