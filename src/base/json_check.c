/* json_check.c - a recursive descent over JSON that keeps nothing but its position. */
#include "base/json_check.h"

#include <string.h>

/* cJSON copies numbers into a buffer of 64 bytes and drops the rest. */
enum { NUMBER_LIMIT = 60 };

typedef struct {
    const char *start, *next, *end;
    JsonRules rules;
} Scan;

static int peek(const Scan *scan) { return scan->next < scan->end ? (unsigned char)*scan->next : -1; }

static Status fail_at(const Scan *scan, const char *where, const char *problem) {
    int line = 1, column = 1;
    for (const char *c = scan->start; c < where; c++) {
        if (*c == '\n')
            line++, column = 1;
        else if (((unsigned char)*c & 0xC0) != 0x80)
            column++;
    }
    return status_fail(STATUS_DATA, "line %d column %d: %s", line, column, problem);
}

static Status fail_here(const Scan *scan, const char *problem) {
    return fail_at(scan, scan->next, scan->next < scan->end ? problem : "the text ends too early");
}

static Status skip_comment(Scan *scan) {
    const char *start = scan->next;
    size_t left = (size_t)(scan->end - scan->next);
    if (left < 2 || (start[1] != '/' && start[1] != '*')) return fail_here(scan, "unexpected '/'");
    if (start[1] == '/') {
        const char *end = memchr(start, '\n', left);
        scan->next = end ? end : scan->end;
        return STATUS_OK;
    }
    for (const char *c = start + 3; c < scan->end; c++) {
        if (c[0] == '/' && c[-1] == '*' && c > start + 2) {
            scan->next = c + 1;
            return STATUS_OK;
        }
    }
    return fail_at(scan, start, "the comment has no end");
}

static Status skip_space(Scan *scan) {
    for (;;) {
        int c = peek(scan);
        if (c == '/' && scan->rules.comments)
            TRY(skip_comment(scan));
        else if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            scan->next++;
        else
            return STATUS_OK;
    }
}

/* Length of the UTF-8 sequence at `p`, or 0: overlong forms, surrogates and values over 10FFFF are not UTF-8. */
static int utf8_length(const unsigned char *p, size_t left) {
    if (p[0] < 0x80) return 1;
    int length = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    if (length == 0 || left < (size_t)length) return 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    bool bad = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
               (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F);
    return bad ? 0 : length;
}

static Status check_utf8(const Scan *scan) {
    for (const char *c = scan->start; c < scan->end;) {
        if (*c == '\0') return fail_at(scan, c, "a NUL byte");
        int length = utf8_length((const unsigned char *)c, (size_t)(scan->end - c));
        if (length == 0) return fail_at(scan, c, "invalid UTF-8");
        c += length;
    }
    return STATUS_OK;
}

