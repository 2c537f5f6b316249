/* bleu_table.h - scores of several systems side by side, with p-values if they were compared. */
#ifndef CLI_BLEU_TABLE_H
#define CLI_BLEU_TABLE_H

#include "cli/bleu_report.h"

/* What is known of one system under one metric. */
typedef struct {
    double score;
    bool has_interval, has_p_value;
    Interval interval;
    double p_value;
} TableCell;

typedef struct {
    const char *const *systems; /* names; with a test, the first is the baseline */
    size_t system_count;
    const char *const *metrics;
    const Signature *signatures;
    size_t metric_count;
    TableCell *cells; /* [system][metric] */
    Resampling test;
    int trials;
} ScoreTable;

/* The whole output in the given format, as sacreBLEU prints it. */
void bleu_table_write(const ScoreTable *table, const ReportStyle *style, BleuFormat format, StrBuf *out);

#endif
