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
/* Are these bytes of the text whole words? Parts of longer words are not, except in scripts without
 * spaces. */
bool text_is_whole_words(StrView text, size_t at, size_t length);
/* The length of `words` if they are whole words of the text from text.data[at] on; otherwise 0. */
size_t text_match_words(StrView text, size_t at, StrView words);
/* Does the text contain `words` as whole words? */
bool text_contains_words(StrView text, StrView words);

/* The same two for forms of the words: they begin alike, with at least three characters and half of the
 * longer word, and at most three characters of each are left ("file" and "files", "city" and "cities"). The
 * length is that of the form in the text. */
size_t text_match_word_forms(StrView text, size_t at, StrView words);
bool text_contains_word_forms(StrView text, StrView words);

#endif
