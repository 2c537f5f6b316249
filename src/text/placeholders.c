/* placeholders.c - a section of scanners for each kind, the table of them, and the pass over a text.
 *
 * A scanner returns the length of the placeholder that begins at scan->at, or 0. It looks at a bounded part
 * of the text, or at a part that no other call looks at. placeholders_agree.c compares two texts. */
#include "text/placeholders.h"

#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/entities.h"

enum {
    LONGEST_NAME = 64,        /* bytes, of names in braces */
    LONGEST_EXPRESSION = 256, /* bytes: {{ x | filter }} */
    LONGEST_ICU = 4096,       /* bytes of a plural or select */
    MAX_PRECISION = 12,       /* bytes of flags, width and precision: %-08.3f */
};

static char byte_at(StrView text, size_t at) { return at < text.length ? text.data[at] : '\0'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }
static bool is_blank(char c) { return is_one_of(c, " \t\r\n\f"); }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "_.:-"); }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
static bool is_above_ascii(char c) { return (unsigned char)c >= 0x80; }

static char byte_before(StrView text, size_t at) { return at > 0 ? text.data[at - 1] : '\0'; }

static bool starts_at(StrView text, size_t at, StrView start) {
    return at <= text.length && sv_starts((StrView){text.data + at, text.length - at}, start);
}

static size_t skip_blanks(StrView text, size_t at) {
    while (is_blank(byte_at(text, at))) at++;
    return at;
}

/* The length up to `end`, if it begins at most `most` bytes after `at` and nothing of `not` comes before. */
static size_t length_to(StrView text, size_t at, size_t from, size_t most, StrView end, const char * not ) {
    for (size_t i = from; i < at + most && i < text.length; i++) {
        if (starts_at(text, i, end)) return i > from ? i + end.length - at : 0;
        if (is_one_of(text.data[i], not )) return 0;
    }
    return 0;
}

/* ---- tags ----
 *
 * Tags and comments have no length limit, because attributes can contain pictures (src="data:..."). */

enum { COMMENT_WITHOUT_END = 1, INSTRUCTION_WITHOUT_END = 2 }; /* bits of PlaceholderScan.without_end */

/* Tags without a closing tag, also in other formats than HTML. */
static const char *const VOIDS[] = {"br", "col", "embed", "hr", "img", "input", "wbr"};

static bool is_doctype(StrView text, size_t at) {
    StrView start = SV("<!doctype");
    return text.length - at > start.length && strncasecmp(text.data + at, start.data, start.length) == 0;
}

/* Linear time for the whole text, even with many "<": outside of quotes a tag ends at the next "<", so at
 * most three scans reach any position (outside of quotes, in " and in '). */
size_t tag_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (byte_at(text, i) == '/' || is_doctype(text, at)) i++;
    if (!is_letter(byte_at(text, i))) return 0;
    while (is_name(byte_at(text, i))) i++;
    if (!is_blank(byte_at(text, i)) && byte_at(text, i) != '>' && !starts_at(text, i, SV("/>"))) return 0;
    for (char quote = '\0', before = '\0'; i < text.length; i++) {
        char c = text.data[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if ((c == '"' || c == '\'') && before == '=')
            quote = c;
        else if (c == '>')
            return i + 1 - at;
        else if (c == '<')
            return 0;
        if (!is_blank(c)) before = c;
    }
    return 0;
}

/* From `start` to `end`, anywhere behind. */
static size_t scan_enclosed(PlaceholderScan *scan, StrView start, StrView end, unsigned without_end) {
    if (!starts_at(scan->text, scan->at, start) || scan->without_end & without_end) return 0;
    for (size_t i = scan->at + start.length; i + end.length <= scan->text.length; i++)
        if (memcmp(scan->text.data + i, end.data, end.length) == 0) return i + end.length - scan->at;
    scan->without_end |= without_end;
    return 0;
}

static size_t scan_tag(PlaceholderScan *scan) {
    size_t length = scan_enclosed(scan, SV("<!--"), SV("-->"), COMMENT_WITHOUT_END);
    if (length == 0 && is_letter(byte_at(scan->text, scan->at + 2)))
        length = scan_enclosed(scan, SV("<?"), SV("?>"), INSTRUCTION_WITHOUT_END);
    return length > 0 ? length : tag_length(scan->text, scan->at);
}

