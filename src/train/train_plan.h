/* train_plan.h - completes the configuration of a training: files, languages, sizes. */
#ifndef TRAIN_TRAIN_PLAN_H
#define TRAIN_TRAIN_PLAN_H

#include "models/seq2seq.h"

typedef struct {
    const StrList *files;  /* training files named on the command line */
    bool without_config;   /* the command line names files or data.train, and no configuration */
    const char *languages; /* "en-de", or NULL */
    const char *init;      /* a model to start from, or NULL */
    bool vocabulary_only;  /* take only its vocabulary; weights and sizes are new */
    const char *resume;    /* the run directory to resume, or NULL */
    int threads;           /* 0 = one per core */
    Config *config;
    UserOptions *user_options; /* keys that the user has set; the plan adds its own */
} TrainPlan;

/* The files of the command line become data.train, in place of those of the configuration. */
Status train_plan_files(const TrainPlan *plan);
/* Complete the configuration, after train_plan_files. *init receives the model, or NULL; release it with
 * seq2seq_free in any case.
 *   resume     with model.size=auto, options that the user did not set are those of the run
 *   languages  from --languages, otherwise from the first line of the first file, otherwise from the model,
 *              otherwise "source" and "target"
 *   init       section text, and section model unless vocabulary_only, come from the model; STATUS_USAGE,
 *   with
 *              the key, if the user has set another value
 *   sizes      files without a configuration imply model.size=auto (config/auto_config.h), and without
 *              data.valid some of their pairs are held out */
Status train_plan(const TrainPlan *plan, Seq2Seq **init);

#endif
