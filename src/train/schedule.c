/* schedule.c - learning-rate schedules. */
#include "train/schedule.h"

#include <math.h>

double schedule_rate(const TrainOptions *o, long long update, double done, int cuts) {
    double rate = o->learning_rate, warmup = o->warmup;
    if (update < o->warmup) return rate * (double)update / warmup;
    switch ((Schedule)o->schedule) {
    case SCHEDULE_INVERSE_SQRT:
        return rate * sqrt((warmup > 1 ? warmup : 1) / (double)update);
    case SCHEDULE_PLATEAU:
        return rate * pow(o->decay_factor, cuts);
    case SCHEDULE_LINEAR:
        return rate * (done < 1 ? 1 - done : 0);
    case SCHEDULE_CONSTANT:
        break;
    }
    return rate;
}

double schedule_average(const TrainOptions *o, long long update) {
    if (o->average <= 0) return 0;
    double early = 9 / (10 + (double)update);
    return early > o->average ? early : o->average;
}
