/* translate_score.h - collects translations and scores them against references: BLEU and chrF, equal to
 * those of `attn-mt bleu`.
 *
 * Units   scores 0..100
 * Owner   translate_score_free releases; all functions accept NULL and do nothing
 */
#ifndef CLI_TRANSLATE_SCORE_H
#define CLI_TRANSLATE_SCORE_H

#include "io/options.h"
#include "base/status.h"

typedef struct TranslateScore TranslateScore;

/* Reads the references, and creates the report file, if `report` is not NULL. *score is NULL if there are no
 * references. */
Status translate_score_open(TranslateScore **score, const StrList *references, const char *report);
void translate_score_add(TranslateScore *score, StrView translation); /* the next line's */
/* Writes the scores: as text to standard error unless `quiet`, as JSON to the report. `tokenizer`: index
 * into TOKENIZERS (bleu/bleu_tokenizers.h). STATUS_DATA if there are more references than translations, or
 * fewer. */
Status translate_score_end(TranslateScore *score, int tokenizer, bool quiet);
/* STATUS_DATA unless the references have as many lines as the input files together. Files that can be read
 * only once are not counted. */
Status translate_score_check(const TranslateScore *score, const StrList *inputs);
void translate_score_free(TranslateScore *score);

#endif
