/* axis.c - ticks at round numbers. */
#include "viz/axis.h"

#include <math.h>
#include "viz/svg.h"

/* Larger values would squeeze all others into a line: they are gaps, like NaN. Smaller values are zero. */
static const double LARGEST = 1e30, SMALLEST = 1e-30;
static const double NEAR = 1e-9; /* relative rounding error */

bool axis_draws(double value) { return fabs(value) < LARGEST; }

void axis_cover(Axis *axis, double value) {
    axis->low = axis->used ? fmin(axis->low, value) : value;
    axis->high = axis->used ? fmax(axis->high, value) : value;
    axis->used = true;
}

void axis_round(Axis *axis, int most) {
    if (!axis->used) axis->low = 0, axis->high = 1;
    double smallest_range = fmax(SMALLEST, fmax(fabs(axis->low), fabs(axis->high)) * NEAR);
    if (!(axis->high - axis->low > smallest_range)) {
        double around = fabs(axis->high) > SMALLEST ? fabs(axis->high) * 0.1 : 1;
        axis->low -= around;
        axis->high += around;
    }
    if (axis->low > 0 && axis->low < axis->high / 4) axis->low = 0; /* include a zero that is near */
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

double axis_tick(const Axis *axis, int tick) {
    double value = axis->low + tick * axis->step;
    return fabs(value) < axis->step * 1e-6 ? 0 : value;
}

double axis_position(const Axis *axis, double value) {
    return axis->from + (value - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

/* The number of decimals that distinguish neighbouring ticks. */
static int decimals_for(double step) {
    int decimals = 0;
    for (; decimals < 8 && fabs(step - round(step)) > 1e-6 * step; step *= 10) decimals++;
    return decimals;
}

void axis_write_tick(const Axis *axis, int tick, StrBuf *out) {
    double value = axis_tick(axis, tick);
    char number[32];
    strbuf_clear(out);
    if (axis->step < 1e-4 || fabs(value) >= 1e7)
        strbuf_format(out, "%.6g", value);
    else if (fabs(value) >= 10000)
        strbuf_add(out, sv(str_count(llround(value), number)));
    else
        strbuf_format(out, "%.*f", decimals_for(axis->step), value);
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
