/* deflate.h - compression: the zlib format of RFC 1950, which browsers call "deflate".
 *
 * Fails   never
 */
#ifndef IO_DEFLATE_H
#define IO_DEFLATE_H

#include "base/strview.h"

/* Appends the compressed form of `bytes` to `out`. */
void deflate_add(StrView bytes, StrBuf *out);

#endif
