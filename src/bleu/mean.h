/* mean.h - means rounded as the programs that results are compared with round them. */
#ifndef BLEU_MEAN_H
#define BLEU_MEAN_H

#include <stdbool.h>
#include <stddef.h>

/* numpy.mean, in single precision if asked for. */
double mean_numpy(const double *values, size_t count, bool single);
/* statistics.mean of Python: the exact mean, rounded once; then to single precision if asked for.
 * No value is negative; fewer than 2^32 values. */
double mean_exact(const double *values, size_t count, bool single);

#endif
