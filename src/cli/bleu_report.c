/* bleu_report.c - scores as lines of text and JSON objects. */
#include "cli/bleu_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"

void bleu_report_write_repr(double value, StrBuf *out) {
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

static bool shows_interval(const ScoreReport *report) {
    return report->has_interval && report->interval.mean > 0;
}

static void write_interval(const ScoreReport *report, int width, StrBuf *out) {
    strbuf_format(out, "μ = %.*f ± %.*f", width, report->interval.mean, width, report->interval.half_width);
}

static void write_score(const ScoreReport *report, const ReportStyle *style, StrBuf *out) {
    strbuf_format(out, "%.*f", style->width, report->score);
    if (!shows_interval(report)) return;
    strbuf_add(out, style->colour ? SV(" " COLOUR_CYAN "(") : SV(" ("));
    write_interval(report, style->width, out);
    strbuf_add(out, style->colour ? SV(")" COLOUR_RESET) : SV(")"));
}

static void write_json(const ScoreReport *report, const ReportStyle *style, StrBuf *out) {
    strbuf_format(out, "{\n \"name\": \"%s\",\n \"score\": ", report->name);
    bleu_report_write_repr(shortened(report->score, style->width), out);
    strbuf_add(out, SV(",\n \"signature\": \""));
    bleu_metric_write_signature(&report->signature, false, out);
    strbuf_add_char(out, '"');
    if (shows_interval(report)) {
        strbuf_add(out, SV(",\n \"confidence_mean\": "));
        bleu_report_write_repr(shortened(report->interval.mean, style->width), out);
        strbuf_add(out, SV(",\n \"confidence_var\": "));
        bleu_report_write_repr(shortened(report->interval.half_width, style->width), out);
        strbuf_add(out, SV(",\n \"confidence\": \""));
        write_interval(report, style->width, out);
        strbuf_add_char(out, '"');
    }
    if (report->details[0]) strbuf_format(out, ",\n \"verbose_score\": \"%s\"", report->details);
    for (int i = 0; i < report->signature.count; i++)
        strbuf_format(out, ",\n \"%s\": \"%s\"", report->signature.pairs[i].key,
                      report->signature.pairs[i].value);
    strbuf_add(out, SV("\n}"));
}

void bleu_report_write(const ScoreReport *report, const ReportStyle *style, StrBuf *out) {
    if (style->score_only) {
        write_score(report, style, out);
    } else if (style->json) {
        write_json(report, style, out);
    } else {
        strbuf_format(out, "%s|", report->name);
        bleu_metric_write_signature(&report->signature, style->abbreviated, out);
        strbuf_add(out, SV(" = "));
        write_score(report, style, out);
        if (report->details[0]) strbuf_format(out, " %s", report->details);
    }
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

void bleu_report_write_all(const ScoreReport *reports, size_t count, const ReportStyle *style, StrBuf *out) {
    StrBuf *lines = mem_alloc(count, sizeof *lines);
    for (size_t i = 0; i < count; i++) bleu_report_write(&reports[i], style, &lines[i]);
    if (count == 1) {
        strbuf_format(out, "%s\n", strbuf_text(&lines[0]));
    } else if (style->json) {
        for (size_t i = 0; i < count; i++)
            strbuf_format(out, "%s%s", i ? ",\n" : "[\n", strbuf_text(&lines[i]));
        strbuf_add(out, SV("\n]\n"));
    } else {
        write_aligned(lines, count, out);
    }
    for (size_t i = 0; i < count; i++) strbuf_free(&lines[i]);
    mem_free(lines);
}
