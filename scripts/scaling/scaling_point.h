/* scaling_point.h - speed and memory of training at one size.
 *
 * Everything runs in a process of its own, so that the most memory it ever had is that of this size alone.
 *
 * Units   an update is one batch: forward, backward, optimiser; wall clock
 * Fails   STATUS_RUNTIME if the process fails or computes nonsense
 */
#ifndef SCALING_SCALING_POINT_H
#define SCALING_SCALING_POINT_H

#include "base/status.h"

/* The data are random words: `length` of them in each sentence, </s> comes on top. */
typedef struct {
    int threads, batch, hidden, vocabulary, length;
} ScalingSize;

enum { SCALING_UPDATES = 1000 };

typedef struct {
    double seconds[SCALING_UPDATES]; /* of each update but the first */
    int updates;
    double megabytes; /* peak of the process */
} ScalingRun;

/* Update after update until `seconds` are over, but at least `least`. */
Status scaling_point_run(const ScalingSize *size, double seconds, int least, ScalingRun *run);

#endif
