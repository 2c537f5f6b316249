/* bleu_report.h - the score of one system as text or JSON, laid out as sacreBLEU does. */
#ifndef CLI_BLEU_REPORT_H
#define CLI_BLEU_REPORT_H

#include "cli/bleu_metric.h"
#include "metrics/bootstrap.h"

typedef struct {
    const char *name;
    double score;
    bool has_interval;
    Interval interval;
    const char *details; /* "" if there are none */
    Signature signature;
} ScoreReport;

typedef struct {
    int width; /* digits after the decimal point */
    bool score_only, abbreviated, json, colour;
} ReportStyle;

/* One score: "20.8", "BLEU|... = 20.8 ...", or an object. No newline at the end. */
void bleu_report_write(const ScoreReport *report, const ReportStyle *style, StrBuf *out);
/* Several scores of one system: an array in JSON, aligned at '=' in text. Newline at the end. */
void bleu_report_write_all(const ScoreReport *reports, size_t count, const ReportStyle *style, StrBuf *out);

/* A number as Python's repr writes it: 20.0, 1e-05; shortest digits that read back the same. */
void bleu_report_write_repr(double value, StrBuf *out);

#define COLOUR_RED    "\033[31m"
#define COLOUR_GREEN  "\033[32m"
#define COLOUR_YELLOW "\033[33m"
#define COLOUR_CYAN   "\033[36m"
#define COLOUR_RESET  "\033[0m"

#endif
