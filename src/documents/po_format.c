/* po_format.c - see po_format.h. A directive of printf is a space away from text: "50% of" has "% o", which
 * placeholders of text/placeholders.h do not know. */
#include "documents/po_format.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "text/placeholders.h"

FormatLanguage po_format_of(StrView flag) {
    if (!sv_ends(flag, SV("-format")) || sv_starts(flag, SV("no-")) || sv_starts(flag, SV("possible-")) ||
        sv_starts(flag, SV("impossible-")))
        return FORMAT_NONE;
    bool c = sv_starts(flag, SV("c-")) || sv_starts(flag, SV("objc-")) ||
             sv_starts(flag, SV("python-format")) || sv_starts(flag, SV("perl-format")) ||
             sv_starts(flag, SV("php-")) || sv_starts(flag, SV("awk-")) || sv_starts(flag, SV("sh-printf")) ||
             sv_starts(flag, SV("lua-")) || sv_starts(flag, SV("gcc-internal-")) ||
             sv_starts(flag, SV("gfc-internal-")) || sv_starts(flag, SV("object-pascal-")) ||
             sv_starts(flag, SV("tcl-")) || sv_starts(flag, SV("kde-")) || sv_starts(flag, SV("boost-")) ||
             sv_starts(flag, SV("qt-"));
    return c ? FORMAT_C : FORMAT_OTHER_DIRECTIVES;
}

/* The length of the directive at text.data[at], a %; its argument is in `argument`, 0: the next one. Flags
 * and widths may differ in number without an effect, but models keep them. */
static size_t directive(StrView text, size_t at) {
    size_t i = at + 1;
    if (i < text.length && text.data[i] == '(') {
        const char *end = memchr(text.data + i, ')', text.length - i);
        if (end) i = (size_t)(end + 1 - text.data);
    } else if (i < text.length && text.data[i] == '<') {
        const char *end = memchr(text.data + i, '>', text.length - i);
        if (end) i = (size_t)(end + 1 - text.data) - 1;
    }
    while (i < text.length && memchr(" #+-0123456789$*.'IhlLqjztZ", text.data[i], 27)) i++;
    return i < text.length ? i + 1 - at : text.length - at;
}

static int in_order(const void *a, const void *b) {
    return sv_compare(*(const StrView *)a, *(const StrView *)b);
}

typedef struct {
    StrView *items;
    size_t count, capacity;
    bool positions; /* each has its argument: "%1$s" */
} Directives;

static Directives directives_of(StrView text) {
    Directives directives = {.positions = true};
    for (size_t at = 0; at < text.length;) {
        if (text.data[at] != '%') {
            at++;
            continue;
        }
        size_t length = directive(text, at);
        StrView one = {text.data + at, length};
        at += length;
        if (sv_equal(one, SV("%%"))) continue;
        MEM_GROW(directives.items, directives.capacity, directives.count + 1);
        directives.items[directives.count++] = one;
        bool named = memchr(one.data, '$', one.length) || memchr(one.data, '(', one.length);
        directives.positions = directives.positions && named;
    }
    return directives;
}

static bool printf_agrees(StrView source, StrView target) {
    Directives a = directives_of(source), b = directives_of(target);
    bool agrees = a.count == b.count && a.positions == b.positions;
    if (agrees && a.positions && a.count > 0) {
        qsort(a.items, a.count, sizeof *a.items, in_order);
        qsort(b.items, b.count, sizeof *b.items, in_order);
    }
    for (size_t i = 0; i < a.count && agrees; i++) agrees = sv_equal(a.items[i], b.items[i]);
    mem_free(a.items);
    mem_free(b.items);
    return agrees;
}

bool po_format_fits_plural(FormatLanguage format, StrView singular, StrView plural) {
    if (format != FORMAT_C) return true;
    Directives a = directives_of(singular), b = directives_of(plural);
    bool fits = a.count <= b.count && (a.count == 0 || a.positions == b.positions);
    for (size_t i = 0, j = 0; i < a.count && fits; i++, j = a.positions ? 0 : j + 1) {
        while (a.positions && j < b.count && !sv_equal(a.items[i], b.items[j])) j++;
        fits = j < b.count && sv_equal(a.items[i], b.items[j]);
    }
    mem_free(a.items);
    mem_free(b.items);
    return fits;
}

/* Marks that stand for directives of some kind, of which there are as many. */
static bool marks_agree(StrView source, StrView target) {
    static const char MARKS[] = "%{}$~";
    for (const char *mark = MARKS; *mark; mark++) {
        long difference = 0;
        for (size_t i = 0; i < source.length; i++) difference += source.data[i] == *mark;
        for (size_t i = 0; i < target.length; i++) difference -= target.data[i] == *mark;
        if (difference != 0) return false;
    }
    return true;
}

bool po_format_agrees(FormatLanguage format, StrView source, StrView target) {
    if (format == FORMAT_NONE) return true;
    if (format == FORMAT_C) return printf_agrees(source, target);
    return marks_agree(source, target) && placeholders_agree_in(source, target);
}
