/* charsmap.c - see charsmap.h. */
#include "sentencepiece/charsmap.h"

#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"

/* A unit of the double array has a label (the byte that leads to it), the offset of its children, and a flag
 * if it has a value, which is the child of byte 0. */
enum { UNIT_BYTES = 4, LEAF_BIT = 8, FAR_BIT = 9, OFFSET_BIT = 10 };
static const uint32_t LABEL_MASK = 0x800000FFU, VALUE_MASK = 0x7FFFFFFFU;

struct Charsmap {
    StrBuf bytes;
    uint32_t *units;
    uint32_t count;       /* units */
    StrView replacements; /* in `bytes` */
};

static uint32_t read_uint32(const char *data) {
    const unsigned char *bytes = (const unsigned char *)data;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static Status check_replacements(StrView replacements) {
    if (replacements.length == 0 || replacements.data[replacements.length - 1] != 0)
        return status_fail(STATUS_DATA, "character map: the replacements do not end with a NUL byte");
    if (!utf8_valid(replacements))
        return status_fail(STATUS_DATA, "character map: the replacements are not UTF-8");
    StrView one;
    while (sv_next(&replacements, 0, &one))
        if (one.length > CHARSMAP_REPLACEMENT_BYTES)
            return status_fail(STATUS_DATA, "character map: a replacement has more than %d bytes",
                               CHARSMAP_REPLACEMENT_BYTES);
    return STATUS_OK;
}

Status charsmap_read(Charsmap **map, StrView bytes) {
    *map = NULL;
    uint32_t size = bytes.length > UNIT_BYTES ? read_uint32(bytes.data) : 0;
    if (size == 0 || size % UNIT_BYTES != 0 || size >= bytes.length - UNIT_BYTES)
        return status_fail(STATUS_DATA, "character map: the size of its trie does not fit");
    StrView replacements = {bytes.data + UNIT_BYTES + size, bytes.length - UNIT_BYTES - size};
    TRY(check_replacements(replacements));
    Charsmap *result = mem_alloc(1, sizeof *result);
    strbuf_add(&result->bytes, bytes);
    result->count = size / UNIT_BYTES;
    result->units = mem_alloc(result->count, sizeof *result->units);
    for (uint32_t i = 0; i < result->count; i++)
        result->units[i] = read_uint32(bytes.data + UNIT_BYTES * ((size_t)i + 1));
    result->replacements = (StrView){result->bytes.data + UNIT_BYTES + size, replacements.length};
    *map = result;
    return STATUS_OK;
}

void charsmap_free(Charsmap *map) {
    if (!map) return;
    strbuf_free(&map->bytes);
    mem_free(map->units);
    mem_free(map);
}

StrView charsmap_bytes(const Charsmap *map) { return strbuf_view(&map->bytes); }

static uint32_t unit_offset(uint32_t unit) { return unit >> OFFSET_BIT << ((unit >> FAR_BIT & 1) * 8); }

/* Does a character begin at `value` of the replacements? An untrusted map may say anything. */
static bool is_replacement(const Charsmap *map, uint32_t value) {
    return value < map->replacements.length && !utf8_continues(map->replacements.data[value]);
}

size_t charsmap_find(const Charsmap *map, StrView text, StrView *replacement) {
    size_t most = text.length < CHARSMAP_KEY_BYTES ? text.length : CHARSMAP_KEY_BYTES, length = 0;
    uint32_t at = unit_offset(map->units[0]), value = 0;
    for (size_t i = 0; i < most; i++) {
        uint32_t byte = (unsigned char)text.data[i];
        at ^= byte;
        if (at >= map->count) break;
        uint32_t unit = map->units[at];
        if ((unit & LABEL_MASK) != byte) break;
        at ^= unit_offset(unit);
        if (at >= map->count) break;
        if (unit >> LEAF_BIT & 1) {
            value = map->units[at] & VALUE_MASK;
            length = i + 1;
        }
    }
    if (length == 0 || !is_replacement(map, value)) return 0;
    *replacement = sv(map->replacements.data + value);
    return length;
}
