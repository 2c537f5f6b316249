/* csv.c - one automaton, which rows are read with and separators are found with. */
#include "formats/csv.h"

#include <string.h>
#include "base/mem.h"
#include "formats/escapes.h"
#include "text/languages.h"

enum { MAX_CELL = 4 << 20, BUFFER = 1 << 16 };

typedef enum { AT_START, PLAIN, QUOTED, AFTER_QUOTE } CsvState;

/* What one character does to the row. */
typedef enum { CSV_NOTHING, CSV_CHARACTER, CSV_NEXT_CELL, CSV_END_OF_ROW } CsvStep;

typedef struct {
    char separator;
    CsvState state;
    bool strange;   /* the character contradicts RFC 4180: a quote in a plain cell, or text after quotes */
    bool needed;    /* a doubled quote, a line end or a separator in quotes */
    bool after_end; /* of a row by '\r': a '\n' belongs to it */
} Csv;

static CsvStep csv_step(Csv *csv, char c) {
    bool after_end = csv->after_end;
    csv->strange = csv->needed = csv->after_end = false;
    if (csv->state == QUOTED) {
        if (c == '"') csv->state = AFTER_QUOTE;
        csv->needed = c == '\n' || c == csv->separator;
        return c == '"' ? CSV_NOTHING : CSV_CHARACTER;
    }
    if (csv->state == AFTER_QUOTE && c == '"') {
        csv->state = QUOTED;
        csv->needed = true;
        return CSV_CHARACTER;
    }
    if (c == '\n' && after_end) return CSV_NOTHING;
    if (c == '\n' || c == '\r' || c == csv->separator) {
        csv->state = AT_START;
        csv->after_end = c == '\r';
        return c == csv->separator ? CSV_NEXT_CELL : CSV_END_OF_ROW;
    }
    if (csv->state == AT_START && c == '"') {
        csv->state = QUOTED;
        return CSV_NOTHING;
    }
    csv->strange = csv->state == AFTER_QUOTE || c == '"';
    csv->state = PLAIN;
    return CSV_CHARACTER;
}

/* ---- finding the separator ---- */

/* "sep=;" is for Excel. */
static char named_separator(StrView sample) {
    bool named = sv_starts(sample, SV("sep=")) && sample.length > 5 && strchr("\r\n", sample.data[5]);
    return named && strchr(",;\t", sample.data[4]) ? sample.data[4] : 0;
}

typedef struct {
    long rows, other_rows; /* other_rows: without the number of cells of the first */
    int cells, languages;  /* of the first row */
    long quoted, needed, strange;
    bool open; /* ends in quotes */
} Survey;

typedef struct {
    int cells;
    StrBuf text; /* of the cell */
    bool any;    /* the row has a character */
} RowSurvey;

static void end_cell(Survey *survey, RowSurvey *row) {
    if (survey->rows == 0) survey->languages += language_code(strbuf_view(&row->text)).length > 0;
    strbuf_clear(&row->text);
    row->cells++;
}

static void end_row(Survey *survey, RowSurvey *row) {
    end_cell(survey, row);
    if (row->cells > 1 || row->any) {
        if (survey->rows++ == 0) survey->cells = row->cells;
        survey->other_rows += row->cells != survey->cells;
    }
    row->cells = 0;
    row->any = false;
}

static Survey survey_sample(StrView sample, bool whole, char separator) {
    Survey survey = {0};
    RowSurvey row = {0};
    Csv csv = {.separator = separator};
    for (size_t i = 0; i < sample.length; i++) {
        survey.quoted += csv.state == AT_START && sample.data[i] == '"';
        CsvStep step = csv_step(&csv, sample.data[i]);
        survey.needed += csv.needed;
        survey.strange += csv.strange;
        if (step == CSV_CHARACTER && survey.rows == 0 && row.text.length < 64)
            strbuf_add_char(&row.text, sample.data[i]);
        row.any |= step == CSV_CHARACTER;
        if (step == CSV_NEXT_CELL) end_cell(&survey, &row);
        if (step == CSV_END_OF_ROW) end_row(&survey, &row);
    }
    survey.open = csv.state == QUOTED;
    if (whole && csv.state != QUOTED && (row.any || row.cells > 0)) end_row(&survey, &row);
    strbuf_free(&row.text);
    return survey;
}

static bool is_csv(const Survey *survey, bool whole) {
    if (survey->rows == 0 || survey->cells < 2) return false;
    if (survey->languages >= 2 && survey->languages * 2 >= survey->cells)
        return 2 * survey->other_rows <= survey->rows;
    if (whole && survey->open) return false;
    bool regular = 10 * survey->other_rows <= survey->rows && 10 * survey->strange <= survey->rows;
    return regular && (survey->quoted > 0 || survey->rows >= 3);
}

/* Tables are split at TABs and keep quotes, unless these cannot be text. */
static bool is_quoted_table(const Survey *survey, bool whole) {
    bool named = survey->languages >= 2 && survey->quoted > 0;
    return survey->cells > 1 && survey->other_rows == 0 && survey->strange == 0 && !(whole && survey->open) &&
           (survey->needed > 0 || (named && survey->quoted >= survey->cells * survey->rows));
}

