/* metric.h - what all scores have in common: numbers per segment, summed, then one score of the sums.
 *
 * A metric is a row of METRIC_TABLE and a file with its functions and options. Command line, counting,
 * resampling, signatures and reports use the row and do not ask which metric it is.
 *
 * Units   scores 0..100, the textbook's 0..1
 */
#ifndef BLEU_METRIC_H
#define BLEU_METRIC_H

#include "base/options.h"
#include "base/status.h"
#include "base/strview.h"
#include "bleu/ngram.h"
#include "bleu/texts.h"

#define METRIC_MAX_WIDTH 256

/* The release of sacreBLEU whose results and output these are: what signatures say after "version:". */
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

/* What counting uses again from segment to segment. */
typedef struct {
    Texts *words, *characters;
    NgramTable *ngrams;
    StrBuf lowered, tokens;
} Scratch;

/* The text in lower case if that is `wanted`; valid until the next call. */
StrView scratch_lower(Scratch *scratch, StrView text, bool wanted);

/* `options` is always the struct that `rows` fill. Functions marked "or NULL" are optional. */
typedef struct {
    const char *name;   /* as in METRIC_CHOICES */
    const Option *rows; /* the metric's part of the command line, or NULL */
    size_t options_size;
    int digits; /* shown after the decimal point if nobody asks for more */
    /* Complete the options and check them; or NULL. */
    Status (*prepare)(void *options, bool sentence_level);
    /* Columns of a row of statistics, at most METRIC_MAX_WIDTH. */
    int (*width)(const void *options);
    /* Statistics of one segment. A reference with NULL data is absent; at least one is there. */
    void (*count)(const void *options, Scratch *scratch, StrView hypothesis, const StrView *references,
                  size_t reference_count, double *row);
    double (*score)(const void *options, const double *sums);
    /* The signature's name and what tells this metric from others, in order, but for the version. */
    void (*sign)(const void *options, Signature *signature);
    const char *version;
    /* What stands behind a score, appended to `out`; or NULL. */
    void (*describe)(const void *options, const double *sums, StrBuf *out);
    /* Warn of a system that looks odd; or NULL. */
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

/* A metric with the options that it is to be computed with. */
typedef struct {
    const Metric *metric;
    const void *options;
} ChosenMetric;

/* Row i holds the `width` numbers of segment i. */
typedef struct {
    ChosenMetric chosen;
    double *rows; /* [count][width] */
    size_t count;
    int width;
} Statistics;

/* Count the segments of one system. references[r][i] is the r-th reference of segment i. */
Statistics statistics_count(ChosenMetric chosen, const StrView *hypotheses, size_t count,
                            const StrView *const *references, size_t reference_count);
void statistics_free(Statistics *statistics);
/* The sum of all rows, and the score of it. `sums` has `width` numbers. */
void statistics_sum(const Statistics *statistics, double *sums);
double statistics_score(const Statistics *statistics);
/* Both at once for a corpus with one reference per line. 0..100 */
double corpus_score(ChosenMetric chosen, const StrView *hypotheses, const StrView *references, size_t count);

#endif
