/* line_guides.c - see line_guides.h. */
#include "cli/line_guides.h"

#include "base/arena.h"
#include "base/mem.h"
#include "text/markup.h"

struct LineGuides {
    const char *prefix;
    LineReader *prefixes;
    bool tags;
    Arena *arena; /* of the lines of a window */
    LineGuide *items;
    size_t capacity;
};

Status line_guides_open(LineGuides **guides, const char *prefix, const char *prefix_file, bool tags) {
    if (prefix && prefix_file)
        return status_fail(STATUS_USAGE, "--prefix and --prefix-file exclude each other");
    LineGuides *made = mem_alloc(1, sizeof *made);
    *made = (LineGuides){.prefix = prefix, .tags = tags, .arena = arena_new()};
    *guides = made;
    return prefix_file ? line_reader_open(&made->prefixes, prefix_file) : STATUS_OK;
}

void line_guides_free(LineGuides *guides) {
    if (!guides) return;
    if (guides->prefixes) line_reader_close(guides->prefixes);
    arena_free(guides->arena);
    mem_free(guides->items);
    mem_free(guides);
}

static StrView without_markup(Arena *arena, StrView text) {
    Markup markup = {0};
    markup_find(text, &markup);
    StrView plain = arena_text(arena, strbuf_view(&markup.plain));
    markup_free(&markup);
    return plain;
}

static Status next_prefix(LineGuides *guides, StrView *prefix) {
    bool more;
    TRY(line_reader_next(guides->prefixes, prefix, &more));
    if (!more) {
        long lines = line_reader_number(guides->prefixes);
        status_fail(STATUS_DATA, "'%s' has %ld line%s, the input has more",
                    line_reader_path(guides->prefixes), lines, lines == 1 ? "" : "s");
        return status_hint(STATUS_DATA, "a prefix for each line; an empty one asks for nothing");
    }
    *prefix = arena_text(guides->arena, *prefix);
    return STATUS_OK;
}

Status line_guides_next(LineGuides *guides, const LineWindow *window, const LineGuide **found) {
    *found = NULL;
    if (!guides->prefix && !guides->prefixes && !window->guided) return STATUS_OK;
    arena_reset(guides->arena);
    MEM_GROW(guides->items, guides->capacity, (size_t)window->count);
    for (int i = 0; i < window->count; i++) {
        LineGuide *guide = &guides->items[i];
        StrView prefix = {0};
        *guide = window->guides[i];
        if (guides->prefix) prefix = sv(guides->prefix);
        if (guides->prefixes) TRY(next_prefix(guides, &prefix));
        if (guide->prefix.length == 0) guide->prefix = prefix;
        if (guides->tags) guide->prefix = without_markup(guides->arena, guide->prefix);
    }
    *found = guides->items;
    return STATUS_OK;
}

Status line_guides_end(LineGuides *guides) {
    StrView line;
    bool more = false;
    if (guides->prefixes) TRY(line_reader_next(guides->prefixes, &line, &more));
    if (!more) return STATUS_OK;
    return status_fail(STATUS_DATA, "'%s' has more lines than the input", line_reader_path(guides->prefixes));
}
