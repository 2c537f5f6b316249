/* line_guides.c - see line_guides.h. */
#include "cli/line_guides.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/whole_words.h"

typedef struct {
    StrView source, target; /* source as the model takes it */
} Term;

struct LineGuides {
    const char *prefix;
    LineReader *prefixes;
    const TextOptions *text;
    Term *terms; /* longest source first */
    size_t term_count, term_capacity;
    Arena *term_arena, *arena; /* of the glossary, of the lines of a window */
    LineGuide *items;
    size_t capacity;
    StrBuf normal;
    bool *hidden; /* scratch: bytes of the line that a term has taken */
    size_t hidden_capacity;
};

static StrView keep_text(Arena *arena, StrView text) {
    char *copy = arena_alloc(arena, text.length + 1);
    if (text.length > 0) memcpy(copy, text.data, text.length);
    return (StrView){copy, text.length};
}

static StrView normal_form(LineGuides *guides, StrView text) {
    StrBuf sound = {0};
    utf8_repair(text, &sound);
    strbuf_clear(&guides->normal);
    unicode_normalize(strbuf_view(&sound), (NormalForm)guides->text->normalize, guides->text->lowercase,
                      &guides->normal);
    strbuf_free(&sound);
    return strbuf_view(&guides->normal);
}

/* Longer terms hide shorter ones; between equals the file's order. */
static int term_compare(const void *a, const void *b) {
    const Term *x = a, *y = b;
    if (x->source.length != y->source.length) return x->source.length > y->source.length ? -1 : 1;
    return (x > y) - (x < y);
}

static Status add_term(LineGuides *guides, StrView line, const LineReader *reader) {
    StrView source = {0}, target = {0};
    if (unicode_is_blank(line)) return STATUS_OK;
    bool tab = memchr(line.data, '\t', line.length);
    if (tab) sv_next(&line, '\t', &source);
    if (tab) sv_next(&line, '\t', &target);
    if (unicode_is_blank(source) || unicode_is_blank(target) || !utf8_valid(target)) {
        status_fail(STATUS_DATA, "glossary '%s', line %ld: not SOURCE TAB TARGET", line_reader_path(reader),
                    line_reader_number(reader));
        return status_hint(STATUS_DATA, "a term and its translation on each line, with a TAB between them");
    }
    Term term = {keep_text(guides->term_arena, sv_trim(normal_form(guides, source))),
                 keep_text(guides->term_arena, sv_trim(target))};
    MEM_GROW(guides->terms, guides->term_capacity, guides->term_count + 1);
    guides->terms[guides->term_count++] = term;
    return STATUS_OK;
}

static Status read_glossary(LineGuides *guides, const char *path) {
    LineReader *reader;
    TRY(line_reader_open(&reader, path));
    Status status = STATUS_OK;
    for (bool more = true; status == STATUS_OK;) {
        StrView line;
        status = line_reader_next(reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        status = add_term(guides, line, reader);
    }
    line_reader_close(reader);
    if (status == STATUS_OK && guides->term_count == 0)
        status = status_fail(STATUS_DATA, "glossary '%s' has no terms", path);
    assert(status != STATUS_OK || guides->terms);
    if (status == STATUS_OK) qsort(guides->terms, guides->term_count, sizeof *guides->terms, term_compare);
    return status;
}

Status line_guides_open(LineGuides **guides, const char *prefix, const char *prefix_file,
                        const char *glossary, const TextOptions *text) {
    if (prefix && prefix_file)
        return status_fail(STATUS_USAGE, "--prefix and --prefix-file exclude each other");
    LineGuides *made = mem_alloc(1, sizeof *made);
    *made = (LineGuides){.prefix = prefix, .text = text, .term_arena = arena_new(), .arena = arena_new()};
    *guides = made;
    if (glossary) TRY(read_glossary(made, glossary));
    return prefix_file ? line_reader_open(&made->prefixes, prefix_file) : STATUS_OK;
}

void line_guides_free(LineGuides *guides) {
    if (!guides) return;
    if (guides->prefixes) line_reader_close(guides->prefixes);
    arena_free(guides->term_arena);
    arena_free(guides->arena);
    mem_free(guides->terms);
    mem_free(guides->items);
    mem_free(guides->hidden);
    strbuf_free(&guides->normal);
    mem_free(guides);
}

/* Is the term in the line, where no longer one hides it? Hides what it takes. */
static bool take_term(StrView line, StrView term, bool *hidden) {
    bool found = false;
    for (size_t at = 0; at + term.length <= line.length; at++) {
        if (memcmp(line.data + at, term.data, term.length) != 0 || memchr(hidden + at, 1, term.length) ||
            !text_words_at(line, at, term.length))
            continue;
        memset(hidden + at, true, term.length);
        found = true;
    }
    return found;
}

static bool is_listed(const LineConstraint *list, int count, StrView target) {
    for (int c = 0; c < count; c++)
        if (sv_equal(list[c].target, target)) return true;
    return false;
}

/* The line's own constraints, then those of the glossary. */
static void add_terms(LineGuides *guides, StrView line, LineGuide *guide) {
    LineConstraint *list = arena_alloc_zeroed(guides->arena, GUIDE_MOST_CONSTRAINTS * sizeof *list);
    int count = guide->constraint_count;
    StrView text = normal_form(guides, line);
    if (count > 0) memcpy(list, guide->constraints, (size_t)count * sizeof *list);
    MEM_GROW(guides->hidden, guides->hidden_capacity, text.length + 1);
    memset(guides->hidden, false, text.length + 1);
    for (size_t t = 0; t < guides->term_count && count < GUIDE_MOST_CONSTRAINTS; t++) {
        const Term *term = &guides->terms[t];
        if (!take_term(text, term->source, guides->hidden)) continue;
        if (is_listed(list, count, term->target)) continue;
        list[count++] = (LineConstraint){.target = term->target, .source = term->source};
    }
    guide->constraints = list;
    guide->constraint_count = count;
}

static Status next_prefix(LineGuides *guides, StrView *prefix) {
    bool more;
    TRY(line_reader_next(guides->prefixes, prefix, &more));
    if (!more) {
        status_fail(STATUS_DATA, "'%s' has %ld lines, the input has more", line_reader_path(guides->prefixes),
                    line_reader_number(guides->prefixes));
        return status_hint(STATUS_DATA, "a prefix for each line; an empty one asks for nothing");
    }
    *prefix = keep_text(guides->arena, *prefix);
    return STATUS_OK;
}

Status line_guides_next(LineGuides *guides, const LineWindow *window, const LineGuide **found) {
    *found = NULL;
    if (!guides->prefix && !guides->prefixes && guides->term_count == 0 && !window->guided) return STATUS_OK;
    arena_reset(guides->arena);
    MEM_GROW(guides->items, guides->capacity, (size_t)window->count);
    for (int i = 0; i < window->count; i++) {
        LineGuide *guide = &guides->items[i];
        StrView prefix = {0};
        *guide = window->guides[i];
        if (guides->prefix) prefix = sv(guides->prefix);
        if (guides->prefixes) TRY(next_prefix(guides, &prefix));
        if (guide->prefix.length == 0) guide->prefix = prefix;
        if (guides->term_count > 0) add_terms(guides, window->lines[i], guide);
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
