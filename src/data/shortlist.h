/* shortlist.h - for each source token the target tokens that its translation is likely to use.
 *
 * Search that looks at these alone has far less to multiply and to search at each step (Jean et al. 2015, "On
 * using very large target vocabulary for neural machine translation", section 3.3).
 *
 * Text   lists of target tokens, best first: ids with a space between them, ';' behind each list. First the
 *        most frequent tokens, then a list for each source token, in the order of their ids.
 * Fails  reading: STATUS_DATA for any other text, or ids that the vocabulary does not have
 */
#ifndef DATA_SHORTLIST_H
#define DATA_SHORTLIST_H

#include "data/corpus.h"

enum { SHORTLIST_MOST = 1000 }; /* tokens of a list */

typedef struct {
    int source_size, target_size; /* of the vocabularies */
    size_t *start;                /* [source_size + 2] of each list in ids */
    int *ids;
} Shortlist;

/* Learn it from the pairs: the most probable tokens of IBM Model 1 (Brown et al. 1993, "The mathematics of
 * statistical machine translation", section 4.1), at most `most` for each source token. Of many pairs a
 * regular sample. */
Shortlist *shortlist_learn(const Corpus *corpus, int source_size, int target_size, int most);
void shortlist_free(Shortlist *shortlist);
void shortlist_write(const Shortlist *shortlist, StrBuf *out);
Status shortlist_read(Shortlist **shortlist, StrView text, int source_size, int target_size);
/* How many the lists of all source tokens have. */
size_t shortlist_translations(const Shortlist *shortlist);
/* Set wanted[v] for the best `best` tokens of each list that the sentence has, and the most frequent ones. */
void shortlist_mark(const Shortlist *shortlist, int best, Tokens source, bool *wanted);

#endif
