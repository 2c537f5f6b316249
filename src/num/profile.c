/* profile.c - one clock, one open phase. */
#include "num/profile.h"

#include "base/log.h"

static const char *const NAMES[PHASE_COUNT] = {
    [PHASE_OTHER] = "other",
    [PHASE_DATA] = "data",
    [PHASE_ENCODER] = "encoder",
    [PHASE_ATTENTION] = "attention",
    [PHASE_DECODER] = "decoder",
    [PHASE_OUTPUT] = "output layer and loss",
    [PHASE_ENCODER_BACKWARD] = "encoder, backward",
    [PHASE_ATTENTION_BACKWARD] = "attention, backward",
    [PHASE_DECODER_BACKWARD] = "decoder, backward",
    [PHASE_OUTPUT_BACKWARD] = "output layer, backward",
    [PHASE_WEIGHT_GRADIENTS] = "weight gradients",
    [PHASE_REDUCE] = "optimizer, reduce",
    [PHASE_UPDATE] = "optimizer, update",
    [PHASE_PACK] = "optimizer, pack",
    [PHASE_EXCHANGE] = "exchange of ranks",
    [PHASE_VALIDATION] = "validation",
    [PHASE_SAVING] = "saving",
    [PHASE_WAITING] = "waiting",
};

const char *profile_name(Phase phase) { return NAMES[phase]; }

void profile_begin(Profile *profile, Phase phase, double now) {
    *profile = (Profile){.open = phase, .since = now};
}

void profile_settle(Profile *profile, double now) {
    profile->seconds[profile->open] += now - profile->since;
    profile->since = now;
}

Phase profile_enter(Profile *profile, Phase phase) {
    Phase before = profile->open;
    if (phase == before) return before;
    profile_settle(profile, clock_seconds());
    profile->open = phase;
    return before;
}

void profile_count_flops(Profile *profile, double flops) { profile->flops[profile->open] += flops; }
