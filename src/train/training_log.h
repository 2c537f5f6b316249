/* training_log.h - what the log says while a run goes on, and at its end. */
#ifndef TRAIN_TRAINING_LOG_H
#define TRAIN_TRAINING_LOG_H

#include "train/run.h"
#include "train/validate.h"

/* Of this session, from the time that it began. */
typedef struct {
    Run *run;
    double fraction_before; /* the fraction of the run that was done before the first update */
    double fraction;        /* that is done now */
    long long tokens;       /* as in Progress */
    double train_seconds;
    double last_shown;
    bool warned_zero; /* that BLEU stays at 0 */
} TrainingLog;

void training_log_begin(TrainingLog *training_log, Run *run);
/* After an update: shows the line of progress when it is due. `fraction`: of the run, progress_fraction. */
void training_log_update(TrainingLog *training_log, double loss, double fraction);
/* Adds a record to the run's progress, and logs it with sample translations. */
void training_log_validation(TrainingLog *training_log, const ValidationScore *score, bool best);
void training_log_end(TrainingLog *training_log);

#endif
