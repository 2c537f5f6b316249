/* kern.c - every inner loop of every instruction set against plain loops, for lengths with all tails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "unit/kern_tables.h"

enum { LONGEST = KERN_LONGEST, ROWS = 3 };
static double want[3 * ROWS * LONGEST], want2[3 * ROWS * LONGEST], want3[3 * ROWS * LONGEST];

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void nonlinear(const Kernels *k, size_t n) {
    Line x = line_new(n, 1, 8), y = line_new(n, 2, 1), dy = line_new(n, 3, 2), dx = line_new(n, 4, 1);
    for (size_t i = 0; i < n; i++) want[i] = tanh((double)x.at[i]);
    k->tanh(n, x.at, y.at);
    line_check("tanh", &y, want, 3e-7);
    for (size_t i = 0; i < n; i++)
        want[i] = (double)dx.at[i] + (double)dy.at[i] * (1 - pow((double)y.at[i], 2));
    k->tanh_backward(n, y.at, dy.at, dx.at);
    line_check("tanh_backward", &dx, want, 1e-6);

    for (size_t i = 0; i < n; i++) want[i] = fmax(0, (double)x.at[i]);
    k->relu(n, x.at, y.at);
    line_check("relu", &y, want, 0);
    for (size_t i = 0; i < n; i++) want[i] = y.at[i] > 0 ? 1.25 * (double)dx.at[i] : 0;
    k->relu_backward(n, y.at, (real)1.25, dx.at);
    line_check("relu_backward", &dx, want, 1e-7);
    dy.at[n / 2] = (real)NAN;
    k->relu(n, dy.at, y.at);
    assert_true(isnan(y.at[n / 2]));
    k->tanh(n, x.at, x.at); /* in place */
    k->tanh(n, y.at, y.at);
    line_free(&x), line_free(&y), line_free(&dy), line_free(&dx);
}
static void test_nonlinear(void **state) {
    (void)state;
    kern_each(nonlinear);
}

static double activation(ActivationFunction f, double x) {
    const double c = sqrt(2 / acos(-1));
    switch (f) {
    case ACTIVATION_RELU:
        return fmax(x, 0);
    case ACTIVATION_SWISH:
        return x * sigmoid(x);
    case ACTIVATION_GELU:
        return x * (1 + erf(x / sqrt(2))) / 2;
    case ACTIVATION_GELU_TANH:
        return x * (1 + tanh(c * (x + 0.044715 * x * x * x))) / 2;
    case ACTIVATION_GELU_SIGMOID:
        return x * sigmoid(1.702 * x);
    }
    return 0;
}
static double activation_slope(ActivationFunction f, double x) {
    return (activation(f, x + 1e-6) - activation(f, x - 1e-6)) / 2e-6;
}
static void activations(const Kernels *k, size_t n) {
    for (ActivationFunction f = ACTIVATION_RELU; f <= ACTIVATION_GELU_SIGMOID; f++) {
        Line x = line_new(n, 1, 6), y = line_new(n, 2, 1), dy = line_new(n, 3, 2), dx = line_new(n, 4, 1);
        for (size_t i = 0; i < n; i++) want[i] = activation(f, (double)x.at[i]);
        k->activation(f, n, x.at, y.at);
        line_check("activation", &y, want, 1e-6);
        for (size_t i = 0; i < n && f != ACTIVATION_RELU; i++)
            want[i] = (double)dx.at[i] + (double)dy.at[i] * activation_slope(f, (double)x.at[i]);
        if (f != ACTIVATION_RELU) {
            k->activation_backward(f, n, x.at, dy.at, dx.at);
            line_check("activation_backward", &dx, want, 6e-6);
        }
        for (size_t i = 0; i < n; i++) want[i] = (double)y.at[i];
        k->activation(f, n, x.at, x.at); /* in place */
        line_check("activation in place", &x, want, 0);
        line_free(&x), line_free(&y), line_free(&dy), line_free(&dx);
    }
}
static void test_activations(void **state) {
    (void)state;
    kern_each(activations);
}

