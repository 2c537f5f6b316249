/* line_window.c - see line_window.h. Lines are offsets until all are read, because the buffers move as they
 * grow. */
#include "translate/line_window.h"

#include <string.h>
#include "io/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/marked_text.h"
#include "translate/sentences.h"

enum { MOST_BYTES = 32 << 20 };

/* The ends of one line in the three buffers. */
struct WindowEnds {
    size_t raw, text, error;
};

/* ---- JSON ---- */

static Status read_phrases(const Json *list, Arena *arena, LineConstraints *constraints) {
    if (json_type(list) != JSON_ARRAY) return status_fail(STATUS_DATA, "\"constraints\" is not a list");
    if (json_count(list) > CONSTRAINTS_MAX)
        return status_fail(STATUS_DATA, "more than %d constraints", CONSTRAINTS_MAX);
    StrView *items = arena_alloc_zeroed(arena, (json_count(list) + 1) * sizeof *items);
    constraints->phrases = items;
    for (const Json *item = json_first(list); item; item = json_after(item)) {
        if (json_type(item) != JSON_STRING || unicode_is_blank(sv(json_string(item))))
            return status_fail(STATUS_DATA, "a constraint that is not text");
        items[constraints->phrase_count++] = arena_text(arena, sv(json_string(item)));
    }
    return STATUS_OK;
}

/* Append the value of "text". */
static Status read_text(const Json *root, StrBuf *text) {
    const Json *value = json_type(root) == JSON_OBJECT ? json_get(root, "text") : NULL;
    if (!value) return status_fail(STATUS_DATA, "no \"text\" in it");
    if (json_type(value) != JSON_STRING) return status_fail(STATUS_DATA, "\"text\" is not a string");
    strbuf_add(text, sv(json_string(value)));
    return STATUS_OK;
}

static Status check_one_sentence(StrView text, bool tags) {
    TextList sentences = {0};
    Markup markup = {0};
    if (tags) markup_find(text, &markup);
    split_sentences(tags ? strbuf_view(&markup.masked) : text, false, &sentences);
    int count = sentences.count;
    text_list_free(&sentences);
    markup_free(&markup);
    if (count < 2) return STATUS_OK;
    return status_fail(STATUS_DATA, "\"constraints\" do not say which of its %d sentences they are for",
                       count);
}

static Status read_constraints(const Json *root, StrView text, const LineWindow *window,
                               LineConstraints *constraints) {
    const Json *prefix = json_get(root, "prefix"), *phrases = json_get(root, "constraints");
    if (prefix && json_type(prefix) != JSON_STRING)
        return status_fail(STATUS_DATA, "\"prefix\" is not a string");
    if (prefix) constraints->prefix = arena_text(window->arena, sv(json_string(prefix)));
    if (phrases) TRY(read_phrases(phrases, window->arena, constraints));
    bool one_sentence = window->split && constraints->phrase_count > 0;
    return one_sentence ? check_one_sentence(text, window->tags) : STATUS_OK;
}

static void window_add_json(LineWindow *window, StrView line, long number) {
    StrBuf *bytes = &window->text_bytes;
    size_t before = bytes->length;
    LineConstraints *constraints = &window->constraints[window->count];
    Json *root;
    bool has_text = false;
    Status status = json_parse(&root, line, false);
    if (status == STATUS_OK) {
        status = read_text(root, bytes);
        has_text = status == STATUS_OK;
        StrView text = {strbuf_text(bytes) + before, bytes->length - before};
        if (has_text) status = read_constraints(root, text, window, constraints);
        json_free(root);
    }
    window->constrained |= constraints->prefix.length > 0 || constraints->phrase_count > 0;
    if (status == STATUS_OK) return;
    *constraints = (LineConstraints){0};
    bytes->length = before;
    window->rejected++;
    if (!window->quiet)
        log_warn(has_text ? "line %ld: %s" : "line %ld is not a JSON object with a \"text\" (%s)", number,
                 status_message());
    utf8_repair(sv(status_message()), &window->error_bytes);
    strbuf_add_char(&window->error_bytes, '\0');
}

/* ---- prefixes ---- */

Status line_window_set_prefix(LineWindow *window, const char *prefix, const char *prefix_file) {
    if (prefix && prefix_file)
        return status_fail(STATUS_USAGE, "--prefix and --prefix-file exclude each other");
    window->prefix = prefix;
    return prefix_file ? line_reader_open(&window->prefixes, prefix_file) : STATUS_OK;
}