StrView tag_name(StrView tag) {
    if (tag.length < 2 || tag.data[0] != '<') return SV("");
    size_t start = tag.data[1] == '/' ? 2 : 1, end = start;
    if (!is_letter(byte_at(tag, start))) return SV("");
    while (is_name(byte_at(tag, end))) end++;
    return (StrView){tag.data + start, end - start};
}

bool tag_is_closing(StrView tag) { return tag_name(tag).length > 0 && tag.data[1] == '/'; }

bool tag_is_opening(StrView tag) {
    StrView name = tag_name(tag);
    if (name.length == 0 || tag.data[1] == '/' || tag.data[tag.length - 2] == '/') return false;
    for (size_t i = 0; i < sizeof VOIDS / sizeof *VOIDS; i++)
        if (name.length == strlen(VOIDS[i]) && strncasecmp(name.data, VOIDS[i], name.length) == 0)
            return false;
    return true;
}

/* Elements of HTML that stand inside of sentences, and whose names are no words. */
static const char *const INLINE[] = {"abbr",   "acronym", "bdi",  "bdo",    "big",    "br",   "code",
                                     "del",    "dfn",     "em",   "font",   "iframe", "img",  "ins",
                                     "kbd",    "ph",      "samp", "script", "small",  "span", "strike",
                                     "strong", "style",   "sub",  "sup",    "svg",    "tt",   "var"};

bool tag_is_word(StrView tag) {
    StrView name = tag_name(tag);
    if (!tag_is_opening(tag) || name.length < 2) return false;
    for (size_t i = 1; i + 1 < tag.length; i++)
        if (!is_letter(tag.data[i]) && !is_one_of(tag.data[i], "-_ '") && (unsigned char)tag.data[i] < 0x80)
            return false;
    for (size_t i = 0; i < sizeof INLINE / sizeof *INLINE; i++)
        if (name.length == strlen(INLINE[i]) && strncasecmp(name.data, INLINE[i], name.length) == 0)
            return false;
    return true;
}

bool tag_same_name(StrView a, StrView b) {
    a = tag_name(a), b = tag_name(b);
    return a.length == b.length && strncasecmp(a.data, b.data, a.length) == 0;
}

static size_t scan_entity(PlaceholderScan *scan) { return entity_length(scan->text, scan->at); }

/* ---- printf ---- */

/* What may follow a conversion directly; after any other letters it is a word: %discount. */
static const char *const UNITS[] = {
    "B",  "C", "F",   "G",  "GB", "GiB", "Hz", "K",  "KB",  "KiB", "M",  "MB", "MHz", "MiB", "TB",   "V",
    "W",  "b", "bps", "cm", "d",  "dB",  "em", "es", "fps", "h",   "in", "k",  "kB",  "kHz", "kbps", "kg",
    "km", "m", "min", "mm", "ms", "n",   "nm", "ns", "p",   "pt",  "px", "s",  "sec", "th",  "us",   "x"};

static bool is_unit(StrView text, size_t at, size_t length) {
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (length == strlen(UNITS[i]) && memcmp(text.data + at, UNITS[i], length) == 0) return true;
    return false;
}

/* "100%" or "100 %" up to the sign at `at`. */
static bool is_percentage(StrView text, size_t at) {
    if (is_blank(byte_before(text, at))) at--;
    return is_digit(byte_before(text, at));
}

/* %1 and %L1 of Qt */
static size_t qt_length(StrView text, size_t at) {
    size_t i = at + 1 + (byte_at(text, at + 1) == 'L'), first = i;
    while (i < first + 2 && is_digit(byte_at(text, i))) i++;
    return i > first && !is_digit(byte_at(text, i)) && !is_digit(byte_before(text, at)) ? i - at : 0;
}

/* The end of the conversion after flags, width and precision; 0: there is none. */
static size_t conversion_end(StrView text, size_t i) {
    if (starts_at(text, i, SV("<PRI"))) {
        size_t length = length_to(text, i, i + 4, 16, SV(">"), " \t\n<");
        return length > 0 ? i + length : 0;
    }
    if (byte_at(text, i) == 'I' && is_one_of(byte_at(text, i + 1), "diu")) i++;
    while (is_one_of(byte_at(text, i), "hlLzjtq") && is_letter(byte_at(text, i + 1))) i++;
    return is_one_of(byte_at(text, i), "diuoxXfFeEgGcCsSpnmr@") ? i + 1 : 0;
}

