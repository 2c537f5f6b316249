/* mean.c - two ways to add up and divide. */
#include "bleu/mean.h"

static double round_if(double value, bool single) { return single ? (double)(float)value : value; }

/* Blocks of 128 in eight partial sums, added in pairs. */
static double numpy_sum(const double *values, size_t count, bool single) {
    if (count < 8) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) sum = round_if(sum + values[i], single);
        return sum;
    }
    if (count <= 128) {
        double part[8];
        size_t i = 8;
        for (size_t j = 0; j < 8; j++) part[j] = values[j];
        for (; i < count - count % 8; i += 8)
            for (size_t j = 0; j < 8; j++) part[j] = round_if(part[j] + values[i + j], single);
        double left =
            round_if(round_if(part[0] + part[1], single) + round_if(part[2] + part[3], single), single);
        double right =
            round_if(round_if(part[4] + part[5], single) + round_if(part[6] + part[7], single), single);
        double sum = round_if(left + right, single);
        for (; i < count; i++) sum = round_if(sum + values[i], single);
        return sum;
    }
    size_t half = count / 2;
    half -= half % 8;
    return round_if(numpy_sum(values, half, single) + numpy_sum(values + half, count - half, single), single);
}

double mean_numpy(const double *values, size_t count, bool single) {
    return round_if(numpy_sum(values, count, single) / (double)count, single);
}

/* The sum with what rounding lost in each addition carried along, so that the mean is right to the last bit
 * or so. */
double mean_exact(const double *values, size_t count, bool single) {
    double sum = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        double next = sum + values[i], seen = next - sum;
        lost += (sum - (next - seen)) + (values[i] - seen);
        sum = next;
    }
    return round_if((sum + lost) / (double)count, single);
}
