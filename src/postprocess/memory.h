/* memory.h - a translation memory: texts with their translations, found again by similarity.
 *
 * Texts are compared without white space at their ends, with one space for all white space between words, and
 * without accelerators of the kind that the memory was read with.
 *
 * Similarity   1 - d / n: d is the edit distance (Levenshtein 1966) in characters, n the length of the
 *              longer text, as in localisation tools. Only identical texts have 1
 * Index        The candidates are the texts of possible lengths that share the most trigrams of bytes with
 *              the text for their lengths (after Dice 1945). The distances of the best MEMORY_CANDIDATES
 *              are computed. Others, and those with no trigram in common, are not found. Texts over
 *              MEMORY_FUZZY_LENGTH characters are found only if they are identical
 * Threads      memory_find may run on several at a time
 */
#ifndef POSTPROCESS_MEMORY_H
#define POSTPROCESS_MEMORY_H

#include "base/status.h"
#include "base/strview.h"
#include "io/options.h"
#include "text/accelerators.h"

enum { MEMORY_CANDIDATES = 32, MEMORY_FUZZY_LENGTH = 1000 };
enum { MEMORY_MAX_PAIRS = 2000000, MEMORY_MAX_BYTES = 1 << 29 };

typedef struct Memory Memory;

typedef struct {
    double similarity;      /* 0: nothing found */
    StrView source, target; /* the memory's */
} MemoryMatch;

/* `entries`: files of pairs, read as in data/pairs.h; `source` and `target` are names of languages, or empty.
 * The first of several pairs with the same source counts. Fails as pair_reader_open and pair_reader_next;
 * STATUS_DATA if there are more pairs, or bytes of text, than the limits above. */
Status memory_read(Memory **memory, const StrList *entries, const char *source, const char *target,
                   AcceleratorKind accelerator);
void memory_free(Memory *memory); /* NULL is allowed */
/* Appends the translation of a text that the memory has, without the white space around the text. With `tags`
 * placeholders and tags must agree (text/placeholders.h); and if the text differs from a source of the memory
 * in nothing but these, the target gets those of the text in the places of its own. A pair of tags around
 * the whole text stays around its translation. Sets *match then, with similarity 1; false: nothing found. */
bool memory_translate(const Memory *memory, StrView text, bool tags, MemoryMatch *match, StrBuf *out);
/* The most similar pair whose similarity is at least `threshold`, which is over 0. */
MemoryMatch memory_find(const Memory *memory, StrView text, double threshold);

#endif
