/* report.c - scores as lines of text, JSON objects and a table. */
#include "bleu/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

#define COLOUR_CYAN  "\033[36m"
#define COLOUR_RESET "\033[0m"

/* "nrefs:1|case:mixed|..." */
static void write_signature(const Signature *signature, bool abbreviated, StrBuf *out) {
    for (int i = 0; i < signature->count; i++) {
        const SignaturePair *pair = &signature->pairs[i];
        strbuf_format(out, "%s%s:%s", i ? "|" : "", abbreviated ? pair->abbreviation : pair->key,
                      pair->value);
    }
}

/* A number as Python writes it: 20.0, 1e-05; shortest digits that read back the same. */
static void write_repr(double value, StrBuf *out) {
    char text[400];
    int digits = 0;
    do snprintf(text, sizeof text, "%.*e", digits, value);
    while (strtod(text, NULL) != value && ++digits < 17);
    int exponent = atoi(strchr(text, 'e') + 1);
    if (exponent < -4 || exponent >= 16) {
        strbuf_add(out, sv(text));
        return;
    }
    int decimals = digits > exponent ? digits - exponent : 1;
    strbuf_format(out, "%.*f", decimals, value);
}

/* The number that is left of `value` at this width: what float("20.8") reads. */
static double shortened(double value, int width) {
    StrBuf text = {0};
    strbuf_format(&text, "%.*f", width, value);
    double result = strtod(strbuf_text(&text), NULL);
    strbuf_free(&text);
    return result;
}

static bool shows_interval(const Result *result) { return result->has_interval && result->interval.mean > 0; }

static void write_interval(const Result *result, int width, StrBuf *out) {
    strbuf_format(out, "μ = %.*f ± %.*f", width, result->interval.mean, width, result->interval.half_width);
}

static void write_score(const Result *result, const ReportStyle *style, StrBuf *out) {
    strbuf_format(out, "%.*f", style->width, result->score);
    if (!shows_interval(result)) return;
    strbuf_add(out, style->colour ? SV(" " COLOUR_CYAN "(") : SV(" ("));
    write_interval(result, style->width, out);
    strbuf_add(out, style->colour ? SV(")" COLOUR_RESET) : SV(")"));
}

/* "20.8" or "BLEU|... = 20.8 ..." */
static void write_line(const Signature *signature, const Result *result, const ReportStyle *style,
                       StrBuf *out) {
    if (style->score_only) {
        write_score(result, style, out);
        return;
    }
    strbuf_format(out, "%s|", signature->name);
    write_signature(signature, style->abbreviated, out);
    strbuf_add(out, SV(" = "));
    write_score(result, style, out);
    if (result->details.length) strbuf_format(out, " %s", strbuf_text(&result->details));
}

static void write_shortened(const char *key, double value, int width, StrBuf *out) {
    strbuf_format(out, ",\n \"%s\": ", key);
    write_repr(shortened(value, width), out);
}

static void write_object(const Signature *signature, const Result *result, const ReportStyle *style,
                         StrBuf *out) {
    strbuf_format(out, "{\n \"name\": \"%s\"", signature->name);
    write_shortened("score", result->score, style->width, out);
    strbuf_add(out, SV(",\n \"signature\": \""));
    write_signature(signature, false, out);
    strbuf_add_char(out, '"');
    if (shows_interval(result)) {
        write_shortened("confidence_mean", result->interval.mean, style->width, out);
        write_shortened("confidence_var", result->interval.half_width, style->width, out);
        strbuf_add(out, SV(",\n \"confidence\": \""));
        write_interval(result, style->width, out);
        strbuf_add_char(out, '"');
    }
    if (result->details.length)
        strbuf_format(out, ",\n \"verbose_score\": \"%s\"", strbuf_text(&result->details));
    for (int i = 0; i < signature->count; i++)
        strbuf_format(out, ",\n \"%s\": \"%s\"", signature->pairs[i].key, signature->pairs[i].value);
    strbuf_add(out, SV("\n}"));
}