static void ssru_row(const Kernels *k, size_t n, bool first) {
    Line gate = line_new(n, 1, 3), x = line_new(n, 2, 2), before = line_new(n, 3, 2), c = line_new(n, 4, 1),
         out = line_new(n, 5, 1), dout = line_new(n, 6, 1), dc = line_new(n, 7, 1), dgate = line_new(n, 8, 1),
         dx = line_new(n, 9, 1);
    double *want_c = want, *want_out = want + n;
    for (size_t i = 0; i < n; i++) {
        double f = sigmoid((double)gate.at[i]);
        want_c[i] = f * (first ? 0 : (double)before.at[i]) + (1 - f) * (double)x.at[i];
        want_out[i] = fmax(0, want_c[i]);
    }
    k->ssru_forward(n, gate.at, x.at, first ? NULL : before.at, c.at, out.at);
    line_check("ssru_forward, c", &c, want_c, 1e-6);
    line_check("ssru_forward", &out, want_out, 1e-6);
    double *want_dc = want, *want_dgate = want2, *want_dx = want3;
    for (size_t i = 0; i < n; i++) {
        double f = sigmoid((double)gate.at[i]), old = first ? 0 : (double)before.at[i];
        double d = (double)dc.at[i] + (c.at[i] > 0 ? (double)dout.at[i] : 0);
        want_dgate[i] = (double)dgate.at[i] + d * (old - (double)x.at[i]) * f * (1 - f);
        want_dx[i] = (double)dx.at[i] + d * (1 - f);
        want_dc[i] = d * f;
    }
    k->ssru_backward(n, gate.at, x.at, first ? NULL : before.at, c.at, dout.at, dc.at, dgate.at, dx.at);
    line_check("ssru_backward, dgate", &dgate, want_dgate, 1e-6);
    line_check("ssru_backward, dx", &dx, want_dx, 1e-6);
    line_check("ssru_backward, dc", &dc, want_dc, 1e-6);
    line_free(&gate), line_free(&x), line_free(&before), line_free(&c), line_free(&out), line_free(&dout);
    line_free(&dc), line_free(&dgate), line_free(&dx);
}
static void ssru(const Kernels *k, size_t n) {
    ssru_row(k, n, true);
    ssru_row(k, n, false);
}
static void test_ssru(void **state) {
    (void)state;
    kern_each(ssru);
}

static void linear(const Kernels *k, size_t n) {
    Line x = line_new(n, 1, 2), y = line_new(n, 2, 2), m = line_new(n, 3, 2), z = line_copy(&y);
    for (size_t i = 0; i < n; i++) want[i] = (double)x.at[i] + (double)y.at[i];
    k->add(n, x.at, y.at);
    line_check("add", &y, want, 1e-6);
    for (size_t i = 0; i < n; i++) want[i] = (double)y.at[i] - 0.75 * (double)x.at[i];
    k->axpy(n, (real)-0.75, x.at, y.at);
    line_check("axpy", &y, want, 1e-6);
    double dot = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        dot += (double)x.at[i] * (double)z.at[i], squares += pow((double)x.at[i], 2);
    assert_true(fabs((double)k->dot(n, x.at, z.at) - dot) <= 1e-6 * (double)n);
    assert_true(fabs(k->sum_squares(n, x.at) - squares) <= 1e-6 * squares);
    for (size_t i = 0; i < n; i++) want[i] = (double)m.at[i] * (double)x.at[i];
    k->scale_mask(n, m.at, x.at, z.at);
    line_check("scale_mask", &z, want, 1e-6);
    for (size_t i = 0; i < n; i++) want[i] = (double)y.at[i] + (double)m.at[i] * (double)x.at[i];
    k->scale_mask_add(n, m.at, x.at, y.at, z.at);
    line_check("scale_mask_add", &z, want, 1e-6);
    k->scale_mask_add(n, m.at, x.at, y.at, y.at);
    line_check("scale_mask_add in place", &y, want, 1e-6);

    Line rows = line_new(ROWS * n, 5, 2);
    for (size_t i = 0; i < n; i++) {
        want[i] = (double)z.at[i];
        for (size_t r = 0; r < ROWS; r++) want[i] += (double)rows.at[r * n + i];
    }
    k->column_sums(ROWS, (int)n, rows.at, z.at);
    line_check("column_sums", &z, want, 1e-6);
    line_free(&x), line_free(&y), line_free(&m), line_free(&z), line_free(&rows);
}
static void test_linear(void **state) {
    (void)state;
    kern_each(linear);
}

