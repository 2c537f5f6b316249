/* shortlist.c - see shortlist.h. */
#include "data/shortlist.h"

#include "base/mem.h"
#include "tokenizer/vocab.h"

void shortlist_free(Shortlist *shortlist) {
    if (!shortlist) return;
    mem_free(shortlist->start);
    mem_free(shortlist->ids);
    mem_free(shortlist);
}

void shortlist_write(const Shortlist *shortlist, StrBuf *out) {
    for (int list = 0; list <= shortlist->source_size; list++) {
        size_t first = shortlist->start[list], end = shortlist->start[list + 1];
        for (size_t i = first; i < end; i++) strbuf_format(out, i > first ? " %d" : "%d", shortlist->ids[i]);
        strbuf_add_char(out, ';');
    }
}

/* Reads the id at *position and moves on. */
static Status read_id(StrView text, size_t *position, int target_size, int *id) {
    size_t start = *position;
    long long value = 0;
    for (; *position < text.length && text.data[*position] >= '0' && text.data[*position] <= '9'; ++*position)
        if (value < target_size) value = 10 * value + (text.data[*position] - '0');
    if (*position == start) return status_fail(STATUS_DATA, "no number at byte %zu", start);
    if (value < VOCAB_SPECIALS || value >= target_size)
        return status_fail(STATUS_DATA, "the number at byte %zu is no target token from %d to %d", start,
                           VOCAB_SPECIALS, target_size - 1);
    *id = (int)value;
    return STATUS_OK;
}

/* Appends the list at *position to `ids`. */
static Status read_list(Shortlist *shortlist, StrView text, size_t *position, int list) {
    size_t *end = &shortlist->start[list + 1];
    *end = shortlist->start[list];
    for (bool first = true; *position >= text.length || text.data[*position] != ';'; first = false) {
        if (!first && *position < text.length && text.data[(*position)++] != ' ')
            return status_fail(STATUS_DATA, "neither a space nor a ';' at byte %zu", *position - 1);
        TRY(read_id(text, position, shortlist->target_size, &shortlist->ids[*end]));
        if (++*end - shortlist->start[list] > SHORTLIST_MOST)
            return status_fail(STATUS_DATA, "list %d has more than %d tokens", list, SHORTLIST_MOST);
    }
    ++*position;
    return STATUS_OK;
}

static Status read_lists(Shortlist *shortlist, StrView text) {
    size_t position = 0;
    for (int list = 0; list <= shortlist->source_size; list++) {
        if (position == text.length)
            return status_fail(STATUS_DATA, "%d lists for %d source tokens", list, shortlist->source_size);
        TRY(read_list(shortlist, text, &position, list));
    }
    return position == text.length
               ? STATUS_OK
               : status_fail(STATUS_DATA, "text after the last list, at byte %zu", position);
}

Status shortlist_read(Shortlist **shortlist, StrView text, int source_size, int target_size) {
    Shortlist *result = mem_alloc(1, sizeof *result);
    *result = (Shortlist){.source_size = source_size, .target_size = target_size};
    result->start = mem_alloc((size_t)source_size + 2, sizeof *result->start);
    result->ids = mem_alloc(text.length / 2 + 1, sizeof *result->ids); /* an id takes two bytes at least */
    Status status = read_lists(result, text);
    *shortlist = status == STATUS_OK ? result : NULL;
    if (status != STATUS_OK) shortlist_free(result);
    return status;
}

size_t shortlist_translations(const Shortlist *shortlist) {
    return shortlist->start[shortlist->source_size + 1] - shortlist->start[1];
}

static void mark_list(const Shortlist *shortlist, int list, int best, bool *is_listed) {
    size_t first = shortlist->start[list], count = shortlist->start[list + 1] - first;
    if (count > (size_t)best) count = (size_t)best;
    for (size_t i = first; i < first + count; i++) is_listed[shortlist->ids[i]] = true;
}

void shortlist_mark(const Shortlist *shortlist, int best, Tokens source, bool *is_listed) {
    mark_list(shortlist, 0, best, is_listed);
    for (int i = 0; i < source.length; i++) mark_list(shortlist, 1 + source.ids[i], best, is_listed);
}
