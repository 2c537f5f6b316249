/* metric.h - the interface of all metrics: statistics of each segment, their sums, and one score of the sums.
 *
 * A metric is a row of METRIC_TABLE and a file with its functions and options. Command line, counting,
 * resampling, signatures and reports use only the row.
 *
 * Units   scores 0..100, METRIC_BLEU_D2L 0..1
 */
#ifndef BLEU_METRIC_H
#define BLEU_METRIC_H

#include "io/options.h"
#include "base/status.h"
#include "base/strview.h"
#include "bleu/ngram.h"
#include "bleu/texts.h"
#include "sentencepiece/sentencepiece.h"

#define METRIC_MAX_WIDTH 256

/* The release of sacreBLEU that results and output equal, for "version:" in signatures. */
#define SACREBLEU_VERSION "2.6.0"

/* "BLEU|nrefs:1|case:mixed|..." */
typedef struct {
    const char *key, *abbreviation;
    char value[80];
} SignaturePair;

typedef struct {
    char name[96]; /* of the metric: "BLEU", "chrF2++" */
    SignaturePair pairs[16];
    int count;
} Signature;

void signature_name(Signature *signature, const char *format, ...) __attribute__((format(printf, 2, 3)));
void signature_add(Signature *signature, const char *key, const char *abbreviation, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Buffers that are reused for each segment. */
typedef struct {
    Texts *words, *characters;
    NgramTable *ngrams;
    StrBuf lowered, tokens;
    SentencePieceText pieces;
} Scratch;

/* The text, in lower case if `lowercase`; valid until the next call. */
StrView scratch_lower(Scratch *scratch, StrView text, bool lowercase);

/* `options` is the struct that `rows` fill. */
typedef struct {
    const char *name;   /* as in METRIC_CHOICES */
    const Option *rows; /* the metric's command-line options, or NULL */
    size_t options_size;
    int digits; /* decimals of a report by default */
    /* Completes and checks the options; or NULL. */
    Status (*check_options)(void *options, bool sentence_level);
    /* Number of statistics of a segment, at most METRIC_MAX_WIDTH. */
    int (*width)(const void *options);
    /* Statistics of one segment. A reference with NULL data is absent; at least one is present. */
    void (*count)(const void *options, Scratch *scratch, StrView hypothesis, const StrView *references,
                  size_t reference_count, double *row);
    double (*score)(const void *options, const double *sums);
    /* Sets the signature's name and appends the pairs of this metric in order, without the version. */
    void (*sign)(const void *options, Signature *signature);
    const char *version;
    /* Appends the details of a score to `out`, such as the precisions; or NULL. */
    void (*describe)(const void *options, const double *sums, StrBuf *out);
    /* Warns if a system looks wrong; or NULL. */
    void (*inspect)(const void *options, const StrView *hypotheses, size_t count);
} Metric;

/* One row per metric, in alphabetical order: its name and the constant that its file defines. */
#define METRIC_TABLE(ROW, BETWEEN)                                                                           \
    ROW("bleu", METRIC_BLEU)                                                                                 \
    BETWEEN ROW("chrf", METRIC_CHRF)                                                                         \
    BETWEEN ROW("ter", METRIC_TER)

#define METRIC_DECLARE(name_, metric_) extern const Metric metric_;
METRIC_TABLE(METRIC_DECLARE, )

#define METRIC_NAME(name_, metric_) name_
#define METRIC_CHOICES              METRIC_TABLE(METRIC_NAME, "|")

extern const Metric *const METRICS[]; /* in the order of METRIC_CHOICES; ends with NULL */

/* A metric with its options. */
typedef struct {
    const Metric *metric;
    const void *options;
} ConfiguredMetric;

/* Row i has the `width` statistics of segment i. */
typedef struct {
    ConfiguredMetric configured;
    double *rows; /* [count][width] */
    size_t count;
    int width;
} Statistics;

/* The statistics of one system. references[r][i] is the r-th reference of segment i. */
Statistics statistics_count(ConfiguredMetric configured, const StrView *hypotheses, size_t count,
                            const StrView *const *references, size_t reference_count);
void statistics_free(Statistics *statistics);
/* The sums of all rows [width], and their score. */
void statistics_sum(const Statistics *statistics, double *sums);
double statistics_score(const Statistics *statistics);
/* Counts and scores a corpus with one reference per line. 0..100 */
double corpus_score(ConfiguredMetric configured, const StrView *hypotheses, const StrView *references,
                    size_t count);

#endif
