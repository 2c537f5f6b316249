/* sentences.h - cuts a paragraph into sentences, by rules that do not depend on the language.
 *
 * A sentence ends
 *   - with one or more end marks (. ! ? ... and the end marks of other scripts) and the closing quotes and
 *     brackets after them, if white space follows. No white space is needed after wide end marks (U+3002
 *     U+FF01 U+FF1F ...), except after ! and ? in quotes; U+FF0E between digits is no end mark;
 *   - at a line end, which occurs only in JSON, unless the text is wrapped, as HTML is: then a line end is
 *     white space;
 *   - at the separators of lines and paragraphs U+2028, U+2029, U+0085, U+001C to U+001E and U+000B;
 *   - at a form feed, which is a break of markup (text/markup.h).
 * It does not end
 *   - before a lower-case letter, unless the text has no upper-case letters;
 *   - after an ellipsis in a text without upper-case letters;
 *   - at a full stop after an initial (one letter), parts of one or two letters (e.g. U.S. z.B.), a number
 *     of one or two digits (an ordinal), or an abbreviation of the short list in sentences.c; after No. p.
 *     Fig. and similar words before a digit; at U+FF0E after such words in full-width letters and digits;
 *   - between a Japanese closing quotation mark and Hiragana, a particle of the sentence around it, nor in
 *     such a quotation;
 *   - before its first letter or digit.
 * In doubt two sentences stay together: models translate two sentences better than half a sentence.
 *
 * Owner   sentences are views into `text`, without white space around them
 */
#ifndef TRANSLATE_SENTENCES_H
#define TRANSLATE_SENTENCES_H

#include "tokenizer/line_split.h"

/* Appends the lines of `text`: what stands between line ends, separators and form feeds. */
void split_lines(StrView text, bool wrapped, TextList *lines);
/* The whole text, without the white space around it. */
void split_whole(StrView text, TextList *sentences);
/* Appends the sentences of `text`. */
void split_sentences(StrView text, bool wrapped, TextList *sentences);

#endif
