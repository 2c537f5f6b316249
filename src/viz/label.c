/* label.c - widths and cuts by one small table of code point ranges. */
#include "viz/label.h"

#include <stdbool.h>

enum { REPLACEMENT = 0xFFFD, DOTTED_CIRCLE = 0x25CC };

typedef struct {
    int first, last, width;
} WidthRange;

/* Sorted; what is not listed is one column wide. */
static const WidthRange WIDTHS[] = {
    {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},   {0x05BF, 0x05BF, 0},
    {0x05C1, 0x05C2, 0},   {0x05C4, 0x05C5, 0},   {0x0610, 0x061A, 0},   {0x064B, 0x065F, 0},
    {0x0670, 0x0670, 0},   {0x06D6, 0x06DC, 0},   {0x06DF, 0x06E4, 0},   {0x06EA, 0x06ED, 0},
    {0x0900, 0x0902, 0},   {0x093A, 0x093A, 0},   {0x093C, 0x093C, 0},   {0x0941, 0x0948, 0},
    {0x094D, 0x094D, 0},   {0x0951, 0x0957, 0},   {0x0E31, 0x0E31, 0},   {0x0E34, 0x0E3A, 0},
    {0x0E47, 0x0E4E, 0},   {0x1100, 0x115F, 2},   {0x1160, 0x11FF, 0},   {0x1AB0, 0x1AFF, 0},
    {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200F, 0},   {0x202A, 0x202E, 0},   {0x2060, 0x206F, 0},
    {0x20D0, 0x20FF, 0},   {0x231A, 0x231B, 2},   {0x2329, 0x232A, 2},   {0x23E9, 0x23EC, 2},
    {0x23F0, 0x23F0, 2},   {0x23F3, 0x23F3, 2},   {0x25FD, 0x25FE, 2},   {0x2614, 0x2615, 2},
    {0x2648, 0x2653, 2},   {0x267F, 0x267F, 2},   {0x2693, 0x2693, 2},   {0x26A1, 0x26A1, 2},
    {0x26AA, 0x26AB, 2},   {0x26BD, 0x26BE, 2},   {0x26C4, 0x26C5, 2},   {0x26CE, 0x26CE, 2},
    {0x26D4, 0x26D4, 2},   {0x26EA, 0x26EA, 2},   {0x26F2, 0x26F3, 2},   {0x26F5, 0x26F5, 2},
    {0x26FA, 0x26FA, 2},   {0x26FD, 0x26FD, 2},   {0x2705, 0x2705, 2},   {0x270A, 0x270B, 2},
    {0x2728, 0x2728, 2},   {0x274C, 0x274C, 2},   {0x274E, 0x274E, 2},   {0x2753, 0x2755, 2},
    {0x2757, 0x2757, 2},   {0x2795, 0x2797, 2},   {0x27B0, 0x27B0, 2},   {0x27BF, 0x27BF, 2},
    {0x2B1B, 0x2B1C, 2},   {0x2B50, 0x2B50, 2},   {0x2B55, 0x2B55, 2},   {0x2E80, 0x3029, 2},
    {0x302A, 0x302D, 0},   {0x302E, 0x303E, 2},   {0x3041, 0x3098, 2},   {0x3099, 0x309A, 0},
    {0x309B, 0x4DBF, 2},   {0x4E00, 0xA4CF, 2},   {0xA66F, 0xA672, 0},   {0xA960, 0xA97F, 2},
    {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFB1E, 0xFB1E, 0},   {0xFE00, 0xFE0F, 0},
    {0xFE10, 0xFE19, 2},   {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFEFF, 0xFEFF, 0},
    {0xFF01, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},   {0x16FE0, 0x18CFF, 2}, {0x1AFF0, 0x1B2FF, 2},
    {0x1F004, 0x1F004, 2}, {0x1F0CF, 0x1F0CF, 2}, {0x1F18E, 0x1F18E, 2}, {0x1F191, 0x1F19A, 2},
    {0x1F200, 0x1F320, 2}, {0x1F32D, 0x1F335, 2}, {0x1F337, 0x1F37C, 2}, {0x1F37E, 0x1F393, 2},
    {0x1F3A0, 0x1F3CA, 2}, {0x1F3CF, 0x1F3D3, 2}, {0x1F3E0, 0x1F3F0, 2}, {0x1F3F4, 0x1F3F4, 2},
    {0x1F3F8, 0x1F3FA, 2}, {0x1F3FB, 0x1F3FF, 0}, {0x1F400, 0x1F43E, 2}, {0x1F440, 0x1F440, 2},
    {0x1F442, 0x1F4FC, 2}, {0x1F4FF, 0x1F53D, 2}, {0x1F54B, 0x1F54E, 2}, {0x1F550, 0x1F567, 2},
    {0x1F595, 0x1F596, 2}, {0x1F5A4, 0x1F5A4, 2}, {0x1F5FB, 0x1F64F, 2}, {0x1F680, 0x1F6C5, 2},
    {0x1F6CC, 0x1F6CC, 2}, {0x1F6D0, 0x1F6D2, 2}, {0x1F6EB, 0x1F6EC, 2}, {0x1F6F4, 0x1F6FC, 2},
    {0x1F7E0, 0x1F7EB, 2}, {0x1F90C, 0x1F93A, 2}, {0x1F93C, 0x1F945, 2}, {0x1F947, 0x1F9FF, 2},
    {0x1FA70, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2}, {0xE0001, 0xE01EF, 0},
};

