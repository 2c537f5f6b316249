/* colours.h - the colour of a weight: small weights are light, large ones are dark.
 *
 * Units   weights are clamped to [0, 1]; NaN is a neutral grey
 */
#ifndef VIZ_COLOURS_H
#define VIZ_COLOURS_H

typedef struct {
    int red, green, blue; /* 0..255 */
} Colour;

enum { COLOUR_STEPS = 16 }; /* the map is linear between weights k / COLOUR_STEPS */

double colour_clamp(double weight); /* to [0, 1]; NaN stays NaN */
Colour colour_of(double weight);

#endif
