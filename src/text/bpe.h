/* bpe.h - byte-pair encoding of words with learned merges.
 * Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword units"
 *
 * A merge list is written and read as subword-nmt has it (first line "#version: 0.2", then "left right").
 * Two ways of marking where words end are known, and told apart by the merges themselves:
 *   BPE_PREFIX  a word that follows a space starts with U+2581 (like SentencePiece), a unit of its own;
 *               pieces join without loss
 *   BPE_SUFFIX  the last piece of a word ends in </w> (subword-nmt); words are separated by single spaces
 * A merge that would spell </w> out of ordinary characters is kept in the list but never applied, so that
 * </w> at the end of a piece always means the end of a word.
 *
 * Owner   the caller frees with bpe_free. Applying uses scratch memory: one thread at a time.
 * Fails   reading: STATUS_DATA with the line number
 */
#ifndef TEXT_BPE_H
#define TEXT_BPE_H

#include "base/rng.h"
#include "base/status.h"
#include "base/strview.h"

typedef enum { BPE_PREFIX, BPE_SUFFIX } BpeMarker;
#define BPE_MARKER_CHOICES "prefix|suffix"
#define BPE_SPACE          "\xE2\x96\x81" /* U+2581, the visible space */
#define BPE_WORD_END       "</w>"
enum { BPE_SYMBOL_BYTES = 1024 }; /* longer symbols are neither learned nor read */

typedef struct Bpe Bpe;

Bpe *bpe_new(BpeMarker marker);
void bpe_free(Bpe *bpe);
/* The same merges for one more thread to apply; `bpe`, which must not change, outlives it. */
Bpe *bpe_view(const Bpe *bpe);
BpeMarker bpe_marker(const Bpe *bpe);
size_t bpe_count(const Bpe *bpe); /* merges */
void bpe_merge(const Bpe *bpe, size_t rank, StrView *left, StrView *right);
void bpe_add(Bpe *bpe, StrView left,
             StrView right); /* lowest rank first; a repeated pair keeps its first rank */
/* May these two be merged at all (length, spelled-out markers)? */
bool bpe_mergeable(StrView left, StrView right);
/* Bytes of the unit at `position`: one character, with </w> if it is the last of a BPE_SUFFIX word. */
size_t bpe_unit(BpeMarker marker, StrView word, size_t position);
/* Split one pre-token, its marker on it (pretokenize.h), into pieces, one call each; they point into `word`.
 * As in subword-nmt the pair of lowest rank is merged first, all its occurrences from left to right. */
typedef void (*BpePiece)(void *context, StrView piece);
void bpe_apply(Bpe *bpe, StrView word, BpePiece piece, void *context);
/* The same, but before each merge every pair that could be merged is passed over with probability `p`: so a
 * word is cut another way each time. Provilkov, Emelianenko and Voita 2020, "BPE-dropout", section 4. Takes
 * time with the square of the word's length. */
void bpe_apply_dropout(Bpe *bpe, StrView word, double p, Rng *rng, BpePiece piece, void *context);
/* Undo the merge that makes `piece`; false if no merge does. The parts point into `piece`. */
bool bpe_split(const Bpe *bpe, StrView piece, StrView *left, StrView *right);
/* Add a merge written as "left right"; `name` and `number` say where it stands, for messages. */
Status bpe_add_line(Bpe *bpe, StrView line, const char *name, long number);
void bpe_write(const Bpe *bpe, StrBuf *out);
/* `name`: for messages; `fallback`: the marker if no merge shows one. */
Status bpe_read(Bpe **bpe, StrView text, const char *name, BpeMarker fallback);

#endif
