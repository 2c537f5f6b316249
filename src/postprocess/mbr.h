/* mbr.h - minimum Bayes risk: the translation of a line that agrees best with all its other translations.
 * Kumar and Byrne 2004; Ehling et al. 2007
 *
 * Each translation is scored against each other one as a reference. Its gain is the mean of these scores,
 * weighted by the normalized probabilities of the references.
 */
#ifndef POSTPROCESS_MBR_H
#define POSTPROCESS_MBR_H

#include "postprocess/translation.h"

typedef enum { MBR_NONE, MBR_CHRF, MBR_BLEU } MbrScore;
#define MBR_CHOICES "none|chrf|bleu" /* in the order of MbrScore */

/* Sorts the items of the translation by their gain, greatest first. Probabilities are p^scale: with a scale
 * of 0 all weights are equal. A translation with constraints is not changed. */
void mbr_rerank(Translation *translation, MbrScore score, double scale);

#endif
