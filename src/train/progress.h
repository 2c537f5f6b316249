/* progress.h - counters, best scores and validations of a training run, and its end. */
#ifndef TRAIN_PROGRESS_H
#define TRAIN_PROGRESS_H

#include "base/status.h"
#include "base/strview.h"
#include "config/config.h"

/* One validation: a line of train.jsonl. */
typedef struct {
    long long update;
    int epoch;                /* from 1 */
    double seconds;           /* of training and validation in all sessions of the run */
    double tokens_per_second; /* target tokens with </s> since the last validation, without validation time */
    double train_loss;        /* mean smoothed cross-entropy per target token since the last validation */
    double valid_loss, valid_perplexity; /* mean -log p per target token; its exponential */
    double valid_bleu;
    double valid_chrf;                   /* NAN: not computed */
    double learning_rate, gradient_norm; /* of this update */
    bool best;
} ProgressRecord;

typedef struct {
    long long update;
    long long epoch, batch;                   /* epoch from 0; next batch of it */
    double seconds;                           /* as in a record */
    double best_bleu, best_loss;              /* -1 and INFINITY: none yet */
    long long stalled, stalled_for_cut, cuts; /* validations without improvement; learning-rate cuts */
    double loss_sum, train_seconds;           /* since the last validation; without the time of validations */
    long long tokens;               /* target tokens with </s>, times decoders, since the last validation */
    long long total_tokens;         /* the same, of the whole run */
    double last_norm, last_rate;    /* of the last update */
    double best_chrf, loss_of_best; /* -1 and INFINITY: none yet; of the best model */
    ProgressRecord *records;        /* all validations so far */
    size_t count, capacity;
} Progress;

void progress_free(Progress *progress);
void progress_add(Progress *progress, const ProgressRecord *record);
void progress_write_json(const ProgressRecord *record, StrBuf *out); /* one line with its newline */
/* For the log, without a newline: at most 80 columns up to 9,999,999 updates, with rounded numbers. */
void progress_write_line(const ProgressRecord *record, StrBuf *out);
/* Read the lines of train.jsonl up to `last_update`. A missing file counts as empty. STATUS_DATA, with a
 * hint, if the file is damaged or not a regular file. */
Status progress_read(Progress *progress, const char *path, long long last_update);
/* Replace train.jsonl and curve.svg in `dir`. The legend of the plot names what `config` adds to the training
 * loss. The plot has a chrF curve if chrF was computed. */
Status progress_save(const Progress *progress, const Config *config, const char *dir);

/* Count a validation with these scores: the best ones, validations without improvement, learning-rate cuts.
 * Returns whether the model is the best so far, by train.stop_on. */
bool progress_update_best(Progress *progress, double loss, double bleu, double chrf,
                          const TrainOptions *options);

/* The completed fraction of all epochs or of all updates, whichever is more; 0 if both are unlimited. It
 * ignores the time limit, since the learning rate depends on it. `batches`: of this epoch, 0 before the
 * epoch begins. */
double progress_fraction(const Progress *progress, const TrainOptions *options, int batches);
enum { PROGRESS_EXTENSION = 64 };
/* The reason why the run is finished, and the option that makes it twice as long; NULL if it is not
 * finished. */
const char *progress_find_end(const Progress *progress, const TrainOptions *options,
                              char extension[PROGRESS_EXTENSION]);

#endif
