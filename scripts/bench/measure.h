/* measure.h - timing: warm-up, repetitions, medians, and how busy other programs kept the machine.
 *
 * Units   seconds
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "kern/tensor.h"

/* One quantity, measured several times. A zeroed Sample is empty; sample_free releases it. */
typedef struct {
    double *values;
    int count;
    size_t capacity;
} Sample;

void sample_add(Sample *sample, double value);
double sample_median(Sample *sample);                      /* sorts it */
double sample_percentile(Sample *sample, double fraction); /* sorts it; fraction in 0..1, nearest rank */
void sample_free(Sample *sample);

enum { MEASURE_PARTS = 2 };

/* Work that can be repeated. */
typedef struct {
    /* Works `repeats` times; seconds[p] is the total time of part p. Unused parts stay zero. */
    Status (*run)(void *context, int repeats, double seconds[MEASURE_PARTS]);
    void *context;
    int most;    /* repeats in a run; 0: any number */
    int repeats; /* in a run: found by measure_prepare */
} Trial;

/* Warms up, then increases the repetitions until a run takes about `seconds`. A single run is not enough: the
 * wake-up of the threads can take longer than the work. */
Status measure_prepare(Trial *trial, double seconds);
/* One run; adds the seconds of one repetition to each part's sample. */
Status measure_run(Trial *trial, Sample sample[MEASURE_PARTS]);
/* measure_prepare, and `runs` runs. */
Status measure(Trial *trial, double seconds, int runs, Sample sample[MEASURE_PARTS]);

double measure_thread_seconds(void);                          /* processor time of this thread so far */
void measure_fill(real *data, size_t count, uint64_t stream); /* normal random numbers, always the same */
/* Are all numbers finite, and not all of them zero? */
bool measure_sound(const real *data, size_t count);

/* Processor times of the machine at one moment. */
typedef struct {
    double wall, all, own; /* all: busy time of all processes, negative if unknown */
} OthersClock;

OthersClock others_begin(void);
/* Processors (0.5: half of one) that other programs used since then; negative if unknown. */
double others_end(const OthersClock *begin);

#endif
