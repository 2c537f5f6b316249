/* shortlist.c - see shortlist.h. */
#include "data/shortlist.h"

#include <string.h>
#include "base/mem.h"
#include "tokenizer/vocab.h"

void shortlist_free(Shortlist *shortlist) {
    if (!shortlist) return;
    mem_free(shortlist->start);
    mem_free(shortlist->ids);
    mem_free(shortlist);
}

/* ---- the numbers of a model file ---- */

int shortlist_width(int target_size) { return target_size <= UINT16_MAX + 1 ? 2 : 4; }

static void add_number(StrBuf *out, size_t number, int width) {
    uint32_t wide = (uint32_t)number;
    uint16_t narrow = (uint16_t)number;
    strbuf_add(out, width == 4 ? (StrView){(const char *)&wide, 4} : (StrView){(const char *)&narrow, 2});
}

static size_t number_at(StrView numbers, size_t index, int width) {
    uint32_t wide;
    uint16_t narrow;
    if (width == 4)
        memcpy(&wide, numbers.data + 4 * index, 4);
    else
        memcpy(&narrow, numbers.data + 2 * index, 2);
    return width == 4 ? wide : narrow;
}

void shortlist_write(const Shortlist *shortlist, StrBuf *lengths, StrBuf *ids) {
    const size_t *start = shortlist->start;
    int width = shortlist_width(shortlist->target_size);
    for (int list = 0; list <= shortlist->source_size; list++)
        add_number(lengths, start[list + 1] - start[list], width);
    for (size_t i = 0; i < start[shortlist->source_size + 1]; i++)
        add_number(ids, (size_t)shortlist->ids[i], width);
}

static Status unpack_lengths(Shortlist *shortlist, StrView lengths, int width) {
    size_t count = lengths.length / (size_t)width;
    if (count != (size_t)shortlist->source_size + 1 || lengths.length % (size_t)width != 0)
        return status_fail(STATUS_DATA, "%zu lists for %d source tokens", count, shortlist->source_size);
    for (size_t list = 0; list < count; list++) {
        size_t length = number_at(lengths, list, width);
        if (length > SHORTLIST_MAX)
            return status_fail(STATUS_DATA, "list %zu has more than %d tokens", list, SHORTLIST_MAX);
        shortlist->start[list + 1] = shortlist->start[list] + length;
    }
    return STATUS_OK;
}

static Status unpack_ids(Shortlist *shortlist, StrView ids, int width) {
    size_t count = ids.length / (size_t)width, used = shortlist->start[shortlist->source_size + 1];
    if (ids.length % (size_t)width != 0 || used > count || (count - used) * (size_t)width >= 8)
        return status_fail(STATUS_DATA, "%zu tokens for lists of %zu", count, used);
    shortlist->ids = mem_alloc(used + 1, sizeof *shortlist->ids);
    for (size_t i = 0; i < used; i++) {
        size_t id = number_at(ids, i, width);
        if (id < VOCAB_SPECIALS || id >= (size_t)shortlist->target_size)
            return status_fail(STATUS_DATA, "number %zu is no target token from %d to %d", i, VOCAB_SPECIALS,
                               shortlist->target_size - 1);
        shortlist->ids[i] = (int)id;
    }
    for (size_t i = used; i < count; i++)
        if (number_at(ids, i, width)) return status_fail(STATUS_DATA, "number %zu is in no list", i);
    return STATUS_OK;
}

static Shortlist *shortlist_new(int source_size, int target_size) {
    Shortlist *shortlist = mem_alloc(1, sizeof *shortlist);
    *shortlist = (Shortlist){.source_size = source_size, .target_size = target_size};
    shortlist->start = mem_alloc((size_t)source_size + 2, sizeof *shortlist->start);
    return shortlist;
}

/* `built`, if it could be read. */
static Status finish(Shortlist **shortlist, Shortlist *built, Status status) {
    *shortlist = status == STATUS_OK ? built : NULL;
    if (status != STATUS_OK) shortlist_free(built);
    return status;
}

Status shortlist_read(Shortlist **shortlist, StrView lengths, StrView ids, int source_size, int target_size) {
    Shortlist *built = shortlist_new(source_size, target_size);
    int width = shortlist_width(target_size);
    Status status = unpack_lengths(built, lengths, width);
    if (status == STATUS_OK) status = unpack_ids(built, ids, width);
    return finish(shortlist, built, status);
}

/* ---- the text of earlier releases ---- */

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
        if (++*end - shortlist->start[list] > SHORTLIST_MAX)
            return status_fail(STATUS_DATA, "list %d has more than %d tokens", list, SHORTLIST_MAX);
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

Status shortlist_read_text(Shortlist **shortlist, StrView text, int source_size, int target_size) {
    Shortlist *built = shortlist_new(source_size, target_size);
    built->ids = mem_alloc(text.length / 2 + 1, sizeof *built->ids); /* an id takes two bytes at least */
    return finish(shortlist, built, read_lists(built, text));
}

/* ---- use ---- */

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
