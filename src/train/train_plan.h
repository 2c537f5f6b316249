/* train_plan.h - what a command line of attn-mt train leaves open: files, languages, sizes. */
#ifndef TRAIN_TRAIN_PLAN_H
#define TRAIN_TRAIN_PLAN_H

#include "models/seq2seq.h"

typedef struct {
    const StrList *files;  /* training files named on the command line */
    bool without_config;   /* files, or data.train, are named there, and no configuration */
    const char *languages; /* "en-de", or NULL */
    const char *init;      /* a model to start from, or NULL */
    bool vocabulary_only;  /* ... with new weights and sizes */
    const char *resume;    /* the run directory to go on with, or NULL */
    int threads;           /* 0 = one per core */
    Config *config;
    UserOptions *given; /* keys that the user set; those of the plan are added */
} TrainPlan;

/* The files of the command line become data.train, in place of those of the configuration. */
Status train_plan_files(const TrainPlan *plan);
/* Complete the configuration, after train_plan_files. *init receives the model, or NULL; release it with
 * seq2seq_free in any case.
 *   resume     with model.size=auto, what was not given is as it was in the run
 *   languages  by --languages, else by the first line of the first file, else as the model has them, else
 *              "source" and "target"
 *   init       sections text and, unless it is for the vocabulary alone, model are the model's; STATUS_USAGE,
 *              with the key, for what was given otherwise
 *   sizes      files without a configuration have model.size=auto (config/auto_config.h), and without
 *              data.valid a part of them is held out */
Status train_plan(const TrainPlan *plan, Seq2Seq **init);

#endif