static void scale(const Kernels *k, size_t n) {
    Line x = line_new(n, 1, 2), y = line_new(n, 2, 2);
    for (size_t i = 0; i < n; i++) want[i] = -0.75 * (double)x.at[i];
    y.at[n / 2] = (real)NAN; /* the old value has no effect */
    k->scale(n, (real)-0.75, x.at, y.at);
    line_check("scale", &y, want, 1e-7);
    line_free(&x), line_free(&y);
}
static void test_scale(void **state) {
    (void)state;
    kern_each(scale);
}

static void gated(const Kernels *k, size_t n) {
    Line x = line_new(ROWS * 2 * n, 1, 3), y = line_new(ROWS * n, 2, 1), dy = line_new(ROWS * n, 3, 2),
         dx = line_new(ROWS * 2 * n, 4, 1);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < n; i++) {
            size_t left = row * 2 * n + i, at = row * n + i;
            double a = (double)x.at[left], gate = sigmoid((double)x.at[left + n]), d = (double)dy.at[at];
            want[at] = a * gate;
            want2[left] = (double)dx.at[left] + d * gate;
            want2[left + n] = (double)dx.at[left + n] + d * a * gate * (1 - gate);
        }
    k->glu_forward(ROWS, (int)n, x.at, y.at);
    line_check("glu_forward", &y, want, 1e-6);
    k->glu_backward(ROWS, (int)n, x.at, dy.at, dx.at);
    line_check("glu_backward", &dx, want2, 2e-6);
    line_free(&x), line_free(&y), line_free(&dy), line_free(&dx);
}
static void test_gated(void **state) {
    (void)state;
    kern_each(gated);
}

static double log_sum_exp(size_t n, const real *x) {
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) max = fmax(max, (double)x[i]);
    for (size_t i = 0; i < n; i++) sum += exp((double)x[i] - max);
    return max + log(sum);
}

static void softmax(const Kernels *k, size_t n) {
    Line x = line_new(n, 1, 20);
    double lse = log_sum_exp(n, x.at), total = 0;
    for (size_t i = 0; i < n; i++) want[i] = exp((double)x.at[i] - lse);
    real returned = k->softmax(n, x.at);
    assert_true(fabs((double)returned - lse) <= 3e-6 * fmax(1, fabs(lse)));
    for (size_t i = 0; i < n; i++) {
        double error = fabs((double)x.at[i] - want[i]);
        assert_true(error <= 5e-6 * want[i] + 1e-37); /* the small ones too */
        total += (double)x.at[i];
    }
    assert_true(fabs(total - 1) <= 1e-6);
    line_free(&x);
}
static void test_softmax(void **state) {
    (void)state;
    kern_each(softmax);
}

/* `none`: a class without a logit, or -1. */
static void check_cross_entropy(const Kernels *k, size_t n, int target, int none, double e, double scale) {
    Line x = line_new(n, 1, 6);
    if (none >= 0) x.at[none] = (real)-1e9;
    double lse = log_sum_exp(n, x.at), mean = 0, nll, classes = (double)n - (none >= 0);
    for (size_t i = 0; i < n; i++) {
        double smoothed = (int)i == none ? 0 : e / classes;
        mean += (int)i == none ? 0 : (double)x.at[i] / classes;
        want[i] = scale * (exp((double)x.at[i] - lse) - smoothed - ((int)i == target ? 1 - e : 0));
    }
    double wanted_nll = lse - (double)x.at[target], wanted = (1 - e) * wanted_nll + e * (lse - mean);
    double loss = k->cross_entropy(n, x.at, target, (real)e, (real)scale, &nll);
    assert_true(fabs(nll - wanted_nll) <= 3e-6);
    assert_true(fabs(loss - wanted) <= 3e-6);
    line_check("cross_entropy", &x, want, 1e-6 * scale);
    line_free(&x);
}
static void cross_entropy(const Kernels *k, size_t n) {
    int targets[] = {0, (int)n / 2, (int)n - 1};
    for (int i = 0; i < 3; i++) {
        check_cross_entropy(k, n, targets[i], -1, 0, 1);
        check_cross_entropy(k, n, targets[i], -1, 0.1, 0.5);
        if (n > 1) check_cross_entropy(k, n, targets[i], (targets[i] + (int)n / 3 + 1) % (int)n, 0.1, 0.5);
    }
}
static void test_cross_entropy(void **state) {
    (void)state;
    kern_each(cross_entropy);
}

