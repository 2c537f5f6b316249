/* shortlist.h - the likely target tokens of each source token.
 *
 * With a shortlist, each step of the search computes and compares these tokens only (Jean et al. 2015, "On
 * using very large target vocabulary for neural machine translation", section 3.3).
 *
 * Lists  of target tokens, best first. The first list has the most frequent tokens; then there is one list
 *        per source token, in the order of their ids. Stored as the lengths of all lists and the ids of all
 *        lists, little-endian numbers of shortlist_width bytes. Zeros may follow, fewer than 8 bytes
 * Text   in files of earlier releases: ids separated by spaces, ';' after each list
 * Fails  reading: STATUS_DATA for any other lists or text, or ids outside the vocabulary
 */
#ifndef DATA_SHORTLIST_H
#define DATA_SHORTLIST_H

#include "data/corpus.h"

enum { SHORTLIST_MAX = 1000 }; /* tokens of a list */

typedef struct {
    int source_size, target_size; /* of the vocabularies */
    size_t *start;                /* [source_size + 2] start of each list in ids */
    int *ids;
} Shortlist;

/* The most probable tokens by IBM Model 1 (Brown et al. 1993, "The mathematics of statistical machine
 * translation", section 4.1), at most `most` for each source token. Large corpora are sampled at regular
 * intervals. */
Shortlist *shortlist_learn(const Corpus *corpus, int source_size, int target_size, int most);
void shortlist_free(Shortlist *shortlist);
int shortlist_width(int target_size); /* 2 or 4 */
void shortlist_write(const Shortlist *shortlist, StrBuf *lengths, StrBuf *ids);
Status shortlist_read(Shortlist **shortlist, StrView lengths, StrView ids, int source_size, int target_size);
Status shortlist_read_text(Shortlist **shortlist, StrView text, int source_size, int target_size);
/* The total length of the lists of the source tokens. */
size_t shortlist_translations(const Shortlist *shortlist);
/* Sets is_listed[v] for the first `best` tokens of the lists of the sentence and of the most frequent tokens.
 * is_listed: [target_size]. */
void shortlist_mark(const Shortlist *shortlist, int best, Tokens source, bool *is_listed);

#endif
