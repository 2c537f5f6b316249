/* input_lines.c - see input_lines.h. */
#include "translate/input_lines.h"

#include "io/json.h"
#include "base/log.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/marked_text.h"
#include "translate/sentences.h"

/* ---- JSON ---- */

static Status read_phrases(const Json *list, Arena *arena, LineConstraints *constraints) {
    if (json_type(list) != JSON_ARRAY) return status_fail(STATUS_DATA, "\"constraints\" is not a list");
    if (json_count(list) > CONSTRAINTS_MAX)
        return status_fail(STATUS_DATA, "more than %d constraints", CONSTRAINTS_MAX);
    StrView *items = arena_alloc_zeroed(arena, (json_count(list) + 1) * sizeof *items);
    constraints->phrases = items;
    for (const Json *item = json_first(list); item; item = json_after(item)) {
        if (json_type(item) != JSON_STRING || unicode_is_blank(sv(json_string(item))))
            return status_fail(STATUS_DATA, "a constraint is blank, or not a string");
        items[constraints->phrase_count++] = arena_text(arena, sv(json_string(item)));
    }
    return STATUS_OK;
}

static Status read_text(const Json *root, Arena *arena, StrView *text) {
    const Json *value = json_type(root) == JSON_OBJECT ? json_get(root, "text") : NULL;
    if (!value) return status_fail(STATUS_DATA, "no \"text\" in it");
    if (json_type(value) != JSON_STRING) return status_fail(STATUS_DATA, "\"text\" is not a string");
    *text = arena_text(arena, sv(json_string(value)));
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

static Status read_constraints(const Json *root, StrView text, const InputLines *lines,
                               LineConstraints *constraints) {
    Arena *arena = lines->window.arena;
    const Json *prefix = json_get(root, "prefix"), *phrases = json_get(root, "constraints");
    if (prefix && json_type(prefix) != JSON_STRING)
        return status_fail(STATUS_DATA, "\"prefix\" is not a string");
    if (prefix) constraints->prefix = arena_text(arena, sv(json_string(prefix)));
    if (phrases) TRY(read_phrases(phrases, arena, constraints));
    bool one_sentence = lines->split && constraints->phrase_count > 0;
    return one_sentence ? check_one_sentence(text, lines->tags) : STATUS_OK;
}

/* The text and the constraints of line i, or its error. */
static void read_json(InputLines *lines, int i) {
    Arena *arena = lines->window.arena;
    LineConstraints *constraints = &lines->constraints[i];
    Json *root;
    bool has_text = false;
    Status status = json_parse(&root, lines->window.lines[0][i], false);
    if (status == STATUS_OK) {
        status = read_text(root, arena, &lines->texts[i]);
        has_text = status == STATUS_OK;
        if (has_text) status = read_constraints(root, lines->texts[i], lines, constraints);
        json_free(root);
    }
    lines->constrained |= constraints->prefix.length > 0 || constraints->phrase_count > 0;
    if (status == STATUS_OK) return;
    StrBuf error = {0};
    *constraints = (LineConstraints){0};
    lines->texts[i] = SV("");
    lines->rejected++;
    if (!lines->quiet)
        log_warn(has_text ? "line %ld: %s" : "line %ld is not a JSON object with a \"text\" (%s)",
                 lines->window.first_number + i, status_message());
    utf8_repair(sv(status_message()), &error);
    lines->errors[i] = arena_text(arena, strbuf_view(&error)).data;
    strbuf_free(&error);
}

/* ---- prefixes ---- */

Status input_lines_set_prefix(InputLines *lines, const char *prefix, const char *prefix_file) {
    if (prefix && prefix_file)
        return status_fail(STATUS_USAGE, "--prefix and --prefix-file exclude each other");
    lines->prefix = prefix;
    return prefix_file ? line_reader_open(&lines->prefixes, prefix_file) : STATUS_OK;
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

static Status next_prefix(const InputLines *lines, StrView *prefix) {
    bool more;
    TRY(line_reader_next(lines->prefixes, prefix, &more));
    if (!more) {
        long prefixes = line_reader_number(lines->prefixes);
        status_fail(STATUS_DATA, "'%s' has %ld line%s, the input has more", line_reader_path(lines->prefixes),
                    prefixes, prefixes == 1 ? "" : "s");
        return status_hint(STATUS_DATA, "give one prefix per line; an empty line sets none");
    }
    *prefix = arena_text(lines->window.arena, *prefix);
    return STATUS_OK;
}

static Status add_prefixes(InputLines *lines) {
    lines->constrained |= lines->prefix || lines->prefixes;
    for (int i = 0; lines->constrained && i < lines->count; i++) {
        LineConstraints *constraints = &lines->constraints[i];
        StrView prefix = {0};
        if (lines->prefix) prefix = sv(lines->prefix);
        if (lines->prefixes) TRY(next_prefix(lines, &prefix));
        if (constraints->prefix.length == 0) constraints->prefix = prefix;
        if (lines->tags) constraints->prefix = without_markup(lines->window.arena, constraints->prefix);
    }
    return STATUS_OK;
}

Status input_lines_end(InputLines *lines) {
    StrView line;
    bool more = false;
    if (lines->prefixes) TRY(line_reader_next(lines->prefixes, &line, &more));
    if (!more) return STATUS_OK;
    return status_fail(STATUS_DATA, "'%s' has more lines than the input", line_reader_path(lines->prefixes));
}

/* ---- lines ---- */

Status input_lines_read(InputLines *lines, LineReader *reader, bool *more) {
    LineWindow *window = &lines->window;
    StatusRecord reading; /* the errors of JSON lines have messages, too */
    status_save(&reading, line_window_read(window, reader, NULL, more));
    size_t count = (size_t)window->count;
    lines->count = window->count;
    lines->constrained = false;
    lines->texts = window->lines[0];
    lines->constraints = arena_alloc_zeroed(window->arena, count * sizeof *lines->constraints);
    lines->errors = arena_alloc_zeroed(window->arena, count * sizeof *lines->errors);
    if (lines->json) lines->texts = arena_alloc_zeroed(window->arena, count * sizeof *lines->texts);
    for (int i = 0; i < lines->count && lines->json; i++) read_json(lines, i);
    if (reading.code != STATUS_OK) return status_restore(&reading);
    return add_prefixes(lines);
}

void input_lines_free(InputLines *lines) {
    if (lines->prefixes) line_reader_close(lines->prefixes);
    line_window_free(&lines->window);
}
