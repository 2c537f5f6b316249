/* bleu_metric.h - the metrics that `attn-mt bleu` can compute, behind one interface: counting, naming, signing. */
#ifndef CLI_BLEU_METRIC_H
#define CLI_BLEU_METRIC_H

#include "cli/bleu_input.h"
#include "cli/bleu_options.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

/* "nrefs:1|bs:1000|..." as pairs, in order. */
typedef struct {
    const char *key, *abbreviation;
    char value[80];
} SignaturePair;

typedef struct {
    SignaturePair pairs[16];
    int count;
} Signature;

typedef struct {
    bool is_chrf;
    BleuOptions bleu;
    ChrfOptions chrf;
    bool force;
    char name[96]; /* "BLEU", "chrF2++" */
} ScoreMetric;

typedef enum { RESAMPLING_NONE, RESAMPLING_BOOTSTRAP, RESAMPLING_RANDOMIZATION } Resampling;

/* The metrics asked for, each once, in order of name. Returns how many. */
int bleu_metric_list(const BleuCommand *command, ScoreMetric metrics[2]);

/* Count all segments of one system. Warns about input that looks tokenized. Release with bleu_metric_release. */
MetricRows bleu_metric_count(const ScoreMetric *metric, const LineList *system, const LineSet *references);
void bleu_metric_release(MetricRows *rows);

/* `trials` and `seed` are those of the resampling, if any. */
Signature bleu_metric_signature(const ScoreMetric *metric, size_t references, Resampling resampling,
                                int trials, const char *seed);
void bleu_metric_write_signature(const Signature *signature, bool abbreviated, StrBuf *out);

/* What stands behind a score: precisions, brevity penalty, lengths. Nothing for chrF. */
void bleu_metric_write_details(const ScoreMetric *metric, const MetricRows *rows, StrBuf *out);

#endif