/* A space is not a flag here: "100 % sure" is text. A conversion with a name, the number of an argument or a
 * precision can be followed by any text, others by a unit (%dms), but not by a word (%discount). */
static size_t scan_printf(PlaceholderScan *scan) {
    StrView text = scan->text;
    size_t at = scan->at, i = at + 1, letters = 0;
    if (byte_at(text, i) == '%') return 2;
    bool named = byte_at(text, i) == '(';
    if (named) {
        size_t name = length_to(text, at, i + 1, LONGEST_NAME + 2, SV(")"), "( \t\n%");
        if (name == 0) return 0;
        i = at + name;
    }
    for (size_t first = i; i < first + MAX_PRECISION && is_one_of(byte_at(text, i), "0123456789$+-#.*'"); i++)
        ;
    size_t end = conversion_end(text, i);
    if (end == 0) return named ? 0 : qt_length(text, at);
    bool sure = memchr(text.data + at, '$', end - at) || memchr(text.data + at, '.', end - at);
    if (named || sure) return end - at;
    if (!is_letter(text.data[end - 1])) return end - at;
    while (is_letter(byte_at(text, end + letters))) letters++;
    bool before_capital = !is_capital(text.data[end - 1]) && is_capital(byte_at(text, end)); /* UTF-%sBE */
    if (letters == 0 || before_capital || (!is_percentage(text, at) && is_unit(text, end, letters)))
        return end - at;
    return qt_length(text, at);
}

static bool printf_in_order(StrView text) {
    char last = text.data[text.length - 1];
    return text.data[1] != '(' && !is_digit(last) && !is_one_of(last, "%mn") &&
           !memchr(text.data, '$', text.length);
}

/* ---- braces ---- */

/* {} {0} { name } {0:N2} {n, number} {a[0]!r} */
static size_t braced_name(StrView text, size_t at) {
    size_t most = at + LONGEST_NAME, i = skip_blanks(text, at + 1), first = i;
    bool spaced = i > at + 1;
    if (!spaced && is_one_of(byte_at(text, i), "}:!"))
        return length_to(text, at, at, LONGEST_NAME, SV("}"), " \n");
    while (i < most && (is_name(byte_at(text, i)) || is_one_of(byte_at(text, i), "$@"))) i++;
    if (i == first) return 0;
    size_t blank = skip_blanks(text, i);
    if (byte_at(text, blank) == '}') return blank == i || spaced ? blank + 1 - at : 0;
    if (byte_at(text, blank) == ',') { /* a type of ICU and its style, or .NET's alignment */
        for (i = blank + 1; i < at + LONGEST_NAME && !is_one_of(byte_at(text, i), "{}\n<"); i++)
            ;
    } else {
        while (i < most && i < text.length && !is_blank(text.data[i]) && !is_one_of(text.data[i], "{}<;=()"))
            i++;
    }
    return byte_at(text, i) == '}' && i < most ? i + 1 - at : 0;
}

static size_t scan_braces(PlaceholderScan *scan) {
    StrView text = scan->text;
    size_t at = scan->at, length = 0;
    switch (text.data[at]) {
    case '<':
        return byte_at(text, at + 1) == '%' ? length_to(text, at, at + 2, LONGEST_EXPRESSION, SV("%>"), "")
                                            : 0;
    case '{':
        if (byte_at(text, at + 1) == '%')
            length = length_to(text, at, at + 2, LONGEST_EXPRESSION, SV("%}"), "{}\n");
        else if (starts_at(text, at, SV("{{{")))
            length = length_to(text, at, at + 3, LONGEST_EXPRESSION, SV("}}}"), "{\n");
        else if (byte_at(text, at + 1) == '{')
            length = length_to(text, at, at + 2, LONGEST_EXPRESSION, SV("}}"), "{\n");
        return length > 0 ? length : braced_name(text, at);
    default: /* ${x} #{x} %{x} */
        if (byte_at(text, at + 1) != '{') return 0;
        return length_to(text, at, at + 2, LONGEST_NAME + 2, SV("}"), "{\n");
    }
}

static bool braces_in_order(StrView text) {
    if (text.data[0] == '<') return !is_one_of(text.data[2], "=-");
    return text.data[0] == '{' && is_one_of(text.data[1], "}:!%");
}

/* ---- plurals and selects of ICU ---- */

