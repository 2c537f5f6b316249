/* trainer.h - a training run from configuration to model file.
 *
 * The bytes of the result depend on configuration, data, program and the kind of processor, not on the
 * number of threads, and not on how often the run was interrupted and resumed.
 *
 * Fails   STATUS_DIVERGED at the first loss or gradient that is not finite, or loss far above the first one;
 *         STATUS_STOPPED after a signal, with all saved
 */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include <signal.h>
#include "models/seq2seq.h"

typedef struct {
    Config *config;       /* decode.max_length_factor may be raised: config/auto_config.h */
    const char *dir;      /* run directory */
    const Seq2Seq *init;  /* a model of this configuration to start from, or NULL */
    bool vocabulary_only; /* ... of which only the vocabulary is taken */
    bool resume;          /* with the weights of the run; the vocabulary of `init` must be the run's */
    bool overwrite;
    int threads;         /* 0 = one per core */
    void (*ready)(void); /* called when there is something to save: signals may ask from now on */
    /* The signal that asks to stop, met by any rank; 0: none. */
    volatile sig_atomic_t *stop;
} TrainerOptions;

/* What the first rank does before anything is read and said: it takes the run directory (checkpoint_lock),
 * and sees that there is no other model in it. */
Status trainer_begin(const TrainerOptions *options);
Status trainer_run(const TrainerOptions *options);

#endif
