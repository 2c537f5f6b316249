/* strview.c - views, growing buffers, lists, nearest words and numbers for people. */
#include "base/strview.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"

StrView sv(const char *text) { return (StrView){text, strlen(text)}; }

bool sv_equal(StrView a, StrView b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

int sv_compare(StrView a, StrView b) {
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* FNV-1a, its bits mixed as in Murmur3. */
uint64_t sv_hash(StrView text, uint64_t seed) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325) ^ seed;
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001B3);
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return hash ^ hash >> 33;
}

bool sv_starts(StrView text, StrView prefix) {
    return text.length >= prefix.length && sv_equal((StrView){text.data, prefix.length}, prefix);
}

bool sv_ends(StrView text, StrView suffix) {
    return text.length >= suffix.length &&
           sv_equal((StrView){text.data + (text.length - suffix.length), suffix.length}, suffix);
}

bool sv_cut_extension(StrView *name, StrView extension) {
    if (name->length < extension.length + 2) return false;
    size_t length = name->length - extension.length - 1;
    const char *end = name->data + length;
    if (*end != '.' || strncasecmp(end + 1, extension.data, extension.length) != 0) return false;
    name->length = length;
    return true;
}

StrView sv_trim(StrView text) {
    while (text.length > 0 && char_is_space(text.data[0])) text.data++, text.length--;
    while (text.length > 0 && char_is_space(text.data[text.length - 1])) text.length--;
    return text;
}

bool sv_next(StrView *rest, char separator, StrView *field) {
    if (!rest->data) return false;
    const char *end = rest->length ? memchr(rest->data, separator, rest->length) : NULL;
    if (end) {
        size_t length = (size_t)(end - rest->data);
        *field = (StrView){rest->data, length};
        *rest = (StrView){end + 1, rest->length - length - 1};
    } else {
        *field = *rest;
        *rest = (StrView){NULL, 0};
    }
    return true;
}

bool sv_next_word(StrView *rest, StrView *word) {
    *word = *rest;
    if (rest->length == 0) return false; /* data may be NULL */
    size_t start = 0, end;
    while (start < rest->length && char_is_space(rest->data[start])) start++;
    for (end = start; end < rest->length && !char_is_space(rest->data[end]);) end++;
    *word = (StrView){rest->data + start, end - start};
    *rest = (StrView){rest->data + end, rest->length - end};
    return end > start;
}

void strbuf_cut(StrBuf *buffer, size_t length) {
    if (length >= buffer->length) return;
    buffer->length = length;
    buffer->data[length] = '\0';
}

void strbuf_clear(StrBuf *buffer) { strbuf_cut(buffer, 0); }

void strbuf_free(StrBuf *buffer) {
    mem_free(buffer->data);
    *buffer = (StrBuf){0};
}

/* Makes space for `more` bytes and the NUL; returns the end of the text. */
static char *reserve(StrBuf *buffer, size_t more) {
    size_t need = buffer->length + more + 1;
    if (need <= more) need = SIZE_MAX; /* overflow: mem.c ends the program */
    MEM_GROW(buffer->data, buffer->capacity, need);
    return buffer->data + buffer->length;
}

void strbuf_add(StrBuf *buffer, StrView text) {
    char *end = reserve(buffer, text.length);
    if (text.length > 0) memcpy(end, text.data, text.length);
    end[text.length] = '\0';
    buffer->length += text.length;
}

void strbuf_add_char(StrBuf *buffer, char c) {
    char *end = reserve(buffer, 1);
    end[0] = c;
    end[1] = '\0';
    buffer->length++;
}

static void add_formatted(StrBuf *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    char text[256];
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (length >= 0 && (size_t)length < sizeof text) {
        strbuf_add(buffer, (StrView){text, (size_t)length});
    } else if (length >= 0) {
        char *end = reserve(buffer, (size_t)length);
        vsnprintf(end, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void strbuf_format(StrBuf *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_formatted(buffer, format, arguments);
    va_end(arguments);
}

StrView strbuf_view(const StrBuf *buffer) { return (StrView){buffer->data, buffer->length}; }

const char *strbuf_text(const StrBuf *buffer) { return buffer->data ? buffer->data : ""; }

/* The capacity of the array is the next power of two. */
void strlist_add(StrList *list, StrView text) {
    if ((list->count & (list->count - 1)) == 0)
        list->items = mem_realloc(list->items, list->count ? 2 * list->count : 1, sizeof *list->items);
    list->items[list->count++] = mem_strndup(text.data, text.length);
}

void strlist_format(StrList *list, const char *format, ...) {
    StrBuf text = {0};
    va_list arguments;
    va_start(arguments, format);
    add_formatted(&text, format, arguments);
    va_end(arguments);
    strlist_add(list, strbuf_view(&text));
    strbuf_free(&text);
}

void strlist_free(StrList *list) {
    for (size_t i = 0; i < list->count; i++) mem_free(list->items[i]);
    mem_free(list->items);
    *list = (StrList){0};
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c; }

static bool same_letter(char a, char b) {
    return lower(a) == lower(b) || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

static int min_int(int a, int b) { return a < b ? a : b; }

/* Insertions, deletions, changes and swaps of neighbours, each 1 (optimal string alignment). */
static int edit_distance(const char *a, size_t m, const char *b, size_t n) {
    enum { LIMIT = 64 };
    if (m > LIMIT || n > LIMIT) return LIMIT;
    int rows[3][LIMIT + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++) last[j] = before[j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int best = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            best = min_int(best, min_int(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                best = min_int(best, before[j - 2] + 1);
            row[j] = best;
        }
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[n];
}

const char *str_nearest(const char *word, const char *const *candidates, size_t count) {
    size_t length = strlen(word);
    const char *nearest = NULL;
    int nearest_distance = 1 + (int)(length < 4 ? 1 : length / 3 > 4 ? 4 : length / 3);
    for (size_t i = 0; i < count; i++) {
        if (!candidates[i]) continue;
        size_t candidate_length = strlen(candidates[i]);
        int distance = edit_distance(word, length, candidates[i], candidate_length);
        /* The beginning of a name counts like one typing error. */
        if (length >= 3 && candidate_length > length &&
            edit_distance(word, length, candidates[i], length) == 0)
            distance = min_int(distance, 1);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *str_bytes(double bytes, char buffer[32]) {
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (fabs(bytes) >= 999.5 && unit + 1 < sizeof UNITS / sizeof *UNITS) bytes /= 1000, unit++;
    snprintf(buffer, 32, unit > 0 && fabs(bytes) < 9.95 ? "%.1f %s" : "%.0f %s", bytes, UNITS[unit]);
    return buffer;
}

const char *str_count(long long n, char buffer[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", n);
    int sign = digits[0] == '-';
    int out = 0;
    for (int i = 0; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0) buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = '\0';
    return buffer;
}

const char *str_duration(double seconds, char buffer[32]) {
    if (!(seconds >= 0) || seconds > 1e9) {
        snprintf(buffer, 32, "?");
    } else if (seconds < 9.95) {
        snprintf(buffer, 32, "%.1fs", seconds);
    } else {
        long s = (long)(seconds + 0.5), m = s / 60, h = m / 60;
        if (s < 60)
            snprintf(buffer, 32, "%lds", s);
        else if (m < 60)
            snprintf(buffer, 32, "%ldm%02lds", m, s % 60);
        else if (h < 48)
            snprintf(buffer, 32, "%ldh%02ldm", h, m % 60);
        else
            snprintf(buffer, 32, "%ldd%02ldh", h / 24, h % 24);
    }
    return buffer;
}
