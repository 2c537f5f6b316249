/* profile.h - what one thread of a training run does with its time: seconds and arithmetic, phase by phase.
 *
 * A thread is always in exactly one phase, so that the seconds of all phases are the time since the profile
 * began. The clock is read only when the phase changes. Code of layers and models says which part of the
 * model it is by tape_phase (tape.h); each node of the tape remembers that, and its backward counts for the
 * backward of the same part.
 *
 * Units   seconds on the wall; flops are those of matrix products, two for each multiplication with its
 *         addition
 * Threads a profile belongs to one thread; another may read it when that thread has nothing to do
 */
#ifndef NUM_PROFILE_H
#define NUM_PROFILE_H

typedef enum {
    PHASE_OTHER, /* whatever nobody claims */
    PHASE_DATA,  /* order of the sentences, dealing out a batch, token ids */
    /* parts of the model, forward, and in the same order backward */
    PHASE_ENCODER,
    PHASE_ATTENTION, /* of the decoder to the source */
    PHASE_DECODER,
    PHASE_OUTPUT, /* readout, output layer and loss */
    PHASE_ENCODER_BACKWARD,
    PHASE_ATTENTION_BACKWARD,
    PHASE_DECODER_BACKWARD,
    PHASE_OUTPUT_BACKWARD,
    PHASE_WEIGHT_GRADIENTS,
    /* optimizer: sum of the shards' gradients and their norm; clipping, Adam, average; copies of the weights
     * for products */
    PHASE_REDUCE,
    PHASE_UPDATE,
    PHASE_PACK,
    PHASE_EXCHANGE, /* with other processes, and waiting for them */
    PHASE_VALIDATION,
    PHASE_SAVING,
    PHASE_WAITING, /* for other threads */
    PHASE_COUNT
} Phase;

typedef struct {
    Phase open;
    double since; /* clock_seconds when it was opened */
    double seconds[PHASE_COUNT], flops[PHASE_COUNT];
} Profile;

void profile_begin(Profile *profile, Phase phase, double now);
/* Go over to a phase; returns the one that was open, to go back to. */
Phase profile_enter(Profile *profile, Phase phase);
/* Count the time of the open phase up to now. */
void profile_settle(Profile *profile, double now);
void profile_count_flops(Profile *profile, double flops); /* for the open phase */

/* The phase in which a node runs backward that ran forward in `phase`. */
static inline Phase profile_backward(Phase phase) {
    return phase >= PHASE_ENCODER && phase <= PHASE_OUTPUT
               ? (Phase)(phase + PHASE_ENCODER_BACKWARD - PHASE_ENCODER)
               : phase;
}
const char *profile_name(Phase phase);

#endif