static size_t skip_word(StrView text, size_t at) {
    while (is_word(byte_at(text, at))) at++;
    return at;
}

/* After a selector and its brace: one {, =1 {; 0: there is none. */
static size_t icu_selector(StrView text, size_t at) {
    size_t start = skip_blanks(text, at), end = skip_word(text, start + (byte_at(text, start) == '='));
    size_t brace = skip_blanks(text, end);
    return end > start && byte_at(text, brace) == '{' ? brace + 1 : 0;
}

/* The end of what stands before the first branch: {n, plural, offset:1 one {; 0: there is none. */
static size_t icu_head(StrView text, size_t at) {
    static const char *const TYPES[] = {"plural", "select", "selectordinal"};
    size_t name = skip_blanks(text, at + 1), i = skip_blanks(text, skip_word(text, name));
    if (i == name || byte_at(text, i) != ',') return 0;
    size_t type = skip_blanks(text, i + 1), end = skip_word(text, type);
    bool known = false;
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++)
        known |= end - type == strlen(TYPES[t]) && starts_at(text, type, sv(TYPES[t]));
    i = skip_blanks(text, end);
    if (!known || byte_at(text, i) != ',') return 0;
    i = skip_blanks(text, i + 1);
    if (starts_at(text, i, SV("offset:"))) i = skip_word(text, i + 7);
    return icu_selector(text, i);
}

/* The end of the branch's closing brace and of what stands before the next branch, or of the whole. */
static size_t icu_next(StrView text, size_t at, bool *last) {
    size_t i = skip_blanks(text, at + 1);
    *last = byte_at(text, i) == '}';
    return *last ? i + 1 : icu_selector(text, at + 1);
}

/* The end of the plural or select whose first branch begins at `at`; 0: it is not complete. */
static size_t icu_end(StrView text, size_t at) {
    bool last = false;
    for (size_t i = at, depth = 0; i < text.length && i < at + LONGEST_ICU; i++) {
        if (text.data[i] == '{') depth++;
        if (text.data[i] != '}' || (depth > 0 && depth--)) continue;
        size_t next = icu_next(text, i, &last);
        if (next == 0 || last) return next;
        i = next - 1;
    }
    return 0;
}

static size_t scan_icu(PlaceholderScan *scan) {
    StrView text = scan->text;
    if (text.data[scan->at] == '}') {
        bool last;
        int top = scan->icu_depth - 1;
        if (top < 0) return 0;
        if (scan->icu_braces[top] > 0) {
            scan->icu_braces[top]--;
            return 0;
        }
        size_t end = icu_next(text, scan->at, &last);
        if (end > 0 && last) scan->icu_depth--;
        return end > 0 ? end - scan->at : 0;
    }
    size_t head = scan->icu_depth < PLACEHOLDER_ICU_DEPTH ? icu_head(text, scan->at) : 0;
    size_t end = head > 0 ? icu_end(text, head) : 0;
    if (end == 0) return 0;
    scan->icu_end[scan->icu_depth] = end;
    scan->icu_braces[scan->icu_depth++] = 0;
    return head - scan->at;
}

static size_t scan_number_sign(PlaceholderScan *scan) {
    char before = byte_before(scan->text, scan->at), after = byte_at(scan->text, scan->at + 1);
    return is_word(before) || is_word(after) || is_one_of(before, "#&/") || is_one_of(after, "#!{") ? 0 : 1;
}

/* ---- names and addresses ---- */

static size_t scan_variable(PlaceholderScan *scan) {
    size_t first = scan->at + 1, end = skip_word(scan->text, first);
    char before = byte_before(scan->text, scan->at);
    if (end == first || is_digit(byte_at(scan->text, first)) || is_word(before) || before == '$') return 0;
    return end - scan->at;
}

/* Sentences go on behind an address: its last punctuation marks are not part of it. */
static size_t without_punctuation(StrView text, size_t at, size_t end) {
    while (end > at && is_one_of(text.data[end - 1], ".,;:!?'\"*")) end--;
    return end;
}

