/* interpolate.h - the end of fine-tuning: a mean of the fine-tuned weights and those it began with.
 *
 * Fine-tuning makes a model forget other text. Between both models the new text gains before the other
 * text loses (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). The run validates some
 * points of the line between them, and the best model becomes one of these.
 *
 *   init.safetensors   the model that the run began with
 *   tuned.safetensors  the best fine-tuned model, the point with fraction 1
 *   best.safetensors   the chosen point, once the run is over
 */
#ifndef TRAIN_INTERPOLATE_H
#define TRAIN_INTERPOLATE_H

#include <signal.h>
#include "train/checkpoint.h"
#include "train/training_data.h"

enum { INTERPOLATION_POINTS = 5 };

typedef struct {
    double fraction; /* of the fine-tuned weights, 0..1 */
    double loss, bleu, chrf;
    double general_bleu; /* of data.general; NAN: none */
    double same;         /* BLEU of the translations of data.general against those of fraction 0; NAN: none */
} InterpolationPoint;

/* The smallest fraction that has nearly all (95 %) that the best one gains by train.stop_on. */
int interpolation_choose(const InterpolationPoint points[INTERPOLATION_POINTS], StopOn stop_on);

/* Validates the points, logs them, and replaces best.safetensors. All processes call it; the weights of the
 * checkpoint's model are the same afterwards. Without effect if a signal arrives in `stop` meanwhile. */
Status interpolate(Checkpoint *checkpoint, const TrainingData *data, Workers *workers,
                   volatile sig_atomic_t *stop);

#endif
