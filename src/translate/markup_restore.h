/* markup_restore.h - put tags and placeholders back into a translation, along its attention weights.
 *
 * Units are words; punctuation, and tokens of wide characters (Chinese, Japanese), are units of their
 * own. Each unit of the translation belongs to the source unit with its greatest weight.
 *   - A pair goes around the units that belong to what it enclosed, where they stand together: the longest
 *     run that nothing of its neighbours interrupts.
 *   - A single goes behind the last unit that belongs to the nearest source unit on its left, in its pair.
 *   - A pair whose words have vanished encloses nothing and goes where a single would.
 *   - The tags of a pair with a break inside go, each on its side of the break, where most units stand on
 *     the side that they belong to, in no pair, and never before such a tag that stood before them.
 *   - A break goes between the translations of the texts before and behind it, with its own white space, and
 *     nothing moves across it. If they were translated together, as many units stand before it as belong to
 *     what did.
 * So every mark is there once, pairs are nested as they were, and white space around singles stays.
 */
#ifndef TRANSLATE_MARKUP_RESTORE_H
#define TRANSLATE_MARKUP_RESTORE_H

#include "translate/translation.h"
#include "text/markup.h"

/* Append item `rank` of the translation of `markup->plain`; it must have attention weights. Where there was
 * nothing to translate, that is the text as it was. */
void markup_restore(const Markup *markup, const Translation *translation, int rank, Tokenizer *source,
                    const Tokenizer *target, StrBuf *out);

/* The same for texts [count] and their translations: take the markup out, leaving views of the plain texts;
 * and put it back into every item. `markups` is zeroed at first and released at last. */
void markups_take(const StrView *texts, int count, Markup *markups, StrView *plain);
void markups_restore(Markup *markups, int count, const Seq2Seq *model, Translation *translations);

#endif
