/* ngram.h - counts the n-grams that a text shares with its references. A table has one order at a time:
 *
 *     ngram_begin(table, 2);
 *     ngram_add_reference(table, a);   with several references, the largest count of each n-gram
 *     ngram_add_reference(table, b);
 *     matches = ngram_match(table, hypothesis);
 *
 * Owner   the table borrows the symbols of the references until the next ngram_begin
 */
#ifndef BLEU_NGRAM_H
#define BLEU_NGRAM_H

#include "bleu/texts.h"

typedef struct NgramTable NgramTable;

NgramTable *ngram_new(void);
void ngram_free(NgramTable *table);
void ngram_begin(NgramTable *table, int order); /* empties the table; order >= 1 */
void ngram_add_reference(NgramTable *table, Symbols text);
/* The number of n-grams of `text` in the references, each at most as often as there (clipped). Once per
 * ngram_begin. */
int ngram_match(NgramTable *table, Symbols text);
/* The number of n-grams of this order in a text of `count` symbols. */
int ngram_total(size_t count, int order);

#endif
