/* pair_window.c - pairs and candidates, line by line. */
#include "data/pair_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "data/pairs.h"

enum { MOST_BYTES = 32 << 20 };

static Status fail_line(const LineReader *reader, const char *what, const char *hint) {
    status_fail(STATUS_DATA, "'%s', line %ld: %s", line_reader_path(reader), line_reader_number(reader),
                what);
    return status_hint(STATUS_DATA, "%s", hint);
}

/* STATUS_DATA for a line that is too long; counts those that are not text. */
static Status check_line(PairWindow *window, const LineReader *reader, StrView line) {
    if (line.length > 2 * (size_t)PAIR_MAX_BYTES)
        return fail_line(reader, "a line of more than 2 MB", "is it text, one sentence a line?");
    bool is_text = !memchr(line.data, 0, line.length) && utf8_valid(line);
    if (!is_text && window->repaired++ == 0) window->first_repaired = line_reader_number(reader);
    return STATUS_OK;
}

/* The next line, valid until the one after it is read. */
static Status next_line(PairWindow *window, LineReader *reader, StrView *line, bool *more) {
    TRY(line_reader_next(reader, line, more));
    return *more ? check_line(window, reader, *line) : STATUS_OK;
}

/* SOURCE TAB TARGET, or the columns of a header. */
static Status cut_columns(const PairWindow *window, Pair *pair) {
    int count = columns_cut(&window->columns, pair->raw, &pair->source, &pair->target);
    bool first = line_reader_number(window->reader) == 1; /* and so no header before it */
    if (first && columns_look_like_ids(&window->columns, pair->raw))
        return fail_line(window->reader, "the first of more than two columns is a number",
                         "a first line such as id TAB en TAB fr says which columns are the pairs");
    if (count > 1) return STATUS_OK;
    return fail_line(window->reader, "no TAB in it",
                     "pairs are SOURCE TAB TARGET; for two files the arguments are SOURCE TARGET");
}

static bool is_header(PairWindow *window, StrView line) {
    Columns columns;
    if (window->n_best || line_reader_number(window->reader) != 1) return false;
    if (!columns_from_header(line, window->source_language, window->target_language, &columns)) return false;
    window->columns = columns;
    strbuf_add(&window->header, line);
    return true;
}

StrView n_best_next_field(StrView *rest) {
    for (size_t i = 0; i + 3 <= rest->length; i++) {
        if (memcmp(rest->data + i, "|||", 3) != 0) continue;
        StrView field = {rest->data, i};
        *rest = (StrView){rest->data + i + 3, rest->length - i - 3};
        return field;
    }
    StrView field = *rest;
    *rest = (StrView){rest->data + rest->length, 0};
    return field;
}

/* NUMBER ||| TEXT ||| ... */
static Status cut_fields(const PairWindow *window, Pair *pair) {
    StrView rest = pair->raw, number = sv_trim(n_best_next_field(&rest));
    long id = 0;
    bool is_id = number.length > 0 && number.length < 10 && rest.length > 0;
    for (size_t i = 0; i < number.length && is_id; i++) {
        is_id = number.data[i] >= '0' && number.data[i] <= '9';
        id = id * 10 + (number.data[i] - '0');
    }
    if (!is_id)
        return fail_line(window->reader, "not 'NUMBER ||| TEXT ||| ...'",
                         "n-best lists are in Moses format, as 'attn-mt translate --n-best' prints them");
    if (id >= window->source_count) {
        char what[96];
        snprintf(what, sizeof what, "number %ld, but the source has %ld line%s", id, window->source_count,
                 window->source_count == 1 ? "" : "s");
        return fail_line(window->reader, what, "numbers count the lines of the source from 0");
    }
    *pair = (Pair){pair->raw, window->sources[id], sv_trim(n_best_next_field(&rest)), id};
    return STATUS_OK;
}

/* Two files. */
static Status next_lines(PairWindow *window, Pair *pair, bool *more) {
    StrBuf both = {0};
    TRY(pair_lines_next(window->reader, window->targets, &pair->source, &pair->target, more));
    if (!*more) return STATUS_OK;
    TRY(check_line(window, window->reader, pair->source));
    TRY(check_line(window, window->targets, pair->target));
    pair->source = arena_text(window->arena, pair->source);
    pair->target = arena_text(window->arena, pair->target);
    if (!window->filters) return STATUS_OK;
    pair_join(&both, pair->source, pair->target);
    pair->raw = arena_text(window->arena, strbuf_view(&both));
    strbuf_free(&both);
    return STATUS_OK;
}

static bool is_skipped(PairWindow *window, StrView line) {
    if (!window->filters || memchr(line.data, '\t', line.length)) return false;
    if (window->skipped++ == 0) window->first_skipped = line_reader_number(window->reader);
    return true;
}

static Status next_pair(PairWindow *window, Pair *pair, bool *more) {
    *pair = (Pair){0};
    if (window->targets) return next_lines(window, pair, more);
    do {
        TRY(next_line(window, window->reader, &pair->raw, more));
        if (!*more) return STATUS_OK;
    } while (is_header(window, pair->raw) || is_skipped(window, pair->raw));
    pair->raw = arena_text(window->arena, pair->raw);
    return window->n_best ? cut_fields(window, pair) : cut_columns(window, pair);
}

Status pair_window_read(PairWindow *window, bool *more) {
    window->count = 0;
    arena_reset(window->arena);
    do {
        Pair pair;
        TRY(next_pair(window, &pair, more));
        if (!*more) break;
        window->pairs[window->count++] = pair;
    } while (window->count < window->most && arena_used(window->arena) < MOST_BYTES &&
             line_reader_ready(window->reader));
    return STATUS_OK;
}

static Status read_sources(PairWindow *window, const char *path) {
    LineReader *reader;
    TRY(line_reader_open_limited(&reader, path));
    Status status = STATUS_OK;
    window->source_arena = arena_new();
    MEM_GROW(window->sources, window->source_capacity, 1);
    for (bool more = true;;) {
        StrView line;
        status = next_line(window, reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        MEM_GROW(window->sources, window->source_capacity, (size_t)window->source_count + 1);
        window->sources[window->source_count++] = arena_text(window->source_arena, line);
    }
    line_reader_close(reader);
    return status;
}

/* ---- opening and closing ---- */

Status pair_window_open(PairWindow *window, const char *pairs) {
    window->arena = arena_new();
    window->pairs = mem_alloc((size_t)window->most, sizeof *window->pairs);
    window->bytes = (double)file_size(pairs);
    window->columns = columns_first_two(window->source_language, window->target_language);
    return line_reader_open(&window->reader, pairs);
}

Status pair_window_open_two(PairWindow *window, const char *source, const char *target) {
    TRY(pair_window_open(window, source));
    return line_reader_open(&window->targets, target);
}

Status pair_window_open_n_best(PairWindow *window, const char *source, const char *list) {
    window->n_best = true;
    TRY(read_sources(window, source));
    return pair_window_open(window, list);
}

double pair_window_share(const PairWindow *window) {
    double consumed = (double)line_reader_consumed(window->reader);
    return window->bytes > 0 ? fmin(consumed / window->bytes, 1) : 0;
}

void pair_window_free(PairWindow *window) {
    if (window->reader) line_reader_close(window->reader);
    if (window->targets) line_reader_close(window->targets);
    arena_free(window->arena);
    arena_free(window->source_arena);
    mem_free(window->pairs);
    mem_free(window->sources);
    strbuf_free(&window->header);
}
