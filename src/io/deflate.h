/* deflate.h - compression: the zlib format of RFC 1950, which browsers call "deflate", gzip, and the raw
 * format of RFC 1951, which zip files have.
 */
#ifndef IO_DEFLATE_H
#define IO_DEFLATE_H

#include <stdint.h>
#include "base/strview.h"

/* Appends the compressed form of `bytes` to `out`. */
void deflate_add(StrView bytes, StrBuf *out);
/* Appends the `size` bytes whose raw compressed form is `packed`. False if it is the form of anything
 * else: at most `size`
 * bytes are allocated and made. */
bool inflate_raw(StrView packed, size_t size, StrBuf *out);
/* The CRC-32 of zip files. */
uint32_t crc32_of(StrView bytes);
/* The same in the format of RFC 1952. Several of them, one after the other, are one file. */
void gzip_add(StrView bytes, StrBuf *out);

#endif