static size_t scan_url(PlaceholderScan *scan) {
    StrView text = scan->text;
    size_t at = scan->at, i = at;
    if (is_word(byte_before(text, at)) || !is_letter(text.data[at])) return 0;
    while (i < at + 16 &&
           (is_letter(byte_at(text, i)) || is_digit(byte_at(text, i)) || byte_at(text, i) == '+'))
        i++;
    if (starts_at(text, i, SV("://")))
        i += 3;
    else if (starts_at(text, at, SV("www.")))
        i = at + 4;
    else
        return 0;
    size_t first = i;
    for (int open = 0; i < text.length; i++) {
        char c = text.data[i];
        if (is_blank(c) || is_above_ascii(c) || is_one_of(c, "<>\"'`{}|\\^[]")) break;
        if (c == '%' && !(is_digit(byte_at(text, i + 1)) && is_word(byte_at(text, i + 2)))) break;
        if (c == '$' || (c == ')' && open-- == 0)) break;
        open += c == '(';
    }
    i = without_punctuation(text, first, i);
    return i > first ? i - at : 0;
}

static bool is_mailbox(char c) { return is_word(c) || is_one_of(c, ".+-"); }

static size_t scan_email(PlaceholderScan *scan) {
    StrView text = scan->text;
    size_t at = scan->at, i = at;
    bool dotted = false;
    if (is_mailbox(byte_before(text, at)) || !is_word(text.data[at])) return 0;
    while (i < at + LONGEST_NAME && is_mailbox(byte_at(text, i))) i++;
    if (byte_at(text, i) != '@' || !is_word(byte_at(text, i + 1))) return 0;
    for (i++; is_word(byte_at(text, i)) || is_one_of(byte_at(text, i), ".-"); i++)
        dotted |= text.data[i] == '.' && is_letter(byte_at(text, i + 1));
    while (is_one_of(text.data[i - 1], ".-")) i--;
    return dotted ? i - at : 0;
}

static bool is_path(char c) { return is_word(c) || is_one_of(c, ".+-@*"); }

/* Is the character before `at` > 0 a letter of a script with capitals? Words of other scripts may touch
 * paths. */
static bool is_after_cased_letter(StrView text, size_t at) {
    at = utf8_before(text, at);
    int code_point = utf8_next(text, &at);
    return unicode_is_upper(code_point) || unicode_is_lower(code_point);
}

/* /usr/bin /etc ~/x ./x ../x C:\x, after a blank, a quote or a bracket. */
static size_t scan_path(PlaceholderScan *scan) {
    StrView text = scan->text;
    size_t at = scan->at, i = at, names = 0, letters = 0;
    char before = byte_before(text, at), slash = '/';
    if (before && !is_blank(before) && !is_above_ascii(before) && !is_one_of(before, "\"'`([{}<>=:,|"))
        return 0;
    if (is_above_ascii(before) && is_after_cased_letter(text, at)) return 0;
    if (is_letter(text.data[at]) && byte_at(text, at + 1) == ':' && byte_at(text, at + 2) == '\\')
        i = at + 2, slash = '\\', names = 1;
    else
        while (i < at + 2 && is_one_of(byte_at(text, i), "~.")) i++, names = 1;
    while (byte_at(text, i) == slash && is_path(byte_at(text, i + 1))) {
        for (i++; is_path(byte_at(text, i)); i++) letters += is_letter(text.data[i]);
        names++;
    }
    if (letters == 0 || i == at || (names < 2 && i < at + 3)) return 0;
    if (names > 1 && byte_at(text, i) == slash) i++;
    return without_punctuation(text, at, i) - at;
}

/* 1.2.3 10.0.0.1 1.2.3rc1 v1.2 */
static size_t scan_version(PlaceholderScan *scan) {
    StrView text = scan->text;
    size_t at = scan->at, i = at, parts = 0;
    char before = byte_before(text, at);
    if (is_word(before) || is_one_of(before, ".,-")) return 0;
    bool named = is_one_of(text.data[at], "vV");
    for (i += named; is_digit(byte_at(text, i)); parts++) {
        while (is_digit(byte_at(text, i))) i++;
        if (byte_at(text, i) == '.' && is_digit(byte_at(text, i + 1))) i++;
    }
    bool date = !named && parts == 3 && i > at + 5 && text.data[i - 5] == '.'; /* 24.12.2024 */
    if (parts < (named ? 2 : 3) || date) return 0;
    return skip_word(text, i) - at;
}

/* ---- emoji ---- */

static bool is_emoji(int c) {
    return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || (c >= 0x23E9 && c <= 0x23FA) ||
           c == 0x231A || c == 0x231B || c == 0x2B50 || c == 0x2B55 || c == 0x2B1B || c == 0x2B1C;
}

