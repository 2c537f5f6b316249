/* report.h - writes scores as text or JSON. The reports of one system and the JSON of several systems are
 * sacreBLEU's; the table of several systems is our own. */
#ifndef BLEU_REPORT_H
#define BLEU_REPORT_H

#include "bleu/scoring.h"

typedef enum { REPORT_JSON, REPORT_TEXT } ReportFormat;
#define REPORT_FORMAT_CHOICES "json|text"

typedef struct {
    ReportFormat format;
    int width; /* number of decimals */
    bool score_only, abbreviated, colour;
} ReportStyle;

/* One system: a line or an object for each metric. Several systems: a table or an array. */
void report_write(const ScoreTable *table, const ReportStyle *style, StrBuf *out);
/* The scores of sentences: a line of text for each sentence, in every format. */
void report_write_sentences(const ScoreTable *table, const ReportStyle *style, StrBuf *out);

#endif
