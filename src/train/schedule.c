/* schedule.c - learning-rate schedules. */
#include "train/schedule.h"

#include <math.h>

/* What is left of the way from the end of warm-up, where all is, to the end of the training. Its length is
 * told by what was done in the updates so far. */
static double share_left(const TrainOptions *o, long long update, double done) {
    if (done >= 1) return 0;
    double warmed = o->warmup > 1 && update > 1 ? done * (o->warmup - 1) / (double)(update - 1) : 0;
    return (1 - done) / (1 - warmed);
}

double schedule_rate(const TrainOptions *o, long long update, double done, int cuts) {
    double rate = o->learning_rate, warmup = o->warmup;
    if (update < o->warmup) return rate * (double)update / warmup;
    switch (config_schedule(o)) {
    case SCHEDULE_INVERSE_SQRT:
        return rate * sqrt((warmup > 1 ? warmup : 1) / (double)update);
    case SCHEDULE_PLATEAU:
        return rate * pow(o->decay_factor, cuts);
    case SCHEDULE_LINEAR:
        return rate * share_left(o, update, done);
    case SCHEDULE_CONSTANT:
    case SCHEDULE_AUTO:
        break;
    }
    return rate;
}

double schedule_average(const TrainOptions *o, long long update) {
    if (o->average <= 0) return 0;
    double early = 9 / (10 + (double)update);
    return early > o->average ? early : o->average;
}
