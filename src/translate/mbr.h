/* mbr.h - minimum Bayes risk: of the translations found for a line, the one that agrees best with all others.
 * Kumar and Byrne 2004; Ehling et al. 2007
 *
 * Each translation is scored against every other as if that were the reference; its gain is the mean of the
 * scores, weighted by the probabilities of the references among those that were found.
 */
#ifndef TRANSLATE_MBR_H
#define TRANSLATE_MBR_H

#include "translate/translation.h"

typedef enum { MBR_NONE, MBR_CHRF, MBR_BLEU } MbrScore;
#define MBR_CHOICES "none|chrf|bleu" /* in the order of MbrScore */

/* Sort the items of the translation by their gain, greatest first. Probabilities are p^scale: with a scale
 * of 0 all count alike. A translation with constraints stays as it is. */
void mbr_rerank(Translation *translation, MbrScore score, double scale);

#endif
