/* pair_checks.h - findings about sentence pairs: their names, and the checks that need one pair alone.
 *
 * Between the sides of a pair differ
 *   placeholders  printf, braces and variables (text/placeholders.h); not in plurals of ICU, whose branches
 *                 depend on the language
 *   tags          as above; words in angle brackets are no tags
 *   accelerators  only one side has one (text/accelerators.h)
 *   numbers       outside of placeholders, addresses and paths, in any order. Digits of all scripts, leading
 *                 zeros and separators between groups of three make no difference
 *   punctuation   at the end, before closing quotes and brackets: a full stop, "?", "!", ":", ";", "," or an
 *                 ellipsis of any script, or none
 *   blanks        at the start or end
 * No plain text are entities, markup (tags), soft hyphens, addresses (web, e-mail) and marks that a tokenizer
 * left ("@-@").
 */
#ifndef DATA_PAIR_CHECKS_H
#define DATA_PAIR_CHECKS_H

#include "base/strview.h"
#include "text/placeholders.h"

/* The checks of all pairs together are in pair_stats.h. */
typedef enum {
    FINDING_REPEATED,          /* the pair occurs earlier in the file */
    FINDING_OTHER_TRANSLATION, /* the source does, with another target */
    FINDING_IN_VALID,          /* the pair is in the validation file */
    FINDING_SOURCE_IN_VALID,   /* only its source is */
    FINDING_SAME_TEXT,         /* both sides are equal */
    FINDING_SWAPPED,
    FINDING_MOJIBAKE,
    FINDING_LENGTHS,
    FINDING_PLACEHOLDERS, /* from here to the end: pair_check */
    FINDING_TAGS,
    FINDING_ACCELERATORS,
    FINDING_NUMBERS,
    FINDING_PUNCTUATION,
    FINDING_BLANKS,
    FINDING_ENTITIES,
    FINDING_MARKUP,
    FINDING_SOFT_HYPHENS,
    FINDING_ADDRESSES,
    FINDING_TOKENIZED,
    FINDING_KINDS
} FindingKind;

typedef uint32_t FindingSet;
static inline FindingSet finding_bit(FindingKind kind) { return (FindingSet)1 << kind; }

/* "same_text": the key in JSON, the name in options, the reason in files. */
const char *finding_name(FindingKind kind);

/* Buffers. Zeroed, it is ready; pair_checker_free releases them. */
typedef struct {
    PlaceholderList all[2], some[2];
    uint64_t *numbers[2]; /* hashes */
    size_t number_count[2], number_capacity[2];
    StrBuf text;
} PairChecker;

/* The findings of a pair; both texts are valid UTF-8, with the blanks around them. */
FindingSet pair_check(PairChecker *checker, StrView source, StrView target);
void pair_checker_free(PairChecker *checker);

#endif
