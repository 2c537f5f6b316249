/* checkpoint.h - a run directory: models for translation, and the state to resume from.
 *
 *   best.safetensors        the averaged weights of the best validation
 *   last.safetensors        the averaged weights of the last save
 *   last.state.safetensors  everything else that a run needs to continue bit for bit: weights, average,
 *                           moments of Adam, counters, best score, the configuration, and digests of the
 *                           training and validation data
 *   init.safetensors, tuned.safetensors  with train.interpolate: train/interpolate.h
 *   LOCK                    locked while a trainer works in the directory
 *
 * Each file is replaced atomically, and each is complete by itself, so the files that a crash leaves can be
 * used.
 */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "postprocess/calibration.h"
#include "models/seq2seq.h"
#include "train/optimizer.h"
#include "train/progress.h"

#define CHECKPOINT_INIT  "init.safetensors"
#define CHECKPOINT_TUNED "tuned.safetensors"

/* A mean of the fine-tuned weights and those before: the fraction of the fine-tuned ones, and the validation
 * of the mean. */
typedef struct {
    double fraction, loss, bleu;
    Calibration calibration;
} CheckpointMean;

typedef struct {
    const char *dir;
    const Config *config;
    const Seq2Seq *model;
    Optimizer *optimizer;
    Progress *progress;
    const char *data_sha256;  /* of the training pairs */
    const char *valid_sha256; /* of the validation pairs */
    bool translates_symbols;  /* corpus_translates_symbols of the training pairs */
    Calibration calibration;  /* of the last validation of this session */
    CheckpointMean mean;
    bool is_mean;     /* the weights to save are `mean` */
    bool end_changed; /* set by checkpoint_load_state: the saved run had another end */
} Checkpoint;

/* Lock the run directory, which is created if it is missing. STATUS_USAGE if another process has locked it,
 * STATUS_RUNTIME if it cannot be locked. The lock ends with the process. */
Status checkpoint_lock(const char *dir);
/* After a failure: remove the directory if this process created and locked it and it has no other files. */
void checkpoint_remove_empty(const char *dir);
/* Before saving: STATUS_RUNTIME if the file that checkpoint_lock locked was removed or replaced. */
Status checkpoint_check_lock(const char *dir);
bool checkpoint_exists(const char *dir); /* a state to resume from */
bool checkpoint_has_model(const char *dir);
/* The hint for a directory with a model, but without a training state that can be read. Returns `code`. */
Status checkpoint_hint_model_alone(Status code, const char *dir);
/* Remove training state, log and models of an earlier run, so that none is taken for one of this run. */
Status checkpoint_remove_run(const char *dir);
/* The configuration of an earlier session, without data.train and data.valid; free it in any case. Reads only
 * the header of the state, and checks its digest. */
Status checkpoint_load_config(const char *dir, Config *config);
/* The vocabularies of an earlier session. */
Status checkpoint_load_tokenizers(const char *dir, Tokenizer **source, Tokenizer **target);
/* Write the model file `name` in `dir` from the current weights. */
Status checkpoint_save_model(const Checkpoint *checkpoint, const char *name);
/* Keep best.safetensors as tuned.safetensors, unless there is one; or remove that, before a better one. */
Status checkpoint_keep_tuned(const char *dir);
Status checkpoint_drop_tuned(const char *dir);
/* An error if no model file can be written, because the vocabularies are too large: for before training. */
Status checkpoint_check_model(const Checkpoint *checkpoint);
Status checkpoint_save_state(const Checkpoint *checkpoint);
/* Fill model, optimizer and progress. STATUS_USAGE, with the key and both values, if an option that must not
 * change has changed, or if the data have. The end of the run may change: end_changed. */
Status checkpoint_load_state(Checkpoint *checkpoint);
/* All processes of the group get the state that the root has loaded: weights, average, moments and counters,
 * but not the records of validations, which the root alone writes. */
void checkpoint_broadcast_state(Checkpoint *checkpoint);

#endif
