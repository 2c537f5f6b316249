/* axis.c - round numbers on linear and logarithmic scales. */
#include "viz/axis.h"

#include <assert.h>
#include <math.h>
#include "viz/svg.h"

/* Larger ones would squeeze the rest into a line: they are gaps, like NaN. Smaller ones are zero. */
static const double LARGEST = 1e30, SMALLEST = 1e-30;
static const double NEAR = 1e-9; /* parts of a step that rounding may cost */

bool axis_draws(const Axis *axis, double value) {
    return fabs(value) < LARGEST && (axis->scale == AXIS_LINEAR || value > SMALLEST);
}

void axis_cover(Axis *axis, double value) {
    axis->low = axis->used ? fmin(axis->low, value) : value;
    axis->high = axis->used ? fmax(axis->high, value) : value;
    axis->used = true;
}

/* ---- linear ---- */

static void round_linear(Axis *axis, int most) {
    if (!axis->used) axis->low = 0, axis->high = 1;
    double room = fmax(SMALLEST, fmax(fabs(axis->low), fabs(axis->high)) * NEAR); /* nearer is the same */
    if (!(axis->high - axis->low > room)) {
        double around = fabs(axis->high) > SMALLEST ? fabs(axis->high) * 0.1 : 1;
        axis->low -= around;
        axis->high += around;
    }
    if (axis->low > 0 && axis->low < axis->high / 4)
        axis->low = 0; /* not far from where people look for it */
    if (axis->whole) axis->high = fmax(axis->high, axis->low + 1);
    double rough = (axis->high - axis->low) / most, power = pow(10, floor(log10(rough)));
    static const double factors[] = {1, 2, 2.5, 5, 10};
    int i = 0;
    while (i < 4 && (factors[i] * power < rough * (1 - NEAR) || (axis->whole && power < 2 && i == 2))) i++;
    axis->step = factors[i] * power;
    if (axis->whole && axis->step < 1) axis->step = 1;
    axis->low = floor(axis->low / axis->step + NEAR) * axis->step;
    axis->high = ceil(axis->high / axis->step - NEAR) * axis->step;
    axis->ticks = (int)lround((axis->high - axis->low) / axis->step) + 1;
}

/* ---- logarithmic ---- */

/* Tick number k of all that the scale has, in both directions from 1. */
static double log_tick(const Axis *axis, int k) {
    static const double factors[] = {1, 2, 5};
    if (axis->scale == AXIS_LOG2) return ldexp(1, k * (int)axis->step);
    if (axis->step > 0) return pow(10, k * axis->step);
    int power = k >= 0 ? k / 3 : -((2 - k) / 3);
    int factor = k - 3 * power;
    assert(factor >= 0 && factor < 3);
    return factors[factor] * pow(10, power);
}

/* The ticks that enclose low..high; returns into how many parts they cut it. */
static int enclose(Axis *axis, double low, double high, double step) {
    axis->step = step;
    double per_tick = axis->scale == AXIS_LOG2 ? step * log10(2) : step > 0 ? step : 1.0 / 3;
    int first = (int)floor(log10(low) / per_tick), last = (int)ceil(log10(high) / per_tick);
    while (log_tick(axis, first) > low * (1 + NEAR)) first--; /* 2 and 5 are not quite at thirds */
    while (log_tick(axis, first + 1) <= low * (1 + NEAR)) first++;
    while (log_tick(axis, last) < high * (1 - NEAR)) last++;
    while (log_tick(axis, last - 1) >= high * (1 - NEAR)) last--;
    if (first >= last) first--, last = first + 2; /* all values are one tick */
    axis->first = first;
    axis->ticks = last - first + 1;
    axis->low = log_tick(axis, first);
    axis->high = log_tick(axis, last);
    return last - first;
}

static void round_log(Axis *axis, int most) {
    double low = axis->used ? axis->low : 1, high = axis->used ? axis->high : 10;
    int step = axis->scale == AXIS_LOG2 ? 1 : 0;
    while (enclose(axis, low, high, step) > most) step++;
}

/* ---- either ---- */

void axis_round(Axis *axis, int most) {
    if (axis->scale == AXIS_LINEAR)
        round_linear(axis, most);
    else
        round_log(axis, most);
}

double axis_tick(const Axis *axis, int tick) {
    if (axis->scale != AXIS_LINEAR) return log_tick(axis, axis->first + tick);
    double value = axis->low + tick * axis->step;
    return fabs(value) < axis->step * 1e-6 ? 0 : value;
}

double axis_place(const Axis *axis, double value) {
    double part = axis->scale == AXIS_LINEAR ? (value - axis->low) / (axis->high - axis->low)
                                             : log(value / axis->low) / log(axis->high / axis->low);
    return axis->from + part * (axis->to - axis->from);
}

/* Decimals that tell neighbouring ticks apart. */
static int decimals_for(double step) {
    int decimals = 0;
    for (; decimals < 8 && fabs(step - round(step)) > 1e-6 * step; step *= 10) decimals++;
    return decimals;
}

static void write_power(double value, StrBuf *out) { /* "5e-7", "1e12" */
    int power = (int)floor(log10(value) + NEAR);
    strbuf_format(out, "%.3ge%d", value / pow(10, power), power);
}

void axis_write_tick(const Axis *axis, int tick, StrBuf *out) {
    double value = axis_tick(axis, tick);
    bool linear = axis->scale == AXIS_LINEAR;
    char number[32];
    strbuf_clear(out);
    if (linear && (axis->step < 1e-4 || fabs(value) >= 1e7))
        strbuf_format(out, "%.6g", value);
    else if (!linear && (value < 0.9e-4 || value >= 1e7))
        write_power(value, out);
    else if (fabs(value) >= 10000)
        strbuf_add(out, sv(str_count(llround(value), number)));
    else if (axis->scale == AXIS_LOG2 && value < 1)
        strbuf_format(out, "%.3g", value); /* all digits of 1/1024 are too many */
    else
        strbuf_format(out, "%.*f", decimals_for(linear ? axis->step : value), value);
}

double axis_widest_tick(const Axis *axis, double font) {
    StrBuf label = {0};
    double width = 0;
    for (int i = 0; i < axis->ticks; i++) {
        axis_write_tick(axis, i, &label);
        width = fmax(width, svg_text_width(strbuf_text(&label), font));
    }
    strbuf_free(&label);
    return width;
}
