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

/* zlib counts the bytes of a call in 32 bits. */
static uInt part(size_t bytes) { return bytes > 1 << 30 ? 1 << 30 : (uInt)bytes; }

bool inflate_raw(StrView packed, size_t size, StrBuf *out) {
    z_stream stream = {0};
    size_t before = out->length, remaining = size;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) mem_exhausted(size);
    MEM_GROW(out->data, out->capacity, before + size + 1);
    stream.next_in = (z_const Bytef *)(uintptr_t)packed.data;
    stream.next_out = (Bytef *)out->data + before;
    int result = Z_OK;
    while (result == Z_OK) {
        uInt in = part(packed.length), room = part(remaining);
        stream.avail_in = in;
        stream.avail_out = room;
        result = inflate(&stream, Z_NO_FLUSH);
        packed.length -= in - stream.avail_in;
        remaining -= room - stream.avail_out;
    }
    inflateEnd(&stream);
    bool whole = result == Z_STREAM_END && remaining == 0;
    out->length = before + (whole ? size : 0);
    out->data[out->length] = '\0';
    return whole;
}

uint32_t crc32_of(StrView bytes) {
    uLong sum = crc32(0, NULL, 0);
    while (bytes.length > 0) {
        uInt count = part(bytes.length);
        sum = crc32(sum, (const Bytef *)bytes.data, count);
        bytes.data += count;
        bytes.length -= count;
    }
    return (uint32_t)sum;
}

void gzip_add(StrView bytes, StrBuf *out) {
    enum { GZIP = 15 + 16, MEMORY = 8 }; /* zlib.h: window bits, and the default for memory */
    z_stream stream = {.next_in = (z_const unsigned char *)bytes.data, .avail_in = (uInt)bytes.length};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        mem_exhausted(bytes.length);
    size_t size = deflateBound(&stream, (uLong)bytes.length);
    unsigned char *compressed = mem_alloc(size, 1);
    stream.next_out = compressed;
    stream.avail_out = (uInt)size;
    deflate(&stream, Z_FINISH); /* deflateBound is enough space */
    strbuf_add(out, (StrView){(const char *)compressed, size - stream.avail_out});
    deflateEnd(&stream);
    mem_free(compressed);
}

/* So that the memory scope of the caller owns the state of zlib too. */
static voidpf allocate(voidpf unused, uInt count, uInt size) {
    (void)unused;
    return mem_alloc(count, size);
}

static void release(voidpf unused, voidpf block) {
    (void)unused;
    mem_free(block);
}

bool gzip_expand(StrView packed, size_t most, StrBuf *out, bool *too_large) {
    enum { GZIP = 15 + 16, STEP = 1 << 16 };
    z_stream stream = {.zalloc = allocate, .zfree = release};
    size_t before = out->length;
    char *step = mem_alloc(STEP, 1);
    *too_large = false;
    if (inflateInit2(&stream, GZIP) != Z_OK) mem_exhausted(packed.length);
    int result = packed.length > 0 ? Z_OK : Z_DATA_ERROR;
    while (result == Z_OK) {
        uInt in = part(packed.length);
        stream.next_in = (z_const Bytef *)(uintptr_t)packed.data;
        stream.avail_in = in;
        stream.next_out = (Bytef *)step;
        stream.avail_out = STEP;
        result = inflate(&stream, Z_NO_FLUSH);
        size_t bytes = STEP - stream.avail_out;
        packed.data += in - stream.avail_in;
        packed.length -= in - stream.avail_in;
        *too_large = bytes > most - (out->length - before);
        if (*too_large) break;
        strbuf_add(out, (StrView){step, bytes});
        if (result == Z_STREAM_END && packed.length > 0) result = inflateReset(&stream);
    }
    inflateEnd(&stream);
    mem_free(step);
    bool whole = result == Z_STREAM_END && !*too_large;
    if (!whole) strbuf_cut(out, before);
    return whole;
}
