/* ngram.h - how many n-grams of one text occur in others. One table serves one order at a time:
 *
 *     ngram_begin(table, 2);
 *     ngram_add_reference(table, a);   several references: the largest count of each n-gram holds
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
void ngram_begin(NgramTable *table, int order); /* forget the last references; order >= 1 */
void ngram_add_reference(NgramTable *table, Symbols text);
/* N-grams of `text` found in the references, each at most as often as there. Once per ngram_begin. */
int ngram_match(NgramTable *table, Symbols text);
/* How many n-grams of this order a text of `count` symbols has. */
int ngram_total(size_t count, int order);

#endif
