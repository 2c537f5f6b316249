/* ter.h - TER: the edits that turn a translation into its reference, per word of the reference.
 * Snover et al. 2006; with the search limits of the program tercom, as in sacreBLEU 2.x
 *
 * The statistics of a segment are the smallest number of edits to a reference, and the mean length of the
 * references. The insertion, deletion or substitution of a word is one edit, and so is the shift of a
 * sequence of words. Shifts are chosen greedily: always the one that saves most edits, until none saves any.
 */
#ifndef BLEU_TER_H
#define BLEU_TER_H

#include "bleu/metric.h"

typedef struct {
    bool case_sensitive;
    bool asian_support; /* `normalized` and `no_punct` include ideographs and their punctuation */
    bool no_punct;      /* remove punctuation */
    bool normalized;    /* separate punctuation from words */
} TerOptions;

#endif
