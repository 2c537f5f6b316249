/* backpointers.h - the tokens that a search has chosen: a tree, in which each token points back to the one
 * before it.
 *
 * A hypothesis that grows is a node, its last token. What it has become is read off by going back from there.
 *
 * Owner   a zeroed Backpointers is an empty tree; backpointers_free releases it
 */
#ifndef SEARCH_BACKPOINTERS_H
#define SEARCH_BACKPOINTERS_H

#include "search/search.h"

typedef struct {
    int parent; /* the token before it; -1: the first one */
    int token;
    float score;      /* log p of this token */
    size_t attention; /* its weights start at weights[attention] of the tree */
    bool dropped;     /* a candidate that the beam had no room for */
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
/* Keep the attention weights of row `row` of a step, if there are any; returns where they start. */
size_t backpointers_keep_attention(Backpointers *tree, const AttentionWeights *attention, int row);
/* The last token of a hypothesis: <s> before there is any. */
int backpointers_token(const Backpointers *tree, int node);
/* The hypothesis that ends at `node`, with `steps` tokens; -1 and 0 for the empty one. */
Hypothesis backpointers_follow(const Backpointers *tree, int node, int steps, double score,
                               const SearchOptions *options, int source_length);
/* The end of a search: gives the tree to options->tree, or releases it. */
void backpointers_leave(Backpointers *tree, const SearchOptions *options);
void backpointers_free(Backpointers *tree);

#endif