/* Characters before the blank before the first '=', or -1. */
static long equals_column(StrView line) {
    const char *equals = line.length ? memchr(line.data, '=', line.length) : NULL;
    if (!equals) return -1;
    return (long)utf8_count((StrView){line.data, (size_t)(equals - line.data)}) - 1;
}

static void write_aligned(const StrBuf *lines, size_t count, StrBuf *out) {
    long widest = 0;
    for (size_t i = 0; i < count; i++) {
        long column = equals_column(strbuf_view(&lines[i]));
        if (column > widest) widest = column;
    }
    for (size_t i = 0; i < count; i++) {
        long column = equals_column(strbuf_view(&lines[i]));
        if (column >= 0) strbuf_format(out, "%*s", (int)(widest - column), "");
        strbuf_format(out, "%s\n", strbuf_text(&lines[i]));
    }
}

/* The scores of one system: an array in JSON, aligned at '=' in text. */
static void write_system(const ScoreTable *table, const ReportStyle *style, StrBuf *out) {
    bool json = style->format == REPORT_JSON && !style->score_only;
    size_t count = table->scoring.metric_count;
    StrBuf *items = mem_alloc(count, sizeof *items);
    for (size_t i = 0; i < count; i++)
        (json ? write_object : write_line)(&table->signatures[i], &table->results[i], style, &items[i]);
    if (count == 1) {
        strbuf_format(out, "%s\n", strbuf_text(&items[0]));
    } else if (style->format == REPORT_JSON) {
        for (size_t i = 0; i < count; i++)
            strbuf_format(out, "%s%s", i ? ",\n" : "[\n", strbuf_text(&items[i]));
        strbuf_add(out, SV("\n]\n"));
    } else {
        write_aligned(items, count, out);
    }
    for (size_t i = 0; i < count; i++) strbuf_free(&items[i]);
    mem_free(items);
}

void report_write_sentences(const ScoreTable *table, const ReportStyle *style, StrBuf *out) {
    for (size_t i = 0; i < table->result_count; i++) {
        write_line(&table->signatures[0], &table->results[i], style, out);
        strbuf_add_char(out, '\n');
    }
}

/* A JSON string in ASCII: the rest as \uXXXX, in surrogate pairs where one is not enough. */
static void add_ascii_string(StrBuf *out, StrView text) {
    static const char NAMED[] = "\"\\\b\f\n\r\t", LETTERS[] = "\"\\bfnrt";
    strbuf_add_char(out, '"');
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        const char *named = c > 0 && c < 0x80 ? strchr(NAMED, c) : NULL;
        if (named)
            strbuf_format(out, "\\%c", LETTERS[named - NAMED]);
        else if (c >= 0x20 && c < 0x7F)
            strbuf_add_char(out, (char)c);
        else if (c < 0x10000)
            strbuf_format(out, "\\u%04x", (unsigned)c);
        else
            strbuf_format(out, "\\u%04x\\u%04x", 0xD800u + (((unsigned)c - 0x10000) >> 10),
                          0xDC00u + (((unsigned)c - 0x10000) & 0x3FF));
    }
    strbuf_add_char(out, '"');
}

static void add_member(StrBuf *out, const char *name, bool known, double value) {
    strbuf_format(out, "            \"%s\": ", name);
    if (known)
        write_repr(value, out);
    else
        strbuf_add(out, SV("null"));
}

static void add_result(StrBuf *out, const Result *result, bool compared, int width) {
    if (!compared) {
        strbuf_format(out, "\"%.*f\"", width, result->score);
        return;
    }
    strbuf_add(out, SV("{\n"));
    add_member(out, "score", true, result->score);
    strbuf_add(out, SV(",\n"));
    add_member(out, "p_value", result->has_p_value, result->p_value);
    strbuf_add(out, SV(",\n"));
    add_member(out, "mean", result->has_interval, result->interval.mean);
    strbuf_add(out, SV(",\n"));
    add_member(out, "ci", result->has_interval, result->interval.half_width);
    strbuf_add(out, SV("\n        }"));
}

