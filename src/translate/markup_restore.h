/* markup_restore.h - puts tags and placeholders back into a translation, by its attention weights.
 *
 * Units are words; punctuation marks, and tokens of wide characters (Chinese, Japanese), are units of their
 * own. Each unit of the translation belongs to the source unit with its greatest weight.
 *   - A pair of tags goes around the units that belong to its source words: the longest run that no unit of
 *     another pair interrupts.
 *   - A single mark goes after the last unit that belongs to the nearest source unit on its left, inside the
 *     same pair.
 *   - A pair without units of its source words encloses nothing and goes where a single mark would.
 *   - The tags of a pair with a break inside stay on their sides of the break. Each goes to the position that
 *     has the most units on the side that they belong to, outside other pairs, and not before an earlier tag
 *     of this kind.
 *   - A break goes between the translations of the texts before and after it, with its own white space, and
 *     nothing moves across it. If these texts were translated together, the number of units before the break
 *     is the number of units that belong to the text before it.
 * So every mark occurs once, pairs are nested as before, and white space around single marks stays.
 */
#ifndef TRANSLATE_MARKUP_RESTORE_H
#define TRANSLATE_MARKUP_RESTORE_H

#include "translate/translation.h"
#include "text/markup.h"

/* Appends item `rank` of the translation of `markup->plain`, with its markup; the item must have attention
 * weights. A translation without chunks gives the original text. */
void markup_restore(const Markup *markup, const Translation *translation, int rank, Tokenizer *source,
                    const Tokenizer *target, StrBuf *out);

/* For texts [count] and their translations: markups_take finds the markup and sets views of the plain texts,
 * markups_restore puts it back into every item. `markups` [count] is zeroed before the first and released by
 * the second. */
void markups_take(const StrView *texts, int count, Markup *markups, StrView *plain);
void markups_restore(Markup *markups, int count, const Seq2Seq *model, Translation *translations);

#endif
