/* pretokenize.h - splits text into pre-tokens.
 *
 *   words   the textbook's tokenizer (Zhang et al., "Dive into Deep Learning", 10.5): spaces separate words,
 *           and , . ! ? start a new one. All white space of Python counts; the textbook itself splits at
 *           U+0020, U+00A0 and U+202F only, and keeps a thin space (U+2009) inside a word
 *   runs    for BPE_PREFIX: letters with their marks; digits; other characters. A run after a space, and the
 *           first one, starts with U+2581. An apostrophe between letters ends the run on its left ("l'"
 *           "homme", "don'" "t"). U+2581 in the text becomes "_", so that the marker is unambiguous
 *   spaced  for BPE_SUFFIX: words between spaces, each with </w> at its end
 * Marks and joiners (accents, variation selectors, U+200D) belong to the run before them.
 *
 * Owner   a token is valid during the call of `sink`
 */
#ifndef TOKENIZER_PRETOKENIZE_H
#define TOKENIZER_PRETOKENIZE_H

#include "base/strview.h"

typedef void (*TokenSink)(void *context, StrView token);

/* `text` is valid UTF-8. */
void tokenize_words(StrView text, TokenSink sink, void *context);
void tokenize_runs(StrView text, TokenSink sink, void *context);
void tokenize_spaced(StrView text, TokenSink sink, void *context);

#endif
