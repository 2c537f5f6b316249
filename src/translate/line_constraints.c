/* line_constraints.c - see line_constraints.h. */
#include "translate/line_constraints.h"

#include "base/arena.h"
#include "base/mem.h"
#include "text/markup.h"

struct LineConstraintReader {
    const char *prefix;
    LineReader *prefixes;
    bool tags;
    Arena *arena; /* of the lines of a window */
    LineConstraints *items;
    size_t capacity;
};

Status line_constraints_open(LineConstraintReader **reader, const char *prefix, const char *prefix_file,
                             bool tags) {
    if (prefix && prefix_file)
        return status_fail(STATUS_USAGE, "--prefix and --prefix-file exclude each other");
    LineConstraintReader *made = mem_alloc(1, sizeof *made);
    *made = (LineConstraintReader){.prefix = prefix, .tags = tags, .arena = arena_new()};
    *reader = made;
    return prefix_file ? line_reader_open(&made->prefixes, prefix_file) : STATUS_OK;
}

void line_constraints_free(LineConstraintReader *reader) {
    if (!reader) return;
    if (reader->prefixes) line_reader_close(reader->prefixes);
    arena_free(reader->arena);
    mem_free(reader->items);
    mem_free(reader);
}

static StrView without_markup(Arena *arena, StrView text) {
    Markup markup = {0};
    markup_find(text, &markup);
    StrView plain = arena_text(arena, strbuf_view(&markup.plain));
    markup_free(&markup);
    return plain;
}

static Status next_prefix(LineConstraintReader *reader, StrView *prefix) {
    bool more;
    TRY(line_reader_next(reader->prefixes, prefix, &more));
    if (!more) {
        long lines = line_reader_number(reader->prefixes);
        status_fail(STATUS_DATA, "'%s' has %ld line%s, the input has more",
                    line_reader_path(reader->prefixes), lines, lines == 1 ? "" : "s");
        return status_hint(STATUS_DATA, "a prefix for each line; an empty one asks for nothing");
    }
    *prefix = arena_text(reader->arena, *prefix);
    return STATUS_OK;
}

Status line_constraints_next(LineConstraintReader *reader, const LineWindow *window,
                             const LineConstraints **found) {
    *found = NULL;
    if (!reader->prefix && !reader->prefixes && !window->constrained) return STATUS_OK;
    arena_reset(reader->arena);
    MEM_GROW(reader->items, reader->capacity, (size_t)window->count);
    for (int i = 0; i < window->count; i++) {
        LineConstraints *line = &reader->items[i];
        StrView prefix = {0};
        *line = window->constraints[i];
        if (reader->prefix) prefix = sv(reader->prefix);
        if (reader->prefixes) TRY(next_prefix(reader, &prefix));
        if (line->prefix.length == 0) line->prefix = prefix;
        if (reader->tags) line->prefix = without_markup(reader->arena, line->prefix);
    }
    *found = reader->items;
    return STATUS_OK;
}

Status line_constraints_end(LineConstraintReader *reader) {
    StrView line;
    bool more = false;
    if (reader->prefixes) TRY(line_reader_next(reader->prefixes, &line, &more));
    if (!more) return STATUS_OK;
    return status_fail(STATUS_DATA, "'%s' has more lines than the input", line_reader_path(reader->prefixes));
}
