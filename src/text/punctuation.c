/* punctuation.c - see punctuation.h. */
#include "text/punctuation.h"

#include <stddef.h>
#include "base/unicode.h"

Punctuation punctuation_of(int c) {
    switch (c) {
    case ',':
    case ';':
    case ':':
    case 0x055D: /* Armenian */
    case 0x060C: /* Arabic */
    case 0x061B:
    case 0x104A: /* Burmese */
    case 0x1363: /* Ethiopic */
    case 0x1364:
    case 0x1365:
    case 0x1366:
    case 0x3001: /* wide */
    case 0xFF0C:
    case 0xFF1A:
    case 0xFF1B:
    case 0xFF64:
        return PUNCTUATION_CLAUSE;
    case '.':
        return PUNCTUATION_STOP;
    case 0x2026:
        return PUNCTUATION_ELLIPSIS;
    case '!':
    case '?':
    case 0x203C: /* double ! and its likes */
    case 0x2047:
    case 0x2048:
    case 0x2049:
    case 0x0589: /* Armenian */
    case 0x061F: /* Arabic */
    case 0x06D4:
    case 0x0964: /* Devanagari */
    case 0x0965:
    case 0x104B: /* Burmese */
    case 0x1362: /* Ethiopic */
    case 0x1367:
    case 0x1368:
    case 0x17D4: /* Khmer */
    case 0x17D5:
        return PUNCTUATION_END;
    case 0x3002:
    case 0xFF0E:
    case 0xFF61:
        return PUNCTUATION_WIDE_STOP;
    case 0xFF01:
    case 0xFF1F:
        return PUNCTUATION_WIDE_END;
    default:
        return PUNCTUATION_NONE;
    }
}

bool punctuation_is_wide(int c) { return c >= 0x3000 && punctuation_of(c) != PUNCTUATION_NONE; }

bool punctuation_is_closing(int c, bool wide) {
    if (wide && (c == 0x2018 || c == 0x201C || c == 0xAB)) return false;
    static const int closing[] = {'"',    '\'',   ')',    ']',    '}',    0xBB,   0xAB,   0x2018,
                                  0x2019, 0x201C, 0x201D, 0x2039, 0x203A, 0x300D, 0x300F, 0x3011,
                                  0x3009, 0x300B, 0x3015, 0xFF09, 0xFF3D, 0xFF5D, 0xFF63};
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        if (closing[i] == c) return true;
    return false;
}

static bool is_digit(int c) { return c >= 0 && unicode_class(c) == CHAR_DIGIT; }

bool punctuation_is_in_number(int before, int c, int after) {
    return (c == 0xFF0C || c == 0xFF0E || c == 0xFF1A) && is_digit(before) && is_digit(after);
}
