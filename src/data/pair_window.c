/* pair_window.c - pairs and candidates, line by line. */
#include "data/pair_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "data/pairs.h"
#include "formats/escapes.h"

static Status fail_line(const char *path, long number, const char *what, const char *hint) {
    status_fail(STATUS_DATA, "'%s', line %ld: %s", path, number, what);
    return status_hint(STATUS_DATA, "%s", hint);
}

static Status check_length(const char *path, long number, StrView line) {
    if (line.length <= 2 * (size_t)PAIR_MAX_BYTES) return STATUS_OK;
    return fail_line(path, number, "a line of more than 2 MB", "is it text, one sentence a line?");
}

/* The text of a cell, without escapes. */
static StrView cell_text(const PairWindow *window, StrView cell) {
    StrBuf buffer = {0};
    StrView text = table_text(window->table, cell, &buffer);
    if (buffer.length > 0) text = arena_text(window->lines.arena, text);
    strbuf_free(&buffer);
    return text;
}

/* SOURCE TAB TARGET, or the columns of a header. */
static Status cut_columns(const PairWindow *window, bool first, long number, Pair *pair) {
    const char *path = pair_window_path(window);
    int count = columns_cut(&window->columns, pair->raw, &pair->source, &pair->target);
    if (first && columns_look_like_ids(&window->columns, pair->raw)) /* there is no header */
        return fail_line(path, number, "the first of more than two columns is a number",
                         "a first line such as id TAB en TAB fr says which columns are the pairs");
    if (count < 2)
        return fail_line(path, number, "no TAB in it",
                         "pairs are SOURCE TAB TARGET; for two files the arguments are SOURCE TARGET");
    pair->source = cell_text(window, pair->source);
    pair->target = cell_text(window, pair->target);
    return STATUS_OK;
}

