/* bpe.h - byte-pair encoding of words with learned merges.
 * Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword units"
 *
 * Merge lists have the format of subword-nmt: first line "#version: 0.2", then lines "left right". There are
 * two ways to mark words; the merges show which one a list uses:
 *   BPE_PREFIX  a word after a space starts with U+2581 (as in SentencePiece), a unit of its own; joining the
 *               pieces restores the text
 *   BPE_SUFFIX  the last piece of a word ends in </w> (subword-nmt); words are separated by single spaces
 * A merge that would build </w> from ordinary characters stays in the list but is never applied, so that
 * </w> at the end of a piece always marks the end of a word.
 *
 * Owner   the caller frees with bpe_free
 * Threads applying uses scratch memory: one thread at a time, others take views
 * Fails   reading: STATUS_DATA with the line number
 */
#ifndef TOKENIZER_BPE_H
#define TOKENIZER_BPE_H

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
/* The same merges with scratch memory of its own, for another thread; `bpe` must not change and outlives
 * it. */
Bpe *bpe_view(const Bpe *bpe);
BpeMarker bpe_marker(const Bpe *bpe);
size_t bpe_count(const Bpe *bpe); /* merges */
void bpe_merge(const Bpe *bpe, size_t rank, StrView *left, StrView *right);
void bpe_add(Bpe *bpe, StrView left,
             StrView right); /* lowest rank first; a repeated pair keeps its first rank */
/* May these two be merged? Not if the result is too long, or ends with </w> by chance. */
bool bpe_mergeable(StrView left, StrView right);
/* Bytes of the unit at `position`: one character, with </w> after the last character of a BPE_SUFFIX word. */
size_t bpe_unit(BpeMarker marker, StrView word, size_t position);
/* Splits a pre-token with its marker (pretokenize.h) into pieces, views into `word`, one call each. As in
 * subword-nmt, the pair of lowest rank is merged first, all its occurrences from left to right. */
typedef void (*BpePiece)(void *context, StrView piece);
void bpe_apply(Bpe *bpe, StrView word, BpePiece piece, void *context);
/* BPE-dropout: before each merge, each pair that could be merged is dropped with probability `p`, so that the
 * pieces of a word vary. Provilkov, Emelianenko and Voita 2020, "BPE-dropout", section 4. The time is
 * quadratic in the length of the word. */
void bpe_apply_dropout(Bpe *bpe, StrView word, double p, Rng *rng, BpePiece piece, void *context);
/* Undoes the merge that makes `piece`: two views into it; false if no merge makes it. */
bool bpe_split(const Bpe *bpe, StrView piece, StrView *left, StrView *right);
/* Adds a merge written as "left right"; `name` (of the file) and line `number` are for messages. */
Status bpe_add_line(Bpe *bpe, StrView line, const char *name, long number);
void bpe_write(const Bpe *bpe, StrBuf *out);
/* `name` is for messages; `default_marker`: the marker if no merge shows one. */
Status bpe_read(Bpe **bpe, StrView text, const char *name, BpeMarker default_marker);

#endif