static bool is_regional(int c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

/* Variation selectors, skin tones, keycaps, tags of flags */
static bool is_emoji_part(int c) {
    return c == 0xFE0F || c == 0xFE0E || c == 0x20E3 || (c >= 0x1F3FB && c <= 0x1F3FF) ||
           (c >= 0xE0020 && c <= 0xE007F);
}

static int peek(StrView text, size_t at, size_t *next) {
    *next = at;
    return at < text.length ? utf8_next(text, next) : -1;
}

static size_t scan_emoji(PlaceholderScan *scan) {
    enum { JOINER = 0x200D };
    StrView text = scan->text;
    size_t end, next;
    int first = peek(text, scan->at, &end);
    if (!is_emoji(first)) return 0;
    if (is_regional(first) && is_regional(peek(text, end, &next))) end = next;
    for (;;) {
        int c = peek(text, end, &next);
        size_t joined;
        if (c == JOINER && is_emoji(peek(text, next, &joined)))
            end = joined;
        else if (is_emoji_part(c))
            end = next;
        else
            return end - scan->at;
    }
}

/* ---- the table ---- */

typedef struct {
    const char *starts; /* bytes that it can begin with; NULL: letters, digits and _ */
    size_t (*scan)(PlaceholderScan *scan);
    bool (*in_order)(StrView text); /* NULL: none of them has to keep its order */
} PlaceholderRow;

#define EMOJI_BYTES "\xE2\xF0"

/* Of two kinds that begin at the same byte, the first row wins. */
static const struct {
    PlaceholderKind kind;
    PlaceholderRow row;
} ROWS[] = {
    {PLACEHOLDER_BRACES, {"{$#%<", scan_braces, braces_in_order}},
    {PLACEHOLDER_TAG, {"<", scan_tag, NULL}},
    {PLACEHOLDER_ENTITY, {"&", scan_entity, NULL}},
    {PLACEHOLDER_ICU, {"{}", scan_icu, NULL}},
    {PLACEHOLDER_NUMBER_SIGN, {"#", scan_number_sign, NULL}},
    {PLACEHOLDER_PRINTF, {"%", scan_printf, printf_in_order}},
    {PLACEHOLDER_VARIABLE, {"$", scan_variable, NULL}},
    {PLACEHOLDER_URL, {NULL, scan_url, NULL}},
    {PLACEHOLDER_EMAIL, {NULL, scan_email, NULL}},
    {PLACEHOLDER_PATH, {"/~.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", scan_path, NULL}},
    {PLACEHOLDER_VERSION, {NULL, scan_version, NULL}},
    {PLACEHOLDER_EMOJI, {EMOJI_BYTES, scan_emoji, NULL}},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

/* ---- a pass over a text ---- */

static bool starts_with_one_of(const char *starts, char c) {
    return starts ? is_one_of(c, starts) : is_word(c);
}

static void count_brace(PlaceholderScan *scan) {
    if (scan->icu_depth > 0 && scan->text.data[scan->at] == '{') scan->icu_braces[scan->icu_depth - 1]++;
}

bool placeholder_next(PlaceholderScan *scan, Placeholder *placeholder) {
    for (; scan->at < scan->text.length; scan->at++) {
        const char *start = scan->text.data + scan->at;
        while (scan->icu_depth > 0 && scan->at >= scan->icu_end[scan->icu_depth - 1]) scan->icu_depth--;
        for (size_t r = 0; r < ROW_COUNT; r++) {
            const PlaceholderRow *row = &ROWS[r].row;
            size_t length = starts_with_one_of(row->starts, *start) ? row->scan(scan) : 0;
            if (length == 0) continue;
            *placeholder = (Placeholder){{start, length}, ROWS[r].kind, false};
            placeholder->in_order = row->in_order && row->in_order(placeholder->text);
            scan->at += length;
            return true;
        }
        count_brace(scan);
    }
    return false;
}

void placeholders_find(StrView text, PlaceholderList *list) {
    PlaceholderScan scan = {.text = text};
    for (Placeholder placeholder; placeholder_next(&scan, &placeholder);) {
        MEM_GROW(list->items, list->capacity, (size_t)list->count + 1);
        list->items[list->count++] = placeholder;
    }
}

void placeholders_free(PlaceholderList *list) {
    mem_free(list->items);
    *list = (PlaceholderList){0};
}
