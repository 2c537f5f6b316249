/* explore_pack.h - text and numbers of the explorer's JSON; explore.h says what the digits mean.
 *
 * Fails   never: ill-formed text is repaired, what is no number becomes 0
 */
#ifndef DECODE_EXPLORE_PACK_H
#define DECODE_EXPLORE_PACK_H

#include "base/strview.h"
#include "num/tensor.h"

/* In quotes, without characters that HTML reads. */
void explore_text(StrBuf *out, StrView text);
int explore_thousandths(double value);

/* Weights on their way into a text, as multiples of 1/parts: a run of zeros waits for its end. */
typedef struct {
    StrBuf *out;
    int parts; /* at most 1000 */
    int zeros;
} ExplorePacker;

void explore_pack(ExplorePacker *packer, double weight);
void explore_pack_end(ExplorePacker *packer);

/* A matrix whose row r begins at first + r * stride. */
typedef struct {
    const real *first;
    size_t stride;
    int rows, columns;
} ExplorePart;

/* As a member of that name; none if there is something in it that is not finite. */
void explore_matrix(StrBuf *out, const char *name, ExplorePart part);

#endif
