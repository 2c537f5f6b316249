/* trainer.h - a training run from configuration to model file.
 *
 * The bytes of the result depend on configuration, data, program and the kind of processor, but not on the
 * number of threads and processes, nor on interruptions of the run.
 *
 * Errors  STATUS_DIVERGED at the first loss or gradient that is not finite, or loss far above the first one;
 *         STATUS_STOPPED after a signal, when everything is saved
 */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include <signal.h>
#include "models/seq2seq.h"

typedef struct {
    Config *config;  /* trainer_run may raise decode.max_length_factor: config/auto_config.h */
    const char *dir; /* run directory */
    Seq2Seq *init; /* a model of this configuration to start from, or NULL; loses the memory of its weights */
    bool vocabulary_only; /* take only the vocabulary of `init` */
    bool resume;          /* with the weights of the run; `init` must have the same vocabulary */
    bool overwrite;
    int threads;         /* 0 = one per core */
    void (*ready)(void); /* called when there is a state to save: from then on signals may ask to stop */
    /* The signal that asks to stop, 0: none. trainer_run sets it in all processes if one has received it. */
    volatile sig_atomic_t *stop;
} TrainerOptions;

/* In the root process, before anything else: lock the run directory (checkpoint_lock), and check that it has
 * no other model. */
Status trainer_begin(const TrainerOptions *options);
Status trainer_run(const TrainerOptions *options);

#endif
