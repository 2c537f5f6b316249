/* checkpoint.h - a run directory: models to use, and the state to go on from.
 *
 *   best.safetensors        the averaged weights of the best validation
 *   last.safetensors        those of the last save
 *   last.state.safetensors  everything else that continuing bit for bit needs: weights, average, Adam's
 *                           moments, counters, best score, the configuration, and digests of the training
 *                           and validation data
 *   LOCK                    held while a trainer works in the directory
 *
 * Each file is replaced atomically, and each is whole by itself: whichever of them a crash leaves behind
 * can be used.
 */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "translate/confidence.h"
#include "models/seq2seq.h"
#include "train/optimizer.h"
#include "train/progress.h"

typedef struct {
    const char *dir;
    const Config *config;
    const Seq2Seq *model;
    Optimizer *optimizer;
    Progress *progress;
    const char *data_sha256;  /* of the training pairs */
    const char *valid_sha256; /* of the validation pairs */
    Calibration calibration;  /* of the last validation of this session */
    bool other_end;           /* than the saved run was planned for, as checkpoint_load_state found */
} Checkpoint;

/* Take the run directory (created if missing); STATUS_USAGE if another process has it, STATUS_RUNTIME if it
 * cannot be locked. The lock ends with the process. */
Status checkpoint_lock(const char *dir);
/* After a failure: remove the directory again if this process made it and holds its lock, and there is
 * nothing else in it. */
void checkpoint_leave(const char *dir);
/* STATUS_RUNTIME if the file that checkpoint_lock locked is gone or another one: for before saving. */
Status checkpoint_check_lock(const char *dir);
bool checkpoint_exists(const char *dir); /* is there something to resume */
bool checkpoint_has_model(const char *dir);
/* Hint at what can be done where there is a model but no training state that can be read. Returns `code`. */
Status checkpoint_hint_model_alone(Status code, const char *dir);
/* Forget training state and log of an earlier run, so that nobody resumes it in place of this one; models
 * stay. */
Status checkpoint_forget(const char *dir);
/* The configuration of an earlier session, but for the names of its files; free it in any case. Of the state
 * only the header is read, with its digest. */
Status checkpoint_load_config(const char *dir, Config *config);
/* The vocabularies of an earlier session. */
Status checkpoint_load_tokenizers(const char *dir, Tokenizer **source, Tokenizer **target);
/* The model file `name` in `dir`, from the weights as they are now. */
Status checkpoint_save_model(const Checkpoint *checkpoint, const char *name);
/* Can that file be written at all? Asked before hours of training: its vocabularies may be too large. */
Status checkpoint_check_model(const Checkpoint *checkpoint);
Status checkpoint_save_state(const Checkpoint *checkpoint);
/* Fill model, optimizer and progress. STATUS_USAGE, with the key and both values, if the configuration is
 * another in what must not change, or if the data are. Another end of the run may be set: `other_end`. */
Status checkpoint_load_state(Checkpoint *checkpoint);
/* All processes of the group get the state that the root has loaded: weights, average, moments and counters,
 * but not the records of validations, which the root alone writes. */
void checkpoint_broadcast_state(Checkpoint *checkpoint);

#endif
