/* whole_words.h - finds whole words in a text, for glossaries and constraints. */
#ifndef TEXT_WHOLE_WORDS_H
#define TEXT_WHOLE_WORDS_H

#include "base/strview.h"
#include "base/unicode.h"

/* Appends the text as the tokenizer normalizes it: repaired, in normal form, one space for each run of white
 * space, none at the ends. The functions below expect such texts. */
void text_normalize_words(StrView text, NormalForm form, bool lowercase, StrBuf *out);
/* Is this a character of a script that puts no spaces between words, such as Chinese, Japanese or Thai? */
bool text_is_unspaced(int c);
/* Does the text contain these words? Parts of longer words do not count, except in scripts without spaces. */
bool text_has_words(StrView text, StrView words);
/* The same for forms of the words: they begin alike, with at least three characters and half of the longer
 * word, and at most three characters of each are left ("file" and "files", "city" and "cities"). */
bool text_has_word_forms(StrView text, StrView words);
/* The length of the words that begin at text.data[at] and are forms of `words`; 0: there are none. */
size_t text_word_forms_at(StrView text, size_t at, StrView words);
/* The length of the words if they begin at text.data[at]; 0: they do not. */
size_t text_has_words_at(StrView text, size_t at, StrView words);
/* Are these bytes of the text whole words? */
bool text_words_at(StrView text, size_t at, size_t length);

#endif
