/* search.h - from source sentences to target sentences: greedy, beam and forced.
 *
 * A hypothesis ends with </s>, or where it reaches its maximal length. <pad> and <s> are never chosen, <unk>
 * only if allowed. Between equal scores the lower token id and the better-ranked parent win. What is found
 * for a sentence does not depend on the other sentences of the batch, which share nothing but the matrix
 * products.
 *
 * Units   scores are sums of natural logarithms of probabilities
 * Owner   the caller gives zeroed HypothesisLists, one per sentence, and releases each with hypotheses_free
 */
#ifndef DECODE_SEARCH_H
#define DECODE_SEARCH_H

#include "decode/scorer.h"

typedef struct {
    int beam_size;            /* hypotheses kept per sentence */
    int n_best;               /* hypotheses returned per sentence, at most beam_size */
    double length_penalty;    /* rank by score / steps^length_penalty */
    double max_length_factor; /* steps allowed: factor * source tokens + extra */
    int max_length_extra;
    bool allow_unk;
    bool tokens_only;       /* of greedy search no scores are wanted: they are 0, and cost nothing */
    bool attention;         /* keep attention weights ... */
    AttentionChoice choice; /* ... these of them */
} SearchOptions;

typedef struct {
    int *ids; /* [length], without </s> */
    int length;
    int steps;           /* length + 1 if it ended with </s>, else length */
    double score;        /* log p of all steps */
    double normalised;   /* score / steps^length_penalty */
    float *token_scores; /* [steps] log p of each token */
    float *attention;    /* [steps, source_length] or NULL */
} Hypothesis;

typedef struct {
    Hypothesis *items; /* best first */
    int count;
    int source_length; /* tokens with </s>: columns of the attention weights */
} HypothesisList;

void hypotheses_free(HypothesisList *list);

/* Each step takes the best token. The same as a beam of 1, with less work. `sources` and results as for
 * beam_search. */
void greedy_search(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                   HypothesisList *results);

/* Beam search. Each step extends the hypotheses of a sentence by their best tokens and keeps the best
 * `beam_size` of all; those that end leave the beam, which shrinks by as many. A sentence is done when the
 * beam is empty, or when no hypothesis in it could still rank among the n best: scores only fall, so its best
 * possible rank is score / max_steps^length_penalty. Hypotheses that were cut at the maximal length rank
 * after all that ended by themselves.
 *
 * sources [models, B], as in scorer_encode; results [B]. */
void beam_search(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                 HypothesisList *results);

/* Greedy or beam, by options->beam_size. */
void search_run(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                HypothesisList *results);

/* Score given translations, targets [B]. One hypothesis per sentence. */
void forced_search(Scorer *scorer, const Tokens *sources, const Tokens *targets, int B,
                   const SearchOptions *options, HypothesisList *results);

/* Pieces that the searches share. */

int search_max_steps(const SearchOptions *options, int source_length);
double search_normalise(const SearchOptions *options, double score, int steps);

/* Tokens chosen so far: a forest with one node for each, linked to the one before it. */
typedef struct {
    int parent; /* -1: first token */
    int token;
    float score;      /* log p of this token */
    size_t attention; /* its weights start at weights[attention] of the trail */
} TrailNode;

typedef struct {
    TrailNode *nodes;
    int count;
    size_t capacity;
    float *weights;
    size_t weights_count, weights_capacity;
} Trail;

int trail_add(Trail *trail, int parent, int token, double score, size_t attention);
/* Keep the attention weights of row `row` of a step; returns where they start. */
size_t trail_keep_attention(Trail *trail, const AttentionWeights *attention, int row);
/* The hypothesis that ends at `node`, with `steps` tokens; -1 and 0 for the empty one. */
Hypothesis trail_hypothesis(const Trail *trail, int node, int steps, double score,
                            const SearchOptions *options, int source_length);
void trail_free(Trail *trail);

#endif
