/* shortlist_marian.h - the binary shortlists of Firefox' models, lex.50.50.*.s2t.bin.
 *
 * Fails   STATUS_DATA for damaged files: bounds and the checksum are checked
 */
#ifndef FOREIGN_SHORTLIST_MARIAN_H
#define FOREIGN_SHORTLIST_MARIAN_H

#include "data/shortlist.h"

/* source_row [source_size], target_row [target_size]: the foreign id of each of our ids, or -1. On failure
 * *shortlist is NULL. */
Status foreign_shortlist_read(Shortlist **shortlist, StrView file, const int *source_row, int source_size,
                              const int *target_row, int target_size);

#endif
