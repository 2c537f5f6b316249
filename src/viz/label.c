/* label.c - see label.h. */
#include "viz/label.h"

#include "base/unicode.h"
#include "base/utf8.h"

enum { DOTTED_CIRCLE = 0x25CC };

enum { OPEN_BOX = 0x2423 };
enum { LEFT_TO_RIGHT_MARK = 0x200E };

/* Control characters control terminals; XML forbids U+FFFE and U+FFFF; a no-break space looks like a
 * space. */
static int next_code(StrView text, size_t *position) {
    int code = utf8_next(text, position);
    if (code >= 0x80 && code != 0x85 && unicode_is_space(code)) return OPEN_BOX;
    bool forbidden = utf8_is_control(code) || code == 0xFFFE || code == 0xFFFF;
    return forbidden ? UTF8_REPLACEMENT : code;
}

int label_add_next(StrBuf *out, StrView text, size_t *position) {
    int code = next_code(text, position), width = unicode_width(code);
    if (width == 0) { /* a combining mark without a letter */
        utf8_add(out, DOTTED_CIRCLE);
        width = 1;
    }
    utf8_add(out, code);
    while (*position < text.length) {
        size_t after = *position;
        int mark = next_code(text, &after);
        if (unicode_width(mark) != 0) break;
        utf8_add(out, mark);
        *position = after;
    }
    return width;
}

/* The width, or the number of characters. */
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

void label_keep_order(StrBuf *out, size_t start) {
    StrView text = strbuf_view(out);
    for (size_t position = start; position < text.length;)
        if (unicode_is_right_to_left(utf8_next(text, &position))) {
            utf8_add(out, LEFT_TO_RIGHT_MARK);
            return;
        }
}

static int add_cut(StrBuf *out, const char *text, int width) {
    StrView view = sv(text);
    size_t position = 0, cut = out->length; /* the last position where an ellipsis fits */
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

int label_add(StrBuf *out, const char *text, int width) {
    size_t start = out->length;
    int used = add_cut(out, text, width);
    label_keep_order(out, start);
    return used;
}

void label_add_right(StrBuf *out, const char *text, int width) {
    StrBuf label = {0};
    for (int used = label_add(&label, text, width); used < width; used++) strbuf_add_char(out, ' ');
    strbuf_add(out, strbuf_view(&label));
    strbuf_free(&label);
}
