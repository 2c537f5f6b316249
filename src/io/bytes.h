/* bytes.h - little-endian numbers from a buffer, with a check of every length.
 *
 * A read beyond the end gives zeros and sets `bad`, which the caller checks once for several reads.
 */
#ifndef IO_BYTES_H
#define IO_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/strview.h"

typedef struct {
    StrView bytes;
    size_t at;
    bool bad; /* something was read beyond the end */
} ByteReader;

/* The next `count` bytes; an empty view beyond the end. */
static inline StrView bytes_take(ByteReader *reader, uint64_t count) {
    if (reader->bad || count > reader->bytes.length - reader->at) {
        reader->bad = true;
        return (StrView){0};
    }
    if (count == 0) return (StrView){0}; /* the bytes of an empty file may be NULL */
    StrView view = {reader->bytes.data + reader->at, (size_t)count};
    reader->at += (size_t)count;
    return view;
}

/* A number of `size` bytes, at most 8. */
static inline uint64_t bytes_number(ByteReader *reader, size_t size) {
    StrView view = bytes_take(reader, size);
    uint64_t number = 0;
    for (size_t i = view.length; i-- > 0;) number = number << 8 | (unsigned char)view.data[i];
    return number;
}

static inline uint8_t bytes_u8(ByteReader *reader) { return (uint8_t)bytes_number(reader, 1); }
static inline uint16_t bytes_u16(ByteReader *reader) { return (uint16_t)bytes_number(reader, 2); }
static inline uint32_t bytes_u32(ByteReader *reader) { return (uint32_t)bytes_number(reader, 4); }
static inline uint64_t bytes_u64(ByteReader *reader) { return bytes_number(reader, 8); }

/* A reader that begins at `at`; it is bad if that is beyond the end. */
static inline ByteReader bytes_from(StrView bytes, uint64_t at) {
    bool inside = at <= bytes.length;
    return (ByteReader){bytes, inside ? (size_t)at : bytes.length, !inside};
}

#endif
