/* hypothesis.h - a translation that a search ends with, its scores, and the order of hypotheses.
 *
 * Units   scores are sums of natural logarithms of probabilities
 * Owner   a zeroed HypothesisList is empty; hypotheses_free releases it
 */
#ifndef SEARCH_HYPOTHESIS_H
#define SEARCH_HYPOTHESIS_H

#include <stdbool.h>
#include "config/config.h"

typedef struct {
    int token;
    double log_p; /* of the token, given the source and all tokens before it */
} ScoredToken;

typedef struct {
    int *ids; /* [length], without </s> */
    int length;
    int steps;              /* length + 1 if it ended with </s>, else length */
    double score;           /* log p of all steps */
    double normalized;      /* score / steps^length_penalty */
    int met;                /* tokens of constraints that it contains */
    double attention_score; /* what attention adds to the score for the positions of terms: constraints.h */
    float *token_scores;    /* [steps] log p of each token */
    float *attention;       /* [steps, source_length] or NULL */
    ScoredToken *alternatives; /* [steps, alternatives] best first; after the last one token is -1; or NULL */
} Hypothesis;

typedef struct {
    Hypothesis *items; /* best first */
    int count;
    int source_length; /* tokens with </s>: columns of the attention weights */
} HypothesisList;

void hypotheses_free(HypothesisList *list);
/* Releases all but the first `count`. */
void hypotheses_truncate(HypothesisList *list, int count);
/* Sorts, best first: hypotheses without </s> come last, those with more tokens of constraints come first.
 * Hypotheses with constraints are compared by score and attention_score, the others by `normalized`. Equal
 * ones stay in their order. */
void hypotheses_rank(HypothesisList *list);
bool hypothesis_is_better(const Hypothesis *a, const Hypothesis *b); /* in the order of hypotheses_rank */

/* Most target tokens for a source of that length, </s> included. */
int hypothesis_max_steps(const DecodeOptions *options, int source_length);
/* Is the last of these tokens </s>, whatever the model says? As transformers with forced_eos_token_id. */
bool hypothesis_forces_end(const DecodeOptions *options);
/* score / steps^length_penalty. */
double hypothesis_normalize(const DecodeOptions *options, double score, int steps);

#endif
