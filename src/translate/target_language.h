/* target_language.h - the target language of a line, for models that translate into several.
 *
 * Such models have language tokens (tokenizer/tokenizer.h); a source begins with one.
 */
#ifndef TRANSLATE_TARGET_LANGUAGE_H
#define TRANSLATE_TARGET_LANGUAGE_H

#include "translate/translator.h"

/* STATUS_USAGE if the model has no token for the language. `name`: NULL is allowed. */
Status target_language_check(const Seq2Seq *model, const char *name);
/* The language token of a line, which is taken off with the spaces behind it; empty if the tokenizer has no
 * such tokens, or neither the line nor the options choose one of several. That gives a warning if `*warned`
 * is not set yet. */
StrView target_language_take(const Tokenizer *source, const TranslatorOptions *options, StrView *line,
                             long number, bool *warned);

#endif