/* One of the projections' gradients is set, the other one is added to. */
static void gru_of(const Kernels *k, size_t n, bool sets_gx) {
    Line gx = line_new(ROWS * 3 * n, 1, 3), gh = line_new(ROWS * 3 * n, 2, 3), h = line_new(ROWS * n, 3, 1);
    Line out = line_new(ROWS * n, 4, 1), again = line_new(ROWS * n, 5, 1),
         saved = line_new(ROWS * 3 * n, 6, 1);
    Line dout = line_new(ROWS * n, 7, 1), dgx = line_new(ROWS * 3 * n, 8, 1),
         dgh = line_new(ROWS * 3 * n, 9, 1), dh = line_new(ROWS * n, 10, 1);
    double *want_saved = want2, *want_dgx = mem_alloc(ROWS * 3 * n, sizeof(double)),
           *want_dgh = mem_alloc(ROWS * 3 * n, sizeof(double));
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < n; i++) {
            size_t g = row * 3 * n + i, s = row * n + i;
            double r = sigmoid((double)gx.at[g] + (double)gh.at[g]);
            double z = sigmoid((double)gx.at[g + n] + (double)gh.at[g + n]);
            double hn = (double)gh.at[g + 2 * n], c = tanh((double)gx.at[g + 2 * n] + r * hn);
            want[s] = (1 - z) * c + z * (double)h.at[s];
            want_saved[g] = r, want_saved[g + n] = z, want_saved[g + 2 * n] = c;
            double d = (double)dout.at[s], dc = d * (1 - z) * (1 - c * c),
                   dz = d * ((double)h.at[s] - c) * z * (1 - z);
            double dr = dc * hn * r * (1 - r);
            want3[s] = (double)dh.at[s] + d * z;
            double gates_x[] = {dr, dz, dc}, gates_h[] = {dr, dz, dc * r};
            for (size_t q = 0; q < 3; q++) {
                want_dgx[g + q * n] = (sets_gx ? 0 : (double)dgx.at[g + q * n]) + gates_x[q];
                want_dgh[g + q * n] = (sets_gx ? (double)dgh.at[g + q * n] : 0) + gates_h[q];
            }
        }
    k->gru_forward(ROWS, (int)n, gx.at, gh.at, h.at, out.at, saved.at);
    line_check("gru_forward", &out, want, 1e-6);
    line_check("gru_forward, saved", &saved, want_saved, 1e-6);
    k->gru_forward(ROWS, (int)n, gx.at, gh.at, h.at, again.at, NULL);
    assert_memory_equal(again.at, out.at, ROWS * n * sizeof(real));
    GateGradients gates = {dgx.at, dgh.at, .sets_gx = sets_gx, .sets_gh = !sets_gx};
    k->gru_backward(ROWS, (int)n, gh.at, h.at, saved.at, dout.at, &gates, dh.at);
    line_check("gru_backward, dh", &dh, want3, 2e-6);
    line_check("gru_backward, dgx", &dgx, want_dgx, 2e-6);
    line_check("gru_backward, dgh", &dgh, want_dgh, 2e-6);
    mem_free(want_dgx), mem_free(want_dgh);
    line_free(&gx), line_free(&gh), line_free(&h), line_free(&out), line_free(&again), line_free(&saved);
    line_free(&dout), line_free(&dgx), line_free(&dgh), line_free(&dh);
}
static void gru(const Kernels *k, size_t n) {
    gru_of(k, n, false);
    gru_of(k, n, true);
}
static void test_gru(void **state) {
    (void)state;
    kern_each(gru);
}

