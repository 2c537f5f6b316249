/* length_limit.h - how long translations may be: as long as the targets of the training pairs are.
 *
 * decode.max_length_factor at its default suits pairs of words. Where the source is much shorter than the
 * target, as numbers in digits are than their names in letters, it would cut translations, in validation
 * first. So at its default it gives way to what the pairs need: all but one in a thousand of them, with a
 * quarter to spare. It is never lowered, and any other value than the default stays.
 */
#ifndef CONFIG_LENGTH_LIMIT_H
#define CONFIG_LENGTH_LIMIT_H

#include "config/config.h"
#include "data/corpus.h"

/* Raise decode->max_length_factor if it is at its default and too small, up to what a model file may ask for,
 * and say so in the log. */
void length_limit_fit(DecodeOptions *decode, const Corpus *pairs);

/* Is it at its default? */
bool length_limit_is_open(const DecodeOptions *decode);

#endif
