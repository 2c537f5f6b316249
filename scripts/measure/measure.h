/* measure.h - what the measuring programs in scripts/ share: clocks, medians, noise as input, printing.
 *
 * Units   seconds
 */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include <stdint.h>
#include "base/status.h"
#include "base/strview.h"
#include "num/tensor.h"

double measure_thread_seconds(void);                            /* processor time of this thread so far */
void measure_sort(double *values, int count);                   /* ascending */
double measure_median(double *values, int count);               /* sorts them */
double measure_percentile(double *values, int count, double p); /* sorts them; p in 0..100, nearest rank */
void measure_fill(real *data, size_t count, uint64_t stream);   /* normal random numbers, always the same */
double measure_mass(const real *data, size_t count);            /* sum of absolute values */
bool measure_sound(double mass);    /* of numbers that are finite and not all zero */
Status measure_print(StrView text); /* to standard output, and make sure that it arrived */
/* Three significant digits without an exponent. */
void measure_add_number(StrBuf *out, double value);

#endif