/* Value of the four hexadecimal digits after "\u", or -1. */
static int hex4(const Scan *scan, const char *digits) {
    if (scan->end - digits < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* At the backslash. */
static Status check_escape(Scan *scan) {
    if (scan->end - scan->next < 2) {
        scan->next = scan->end;
        return fail_here(scan, "");
    }
    char kind = scan->next[1];
    if (kind != 'u') {
        if (kind == '\0' || !strchr("\"\\/bfnrt", kind)) return fail_here(scan, "unknown escape in a string");
        scan->next += 2;
        return STATUS_OK;
    }
    int unit = hex4(scan, scan->next + 2);
    if (unit < 0) return fail_here(scan, "'\\u' needs four hexadecimal digits");
    if (unit == 0) return fail_here(scan, "a NUL character in a string");
    if (unit >= 0xDC00 && unit <= 0xDFFF) return fail_here(scan, "half a surrogate pair in a string");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        const char *second = scan->next + 6;
        int low =
            scan->end - second >= 6 && second[0] == '\\' && second[1] == 'u' ? hex4(scan, second + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF) return fail_here(scan, "half a surrogate pair in a string");
        scan->next += 6;
    }
    scan->next += 6;
    return STATUS_OK;
}

static Status check_string(Scan *scan) {
    if (peek(scan) != '"') return fail_here(scan, "expected a string");
    scan->next++;
    for (;;) {
        int c = peek(scan);
        if (c < 0) return fail_here(scan, "");
        if (c < 0x20) return fail_here(scan, "a control character in a string");
        if (c == '\\') {
            TRY(check_escape(scan));
        } else {
            scan->next++;
            if (c == '"') return STATUS_OK;
        }
    }
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static Status skip_digits(Scan *scan) {
    if (!is_digit(peek(scan))) return fail_here(scan, "expected a digit");
    while (is_digit(peek(scan))) scan->next++;
    return STATUS_OK;
}

static Status check_number(Scan *scan) {
    const char *start = scan->next;
    bool plain = peek(scan) != '-';
    if (!plain) scan->next++;
    if (peek(scan) == '0')
        scan->next++;
    else
        TRY(skip_digits(scan));
    if (is_digit(peek(scan))) return fail_at(scan, start, "a number with a leading zero");
    if (peek(scan) == '.') {
        plain = false;
        scan->next++;
        TRY(skip_digits(scan));
    }
    if (peek(scan) == 'e' || peek(scan) == 'E') {
        plain = false;
        scan->next++;
        if (peek(scan) == '+' || peek(scan) == '-') scan->next++;
        TRY(skip_digits(scan));
    }
    size_t length = (size_t)(scan->next - start);
    if (length > NUMBER_LIMIT) return fail_at(scan, start, "a number of more than 60 characters");
    if (!scan->rules.integers) return STATUS_OK;
    /* 2^53 has 16 digits, so equal lengths compare like the numbers. */
    if (!plain || length > 16 || (length == 16 && memcmp(start, "9007199254740992", 16) >= 0))
        return fail_at(scan, start, "expected an integer between 0 and 2^53-1");
    return STATUS_OK;
}

static Status check_word(Scan *scan, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(scan->end - scan->next) < length || memcmp(scan->next, word, length) != 0)
        return fail_here(scan, "expected a value");
    scan->next += length;
    return STATUS_OK;
}

static Status check_value(Scan *scan, int depth);

/* An array or object, at its opening bracket. */
static Status check_container(Scan *scan, int depth) {
    if (depth >= scan->rules.depth) return fail_here(scan, "arrays and objects are nested too deeply");
    bool object = *scan->next++ == '{';
    int close = object ? '}' : ']';
    TRY(skip_space(scan));
    if (peek(scan) == close) {
        scan->next++;
        return STATUS_OK;
    }
    for (;;) {
        if (object) {
            TRY(check_string(scan));
            TRY(skip_space(scan));
            if (peek(scan) != ':') return fail_here(scan, "expected ':'");
            scan->next++;
            TRY(skip_space(scan));
        }
        TRY(check_value(scan, depth + 1));
        TRY(skip_space(scan));
        int c = peek(scan);
        if (c != ',' && c != close)
            return fail_here(scan, object ? "expected ',' or '}'" : "expected ',' or ']'");
        scan->next++;
        if (c == close) return STATUS_OK;
        TRY(skip_space(scan));
    }
}

static Status check_value(Scan *scan, int depth) {
    if (scan->rules.values-- <= 0) return fail_here(scan, "too many values");
    switch (peek(scan)) {
    case '{':
    case '[':
        return check_container(scan, depth);
    case '"':
        return check_string(scan);
    case 't':
        return check_word(scan, "true");
    case 'f':
        return check_word(scan, "false");
    case 'n':
        return check_word(scan, "null");
    default:
        break;
    }
    if (peek(scan) == '-' || is_digit(peek(scan))) return check_number(scan);
    return fail_here(scan, "expected a value");
}

Status json_check(StrView text, JsonRules rules) {
    Scan scan = {.start = text.data, .next = text.data, .end = text.data + text.length, .rules = rules};
    if (text.length == 0) return status_fail(STATUS_DATA, "the text is empty");
    if (sv_starts(text, SV("\xEF\xBB\xBF"))) return fail_here(&scan, "a byte-order mark");
    TRY(check_utf8(&scan));
    TRY(skip_space(&scan));
    TRY(check_value(&scan, 0));
    TRY(skip_space(&scan));
    if (scan.next < scan.end) return fail_here(&scan, "text after the value");
    return STATUS_OK;
}
