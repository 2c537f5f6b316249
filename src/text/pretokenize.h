/* pretokenize.h - where text is cut before anything else happens to it.
 *
 *   words   the textbook's tokenizer (Zhang et al., "Dive into Deep Learning", 10.5): spaces separate words,
 *           and , . ! ? get a space before them where none is. All of Python's white space counts; the
 *           textbook itself knows U+0020, U+00A0 and U+202F, and keeps a thin space (U+2009) inside a word
 *   runs    for BPE_PREFIX: letters with their marks; digits; other characters. A run after a space, and the
 *           first one, starts with U+2581. An apostrophe between letters ends the run on its left ("l'"
 *           "homme", "don'" "t"). U+2581 in the text itself becomes "_": the marker is never ambiguous
 *   spaced  for BPE_SUFFIX: words between spaces, each with </w> at its end
 * Marks and joiners (accents, variation selectors, U+200D) stay with the run they follow.
 *
 * Owner   a token is valid during the call that hands it over
 */
#ifndef TEXT_PRETOKENIZE_H
#define TEXT_PRETOKENIZE_H

#include "base/strview.h"

typedef void (*TokenSink)(void *context, StrView token);

/* `text` is valid UTF-8. */
void tokenize_words(StrView text, TokenSink sink, void *context);
void tokenize_runs(StrView text, TokenSink sink, void *context);
void tokenize_spaced(StrView text, TokenSink sink, void *context);

#endif