typedef struct {
    double *h, *c, *saved, *dg, *dc; /* expected; dg is what is added to the gradients of both projections */
} Lstm;
static void lstm_number(Lstm *want_, double gx[4], double c, double dh, double dc, size_t gate, size_t at,
                        size_t n) {
    double i = sigmoid(gx[0]), f = sigmoid(gx[1]), g = tanh(gx[2]), o = sigmoid(gx[3]),
           gates[] = {i, f, g, o};
    double next = f * c + i * g, t = tanh(next), d = dc + dh * o * (1 - t * t);
    want_->c[at] = next, want_->h[at] = o * t, want_->dc[at] = d * f;
    double dg[] = {d * g * i * (1 - i), d * c * f * (1 - f), d * i * (1 - g * g), dh * t * o * (1 - o)};
    for (size_t q = 0; q < 4; q++) want_->saved[gate + q * n] = gates[q], want_->dg[gate + q * n] = dg[q];
}
static void add_line(double *sums, const Line *line) {
    for (size_t i = 0; i < line->n; i++) sums[i] += (double)line->at[i];
}

static void lstm(const Kernels *k, size_t n) {
    size_t all = ROWS * n;
    Line gx = line_new(4 * all, 1, 3), gh = line_new(4 * all, 2, 3), c = line_new(all, 3, 2),
         out = line_new(all, 4, 1), next = line_new(all, 5, 1), saved = line_new(4 * all, 6, 1),
         dout = line_new(all, 7, 1), dnext = line_new(all, 8, 1), dgx = line_new(4 * all, 9, 1),
         dgh = line_new(4 * all, 10, 1), dc = line_new(all, 11, 1), again = line_copy(&out),
         memory = line_copy(&next), dc2 = line_copy(&dc), dgx2 = line_copy(&dgx);
    double *numbers = mem_alloc(11 * all, sizeof *numbers);
    Lstm w = {numbers, numbers + all, numbers + 2 * all, numbers + 6 * all, numbers + 10 * all};
    for (size_t at = 0; at < all; at++) {
        size_t gate = at / n * 4 * n + at % n;
        double sums[4];
        for (size_t q = 0; q < 4; q++) sums[q] = (double)gx.at[gate + q * n] + (double)gh.at[gate + q * n];
        lstm_number(&w, sums, (double)c.at[at], (double)dout.at[at], (double)dnext.at[at], gate, at, n);
    }
    k->lstm_forward(ROWS, (int)n, gx.at, gh.at, c.at, out.at, next.at, saved.at);
    line_check("lstm_forward, h", &out, w.h, 1e-6);
    line_check("lstm_forward, c", &next, w.c, 2e-6);
    line_check("lstm_forward, saved", &saved, w.saved, 1e-6);
    k->lstm_forward(ROWS, (int)n, gx.at, gh.at, c.at, again.at, memory.at, NULL);
    assert_memory_equal(again.at, out.at, all * sizeof(real));
    assert_memory_equal(memory.at, next.at, all * sizeof(real));

    double *want_gx = mem_alloc(8 * all, sizeof *want_gx), *want_gh = want_gx + 4 * all;
    memcpy(want_gx, w.dg, 4 * all * sizeof *want_gx);
    memcpy(want_gh, w.dg, 4 * all * sizeof *want_gh);
    add_line(want_gx, &dgx), add_line(want_gh, &dgh), add_line(w.dc, &dc);
    GateGradients gates = {dgx.at, dgh.at, false, false};
    k->lstm_backward(ROWS, (int)n, c.at, next.at, saved.at, dout.at, dnext.at, &gates, dc.at);
    line_check("lstm_backward, dgx", &dgx, want_gx, 3e-6);
    line_check("lstm_backward, dgh", &dgh, want_gh, 3e-6);
    line_check("lstm_backward, dc", &dc, w.dc, 3e-6);
    gates = (GateGradients){0};
    k->lstm_backward(ROWS, (int)n, c.at, next.at, saved.at, dout.at, dnext.at, &gates, dc2.at);
    assert_memory_equal(dc2.at, dc.at, all * sizeof(real));
    gates.gx = dgx2.at;
    k->lstm_backward(ROWS, (int)n, c.at, next.at, saved.at, dout.at, dnext.at, &gates, NULL);
    assert_memory_equal(dgx2.at, dgx.at, 4 * all * sizeof(real));
    gates = (GateGradients){dgx.at, dgh.at, true, true};
    k->lstm_backward(ROWS, (int)n, c.at, next.at, saved.at, dout.at, dnext.at, &gates, NULL);
    line_check("lstm_backward, set, dgx", &dgx, w.dg, 3e-6);
    line_check("lstm_backward, set, dgh", &dgh, w.dg, 3e-6);
    mem_free(numbers), mem_free(want_gx);
    line_free(&gx), line_free(&gh), line_free(&c), line_free(&out), line_free(&next), line_free(&saved);
    line_free(&dout), line_free(&dnext), line_free(&dgx), line_free(&dgh), line_free(&dc), line_free(&again);
    line_free(&memory), line_free(&dc2), line_free(&dgx2);
}
static void test_lstm(void **state) {
    (void)state;
    kern_each(lstm);
}

