/* report.c - results as tables and as JSON. */
#include "bench/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/json_write.h"
#include "base/mem.h"

static Result *add(Report *report, const char *item, const char *metric, const char *unit, Better better) {
    MEM_GROW(report->items, report->capacity, (size_t)report->count + 1);
    Result *r = &report->items[report->count++];
    *r = (Result){.section = report->section, .better = better};
    snprintf(r->item, sizeof r->item, "%s", item);
    snprintf(r->metric, sizeof r->metric, "%s", metric);
    snprintf(r->unit, sizeof r->unit, "%s", unit);
    return r;
}

void report_seconds(Report *report, const char *item, const char *metric, const char *unit, Better better,
                    double amount, const Sample *seconds) {
    Sample scaled = {0};
    for (int i = 0; i < seconds->count; i++)
        sample_add(&scaled,
                   better == MORE_IS_BETTER ? amount / seconds->values[i] : amount * seconds->values[i]);
    Result *r = add(report, item, metric, unit, better);
    r->median = sample_median(&scaled);
    r->low = scaled.values[0];
    r->high = scaled.values[scaled.count - 1];
    r->runs = scaled.count;
    sample_free(&scaled);
}

void report_value(Report *report, const char *item, const char *metric, const char *unit, Better better,
                  double value) {
    Result *r = add(report, item, metric, unit, better);
    r->median = r->low = r->high = value;
    r->runs = 1;
}

void report_text(Report *report, const char *item, const char *metric, const char *text) {
    Result *r = add(report, item, metric, "", NOT_JUDGED);
    snprintf(r->text, sizeof r->text, "%s", text);
}

void report_free(Report *report) {
    mem_free(report->items);
    *report = (Report){0};
}

Status report_finish(OutFile *file, StrView text) {
    Status status = file_write(file, text.data, text.length);
    if (status == STATUS_OK) return file_commit(file);
    file_discard(file);
    return status;
}

Status report_write(const char *path, StrView text) {
    OutFile *file;
    TRY(file_create(&file, path));
    return report_finish(file, text);
}

/* ---- tables ------------------------------------------------------------------------------------------ */

enum { NAMES_MAX = 64, CELL = 96 };

/* The first result of each row, or of each column. */
typedef struct {
    const Result *of[NAMES_MAX];
    int count;
} Names;

static bool same_item(const Result *a, const Result *b) { return !strcmp(a->item, b->item); }
static bool same_metric(const Result *a, const Result *b) {
    return !strcmp(a->metric, b->metric) && !strcmp(a->unit, b->unit);
}

static void names_add(Names *names, const Result *r, bool (*same)(const Result *a, const Result *b)) {
    for (int i = 0; i < names->count; i++)
        if (same(names->of[i], r)) return;
    if (names->count < NAMES_MAX) names->of[names->count++] = r;
}

/* Units are in the heads of the columns unless all are the same. */
static bool units_differ(const Names *columns) {
    for (int i = 1; i < columns->count; i++)
        if (strcmp(columns->of[i]->unit, columns->of[0]->unit)) return true;
    return columns->count == 1;
}

static void format_head(const Result *r, bool unit, char cell[CELL]) {
    snprintf(cell, CELL, "%s%s%s", r->metric, unit && *r->metric && *r->unit ? ", " : "",
             unit ? r->unit : "");
}

/* Three significant digits without an exponent; counts have all of theirs. */
static void add_number(StrBuf *out, double value, bool count) {
    double size = fabs(value);
    int digits = count || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
    if (digits)
        strbuf_format(out, "%.*f", digits, value);
    else
        strbuf_add(out, sv(str_count(llround(value), (char[32]){0})));
}

/* "123 ±4%": the median and half the range of the runs. */
static void format_cell(const Result *r, char cell[CELL]) {
    StrBuf text = {0};
    if (!r->runs)
        strbuf_add(&text, sv(r->text));
    else
        add_number(&text, r->median, r->runs == 1 && r->median == floor(r->median));
    if (r->runs > 1 && r->median > 0) strbuf_format(&text, " ±%.0f%%", 50 * (r->high - r->low) / r->median);
    snprintf(cell, CELL, "%s", strbuf_text(&text));
    strbuf_free(&text);
}

typedef struct {
    const Report *report;
    Names rows, columns;
    bool units; /* in the heads of the columns */
} Table;

