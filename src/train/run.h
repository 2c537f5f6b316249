/* run.h - what one training trains, with what, and what of it is on disk. What several processes do together,
 * except the gradients (train/shards.h), is behind this header. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "base/workers.h"
#include "train/checkpoint.h"
#include "train/trainer.h"
#include "train/training_data.h"

typedef struct {
    const TrainerOptions *options;
    const Config *config;
    Workers *workers;
    TrainingData data;
    Seq2Seq *model;
    Optimizer *optimizer;
    Progress progress;
    Checkpoint checkpoint;          /* views of the fields above */
    bool reserved;                  /* half of the pairs have reserved tokens */
    bool stop, save;                /* set by run_agree: to stop, to save */
    double started, seconds_before; /* of this session; progress.seconds when it began */
    double last_saved;
} Run;

/* Read the data, make or load model and optimizer, and announce the run. `run` does not move afterwards; free
 * it also after a failure. */
Status run_begin(Run *run, const TrainerOptions *options);
void run_free(Run *run);
/* Set progress.seconds. */
void run_clock(Run *run);
/* What depends on clocks and signals is decided for all processes at once: whether to stop or to save, and
 * the time that was used. */
void run_agree(Run *run);
/* last.safetensors and the state to resume from. */
Status run_save(Run *run);
/* best.safetensors, if the model is the best. Of all processes or of none. */
Status run_save_best(const Run *run, bool best);
/* train.jsonl and curve.svg. */
Status run_save_progress(const Run *run);
/* Notices a broken machine before its results are saved as the end of the run. */
Status run_check_weights(const Run *run);

#endif