static void write_systems(const ScoreTable *table, int width, StrBuf *out) {
    const Scoring *scoring = &table->scoring;
    const Result *result = table->results;
    strbuf_add(out, SV("[\n"));
    for (size_t s = 0; s < scoring->systems->count; s++) {
        strbuf_add(out, SV("    {\n        \"system\": "));
        add_ascii_string(out, sv(scoring->systems->lists[s].name));
        for (size_t m = 0; m < scoring->metric_count; m++) {
            strbuf_format(out, ",\n        \"%s\": ", table->signatures[m].name);
            add_result(out, result++, scoring->test != TEST_NONE, width);
        }
        strbuf_add(out, s + 1 < scoring->systems->count ? SV("\n    },\n") : SV("\n    }\n"));
    }
    strbuf_add(out, SV("]\n"));
}

static size_t text_width(StrView text) {
    size_t width = 0;
    for (size_t position = 0; position < text.length;)
        width += (size_t)unicode_width(utf8_next(text, &position));
    return width;
}

/* Columns of left-aligned text, two spaces apart. */
static void write_columns(const StrBuf *cells, size_t rows, size_t columns, StrBuf *out) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            size_t widest = 0, width = text_width(strbuf_view(&cells[r * columns + c]));
            for (size_t i = c; i < rows * columns; i += columns) {
                size_t other = text_width(strbuf_view(&cells[i]));
                if (other > widest) widest = other;
            }
            strbuf_add(out, strbuf_view(&cells[r * columns + c]));
            if (c + 1 < columns) strbuf_format(out, "%*s", (int)(widest - width) + 2, "");
        }
        strbuf_add_char(out, '\n');
    }
}

/* "60.2 (60.1 ± 3.4) (p = 0.0120)*" */
static void write_cell(const Result *result, int width, StrBuf *out) {
    strbuf_format(out, "%.*f", width, result->score);
    if (result->has_interval)
        strbuf_format(out, " (%.*f ± %.*f)", width, result->interval.mean, width,
                      result->interval.half_width);
    if (result->has_p_value)
        strbuf_format(out, " (p = %.4f)%s", result->p_value, result->p_value > 0.05 ? "" : "*");
}

/* Several systems: a row for each, a column for each metric, and what these are. */
static void write_table(const ScoreTable *table, const ReportStyle *style, StrBuf *out) {
    const Scoring *scoring = &table->scoring;
    size_t rows = scoring->systems->count + 1, columns = scoring->metric_count + 1;
    StrBuf *cells = mem_alloc(rows * columns, sizeof *cells);
    strbuf_add(&cells[0], SV("System"));
    for (size_t c = 1; c < columns; c++)
        strbuf_format(&cells[c], "%s%s", table->signatures[c - 1].name,
                      table->results[0].has_interval ? " (μ ± 95% CI)" : "");
    const Result *result = table->results;
    for (size_t r = 1; r < rows; r++) {
        strbuf_add(&cells[r * columns], sv_trim(sv(scoring->systems->lists[r - 1].name)));
        for (size_t c = 1; c < columns; c++) write_cell(result++, style->width, &cells[r * columns + c]);
    }
    write_columns(cells, rows, columns, out);
    for (size_t i = 0; i < rows * columns; i++) strbuf_free(&cells[i]);
    mem_free(cells);
    if (scoring->test == TEST_PAIRED_BOOTSTRAP)
        strbuf_add(out, SV("\np: the probability of such a difference by chance, by paired bootstrap "
                           "resampling\nagainst the first system; * p <= 0.05\n"));
    strbuf_add_char(out, '\n');
    for (size_t m = 0; m < scoring->metric_count; m++) {
        strbuf_format(out, "%s|", table->signatures[m].name);
        write_signature(&table->signatures[m], style->abbreviated, out);
        strbuf_add_char(out, '\n');
    }
}

void report_write(const ScoreTable *table, const ReportStyle *style, StrBuf *out) {
    if (table->scoring.systems->count == 1)
        write_system(table, style, out);
    else if (style->format == REPORT_JSON)
        write_systems(table, style->width, out);
    else
        write_table(table, style, out);
}