/* Is the first line of a file of pairs a header, with the names of the columns? */
static bool is_header(PairWindow *window, StrView line) {
    Columns columns;
    bool escapes = table_has_escapes(window->table);
    strbuf_add(&window->header, line);
    bool is_header = columns_from_header(strbuf_view(&window->header), window->source_language,
                                         window->target_language, &columns);
    if (is_header)
        window->columns = columns;
    else if (!table_has_units(window->table))
        strbuf_clear(&window->header);
    if (!is_header && escapes && window->filters && !window->header.length)
        strbuf_add(&window->header, SV("source\ttarget"));
    if (window->header.length > 0 && escapes && !escapes_are_named(strbuf_view(&window->header)))
        strbuf_add(&window->header, SV("\t" ESCAPES_COLUMN));
    return is_header || table_has_units(window->table);
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
static Status cut_fields(const PairWindow *window, long number, Pair *pair) {
    StrView rest = pair->raw, digits = sv_trim(n_best_next_field(&rest));
    long id = 0;
    bool is_id = digits.length > 0 && digits.length < 10 && rest.length > 0;
    for (size_t i = 0; i < digits.length && is_id; i++) {
        is_id = digits.data[i] >= '0' && digits.data[i] <= '9';
        id = id * 10 + (digits.data[i] - '0');
    }
    if (!is_id)
        return fail_line(pair_window_path(window), number, "not 'NUMBER ||| TEXT ||| ...'",
                         "n-best lists are in Moses format, as 'attn-mt translate --n-best' prints them");
    if (id >= window->sources.count) {
        char what[96];
        snprintf(what, sizeof what, "number %ld, but the source has %d line%s", id, window->sources.count,
                 window->sources.count == 1 ? "" : "s");
        return fail_line(pair_window_path(window), number, what,
                         "numbers count the lines of the source from 0");
    }
    *pair = (Pair){pair->raw, window->sources.lines[0][id], sv_trim(n_best_next_field(&rest)), id};
    return STATUS_OK;
}

/* Two files. */
static Status join_lines(const PairWindow *window, long number, Pair *pair) {
    TRY(check_length(pair_window_path(window), number, pair->source));
    TRY(check_length(line_reader_path(window->targets), number, pair->target));
    if (!window->filters) return STATUS_OK;
    StrBuf both = {0};
    pair_join(&both, pair->source, pair->target);
    pair->raw = arena_text(window->lines.arena, strbuf_view(&both));
    strbuf_free(&both);
    return STATUS_OK;
}

static bool is_skipped(PairWindow *window, long number, StrView line) {
    if (!window->filters || memchr(line.data, '\t', line.length)) return false;
    if (window->skipped++ == 0) window->first_skipped = number;
    return true;
}

/* Adds line i of the window, unless it is no pair. */
static Status add_pair(PairWindow *window, int i) {
    const LineWindow *lines = &window->lines;
    long number = window->table ? window->numbers[i] : lines->first_number + i;
    Pair *pair = &window->pairs[window->count];
    if (window->targets) {
        *pair = (Pair){.source = lines->lines[0][i], .target = lines->lines[1][i]};
        TRY(join_lines(window, number, pair));
    } else {
        *pair = (Pair){.raw = lines->lines[0][i]};
        bool first = window->table && window->rows++ == 0;
        TRY(check_length(pair_window_path(window), number, pair->raw));
        if ((first && is_header(window, pair->raw)) || is_skipped(window, number, pair->raw))
            return STATUS_OK;
        TRY(window->n_best ? cut_fields(window, number, pair) : cut_columns(window, first, number, pair));
    }
    window->count++;
    return STATUS_OK;
}

/* line_window_read for a table. */
static Status read_table(PairWindow *window, bool *more) {
    LineWindow *lines = &window->lines;
    line_window_empty(lines);
    do {
        StrView line;
        TRY(table_next(window->table, &line, more));
        if (!*more) return STATUS_OK;
        MEM_GROW(window->numbers, window->number_capacity, (size_t)lines->count + 1);
        window->numbers[lines->count] = table_number(window->table);
        line_window_add_numbered(lines, line, window->numbers[lines->count]);
    } while (!line_window_is_full(lines) && table_ready(window->table));
    return STATUS_OK;
}

/* A file of other lines is no file of pairs. */
static Status check_skipped(const PairWindow *window) {
    if (2 * window->skipped <= window->rows) return STATUS_OK;
    status_fail(STATUS_DATA, "%ld of the %ld lines of '%s' have no TAB", window->skipped, window->rows,
                pair_window_path(window));
    return status_hint(STATUS_DATA,
                       "pairs are SOURCE TAB TARGET; for two files the arguments are SOURCE TARGET");
}

Status pair_window_read(PairWindow *window, bool *more) {
    LineWindow *lines = &window->lines;
    window->count = 0;
    do {
        lines->max_lines = window->max_pairs;
        Status status = window->table ? read_table(window, more)
                                      : line_window_read(lines, window->reader, window->targets, more);
        window->pairs = arena_alloc(lines->arena, (size_t)lines->count * sizeof *window->pairs);
        for (int i = 0; i < lines->count; i++) TRY(add_pair(window, i));
        TRY(status);
    } while (window->count == 0 && *more);
    return *more || !window->table ? STATUS_OK : check_skipped(window);
}

static Status read_sources(PairWindow *window, const char *path) {
    LineWindow *sources = &window->sources;
    LineReader *reader;
    TRY(line_reader_open_limited(&reader, path));
    Status status = line_window_read_all(sources, reader), length = STATUS_OK;
    for (int i = 0; i < sources->count && length == STATUS_OK; i++)
        length = check_length(line_reader_path(reader), i + 1, sources->lines[0][i]);
    line_reader_close(reader);
    window->lines.repaired = sources->repaired;
    window->lines.first_repaired = sources->first_repaired;
    return length == STATUS_OK ? status : length;
}

/* ---- opening and closing ---- */

static void set_up(PairWindow *window, const char *path) {
    window->bytes = (double)file_size(path);
    window->columns = columns_first_two(window->source_language, window->target_language);
}

Status pair_window_open(PairWindow *window, const char *pairs) {
    set_up(window, pairs);
    return table_open(&window->table, pairs, window->source_language, window->target_language);
}

Status pair_window_open_two(PairWindow *window, const char *source, const char *target) {
    set_up(window, source);
    TRY(line_reader_open(&window->reader, source));
    return line_reader_open(&window->targets, target);
}

Status pair_window_open_n_best(PairWindow *window, const char *source, const char *list) {
    window->n_best = true;
    TRY(read_sources(window, source));
    set_up(window, list);
    return line_reader_open(&window->reader, list);
}

const char *pair_window_path(const PairWindow *window) {
    return window->table ? table_path(window->table) : line_reader_path(window->reader);
}

double pair_window_fraction(const PairWindow *window) {
    double consumed =
        (double)(window->table ? table_consumed(window->table) : line_reader_consumed(window->reader));
    return window->bytes > 0 ? fmin(consumed / window->bytes, 1) : 0;
}

void pair_window_free(PairWindow *window) {
    table_close(window->table);
    mem_free(window->numbers);
    if (window->reader) line_reader_close(window->reader);
    if (window->targets) line_reader_close(window->targets);
    line_window_free(&window->lines);
    line_window_free(&window->sources);
    strbuf_free(&window->header);
}
