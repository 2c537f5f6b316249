/* translate_score.h - translations scored against references as they are made: BLEU and chrF, as attn-mt bleu
 * gives them.
 *
 * Units   scores 0..100
 * Owner   translate_score_free releases; NULL is allowed everywhere and does nothing
 */
#ifndef CLI_TRANSLATE_SCORE_H
#define CLI_TRANSLATE_SCORE_H

#include "base/options.h"
#include "base/status.h"

typedef struct TranslateScore TranslateScore;

/* Read the references, and create the file of the report, if it is not NULL. *score is NULL if there are no
 * references. */
Status translate_score_open(TranslateScore **score, const StrList *references, const char *report);
void translate_score_add(TranslateScore *score, StrView translation); /* of the next line */
/* The scores: as text on standard error unless `quiet`, as JSON into the report. `tokenizer`: index into
 * BLEU_TOKENIZERS (bleu/bleu_tokenizers.h). STATUS_DATA: not as many references as translations. */
Status translate_score_end(TranslateScore *score, int tokenizer, bool quiet);
void translate_score_free(TranslateScore *score);

#endif
