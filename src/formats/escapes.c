/* escapes.c - see escapes.h. */
#include "formats/escapes.h"

#include <string.h>

void escapes_add(StrView text, StrBuf *cell) {
    if (text.length == 0) return;
    for (size_t i = 0, plain = 0;; i++) {
        bool end = i == text.length;
        if (!end && !memchr("\n\r\t\\", text.data[i], 4)) continue;
        strbuf_add(cell, (StrView){text.data + plain, i - plain});
        if (end) return;
        if (text.data[i] == '\r' && i + 1 < text.length && text.data[i + 1] == '\n') i++;
        strbuf_add(cell, text.data[i] == '\t' ? SV("\\t") : text.data[i] == '\\' ? SV("\\\\") : SV("\\n"));
        plain = i + 1;
    }
}

void escapes_remove(StrView cell, StrBuf *text) {
    if (cell.length == 0) return;
    size_t plain = 0;
    for (size_t i = 0; i + 1 < cell.length; i++) {
        const char *known = cell.data[i] == '\\' ? memchr("nt\\", cell.data[i + 1], 3) : NULL;
        if (!known) continue;
        strbuf_add(text, (StrView){cell.data + plain, i - plain});
        strbuf_add_char(text, *known == 'n' ? '\n' : *known == 't' ? '\t' : '\\');
        plain = ++i + 1;
    }
    strbuf_add(text, (StrView){cell.data + plain, cell.length - plain});
}

bool escapes_are_named(StrView first_line) {
    enum { LONGEST_NAME = 40 };
    StrView cell = {0};
    int cells = 0;
    while (sv_next(&first_line, '\t', &cell)) {
        if (cell.length > LONGEST_NAME) return false;
        cells++;
    }
    return cells > 2 && sv_equal(sv_trim(cell), SV(ESCAPES_COLUMN));
}
