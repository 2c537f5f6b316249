/* ter.h - TER, edits and shifts that turn a translation into its reference, per word of the reference.
 * Snover et al. 2006; with the limits of the program tercom, as sacreBLEU 2.x has them
 *
 * A segment gives two numbers: edits to the reference that needs the fewest, and the mean length of the
 * references. A shift of words and the insertion, deletion or substitution of one each count as one
 * edit. Shifts are chosen greedily: always the one that saves most edits, as long as it saves any.
 */
#ifndef BLEU_TER_H
#define BLEU_TER_H

#include "bleu/metric.h"

typedef struct {
    bool case_sensitive;
    bool asian_support; /* `normalized` and `no_punct` know ideographs and their punctuation too */
    bool no_punct;      /* leave punctuation out */
    bool normalized;    /* set punctuation apart */
} TerOptions;

#endif
