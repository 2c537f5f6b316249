/* backpointers.h - the tokens that a search has chosen: a tree in which each token points to the token before
 * it. The last token of a hypothesis stands for the whole hypothesis.
 *
 * Owner   a zeroed Backpointers is an empty tree; backpointers_free releases it
 */
#ifndef SEARCH_BACKPOINTERS_H
#define SEARCH_BACKPOINTERS_H

#include "search/hypothesis.h"
#include "search/scorer.h"

typedef struct {
    int parent; /* the token before it; -1: none */
    int token;
    float score;      /* log p of this token */
    size_t attention; /* its attention weights begin at weights[attention] of the tree */
    bool pruned;      /* a candidate that did not enter the beam */
} Backpointer;

struct Backpointers {
    Backpointer *nodes;
    int count;
    size_t capacity;
    float *weights;
    size_t weights_count, weights_capacity;
};

/* Returns the new node. */
int backpointers_add(Backpointers *tree, int parent, int token, double score, size_t attention);
/* Copies the attention weights of row `row` of a step, if there are any; returns where they begin. */
size_t backpointers_add_attention(Backpointers *tree, const AttentionWeights *attention, int row);
/* The token of a node; VOCAB_BOS for node -1. */
int backpointers_token(const Backpointers *tree, int node);
/* The hypothesis of `steps` tokens that ends at `node`; node -1 and 0 steps: the empty one. */
Hypothesis backpointers_follow(const Backpointers *tree, int node, int steps, double score,
                               const SearchOptions *options, int source_length);
/* At the end of a search: moves the tree to options->tree, or releases it. */
void backpointers_finish(Backpointers *tree, const SearchOptions *options);
void backpointers_free(Backpointers *tree);

#endif
