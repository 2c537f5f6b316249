/* colours.c - one colour map for all pictures. Ottosson 2020 (the OKLab colour space)
 *
 * The knots were computed in OKLab's polar form for t = 0, 1/16, ... 1: lightness 0.985 - 0.715 t, so that
 * equal steps of weight look like equal steps of darkness, in grey print as well; hue 190 + 85 t degrees,
 * from a hint of blue-green to indigo; chroma 0.006 + 0.105 sin(0.86 pi t^0.9), which stays inside sRGB.
 */
#include "viz/colours.h"

#include <math.h>

static const Colour KNOTS[COLOUR_STEPS + 1] = {
    {246, 251, 251}, {214, 242, 241}, {184, 231, 234}, {155, 219, 227}, {128, 206, 221}, {103, 192, 215},
    {81, 178, 208},  {63, 163, 201},  {50, 147, 192},  {43, 132, 181},  {41, 116, 168},  {42, 101, 154},
    {42, 86, 137},   {42, 72, 120},   {40, 59, 101},   {37, 47, 82},    {31, 36, 63},
};
static const Colour NOT_A_NUMBER = {190, 190, 190};

double colour_clamp(double weight) { return weight < 0 ? 0 : weight > 1 ? 1 : weight; }

static int interpolate(int low, int high, double fraction) {
    return (int)(low + fraction * (high - low) + 0.5);
}

Colour colour_of(double weight) {
    if (isnan(weight)) return NOT_A_NUMBER;
    double position = colour_clamp(weight) * COLOUR_STEPS;
    int knot = position < COLOUR_STEPS ? (int)position : COLOUR_STEPS - 1;
    const Colour *low = &KNOTS[knot], *high = low + 1;
    double fraction = position - knot;
    return (Colour){interpolate(low->red, high->red, fraction),
                    interpolate(low->green, high->green, fraction),
                    interpolate(low->blue, high->blue, fraction)};
}
