/* punctuation.h - marks that end sentences and clauses in many scripts, and closing quotes and brackets.
 *
 * Not included are marks inside of words, such as the Armenian ! and ?, and marks that are part of words in
 * some languages (U+00B7).
 */
#ifndef TEXT_PUNCTUATION_H
#define TEXT_PUNCTUATION_H

#include <stdbool.h>

/* From weak to strong: the strongest of several consecutive marks counts. Wide marks need no space after
 * them. */
typedef enum {
    PUNCTUATION_NONE,
    PUNCTUATION_CLAUSE, /* , ; : */
    PUNCTUATION_STOP,
    PUNCTUATION_ELLIPSIS,
    PUNCTUATION_END, /* ! ? and full stops that only end sentences */
    PUNCTUATION_WIDE_STOP,
    PUNCTUATION_WIDE_END,
} Punctuation;

Punctuation punctuation_of(int c);
/* Is this a wide mark (such as a wide , . or !), after which text continues without a space? */
bool punctuation_is_wide(int c);
/* Is this a quote or bracket that closes a sentence directly after its end mark? Some quotes close in one
 * language and open in another; after wide marks they open. */
bool punctuation_is_closing(int c, bool wide);
/* Is this a full-width . , or : between digits, as in 3.5, 1,000 and 12:30? It does not end a sentence or
 * clause. */
bool punctuation_is_in_number(int before, int c, int after);

#endif
