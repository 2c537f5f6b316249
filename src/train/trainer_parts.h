/* trainer_parts.h - what the files of the trainer share: how a run is set up (trainer_setup.c), its loop
 * (trainer.c), and what it says (trainer_report.c). */
#ifndef TRAIN_TRAINER_PARTS_H
#define TRAIN_TRAINER_PARTS_H

#include "data/batch.h"
#include "train/checkpoint.h"
#include "train/shards.h"
#include "train/trainer.h"
#include "train/validate.h"

typedef struct {
    const TrainerOptions *options;
    const Config *config;
    Workers *workers;
    Tokenizer *source, *target;
    Corpus train, valid;
    Corpus now; /* `train` in the direction of the update: a view */
    Seq2Seq *model;
    Optimizer *optimizer;
    Shards *shards;
    Progress progress;
    Checkpoint checkpoint;
    BatchPlan *plan;     /* of the current epoch; NULL: to be made */
    long long validated; /* update of the last validation, -1 = none yet */
    /* of this session */
    double started, seconds_before; /* the clock, and progress.seconds when it began */
    double share_before;            /* trainer_share then */
    long long tokens;
    double train_seconds;
    double last_shown, last_saved;
    bool warned_zero;  /* that BLEU stays at 0 */
    bool stop, save;   /* agreed by all ranks: to stop, to save */
    double first_loss; /* 0: none yet */
} Trainer;

/* progress.seconds up to now. Of several ranks the first one has the clock. */
void trainer_update_clock(Trainer *t);
double trainer_share(const Trainer *t); /* of the run that is done: progress_share */

/* Everything until the first update; trainer_tear_down also after a failure. */
Status trainer_set_up(Trainer *t);
void trainer_tear_down(Trainer *t);

/* What is known before the first update, and what is odd about it. */
void trainer_announce(const Trainer *t);
void trainer_announce_resumption(const Trainer *t);
/* A line of progress, if it is time for one. */
void trainer_show_progress(Trainer *t, double loss);
/* Add a record to the progress and say it. */
void trainer_report(Trainer *t, const ValidationScore *score, bool best);
void trainer_report_end(Trainer *t);

#endif
