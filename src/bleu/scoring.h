/* scoring.h - all scores of one run: every system under every metric, with intervals and p-values. */
#ifndef BLEU_SCORING_H
#define BLEU_SCORING_H

#include "bleu/input.h"
#include "bleu/metric.h"
#include "bleu/resampling.h"

typedef enum {
    TEST_NONE,
    TEST_CONFIDENCE,       /* an interval for each system */
    TEST_PAIRED_BOOTSTRAP, /* intervals, and a p-value of each system against the first one */
} SignificanceTest;

/* One system under one metric. */
typedef struct {
    double score;
    bool has_interval, has_p_value;
    Interval interval;
    double p_value;
    StrBuf details; /* from Metric.describe; often empty */
} SystemScore;

typedef struct {
    const LineSet *systems, *references; /* with a paired test, the first system is the baseline */
    const ConfiguredMetric *metrics;
    size_t metric_count;
    SignificanceTest test;
    int trials; /* resamples */
    const Seed *seed;
} ScoringOptions;

/* Owner: the table owns signatures and results; the targets of the pointers in `scoring` must outlive it. */
typedef struct {
    ScoringOptions scoring;
    Signature *signatures; /* [metric] */
    SystemScore *results;  /* [system][metric]; of score_sentences: [segment] */
    size_t result_count;
} ScoreTable;

/* Release with score_table_free. */
ScoreTable score_systems(const ScoringOptions *scoring);
ScoreTable score_sentences(const ScoringOptions *scoring); /* the first metric, the first system, no test */
void score_table_free(ScoreTable *table);

#endif