/* Have most of the first lines a TAB? */
static bool has_tabs(StrView sample) {
    enum { LINES = 100 };
    StrView line;
    int lines = 0, with_tab = 0;
    while (lines < LINES && sv_next(&sample, '\n', &line)) {
        if (line.length == 0) continue;
        lines++;
        with_tab += memchr(line.data, '\t', line.length) != NULL;
    }
    return 2 * with_tab > lines;
}

char csv_separator(StrView sample, bool whole) {
    char named = named_separator(sample);
    if (named) return named;
    Survey tab = survey_sample(sample, whole, '\t');
    if (is_quoted_table(&tab, whole)) return '\t';
    if (has_tabs(sample)) return 0;
    Survey comma = survey_sample(sample, whole, ','), semicolon = survey_sample(sample, whole, ';');
    bool is_comma = is_csv(&comma, whole), is_semicolon = is_csv(&semicolon, whole);
    if (is_comma && is_semicolon)
        is_semicolon = semicolon.languages > comma.languages ||
                       (semicolon.languages == comma.languages && semicolon.other_rows <= comma.other_rows);
    return is_semicolon ? ';' : is_comma ? ',' : 0;
}

/* ---- reading ---- */

struct CsvReader {
    LineReader *bytes;
    Csv csv;
    StrBuf cell;
    long line; /* of the next character */
    char buffer[BUFFER];
    size_t next, count;
    bool last_was_return, started;
};

CsvReader *csv_open(LineReader *bytes, char separator) {
    CsvReader *reader = mem_alloc(1, sizeof *reader);
    reader->bytes = bytes;
    reader->csv.separator = separator;
    reader->line = 1;
    return reader;
}

static Status next_character(CsvReader *reader, char *c, bool *more) {
    if (reader->next == reader->count) {
        TRY(line_reader_take(reader->bytes, reader->buffer, BUFFER, &reader->count));
        reader->next = 0;
    }
    *more = reader->count > 0;
    if (!*more) return STATUS_OK;
    *c = reader->buffer[reader->next++];
    reader->line += (*c == '\n' && !reader->last_was_return) || *c == '\r';
    reader->last_was_return = *c == '\r';
    return STATUS_OK;
}

static Status fail_open_quotes(const CsvReader *reader, long line) {
    status_fail(STATUS_DATA, "'%.700s': the quotes of a cell in line %ld do not end",
                line_reader_path(reader->bytes), line);
    return status_hint(STATUS_DATA, "write a quote inside quotes twice");
}

static void finish_cell(CsvReader *reader, StrBuf *row, bool first) {
    if (!first) strbuf_add_char(row, '\t');
    escapes_add(strbuf_view(&reader->cell), row);
    strbuf_clear(&reader->cell);
}

/* The byte-order mark, and the line for Excel. */
static Status skip_start(CsvReader *reader) {
    StrView start;
    size_t got = 0;
    char skipped[8];
    reader->started = true;
    TRY(line_reader_peek(reader->bytes, 8, &start));
    if (sv_starts(start, SV("\xEF\xBB\xBF"))) TRY(line_reader_take(reader->bytes, skipped, 3, &got));
    TRY(line_reader_peek(reader->bytes, 8, &start));
    if (named_separator(start)) TRY(line_reader_take(reader->bytes, skipped, 5, &got));
    return STATUS_OK;
}

Status csv_next(CsvReader *reader, StrBuf *row, long *line, bool *more) {
    int cells = 0;
    bool any = false;
    if (!reader->started) TRY(skip_start(reader));
    strbuf_clear(row);
    strbuf_clear(&reader->cell);
    *line = reader->line;
    for (char c = 0;;) {
        TRY(next_character(reader, &c, more));
        if (!*more) {
            if (reader->csv.state == QUOTED) return fail_open_quotes(reader, *line);
            reader->csv.state = AT_START;
            *more = any || cells > 0;
            if (*more) finish_cell(reader, row, cells == 0);
            return STATUS_OK;
        }
        CsvStep step = csv_step(&reader->csv, c);
        if (step == CSV_CHARACTER) strbuf_add_char(&reader->cell, c);
        any |= step == CSV_CHARACTER;
        if (reader->cell.length > MAX_CELL || row->length > MAX_CELL) return fail_open_quotes(reader, *line);
        if (step == CSV_NEXT_CELL) finish_cell(reader, row, cells++ == 0);
        if (step == CSV_NOTHING && reader->csv.state == AT_START) *line = reader->line;
        if (step != CSV_END_OF_ROW) continue;
        if (!any && cells == 0) { /* an empty row */
            *line = reader->line;
            continue;
        }
        finish_cell(reader, row, cells == 0);
        return STATUS_OK;
    }
}

void csv_close(CsvReader *reader) {
    if (!reader) return;
    strbuf_free(&reader->cell);
    mem_free(reader);
}
