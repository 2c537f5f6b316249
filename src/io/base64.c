/* base64.c - see base64.h. */
#include "io/base64.h"

#include <string.h>

enum { BITS = 6, BASE = 64 };
static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(StrView bytes, StrBuf *text) {
    for (size_t i = 0; i < bytes.length; i += 3) {
        size_t count = bytes.length - i < 3 ? bytes.length - i : 3;
        uint32_t group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (k < count ? (unsigned char)bytes.data[i + k] : 0U);
        for (size_t k = 0; k < 4; k++)
            strbuf_add_char(text, k <= count ? DIGITS[group >> (BITS * (3 - k)) & (BASE - 1)] : '=');
    }
}

static Status read_group(StrView text, size_t count, StrBuf *bytes) {
    uint32_t group = 0;
    for (size_t k = 0; k < 4; k++) {
        const char *digit = k <= count ? memchr(DIGITS, text.data[k], BASE) : DIGITS;
        if (!digit || (k > count && text.data[k] != '='))
            return status_fail(STATUS_DATA, "not base64: an invalid character");
        group = group << BITS | (uint32_t)(digit - DIGITS);
    }
    for (size_t k = 0; k < 3; k++) {
        char byte = (char)(group >> (8 * (2 - k)) & 0xFF);
        if (k < count)
            strbuf_add_char(bytes, byte);
        else if (byte != 0)
            return status_fail(STATUS_DATA, "not base64: bits after the end");
    }
    return STATUS_OK;
}

Status base64_read(StrView text, StrBuf *bytes) {
    if (text.length % 4 != 0) return status_fail(STATUS_DATA, "not base64: an unexpected end");
    for (size_t i = 0; i < text.length; i += 4) {
        StrView group = {text.data + i, 4};
        bool last = i + 4 == text.length;
        size_t padding = !last ? 0 : group.data[2] == '=' ? 2 : group.data[3] == '=';
        TRY(read_group(group, 3 - padding, bytes));
    }
    return STATUS_OK;
}
