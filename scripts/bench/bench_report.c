/* bench_report.c - results as tables and as JSON. */
#include "bench_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "base/mem.h"
#include "measure/measure.h"

void sample_add(Sample *sample, double value) {
    if (sample->count < SAMPLE_MOST) sample->values[sample->count++] = value;
}

void bench_report_add(BenchReport *report, const char *section, const char *item, const char *metric,
                      const char *unit, Better better, Sample *sample) {
    double median = measure_median(sample->values, sample->count);
    MEM_GROW(report->items, report->capacity, (size_t)report->count + 1);
    report->items[report->count++] = (Result){.section = mem_strdup(section),
                                              .item = mem_strdup(item),
                                              .metric = mem_strdup(metric),
                                              .unit = mem_strdup(unit),
                                              .median = median,
                                              .low = sample->values[0],
                                              .high = sample->values[sample->count - 1],
                                              .runs = sample->count,
                                              .better = better};
}

void bench_report_add_one(BenchReport *report, const char *section, const char *item, const char *metric,
                          const char *unit, Better better, double value) {
    Sample sample = {{value}, 1};
    bench_report_add(report, section, item, metric, unit, better, &sample);
}

void bench_report_free(BenchReport *report) {
    for (int i = 0; i < report->count; i++) {
        Result *r = &report->items[i];
        mem_free(r->section);
        mem_free(r->item);
        mem_free(r->metric);
        mem_free(r->unit);
    }
    mem_free(report->items);
    *report = (BenchReport){0};
}

/* ---- tables -------------------------------------------------------------------------------------------------------------- */

enum { NAMES_MOST = 64, CELL = 80 };

/* The different names that were met, in order. */
typedef struct {
    const Result *of[NAMES_MOST];
    int count;
} Names;

static int name_item(Names *names, const Result *r) {
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->of[i]->item, r->item)) return i;
    if (names->count < NAMES_MOST) names->of[names->count++] = r;
    return names->count - 1;
}

static int name_metric(Names *names, const Result *r) {
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->of[i]->metric, r->metric) && !strcmp(names->of[i]->unit, r->unit)) return i;
    if (names->count < NAMES_MOST) names->of[names->count++] = r;
    return names->count - 1;
}

/* Units are in the heads of the columns unless all are the same. */
static void format_head(const Result *r, bool unit, char cell[CELL]) {
    snprintf(cell, CELL, "%s%s%s", r->metric, unit && *r->metric && *r->unit ? ", " : "",
             unit ? r->unit : "");
}

static bool units_differ(const Names *columns) {
    for (int i = 1; i < columns->count; i++)
        if (strcmp(columns->of[i]->unit, columns->of[0]->unit)) return true;
    return columns->count == 1;
}

/* "123 ±4%": the median and half the range of the runs. */
static void format_cell(const Result *r, char cell[CELL]) {
    StrBuf text = {0};
    if (r->runs == 1 && r->median == floor(r->median)) /* a count */
        strbuf_format(&text, "%.0f", r->median);
    else
        measure_add_number(&text, r->median);
    if (r->runs > 1 && r->median > 0) strbuf_format(&text, " ±%.0f%%", 50 * (r->high - r->low) / r->median);
    snprintf(cell, CELL, "%s", strbuf_text(&text));
    strbuf_free(&text);
}

/* Characters, not bytes: there is a ± in some cells. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void pad(StrBuf *out, const char *text, int width, bool right) {
    int blanks = width - width_of(text);
    if (!right) strbuf_add(out, sv(text));
    for (int i = 0; i < blanks; i++) strbuf_add_char(out, ' ');
    if (right) strbuf_add(out, sv(text));
}

static const Result *find(const BenchReport *report, const Result *item, const Result *metric) {
    for (int i = report->shown; i < report->count; i++) {
        const Result *r = &report->items[i];
        if (!strcmp(r->item, item->item) && !strcmp(r->metric, metric->metric) &&
            !strcmp(r->unit, metric->unit))
            return r;
    }
    return NULL;
}

static void write_table(const BenchReport *report, const Names *rows, const Names *columns, StrBuf *out) {
    int width[NAMES_MOST], first = 0;
    bool units = units_differ(columns);
    char cell[CELL];
    for (int r = 0; r < rows->count; r++)
        if (width_of(rows->of[r]->item) > first) first = width_of(rows->of[r]->item);
    for (int c = 0; c < columns->count; c++) {
        format_head(columns->of[c], units, cell);
        width[c] = width_of(cell);
        for (int r = 0; r < rows->count; r++) {
            const Result *result = find(report, rows->of[r], columns->of[c]);
            if (result) format_cell(result, cell);
            if (result && width_of(cell) > width[c]) width[c] = width_of(cell);
        }
    }
    pad(out, "", first + 2, false);
    for (int c = 0; c < columns->count; c++) {
        format_head(columns->of[c], units, cell);
        pad(out, cell, width[c] + 2, true);
    }
    strbuf_add_char(out, '\n');
    for (int r = 0; r < rows->count; r++) {
        strbuf_add(out, SV("  "));
        pad(out, rows->of[r]->item, first, false);
        for (int c = 0; c < columns->count; c++) {
            const Result *result = find(report, rows->of[r], columns->of[c]);
            snprintf(cell, CELL, "-");
            if (result) format_cell(result, cell);
            pad(out, cell, width[c] + 2, true);
        }
        strbuf_add_char(out, '\n');
    }
}

Status bench_report_show(BenchReport *report, const char *title, const char *note) {
    Names rows = {0}, columns = {0};
    StrBuf out = {0};
    for (int i = report->shown; i < report->count; i++) {
        name_item(&rows, &report->items[i]);
        name_metric(&columns, &report->items[i]);
    }
    strbuf_format(&out, "\n%s\n", title);
    if (note) strbuf_format(&out, "  (%s)\n", note);
    if (!units_differ(&columns) && *columns.of[0]->unit)
        strbuf_format(&out, "  (all in %s)\n", columns.of[0]->unit);
    write_table(report, &rows, &columns, &out);
    Status status = measure_print(strbuf_view(&out));
    strbuf_free(&out);
    report->shown = report->count;
    return status;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

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

void bench_report_write_json(const BenchReport *report, StrView facts, StrBuf *out) {
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
        write_number(out, "median", r->median);
        write_number(out, "low", r->low);
        write_number(out, "high", r->high);
        strbuf_format(out, "\"runs\": %d}", r->runs);
    }
    strbuf_add(out, SV("\n]}\n"));
}
