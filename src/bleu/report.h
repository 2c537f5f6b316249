/* report.h - scores as text, JSON or LaTeX, laid out as sacreBLEU does. */
#ifndef BLEU_REPORT_H
#define BLEU_REPORT_H

#include "bleu/scoring.h"

typedef enum { REPORT_JSON, REPORT_TEXT, REPORT_LATEX } ReportFormat;
#define REPORT_FORMAT_CHOICES "json|text|latex"

typedef struct {
    ReportFormat format;
    int width; /* digits after the decimal point */
    bool score_only, abbreviated, colour;
} ReportStyle;

/* The whole output: a line or object for each metric of one system, or a table of several systems. */
void report_write(const ScoreTable *table, const ReportStyle *style, StrBuf *out);
/* The scores of sentences: a line of text for each, whatever the format. */
void report_write_sentences(const ScoreTable *table, const ReportStyle *style, StrBuf *out);

/* Of report_table.c: several systems side by side in boxes or LaTeX. */
void report_write_table(const ScoreTable *table, const ReportStyle *style, StrBuf *out);

/* "nrefs:1|case:mixed|..." */
void report_write_signature(const Signature *signature, bool abbreviated, StrBuf *out);

#define COLOUR_RED    "\033[31m"
#define COLOUR_GREEN  "\033[32m"
#define COLOUR_YELLOW "\033[33m"
#define COLOUR_CYAN   "\033[36m"
#define COLOUR_RESET  "\033[0m"

#endif
