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
 * else: at most `size` bytes are allocated and made. */
bool inflate_raw(StrView packed, size_t size, StrBuf *out);
/* Appends the content of a gzip file, or of several ones, one after the other. False, and nothing is
 * appended, if the content has more than `most` bytes (then *too_large is true) or the file is damaged. */
bool gzip_expand(StrView packed, size_t most, StrBuf *out, bool *too_large);
/* The CRC-32 of zip files. */
uint32_t crc32_of(StrView bytes);
/* The same as deflate_add in the format of RFC 1952. Several of them, one after the other, are one file. */
void gzip_add(StrView bytes, StrBuf *out);

#endif
