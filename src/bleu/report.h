/* report.h - scores as text or JSON: of one system as sacreBLEU prints them, of several as JSON like
 * sacreBLEU's or as a table. */
#ifndef BLEU_REPORT_H
#define BLEU_REPORT_H

#include "bleu/scoring.h"

typedef enum { REPORT_JSON, REPORT_TEXT } ReportFormat;
#define REPORT_FORMAT_CHOICES "json|text"

typedef struct {
    ReportFormat format;
    int width; /* digits after the decimal point */
    bool score_only, abbreviated, colour;
} ReportStyle;

/* The whole output: a line or object for each metric of one system, or a table of several systems. */
void report_write(const ScoreTable *table, const ReportStyle *style, StrBuf *out);
/* The scores of sentences: a line of text for each, whatever the format. */
void report_write_sentences(const ScoreTable *table, const ReportStyle *style, StrBuf *out);

#endif