/* Row 0 is the head, column 0 names the items. */
static void table_cell(const Table *t, int row, int column, char cell[CELL]) {
    const Result *item = row ? t->rows.of[row - 1] : NULL,
                 *metric = column ? t->columns.of[column - 1] : NULL;
    *cell = '\0';
    if (!metric && item) snprintf(cell, CELL, "%s", item->item);
    if (metric && !item) format_head(metric, t->units, cell);
    for (int i = t->report->shown; metric && item && i < t->report->count; i++) {
        const Result *r = &t->report->items[i];
        if (same_item(r, item) && same_metric(r, metric)) format_cell(r, cell);
    }
}

/* Characters, not bytes: there is a ± in some cells. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void add_cell(StrBuf *out, const char *text, int width, bool right) {
    int blanks = width - width_of(text);
    if (right)
        strbuf_format(out, " %*s%s |", blanks, "", text);
    else
        strbuf_format(out, " %s%*s |", text, blanks, "");
}

static void add_rule(StrBuf *out, int width, bool right) {
    strbuf_add_char(out, ' ');
    for (int i = 0; i < width - right; i++) strbuf_add_char(out, '-');
    strbuf_add(out, right ? SV(": |") : SV(" |"));
}

static void write_table(const Table *t, StrBuf *out) {
    int width[NAMES_MAX + 1];
    char cell[CELL];
    for (int c = 0; c <= t->columns.count; c++) {
        width[c] = 3;
        for (int r = 0; r <= t->rows.count; r++) {
            table_cell(t, r, c, cell);
            if (width_of(cell) > width[c]) width[c] = width_of(cell);
        }
    }
    for (int r = 0; r <= t->rows.count; r++) {
        strbuf_add_char(out, '|');
        for (int c = 0; c <= t->columns.count; c++) {
            table_cell(t, r, c, cell);
            add_cell(out, cell, width[c], c > 0 && t->columns.of[c - 1]->runs);
        }
        strbuf_add(out, r ? SV("\n") : SV("\n|"));
        for (int c = 0; !r && c <= t->columns.count; c++)
            add_rule(out, width[c], c > 0 && t->columns.of[c - 1]->runs);
        if (!r) strbuf_add_char(out, '\n');
    }
}

Status report_show(Report *report, const char *title, const char *note) {
    Table table = {.report = report};
    StrBuf out = {0};
    for (int i = report->shown; i < report->count; i++) {
        names_add(&table.rows, &report->items[i], same_item);
        names_add(&table.columns, &report->items[i], same_metric);
    }
    table.units = units_differ(&table.columns);
    strbuf_format(&out, "\n%s\n", title);
    if (note) strbuf_format(&out, "  (%s)\n", note);
    if (!table.units && *table.columns.of[0]->unit)
        strbuf_format(&out, "  (all in %s)\n", table.columns.of[0]->unit);
    strbuf_add_char(&out, '\n');
    write_table(&table, &out);
    Status status = report_write("-", strbuf_view(&out));
    strbuf_free(&out);
    report->shown = report->count;
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void write_text(StrBuf *out, const char *key, const char *text) {
    strbuf_format(out, "\"%s\": ", key);
    json_write_string(out, sv(text));
    strbuf_add(out, SV(", "));
}

static void write_number(StrBuf *out, const char *key, double value) {
    strbuf_format(out, "\"%s\": ", key);
    json_write_number(out, value);
    strbuf_add(out, SV(", "));
}

void report_write_json(const Report *report, StrView facts, StrBuf *out) {
    static const char *const BETTER[] = {"more", "less", "neither"};
    strbuf_format(out, "{%.*s, \"results\": [", SV_ARG(facts));
    for (int i = 0; i < report->count; i++) {
        const Result *r = &report->items[i];
        strbuf_add(out, i ? SV(",\n  {") : SV("\n  {"));
        write_text(out, "section", r->section);
        write_text(out, "item", r->item);
        write_text(out, "metric", r->metric);
        write_text(out, "unit", r->unit);
        write_text(out, "better", BETTER[r->better]);
        if (!r->runs) write_text(out, "text", r->text);
        write_number(out, "median", r->median);
        write_number(out, "low", r->low);
        write_number(out, "high", r->high);
        strbuf_format(out, "\"runs\": %d}", r->runs);
    }
    strbuf_add(out, SV("\n]}\n"));
}
