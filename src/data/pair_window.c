/* pair_window.c - pairs and candidates, line by line. */
#include "data/pair_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "data/pairs.h"

static Status fail_line(const LineReader *reader, long number, const char *what, const char *hint) {
    status_fail(STATUS_DATA, "'%s', line %ld: %s", line_reader_path(reader), number, what);
    return status_hint(STATUS_DATA, "%s", hint);
}

static Status check_length(const LineReader *reader, long number, StrView line) {
    if (line.length <= 2 * (size_t)PAIR_MAX_BYTES) return STATUS_OK;
    return fail_line(reader, number, "a line of more than 2 MB", "is it text, one sentence a line?");
}

/* SOURCE TAB TARGET, or the columns of a header. */
static Status cut_columns(const PairWindow *window, long number, Pair *pair) {
    int count = columns_cut(&window->columns, pair->raw, &pair->source, &pair->target);
    bool first = number == 1; /* and so no header before it */
    if (first && columns_look_like_ids(&window->columns, pair->raw))
        return fail_line(window->reader, number, "the first of more than two columns is a number",
                         "a first line such as id TAB en TAB fr says which columns are the pairs");
    if (count > 1) return STATUS_OK;
    return fail_line(window->reader, number, "no TAB in it",
                     "pairs are SOURCE TAB TARGET; for two files the arguments are SOURCE TARGET");
}

/* Is it the first line of a file of pairs, with the names of the columns? */
static bool is_header(PairWindow *window, long number, StrView line) {
    Columns columns;
    if (window->n_best || number != 1) return false;
    strbuf_add(&window->header, line);
    if (columns_from_header(strbuf_view(&window->header), window->source_language, window->target_language,
                            &columns))
        window->columns = columns;
    else
        strbuf_clear(&window->header);
    return window->header.length > 0;
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
        return fail_line(window->reader, number, "not 'NUMBER ||| TEXT ||| ...'",
                         "n-best lists are in Moses format, as 'attn-mt translate --n-best' prints them");
    if (id >= window->sources.count) {
        char what[96];
        snprintf(what, sizeof what, "number %ld, but the source has %d line%s", id, window->sources.count,
                 window->sources.count == 1 ? "" : "s");
        return fail_line(window->reader, number, what, "numbers count the lines of the source from 0");
    }
    *pair = (Pair){pair->raw, window->sources.lines[0][id], sv_trim(n_best_next_field(&rest)), id};
    return STATUS_OK;
}

/* Two files. */
static Status join_lines(const PairWindow *window, long number, Pair *pair) {
    TRY(check_length(window->reader, number, pair->source));
    TRY(check_length(window->targets, number, pair->target));
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
    long number = lines->first_number + i;
    Pair *pair = &window->pairs[window->count];
    if (window->targets) {
        *pair = (Pair){.source = lines->lines[0][i], .target = lines->lines[1][i]};
        TRY(join_lines(window, number, pair));
    } else {
        *pair = (Pair){.raw = lines->lines[0][i]};
        TRY(check_length(window->reader, number, pair->raw));
        if (is_header(window, number, pair->raw) || is_skipped(window, number, pair->raw)) return STATUS_OK;
        TRY(window->n_best ? cut_fields(window, number, pair) : cut_columns(window, number, pair));
    }
    window->count++;
    return STATUS_OK;
}

Status pair_window_read(PairWindow *window, bool *more) {
    LineWindow *lines = &window->lines;
    window->count = 0;
    do {
        lines->max_lines = window->max_pairs;
        Status status = line_window_read(lines, window->reader, window->targets, more);
        window->pairs = arena_alloc(lines->arena, (size_t)lines->count * sizeof *window->pairs);
        for (int i = 0; i < lines->count; i++) TRY(add_pair(window, i));
        TRY(status);
    } while (window->count == 0 && *more);
    return STATUS_OK;
}

static Status read_sources(PairWindow *window, const char *path) {
    LineWindow *sources = &window->sources;
    LineReader *reader;
    TRY(line_reader_open_limited(&reader, path));
    Status status = line_window_read_all(sources, reader), length = STATUS_OK;
    for (int i = 0; i < sources->count && length == STATUS_OK; i++)
        length = check_length(reader, i + 1, sources->lines[0][i]);
    line_reader_close(reader);
    window->lines.repaired = sources->repaired;
    window->lines.first_repaired = sources->first_repaired;
    return length == STATUS_OK ? status : length;
}

/* ---- opening and closing ---- */

Status pair_window_open(PairWindow *window, const char *pairs) {
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
    line_window_free(&window->lines);
    line_window_free(&window->sources);
    strbuf_free(&window->header);
}
