/* sentences.h - where a paragraph is cut into sentences: rules that ask for no language.
 *
 * A sentence ends
 *   - with . ! ? ... or their likes in other scripts, several of them too, and the closing quotes and
 *     brackets behind them, if white space follows; behind wide ones (U+3002 U+FF01 U+FF1F ...) none need
 *     follow, but for ! and ? in quotes, and U+FF0E between digits ends none;
 *   - at a line end, which only JSON can bring, unless the text is wrapped, as HTML is: then that is white
 *     space like any other;
 *   - at a form feed, which is what breaks of markup are (text/markup.h).
 * It does not end
 *   - before a lower-case letter, unless the text has no upper-case letter at all;
 *   - behind an ellipsis in such a text;
 *   - at a full stop behind an initial (one letter), parts of one or two letters (e.g. U.S. z.B.), a number
 *     of one or two digits (an ordinal), an abbreviation of the short list in sentences.c; or behind No. p.
 *     Fig. and their likes before a digit; at U+FF0E behind such words in full-width letters and digits;
 *   - before any letter or digit was seen.
 * Where the rules doubt, two sentences stay together: a model can take that, half a sentence less so.
 *
 * Owner   sentences are views into `text`, without white space around
 */
#ifndef TRANSLATE_SENTENCES_H
#define TRANSLATE_SENTENCES_H

#include "text/sentence_split.h"

/* Append the sentences of `text`. */
void split_sentences(StrView text, bool wrapped, PieceList *sentences);

#endif
