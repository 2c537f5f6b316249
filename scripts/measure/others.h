/* others.h - how busy other programs kept the processor while something was measured.
 *
 * Units   processors: 0.5 is half of one
 */
#ifndef MEASURE_OTHERS_H
#define MEASURE_OTHERS_H

typedef struct {
    double wall, all, own; /* seconds; all: of all processes, negative if the system does not say */
} OthersClock;

OthersClock others_begin(void);
/* Processors that others took since then, or a negative number if the system does not say. */
double others_end(const OthersClock *begin);

#endif