static int code_width(int code) {
    int low = 0, high = (int)(sizeof WIDTHS / sizeof *WIDTHS) - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (code < WIDTHS[middle].first)
            high = middle - 1;
        else if (code > WIDTHS[middle].last)
            low = middle + 1;
        else
            return WIDTHS[middle].width;
    }
    return 1;
}

/* The code point at text.data[*position]; one byte of an ill-formed sequence at a time. */
static int next_code(StrView text, size_t *position) {
    const unsigned char *bytes = (const unsigned char *)text.data + *position;
    size_t left = text.length - *position;
    int lead = bytes[0];
    size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    static const int smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    (*position)++;
    if (lead < 0x20 || (lead >= 0x7F && lead < 0xC2) || lead > 0xF4 || length > left) return REPLACEMENT;
    if (length == 1) return lead;
    int code = lead & (0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return REPLACEMENT;
        code = code << 6 | (bytes[i] & 0x3F);
    }
    if (code < smallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return REPLACEMENT;
    *position += length - 1;
    /* C1 controls steer some terminals; the last two code points of the plane may not appear in XML. */
    return code < 0xA0 || code == 0xFFFE || code == 0xFFFF ? REPLACEMENT : code;
}

static void add_code(StrBuf *out, int code) {
    if (code < 0x80) {
        strbuf_add_char(out, (char)code);
        return;
    }
    int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xC0, 0xE0, 0xF0};
    strbuf_add_char(out, (char)(lead[tails] | code >> (6 * tails)));
    for (int i = tails - 1; i >= 0; i--) strbuf_add_char(out, (char)(0x80 | (code >> (6 * i) & 0x3F)));
}

int label_add_next(StrBuf *out, StrView text, size_t *position) {
    int code = next_code(text, position), width = code_width(code);
    if (width == 0) { /* a mark without a letter to sit on */
        add_code(out, DOTTED_CIRCLE);
        width = 1;
    }
    add_code(out, code);
    while (*position < text.length) {
        size_t after = *position;
        int mark = next_code(text, &after);
        if (code_width(mark) != 0) break;
        add_code(out, mark);
        *position = after;
    }
    return width;
}

/* Width or number of characters: they differ in what each character adds. */
static int measure(const char *text, bool columns) {
    StrView view = sv(text);
    StrBuf scratch = {0};
    int sum = 0;
    for (size_t position = 0; position < view.length;) {
        strbuf_clear(&scratch);
        int width = label_add_next(&scratch, view, &position);
        sum += columns ? width : 1;
    }
    strbuf_free(&scratch);
    return sum;
}

int label_width(const char *text) { return measure(text, true); }

int label_count(const char *text) { return measure(text, false); }

int label_add(StrBuf *out, const char *text, int width) {
    StrView view = sv(text);
    size_t position = 0, cut = out->length; /* where an ellipsis would still fit */
    int used = 0, used_at_cut = 0;
    while (position < view.length) {
        int more = label_add_next(out, view, &position);
        if (used + more > width) {
            out->length = cut;
            out->data[cut] = '\0';
            if (width < 1) return 0;
            strbuf_add(out, SV("…"));
            return used_at_cut + 1;
        }
        used += more;
        if (used + 1 <= width) cut = out->length, used_at_cut = used;
    }
    return used;
}

void label_add_right(StrBuf *out, const char *text, int width) {
    StrBuf piece = {0};
    for (int used = label_add(&piece, text, width); used < width; used++) strbuf_add_char(out, ' ');
    strbuf_add(out, strbuf_view(&piece));
    strbuf_free(&piece);
}
