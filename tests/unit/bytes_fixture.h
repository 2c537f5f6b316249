/* bytes_fixture.h - small files of other programs, made number by number. */
#ifndef UNIT_BYTES_FIXTURE_H
#define UNIT_BYTES_FIXTURE_H

#include <stdint.h>
#include <string.h>
#include "base/strview.h"

/* A number of `size` bytes, little-endian. */
static inline void put_number(StrBuf *out, uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++) strbuf_add_char(out, (char)(number >> 8 * i));
}

static inline void put_float(StrBuf *out, float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_number(out, bits, 4);
}

static inline uint32_t crc32_plain(StrView bytes) {
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < bytes.length; i++) {
        crc ^= (unsigned char)bytes.data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

/* A zip file while it is written: its entries, and its directory. */
typedef struct {
    StrBuf bytes, directory;
    int count;
    unsigned flags, method; /* of the next entries */
    uint32_t more;          /* added to the size that they claim */
} ZipWriter;

/* `method` 8: as one deflate block that is not compressed. */
static inline void zip_put(ZipWriter *zip, const char *name, StrView content) {
    StrBuf packed = {0};
    if (zip->method == 8) {
        put_number(&packed, 1, 1);
        put_number(&packed, content.length, 2);
        put_number(&packed, ~content.length, 2);
    }
    strbuf_add(&packed, content);
    uint32_t at = (uint32_t)zip->bytes.length,
             sizes[2] = {(uint32_t)packed.length, (uint32_t)content.length + zip->more};
    for (int central = 0; central < 2; central++) {
        StrBuf *out = central ? &zip->directory : &zip->bytes;
        put_number(out, central ? 0x02014b50 : 0x04034b50, 4);
        if (central) put_number(out, 20, 2);
        put_number(out, 20, 2);
        put_number(out, zip->flags, 2);
        put_number(out, zip->method, 2);
        put_number(out, 0, 4);
        put_number(out, crc32_plain(content), 4);
        put_number(out, sizes[0], 4);
        put_number(out, sizes[1], 4);
        put_number(out, strlen(name), 2);
        put_number(out, 0, 2);
        if (central) {
            put_number(out, 0, 8); /* comment, disk, attributes */
            put_number(out, 0, 2);
            put_number(out, at, 4);
        }
        strbuf_add(out, sv(name));
    }
    strbuf_add(&zip->bytes, strbuf_view(&packed));
    zip->count++;
    strbuf_free(&packed);
}

/* Ends the file, which is in `bytes`. */
static inline StrView zip_end(ZipWriter *zip) {
    uint32_t at = (uint32_t)zip->bytes.length, size = (uint32_t)zip->directory.length;
    strbuf_add(&zip->bytes, strbuf_view(&zip->directory));
    put_number(&zip->bytes, 0x06054b50, 4);
    put_number(&zip->bytes, 0, 4);
    put_number(&zip->bytes, (uint64_t)zip->count, 2);
    put_number(&zip->bytes, (uint64_t)zip->count, 2);
    put_number(&zip->bytes, size, 4);
    put_number(&zip->bytes, at, 4);
    put_number(&zip->bytes, 0, 2);
    return strbuf_view(&zip->bytes);
}

static inline void zip_writer_free(ZipWriter *zip) {
    strbuf_free(&zip->bytes);
    strbuf_free(&zip->directory);
    *zip = (ZipWriter){0};
}

#endif
