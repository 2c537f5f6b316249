/* kern_tables.h - the kernel tables that this processor can run, and vectors with guards. */
#ifndef KERN_TABLES_H
#define KERN_TABLES_H

#include "kern/kern.h"

/* NULL after the last one; the first is always "base". */
const Kernels *const *kern_tables(void);

/* Random numbers in -scale..scale at an unaligned address, with guards on both sides. */
typedef struct {
    real *at;
    size_t n;
    real *block;
} Line;
Line line_new(size_t n, uint64_t seed, double scale);
Line line_copy(const Line *line);
void line_free(Line *line); /* fails the test if a guard has changed */

/* Fails the test unless every number is within `tolerance` of the expected one, relative to max(1,
 * |expected|). */
void line_check(const char *what, const Line *line, const double *expected, double tolerance);

/* Run `test` for every table and for lengths with all kinds of tails, the last of them KERN_LONGEST. */
enum { KERN_LONGEST = 1025 };
void kern_each(void (*test)(const Kernels *k, size_t n));

#endif