static StrView without_markup(Arena *arena, StrView text) {
    Markup markup = {0};
    MarkedText marked = {0};
    markup_find(text, &markup);
    marked_text_make(&markup, strbuf_view(&markup.repaired), &marked);
    StrView plain = arena_text(arena, strbuf_view(&marked.plain));
    marked_text_free(&marked);
    markup_free(&markup);
    return plain;
}

static Status next_prefix(const LineWindow *window, StrView *prefix) {
    bool more;
    TRY(line_reader_next(window->prefixes, prefix, &more));
    if (!more) {
        long lines = line_reader_number(window->prefixes);
        status_fail(STATUS_DATA, "'%s' has %ld line%s, the input has more",
                    line_reader_path(window->prefixes), lines, lines == 1 ? "" : "s");
        return status_hint(STATUS_DATA, "a prefix for each line; an empty one asks for nothing");
    }
    *prefix = arena_text(window->arena, *prefix);
    return STATUS_OK;
}

static Status add_prefixes(LineWindow *window) {
    window->constrained |= window->prefix || window->prefixes;
    for (int i = 0; window->constrained && i < window->count; i++) {
        LineConstraints *constraints = &window->constraints[i];
        StrView prefix = {0};
        if (window->prefix) prefix = sv(window->prefix);
        if (window->prefixes) TRY(next_prefix(window, &prefix));
        if (constraints->prefix.length == 0) constraints->prefix = prefix;
        if (window->tags) constraints->prefix = without_markup(window->arena, constraints->prefix);
    }
    return STATUS_OK;
}

Status line_window_end(LineWindow *window) {
    StrView line;
    bool more = false;
    if (window->prefixes) TRY(line_reader_next(window->prefixes, &line, &more));
    if (!more) return STATUS_OK;
    return status_fail(STATUS_DATA, "'%s' has more lines than the input", line_reader_path(window->prefixes));
}

/* ---- lines ---- */

static void window_add(LineWindow *window, StrView line, long number) {
    MEM_GROW(window->ends, window->ends_capacity, (size_t)window->count + 1);
    MEM_GROW(window->constraints, window->constraints_capacity, (size_t)window->count + 1);
    window->constraints[window->count] = (LineConstraints){0};
    strbuf_add(&window->raw_bytes, line);
    if (window->json) {
        window_add_json(window, line, number);
    } else if (line.length > 0 && (memchr(line.data, 0, line.length) || !utf8_valid(line))) {
        if (window->repaired++ == 0) window->first_repaired = number;
    }
    window->ends[window->count++] =
        (struct WindowEnds){window->raw_bytes.length, window->text_bytes.length, window->error_bytes.length};
}

static StrView between(const StrBuf *bytes, size_t start, size_t end) {
    return (StrView){strbuf_text(bytes) + start, end - start};
}

/* Turn offsets into views. */
static void window_point(LineWindow *window) {
    size_t count = (size_t)window->count;
    struct WindowEnds start = {0};
    MEM_GROW(window->lines, window->lines_capacity, count);
    MEM_GROW(window->raw, window->raw_capacity, count);
    MEM_GROW(window->errors, window->errors_capacity, count);
    for (size_t i = 0; i < count; i++) {
        struct WindowEnds end = window->ends[i];
        window->raw[i] = between(&window->raw_bytes, start.raw, end.raw);
        window->lines[i] = window->json ? between(&window->text_bytes, start.text, end.text) : window->raw[i];
        window->errors[i] = end.error > start.error ? window->error_bytes.data + start.error : NULL;
        start = end;
    }
}

Status line_window_read(LineWindow *window, LineReader *reader, bool *more) {
    window->count = 0;
    window->constrained = false;
    if (!window->arena) window->arena = arena_new();
    arena_reset(window->arena);
    strbuf_clear(&window->raw_bytes);
    strbuf_clear(&window->text_bytes);
    strbuf_clear(&window->error_bytes);
    do {
        StrView line;
        TRY(line_reader_next(reader, &line, more));
        if (!*more) break;
        window_add(window, line, line_reader_number(reader));
    } while (window->count < window->most_lines && window->raw_bytes.length < MOST_BYTES &&
             line_reader_ready(reader));
    window_point(window);
    return add_prefixes(window);
}

void line_window_free(LineWindow *window) {
    if (window->prefixes) line_reader_close(window->prefixes);
    mem_free(window->lines);
    mem_free(window->raw);
    mem_free(window->errors);
    mem_free(window->ends);
    mem_free(window->constraints);
    arena_free(window->arena);
    strbuf_free(&window->raw_bytes);
    strbuf_free(&window->text_bytes);
    strbuf_free(&window->error_bytes);
}
