/* report.c - scores as lines of text, JSON objects and a table. */
#include "bleu/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/json_write.h"
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

/* A number as Python writes it, with the fewest digits that read back the same: 20.0, 1e-05. */
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

/* `value` rounded to `width` decimals. */
static double rounded(double value, int width) {
    StrBuf text = {0};
    strbuf_format(&text, "%.*f", width, value);
    double result = strtod(strbuf_text(&text), NULL);
    strbuf_free(&text);
    return result;
}

static bool shows_interval(const SystemScore *result) {
    return result->has_interval && result->interval.mean > 0;
}

static void write_interval(const SystemScore *result, int width, StrBuf *out) {
    strbuf_format(out, "μ = %.*f ± %.*f", width, result->interval.mean, width, result->interval.half_width);
}

static void write_score(const SystemScore *result, const ReportStyle *style, StrBuf *out) {
    strbuf_format(out, "%.*f", style->width, result->score);
    if (!shows_interval(result)) return;
    strbuf_add(out, style->colour ? SV(" " COLOUR_CYAN "(") : SV(" ("));
    write_interval(result, style->width, out);
    strbuf_add(out, style->colour ? SV(")" COLOUR_RESET) : SV(")"));
}

/* "20.8" or "BLEU|... = 20.8 ..." */
static void write_line(const Signature *signature, const SystemScore *result, const ReportStyle *style,
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

/* ---- JSON with the line breaks of Python's json.dumps ---- */

static void put_line_string(StrBuf *out, int indent, const char *key, StrView value) {
    json_write_line(out, indent);
    json_put_string(out, key, value);
}

static void put_line_number(StrBuf *out, int indent, const char *key, double value) {
    StrBuf number = {0};
    write_repr(value, &number);
    json_write_line(out, indent);
    json_write_key(out, key);
    json_write_text(out, strbuf_view(&number));
    strbuf_free(&number);
}

static void write_object(const Signature *signature, const SystemScore *result, const ReportStyle *style,
                         StrBuf *out) {
    enum { INDENT = 1 };
    StrBuf text = {0};
    json_open_object(out);
    put_line_string(out, INDENT, "name", sv(signature->name));
    put_line_number(out, INDENT, "score", rounded(result->score, style->width));
    write_signature(signature, false, &text);
    put_line_string(out, INDENT, "signature", strbuf_view(&text));
    if (shows_interval(result)) {
        put_line_number(out, INDENT, "confidence_mean", rounded(result->interval.mean, style->width));
        put_line_number(out, INDENT, "confidence_var", rounded(result->interval.half_width, style->width));
        strbuf_clear(&text);
        write_interval(result, style->width, &text);
        put_line_string(out, INDENT, "confidence", strbuf_view(&text));
    }
    if (result->details.length) put_line_string(out, INDENT, "verbose_score", strbuf_view(&result->details));
    for (int i = 0; i < signature->count; i++)
        put_line_string(out, INDENT, signature->pairs[i].key, sv(signature->pairs[i].value));
    strbuf_add(out, SV("\n}"));
    strbuf_free(&text);
}

/* ---- one system ---- */

/* The number of characters before the blank before the first '=', or -1. */
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

/* ---- several systems ---- */

/* A JSON string in ASCII: other characters are \uXXXX, or a pair of surrogates. */
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

enum { SYSTEM_INDENT = 4, METRIC_INDENT = 8, VALUE_INDENT = 12 };

static void close_object(StrBuf *out, int indent) { strbuf_format(out, "\n%*s}", indent, ""); }

/* NaN is null. */
static void put_value(StrBuf *out, const char *key, double value) {
    if (!isnan(value)) {
        put_line_number(out, VALUE_INDENT, key, value);
        return;
    }
    json_write_line(out, VALUE_INDENT);
    json_write_key(out, key);
    json_write_text(out, SV("null"));
}

/* An object, if the systems are compared; otherwise the score as a string. */
static void add_result(StrBuf *out, const SystemScore *result, bool compared, int width) {
    if (!compared) {
        strbuf_format(out, "\"%.*f\"", width, result->score);
        return;
    }
    json_open_object(out);
    put_value(out, "score", result->score);
    put_value(out, "p_value", result->has_p_value ? result->p_value : NAN);
    put_value(out, "mean", result->has_interval ? result->interval.mean : NAN);
    put_value(out, "ci", result->has_interval ? result->interval.half_width : NAN);
    close_object(out, METRIC_INDENT);
}

static void write_systems(const ScoreTable *table, int width, StrBuf *out) {
    const ScoringOptions *scoring = &table->scoring;
    const SystemScore *result = table->results;
    json_open_array(out);
    for (size_t s = 0; s < scoring->systems->count; s++) {
        json_write_line(out, SYSTEM_INDENT);
        json_open_object(out);
        json_write_line(out, METRIC_INDENT);
        json_write_key(out, "system");
        add_ascii_string(out, sv(scoring->systems->lists[s].name));
        for (size_t m = 0; m < scoring->metric_count; m++) {
            json_write_line(out, METRIC_INDENT);
            json_write_key(out, table->signatures[m].name);
            add_result(out, result++, scoring->test != TEST_NONE, width);
        }
        close_object(out, SYSTEM_INDENT);
    }
    strbuf_add(out, SV("\n]\n"));
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
static void write_cell(const SystemScore *result, int width, StrBuf *out) {
    strbuf_format(out, "%.*f", width, result->score);
    if (result->has_interval)
        strbuf_format(out, " (%.*f ± %.*f)", width, result->interval.mean, width,
                      result->interval.half_width);
    if (result->has_p_value)
        strbuf_format(out, " (p = %.4f)%s", result->p_value, result->p_value > 0.05 ? "" : "*");
}

/* A row for each system, a column for each metric, and the signatures. */
static void write_table(const ScoreTable *table, const ReportStyle *style, StrBuf *out) {
    const ScoringOptions *scoring = &table->scoring;
    size_t rows = scoring->systems->count + 1, columns = scoring->metric_count + 1;
    StrBuf *cells = mem_alloc(rows * columns, sizeof *cells);
    strbuf_add(&cells[0], SV("System"));
    for (size_t c = 1; c < columns; c++)
        strbuf_format(&cells[c], "%s%s", table->signatures[c - 1].name,
                      table->results[0].has_interval ? " (μ ± 95% CI)" : "");
    const SystemScore *result = table->results;
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
