/* charsmap.h - SentencePiece's compiled character map: replaces character sequences by others.
 *
 * The file format: uint32 n (little-endian), n bytes of a double array (Darts-clone: units of 32 bits), then
 * the replacements, each ended by NUL. A map comes from an untrusted file: each unit that a search reads is
 * checked, and a search reads at most CHARSMAP_KEY_BYTES units.
 *
 * Owner   the map copies its bytes; free with charsmap_free
 * Threads read-only
 * Fails   STATUS_DATA: sizes that do not fit, replacements that are ill-formed UTF-8 or too long
 */
#ifndef SENTENCEPIECE_CHARSMAP_H
#define SENTENCEPIECE_CHARSMAP_H

#include "base/status.h"
#include "base/strview.h"

enum { CHARSMAP_KEY_BYTES = 1024, CHARSMAP_REPLACEMENT_BYTES = 256 };

typedef struct Charsmap Charsmap;

Status charsmap_read(Charsmap **map, StrView bytes);
void charsmap_free(Charsmap *map);
StrView charsmap_bytes(const Charsmap *map); /* as read */
/* Bytes of the longest sequence at the start of `text` that has a replacement; 0 if there is none. */
size_t charsmap_find(const Charsmap *map, StrView text, StrView *replacement);

#endif
