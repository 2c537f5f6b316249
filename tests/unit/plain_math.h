/* plain_math.h - vectors and maps in plain loops and double precision, for writing a model's equations out a
 * second time.
 *
 * Parameters are found by their names in the set given to plain_use.
 */
#ifndef PLAIN_MATH_H
#define PLAIN_MATH_H

#include "num/params.h"

enum { PLAIN_MOST = 40, PLAIN_LONGEST = 8 }; /* numbers in any vector, vectors in any sentence */

typedef struct {
    double x[PLAIN_MOST];
    int n;
} Vector;

typedef struct {
    Vector row[PLAIN_LONGEST];
    int length;
} Vectors;

void plain_use(const ParamSet *params);
/* NULL if there is none. */
const Param *plain_find(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and there must be one. */
const Param *plain_param(const char *format, ...) __attribute__((format(printf, 1, 2)));
double plain_at(const Param *p, int row, int column);
const char *plain_name(const char *prefix, const char *part); /* "prefix.part": valid for the next 7 calls */

Vector plain_zeros(int n);
Vector plain_row(const Param *table, int row);
Vector plain_sum(Vector a, Vector b);
Vector plain_scale(Vector a, double factor);
Vector plain_join(Vector a, Vector b);
Vector plain_part(Vector a, int first, int n);
Vector plain_tanh(Vector a);
double plain_dot(Vector a, Vector b);
double plain_sigmoid(double x);
/* x W + b with "name.weight" and, if there is one, "name.bias". */
Vector plain_affine(const char *name, Vector x);
/* The same if there is such a weight, else x. */
Vector plain_affine_or_same(const char *name, Vector x);
/* Layer normalization with "name.gain" and "name.bias"; x itself if not `enabled`, and then there must be no
 * gain. */
Vector plain_normalize(const char *name, bool enabled, Vector x);
/* The sum of the rows, weighted by the softmax of the scores. */
Vector plain_softmax_mean(const double *scores, const Vectors *rows);

#endif