static void norm_row(size_t n, const real *x, const real *gain, const real *dy, double *y, double *dx,
                     double *dgain, double *dbias, const real *bias, double stats[2]) {
    double mean = 0, variance = 0, a = 0, b = 0;
    for (size_t i = 0; i < n; i++) mean += (double)x[i] / (double)n;
    for (size_t i = 0; i < n; i++) variance += pow((double)x[i] - mean, 2) / (double)n;
    double scale = 1 / sqrt(variance + 1e-3);
    stats[0] = mean, stats[1] = scale;
    for (size_t i = 0; i < n; i++) {
        double hat = ((double)x[i] - mean) * scale, g = (double)dy[i] * (double)gain[i];
        y[i] = hat * (double)gain[i] + (double)bias[i];
        a += g / (double)n, b += g * hat / (double)n;
        dgain[i] += (double)dy[i] * hat, dbias[i] += (double)dy[i];
    }
    for (size_t i = 0; i < n; i++)
        dx[i] += scale * ((double)dy[i] * (double)gain[i] - a - ((double)x[i] - mean) * scale * b);
}

static void layer_norm(const Kernels *k, size_t n) {
    Line x = line_new(ROWS * n, 1, 2), gain = line_new(n, 2, 1), bias = line_new(n, 3, 1),
         y = line_new(ROWS * n, 4, 1);
    Line stats = line_new(2 * ROWS, 5, 1), dy = line_new(ROWS * n, 6, 1), dx = line_new(ROWS * n, 7, 1),
         dgain = line_new(n, 8, 1), dbias = line_new(n, 9, 1);
    double want_stats[2 * ROWS], *want_y = want, *want_dx = want2, *want_dgain = want3,
                                 *want_dbias = want3 + n;
    for (size_t i = 0; i < ROWS * n; i++) want_dx[i] = (double)dx.at[i];
    for (size_t i = 0; i < n; i++) want_dgain[i] = (double)dgain.at[i], want_dbias[i] = (double)dbias.at[i];
    for (size_t r = 0; r < ROWS; r++)
        norm_row(n, x.at + r * n, gain.at, dy.at + r * n, want_y + r * n, want_dx + r * n, want_dgain,
                 want_dbias, bias.at, want_stats + 2 * r);
    k->layer_norm_forward(ROWS, (int)n, x.at, gain.at, bias.at, 1e-3, y.at, stats.at);
    /* Few numbers that lie close together are divided by a small deviation. */
    double tolerance = n == 1 ? 1e-6 : n < 8 ? 2e-4 : 1e-5;
    line_check("layer_norm_forward", &y, want_y, tolerance);
    line_check("layer_norm_forward, stats", &stats, want_stats, tolerance);
    k->layer_norm_backward(ROWS, (int)n, x.at, gain.at, stats.at, dy.at, dx.at, dgain.at, dbias.at);
    if (n > 1) line_check("layer_norm_backward, dx", &dx, want_dx, tolerance);
    line_check("layer_norm_backward, dgain", &dgain, want_dgain, tolerance);
    line_check("layer_norm_backward, dbias", &dbias, want_dbias, tolerance);
    line_free(&x), line_free(&gain), line_free(&bias), line_free(&y), line_free(&stats), line_free(&dy);
    line_free(&dx), line_free(&dgain), line_free(&dbias);
}
static void test_layer_norm(void **state) {
    (void)state;
    kern_each(layer_norm);
}

