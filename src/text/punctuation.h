/* punctuation.h - marks that end sentences and clauses in many scripts, and what closes behind them.
 *
 * Marks that stand inside of words, as the Armenian ! and ? do, are none of them; nor are those that are part
 * of words in some languages (U+00B7).
 */
#ifndef TEXT_PUNCTUATION_H
#define TEXT_PUNCTUATION_H

#include <stdbool.h>

/* From weak to strong: of several marks behind each other the strongest counts. Wide marks need no space
 * behind them. */
typedef enum {
    PUNCTUATION_NONE,
    PUNCTUATION_CLAUSE, /* , ; : */
    PUNCTUATION_STOP,
    PUNCTUATION_ELLIPSIS,
    PUNCTUATION_END, /* ! ? and stops that end nothing but sentences */
    PUNCTUATION_WIDE_STOP,
    PUNCTUATION_WIDE_END,
} Punctuation;

Punctuation punctuation_of(int c);
/* Does a part of text without spaces end behind this mark, a wide , . ! or their likes? */
bool punctuation_is_wide(int c);
/* Directly behind an end mark, does this character belong to what ends there, as quotes and brackets do? Some
 * quotes close in one language and open in another: behind wide marks they open. */
bool punctuation_is_closing(int c, bool wide);
/* Is this a full-width . , or : between digits, as in 3.5, 1,000 and 12:30? Nothing ends there. */
bool punctuation_is_in_number(int before, int c, int after);

#endif
