/* score_output.h - the scores of one pair as the lines that `attn-mt score` prints.
 *
 *   plain    LOGP TAB NORMALIZED[ TAB TOKENS' LOGP][ TAB WORDS' LOGP]
 *   n-best   the line of the list with one more feature (Moses)
 *   JSON     one object a line
 */
#ifndef CLI_SCORE_OUTPUT_H
#define CLI_SCORE_OUTPUT_H

#include "cli/pair_window.h"
#include "decode/translation.h"
#include "text/segmenter.h"

/* Certain (0) or impossible (-inf) where the source has nothing to translate. */
typedef struct {
    double score, normalized;
    const TranslationItem *item;
} PairScore;

typedef struct {
    const Segmenter *target;
    const char *feature; /* its name in an n-best list; NULL: it is none */
    bool per_token, per_word;
} ScoreStyle;

PairScore pair_score(const Pair *pair, const Translation *translation);
void score_write_plain(const ScoreStyle *style, PairScore score, StrBuf *out);
void score_write_n_best(const ScoreStyle *style, const Pair *pair, PairScore score, StrBuf *out);
void score_write_json(const ScoreStyle *style, const Pair *pair, PairScore score, StrBuf *out);

#endif
