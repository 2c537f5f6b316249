/* gradient_check.c - see gradient_check.h. */
#include "gradient_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *fault(const char *format, ...) {
    static char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

static double at(real *x, double value, double (*function)(void *), void *context) {
    double before = *x;
    *x = (real)value;
    double y = function(context);
    *x = (real)before;
    return y;
}

static double difference(real *x, double (*function)(void *), void *context) {
    double h = GRADIENT_STEP, here = *x;
    double near = at(x, here + h, function, context) - at(x, here - h, function, context);
    double far = at(x, here + 2 * h, function, context) - at(x, here - 2 * h, function, context);
    return (8 * near - far) / (12 * h);
}

const char *gradient_fault(const Gradient *g, double (*function)(void *), void *context) {
    if (!g->count) return fault("%s: nothing to check", g->name);
    if (g->count != g->gradient_count)
        return fault("%s: %zu derivatives for %zu numbers", g->name, g->gradient_count, g->count);
    double largest = 0;
    for (size_t i = 0; i < g->count; i++) {
        double claimed = g->gradient[i], measured = difference(&g->values[i], function, context);
        double scale = fmax(fmax(fabs(claimed), fabs(measured)), GRADIENT_FLOOR);
        double error = fabs(claimed - measured) / scale;
        if (!(error <= GRADIENT_TOLERANCE))
            return fault("%s[%zu]: claimed %.12g, measured %.12g, error %.3g", g->name, i, claimed, measured,
                         error);
        largest = fmax(largest, fabs(measured));
    }
    if (!(largest > GRADIENT_NOTHING) && !g->may_vanish)
        return fault("%s: every derivative is about zero, so nothing was tested", g->name);
    return NULL;
}
