/* utf8.c - decoding, encoding and repair of UTF-8. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

enum { ILL_FORMED = -1 };

/* How many bytes follow `lead`, and which range the first of them must be in: table 3-7 in four lines.
 * 0 for ASCII, -1 for bytes that never start a sequence. */
static int sequence_tail(unsigned char lead, unsigned char *low, unsigned char *high) {
    *low = 0x80, *high = 0xBF;
    if (lead < 0x80) return 0;
    if (lead >= 0xC2 && lead <= 0xDF) return 1;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (lead == 0xE0) *low = 0xA0;  /* shorter forms exist */
        if (lead == 0xED) *high = 0x9F; /* surrogates */
        return 2;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (lead == 0xF0) *low = 0x90;
        if (lead == 0xF4) *high = 0x8F; /* above U+10FFFF */
        return 3;
    }
    return -1;
}

/* The next code point, or ILL_FORMED after stepping over one maximal subpart. */
static int decode(StrView text, size_t *position) {
    const unsigned char *bytes = (const unsigned char *)text.data;
    unsigned char lead = bytes[(*position)++];
    unsigned char low, high;
    int tail = sequence_tail(lead, &low, &high);
    if (tail == 0) return lead;
    if (tail < 0) return ILL_FORMED;
    int code_point = lead & (0x3F >> tail);
    for (int i = 0; i < tail; i++) {
        if (*position >= text.length) return ILL_FORMED;
        unsigned char byte = bytes[*position];
        if (i == 0 ? byte < low || byte > high : !utf8_continues((char)byte)) return ILL_FORMED;
        code_point = code_point << 6 | (byte & 0x3F);
        (*position)++;
    }
    return code_point;
}

int utf8_next(StrView text, size_t *position) {
    int code_point = decode(text, position);
    return code_point == ILL_FORMED ? UTF8_REPLACEMENT : code_point;
}

void utf8_add(StrBuf *out, int code_point) {
    if (code_point < 0 || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF))
        code_point = UTF8_REPLACEMENT;
    char bytes[4];
    size_t length;
    if (code_point < 0x80) {
        bytes[0] = (char)code_point, length = 1;
    } else if (code_point < 0x800) {
        bytes[0] = (char)(0xC0 | code_point >> 6), length = 2;
    } else if (code_point < 0x10000) {
        bytes[0] = (char)(0xE0 | code_point >> 12), length = 3;
    } else {
        bytes[0] = (char)(0xF0 | code_point >> 18), length = 4;
    }
    for (size_t i = 1; i < length; i++)
        bytes[i] = (char)(0x80 | (code_point >> (6 * (length - 1 - i)) & 0x3F));
    strbuf_add(out, (StrView){bytes, length});
}

size_t utf8_before(StrView text, size_t at) {
    enum { MAX_BYTES = 4 };
    size_t start = at - 1;
    while (start > 0 && at - start < MAX_BYTES && utf8_continues(text.data[start])) start--;
    return start;
}

size_t utf8_count(StrView text) {
    size_t count = 0;
    for (size_t position = 0; position < text.length; count++) decode(text, &position);
    return count;
}

/* Skips ASCII from `position` on, eight bytes at a time. */
static size_t skip_ascii(StrView text, size_t position) {
    for (uint64_t eight; position + sizeof eight <= text.length; position += sizeof eight) {
        memcpy(&eight, text.data + position, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080)) break;
    }
    return position;
}

size_t utf8_valid_length(StrView text) {
    for (size_t position = 0; (position = skip_ascii(text, position)) < text.length;) {
        size_t before = position;
        if (decode(text, &position) == ILL_FORMED) return before;
    }
    return text.length;
}

bool utf8_is_control(int code_point) {
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
           (code_point >= 0x202A && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
}

bool utf8_valid(StrView text) { return utf8_valid_length(text) == text.length; }

size_t utf8_repair(StrView text, StrBuf *out) {
    size_t repaired = 0, valid = 0; /* [valid, position) is well formed and not copied yet */
    if (text.length == 0) return 0;
    for (size_t position = 0; position < text.length;) {
        size_t before = position;
        if (decode(text, &position) > 0) continue;
        strbuf_add(out, (StrView){text.data + valid, before - valid});
        utf8_add(out, UTF8_REPLACEMENT);
        valid = position;
        repaired++;
    }
    strbuf_add(out, (StrView){text.data + valid, text.length - valid});
    return repaired;
}
