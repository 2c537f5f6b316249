/* score_heads.h - what each attention head of a model is worth: how probable given translations are
 * without it.
 *
 * Prints a line for the whole model and one for each head: its attention, its number from 1, log p per target
 * token without it, and how much that is more than with it.
 */
#ifndef CLI_SCORE_HEADS_H
#define CLI_SCORE_HEADS_H

#include "decode/translator.h"

typedef struct HeadScores HeadScores;

/* `model` has all its weights as floats, packed. STATUS_USAGE if it has no heads. */
Status head_scores_new(HeadScores **scores, const Seq2Seq *model);
void head_scores_free(HeadScores *scores);
/* Score these pairs for each head; `translator` is one of that model alone. */
void head_scores_add(HeadScores *scores, Translator *translator, const StrView *sources,
                     const StrView *targets, int count);
/* `whole`: log p of all pairs with all heads, of so many target tokens with </s>. */
void head_scores_write(const HeadScores *scores, double whole, long tokens, StrBuf *out);

#endif
