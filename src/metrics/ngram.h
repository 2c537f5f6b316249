/* ngram.h - how many n-grams of one sequence of symbols occur in others.
 *
 * Symbols are ids of words or code points of characters. One table serves one order at a time:
 *
 *     ngram_begin(table, 2);
 *     ngram_add_reference(table, a, a_count);   several references: the largest count of each n-gram holds
 *     ngram_add_reference(table, b, b_count);
 *     matches = ngram_match(table, hypothesis, count);
 *
 * Owner   the table borrows the symbols of the references until the next ngram_begin
 */
#ifndef METRICS_NGRAM_H
#define METRICS_NGRAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct NgramTable NgramTable;

NgramTable *ngram_new(void);
void ngram_free(NgramTable *table);
void ngram_begin(NgramTable *table, int order); /* forget the last references; order >= 1 */
void ngram_add_reference(NgramTable *table, const uint32_t *symbols, size_t count);
/* N-grams of `symbols` found in the references, each at most as often as there. Once per ngram_begin. */
int ngram_match(NgramTable *table, const uint32_t *symbols, size_t count);
/* How many n-grams of this order a sequence of `count` symbols has. */
int ngram_total(size_t count, int order);

#endif
