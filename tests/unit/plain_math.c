/* plain_math.c - see plain_math.h. */
#include "unit/plain_math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const ParamSet *params;

void plain_use(const ParamSet *set) { params = set; }

const Param *plain_find(const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return params_find(params, name);
}

const Param *plain_param(const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    const Param *p = params_find(params, name);
    if (!p) fail_msg("no parameter '%s'", name);
    return p;
}

double plain_at(const Param *p, int row, int column) {
    assert_true(p && row >= 0 && row < p->rows && column >= 0 && column < p->columns);
    return (double)param_data(params, p)[row * p->columns + column];
}

const char *plain_name(const char *prefix, const char *part) {
    static char names[8][128];
    static int next;
    char *name = names[next++ % 8];
    snprintf(name, sizeof names[0], "%s.%s", prefix, part);
    return name;
}

Vector plain_zeros(int n) {
    assert_true(n <= PLAIN_MOST);
    return (Vector){.n = n};
}
Vector plain_row(const Param *table, int row) {
    Vector y = plain_zeros(table->columns);
    for (int i = 0; i < y.n; i++) y.x[i] = plain_at(table, row, i);
    return y;
}
Vector plain_sum(Vector a, Vector b) {
    assert_int_equal(a.n, b.n);
    for (int i = 0; i < a.n; i++) a.x[i] += b.x[i];
    return a;
}
Vector plain_scale(Vector a, double factor) {
    for (int i = 0; i < a.n; i++) a.x[i] *= factor;
    return a;
}
Vector plain_join(Vector a, Vector b) {
    assert_true(a.n + b.n <= PLAIN_MOST);
    memcpy(a.x + a.n, b.x, (size_t)b.n * sizeof(double));
    a.n += b.n;
    return a;
}
Vector plain_part(Vector a, int first, int n) {
    assert_true(first >= 0 && first + n <= a.n);
    Vector y = plain_zeros(n);
    memcpy(y.x, a.x + first, (size_t)n * sizeof(double));
    return y;
}
Vector plain_tanh(Vector a) {
    for (int i = 0; i < a.n; i++) a.x[i] = tanh(a.x[i]);
    return a;
}
double plain_dot(Vector a, Vector b) {
    double sum = 0;
    assert_int_equal(a.n, b.n);
    for (int i = 0; i < a.n; i++) sum += a.x[i] * b.x[i];
    return sum;
}
double plain_sigmoid(double x) { return 1 / (1 + exp(-x)); }

Vector plain_affine(const char *name, Vector x) {
    const Param *w = plain_param("%s.weight", name), *b = plain_find("%s.bias", name);
    assert_int_equal(w->rows, x.n);
    Vector y = b ? plain_row(b, 0) : plain_zeros(w->columns);
    for (int o = 0; o < y.n; o++)
        for (int i = 0; i < x.n; i++) y.x[o] += x.x[i] * plain_at(w, i, o);
    return y;
}
Vector plain_affine_or_same(const char *name, Vector x) {
    return plain_find("%s.weight", name) ? plain_affine(name, x) : x;
}

Vector plain_normalize(const char *name, bool enabled, Vector x) {
    assert_true((plain_find("%s.gain", name) != NULL) == enabled);
    if (!enabled) return x;
    const Param *gain = plain_param("%s.gain", name), *bias = plain_param("%s.bias", name);
    double mean = 0, variance = 0;
    for (int i = 0; i < x.n; i++) mean += x.x[i] / x.n;
    for (int i = 0; i < x.n; i++) variance += (x.x[i] - mean) * (x.x[i] - mean) / x.n;
    for (int i = 0; i < x.n; i++)
        x.x[i] = (x.x[i] - mean) / sqrt(variance + 1e-5) * plain_at(gain, 0, i) + plain_at(bias, 0, i);
    return x;
}

Vector plain_softmax_mean(const double *scores, const Vectors *rows) {
    Vector mean = plain_zeros(rows->row[0].n);
    double total = 0;
    for (int t = 0; t < rows->length; t++) total += exp(scores[t]);
    for (int t = 0; t < rows->length; t++)
        mean = plain_sum(mean, plain_scale(rows->row[t], exp(scores[t]) / total));
    return mean;
}
