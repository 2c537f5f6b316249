/* markup_restore.h - puts the marks of a text back into the translation of its plain text.
 *
 * Units are words; punctuation marks, and tokens of wide characters (Chinese, Japanese), are units of their
 * own. Each unit of the translation belongs to the source unit with its greatest attention weight.
 *   - A pair of tags goes around the units that belong to its source words: the longest run that no unit of
 *     another pair interrupts.
 *   - A single mark goes after the last unit that belongs to the nearest source unit on its left, inside the
 *     same pair.
 *   - A pair without units of its source words encloses nothing and goes where a single mark would.
 *   - A tag whose partner is in another chunk goes to the position that has the most units on the side that
 *     they belong to, outside of pairs, and not before an earlier tag of this kind.
 * So every mark occurs once, pairs are nested as before, and white space around single marks stays.
 *
 * Placeholders that the model wrote on its own are removed. If the result does not agree with the source
 * (text/marked_text.h), for example because attention changes the order of two %s, the marks are put at their
 * share of the text instead, which keeps their order, then with spaces around them. If that does not agree
 * either, because the words around a mark change its meaning, the result is the source.
 */
#ifndef POSTPROCESS_MARKUP_RESTORE_H
#define POSTPROCESS_MARKUP_RESTORE_H

#include "text/marked_text.h"
#include "postprocess/translation.h"

/* Appends item `rank` of the translation of `marked->plain`, with its marks. Marks keep their order if the
 * item has no attention weights. */
void markup_restore(const MarkedText *marked, const Translation *translation, int rank, Tokenizer *source,
                    const Tokenizer *target, StrBuf *out);

#endif
