/* measure.c - clocks, medians, noise as input, printing. */
#include "measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "base/fileio.h"
#include "base/rng.h"

double measure_thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void measure_sort(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
}

double measure_median(double *values, int count) {
    measure_sort(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double measure_percentile(double *values, int count, double p) {
    measure_sort(values, count);
    int rank = (int)ceil(p / 100 * count);
    return values[rank < 1 ? 0 : rank > count ? count - 1 : rank - 1];
}

void measure_fill(real *data, size_t count, uint64_t stream) {
    Rng rng = rng_new(rng_key(1, stream, 0, 0));
    for (size_t i = 0; i < count; i++) data[i] = (real)rng_normal(&rng);
}

double measure_mass(const real *data, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs((double)data[i]);
    return sum;
}

bool measure_sound(double mass) { return isfinite(mass) && mass > 0; }

Status measure_print(StrView text) { return file_put("-", text); }

void measure_add_number(StrBuf *out, double value) {
    double size = fabs(value);
    int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
    strbuf_format(out, "%.*f", digits, value);
}
