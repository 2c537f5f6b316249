/* train_plan.h - completes the configuration of attn-mt train: files, languages, sizes. */
#ifndef TRAIN_TRAIN_PLAN_H
#define TRAIN_TRAIN_PLAN_H

#include "models/seq2seq.h"

typedef struct {
    const StrList *files;  /* training files named on the command line */
    bool without_config;   /* the command line names FILEs or data.train, and no configuration */
    const char *languages; /* "en-de", or NULL */
    const char *init;      /* a model to start from, or NULL */
    bool vocabulary_only;  /* take only the vocabulary of `init` */
    const char *resume;    /* the run directory to continue, or NULL */
    int threads;           /* 0 = one per core */
    Config *config;
    UserOptions *user_options; /* keys that the user set; the plan adds its own */
} TrainPlan;

/* FILEs of the command line replace data.train of the configuration. */
Status train_plan_files(const TrainPlan *plan);
/* Completes the configuration, after train_plan_files. *init receives the model, or NULL; release it with
 * seq2seq_free in any case.
 *   resume     with model.size=auto, options that the user did not set come from the run
 *   languages  see data/columns.h
 *   init       the sections text and (unless vocabulary_only) model come from the model; STATUS_USAGE, with
 *              the key, if the user set another value
 *   sizes      files without a configuration have model.size=auto (config/auto_config.h); without data.valid,
 *              some of the pairs are held out */
Status train_plan(const TrainPlan *plan, Seq2Seq **init);

#endif