static void adam_once(const Kernels *k, size_t n, bool with_average) {
    const double g_scale = 0.5, b1 = 0.9, b2 = 0.99, eps = 1e-6, rate = 0.01, correction = 1.5, decay = 0.001,
                 w = 0.2;
    Line p = line_new(n, 1, 1), g = line_new(n, 2, 1), m = line_new(n, 3, 0.1), v = line_new(n, 4, 0.1),
         a = line_new(n, 5, 1);
    Line untouched = line_copy(&a);
    double *want_p = want, *want_m = want2, *want_v = want3, *want_a = want3 + n;
    for (size_t i = 0; i < n; i++) {
        v.at[i] = (real)fabs((double)v.at[i]);
        double grad = g_scale * (double)g.at[i];
        want_m[i] = b1 * (double)m.at[i] + (1 - b1) * grad;
        want_v[i] = b2 * (double)v.at[i] + (1 - b2) * grad * grad;
        want_p[i] = (double)p.at[i] - rate * want_m[i] / (sqrt(want_v[i]) * correction + eps) -
                    decay * (double)p.at[i];
        want_a[i] = (double)a.at[i] + w * (want_p[i] - (double)a.at[i]);
    }
    k->adam(n, p.at, g.at, m.at, v.at, with_average ? a.at : NULL,
            (AdamStep){(real)g_scale, (real)b1, (real)b2, (real)eps, (real)rate, (real)correction,
                       (real)decay, (real)w});
    line_check("adam, m", &m, want_m, 1e-6);
    line_check("adam, v", &v, want_v, 1e-6);
    line_check("adam, p", &p, want_p, 2e-6);
    if (with_average)
        line_check("adam, average", &a, want_a, 2e-6);
    else
        assert_memory_equal(a.at, untouched.at, n * sizeof(real));
    line_free(&p), line_free(&g), line_free(&m), line_free(&v), line_free(&a), line_free(&untouched);
}
static void adam(const Kernels *k, size_t n) {
    adam_once(k, n, true);
    adam_once(k, n, false);
}
static void test_adam(void **state) {
    (void)state;
    kern_each(adam);
}

/* ATTN_MT_SIMD selects a smaller instruction set; an unknown name is an error. */
static void test_select(void **state) {
    (void)state;
    const Kernels *const *tables = kern_tables();
    for (int i = 0; tables[i]; i++) {
        setenv("ATTN_MT_SIMD", tables[i]->name, 1);
        assert_int_equal(kern_select(), STATUS_OK);
        assert_ptr_equal(kern, tables[i]);
    }
    setenv("ATTN_MT_SIMD", "Base", 1);
    assert_int_equal(kern_select(), STATUS_OK);
    assert_string_equal(kern->name, "base");
    setenv("ATTN_MT_SIMD", "sse9", 1);
    assert_int_equal(kern_select(), STATUS_USAGE);
    assert_string_equal(status_message(),
                        "ATTN_MT_SIMD: 'sse9' is not base, avx2, avx512, vnni, bf16 or amx");
    assert_non_null(strstr(status_hint_text(), "base"));
    assert_ptr_equal(kern, tables[0]);
    bool amx = false;
    for (int i = 0; tables[i]; i++) amx |= strcmp(tables[i]->name, "amx") == 0;
    setenv("ATTN_MT_SIMD", "amx", 1);
    assert_int_equal(kern_select(), amx ? STATUS_OK : STATUS_USAGE);
    if (!amx) assert_non_null(strstr(status_message(), "this processor does not support 'amx'"));
    setenv("ATTN_MT_SIMD", "", 1);
    assert_int_equal(kern_select(), STATUS_OK);
    unsetenv("ATTN_MT_SIMD");
    assert_int_equal(kern_select(), STATUS_OK);
    assert_ptr_equal(kern, tables[0]);
}

int main(void) {
    unsetenv("ATTN_MT_SIMD");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonlinear),  cmocka_unit_test(test_linear),
        cmocka_unit_test(test_softmax),    cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_gru),        cmocka_unit_test(test_lstm),
        cmocka_unit_test(test_gated),      cmocka_unit_test(test_scale),
        cmocka_unit_test(test_layer_norm), cmocka_unit_test(test_activations),
        cmocka_unit_test(test_ssru),       cmocka_unit_test(test_adam),
        cmocka_unit_test(test_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
