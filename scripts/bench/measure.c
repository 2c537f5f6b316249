/* measure.c - repetitions, medians, random input, processor time of other programs. */
#include "bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"

/* ---- samples ----------------------------------------------------------------------------------------- */

void sample_add(Sample *sample, double value) {
    MEM_GROW(sample->values, sample->capacity, (size_t)sample->count + 1);
    sample->values[sample->count++] = value;
}

void sample_free(Sample *sample) {
    mem_free(sample->values);
    *sample = (Sample){0};
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sample_percentile(Sample *sample, double fraction) {
    qsort(sample->values, (size_t)sample->count, sizeof *sample->values, compare_doubles);
    int rank = (int)ceil(fraction * sample->count);
    return sample->values[rank < 1 ? 0 : rank > sample->count ? sample->count - 1 : rank - 1];
}

double sample_median(Sample *sample) {
    double lower = sample_percentile(sample, 0.5);
    return sample->count % 2 ? lower : (lower + sample->values[sample->count / 2]) / 2;
}

/* ---- runs -------------------------------------------------------------------------------------------- */

static Status run_once(Trial *trial, double spent[MEASURE_PARTS], double *sum) {
    *sum = 0;
    for (int p = 0; p < MEASURE_PARTS; p++) spent[p] = 0;
    TRY(trial->run(trial->context, trial->repeats, spent));
    for (int p = 0; p < MEASURE_PARTS; p++) *sum += spent[p];
    return STATUS_OK;
}

Status measure_prepare(Trial *trial, double seconds) {
    double spent[MEASURE_PARTS], sum, most = trial->most ? trial->most : 1e6;
    trial->repeats = 1;
    for (int step = 0;; step++) {
        TRY(run_once(trial, spent, &sum));
        double expected = fmin(most, trial->repeats * seconds / fmax(sum, 1e-9));
        if (expected <= 1) return STATUS_OK;
        if (step == 0) continue; /* that was the warm-up */
        bool near = expected < 2 * trial->repeats;
        trial->repeats = (int)fmin(expected, 16.0 * trial->repeats);
        if (near) return STATUS_OK;
    }
}

Status measure_run(Trial *trial, Sample sample[MEASURE_PARTS]) {
    double spent[MEASURE_PARTS], sum;
    TRY(run_once(trial, spent, &sum));
    for (int p = 0; p < MEASURE_PARTS; p++)
        if (spent[p] > 0) sample_add(&sample[p], spent[p] / trial->repeats);
    return STATUS_OK;
}

Status measure(Trial *trial, double seconds, int runs, Sample sample[MEASURE_PARTS]) {
    TRY(measure_prepare(trial, seconds));
    for (int i = 0; i < runs; i++) TRY(measure_run(trial, sample));
    return STATUS_OK;
}

double measure_thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void measure_fill(real *data, size_t count, uint64_t stream) {
    Rng rng = rng_new(rng_key(1, stream, 0, 0));
    for (size_t i = 0; i < count; i++) data[i] = (real)rng_normal(&rng);
}

bool measure_sound(const real *data, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs((double)data[i]);
    return isfinite(sum) && sum > 0;
}

/* ---- other programs ---------------------------------------------------------------------------------- */

/* Busy time of all processors, from Linux's /proc/stat: user, nice, system, interrupts and what a
 * hypervisor took; not idle or waiting. */
static double all_seconds(void) {
    double user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "r");
    int read = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait,
                             &irq, &soft, &steal)
                    : 0;
    if (file) fclose(file);
    if (read != 8) return -1;
    return (user + nice + system + irq + soft + steal) / (double)sysconf(_SC_CLK_TCK);
}

static double used(int who) {
    struct rusage r;
    if (getrusage(who, &r)) return 0;
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

OthersClock others_begin(void) {
    return (OthersClock){clock_seconds(), all_seconds(), used(RUSAGE_SELF) + used(RUSAGE_CHILDREN)};
}

double others_end(const OthersClock *begin) {
    OthersClock now = others_begin();
    if (begin->all < 0 || now.all < 0 || now.wall <= begin->wall) return -1;
    double others = (now.all - begin->all - (now.own - begin->own)) / (now.wall - begin->wall);
    return others > 0 ? others : 0;
}
