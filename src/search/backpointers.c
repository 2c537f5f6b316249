/* backpointers.c - see backpointers.h. */
#include "search/backpointers.h"

#include <string.h>
#include "base/mem.h"

int backpointers_add(Backpointers *tree, int parent, int token, double score, size_t attention) {
    MEM_GROW(tree->nodes, tree->capacity, (size_t)tree->count + 1);
    tree->nodes[tree->count] = (Backpointer){parent, token, (float)score, attention, false};
    return tree->count++;
}

size_t backpointers_add_attention(Backpointers *tree, const AttentionWeights *attention, int row) {
    if (!attention->weights) return 0;
    size_t start = tree->weights_count, length = (size_t)attention->length[row];
    MEM_GROW(tree->weights, tree->weights_capacity, start + length);
    const real *weights = attention->weights + attention->start[row];
    for (size_t s = 0; s < length; s++) tree->weights[start + s] = (float)weights[s];
    tree->weights_count = start + length;
    return start;
}

int backpointers_token(const Backpointers *tree, int node) {
    return node < 0 ? VOCAB_BOS : tree->nodes[node].token;
}

Hypothesis backpointers_follow(const Backpointers *tree, int node, int steps, double score,
                               const SearchOptions *options, int source_length) {
    bool ended = backpointers_token(tree, node) == VOCAB_EOS;
    Hypothesis hypothesis = {.length = ended ? steps - 1 : steps, .steps = steps, .score = score};
    size_t columns = (size_t)source_length;
    hypothesis.normalized = hypothesis_normalize(&options->decode, score, steps);
    hypothesis.ids = mem_alloc((size_t)steps + 1, sizeof *hypothesis.ids);
    hypothesis.token_scores = mem_alloc((size_t)steps + 1, sizeof *hypothesis.token_scores);
    if (options->attention)
        hypothesis.attention = mem_alloc((size_t)steps * columns + 1, sizeof *hypothesis.attention);
    for (int t = steps - 1; t >= 0; t--) {
        const Backpointer *at = &tree->nodes[node];
        if (t < hypothesis.length) hypothesis.ids[t] = at->token;
        hypothesis.token_scores[t] = at->score;
        if (hypothesis.attention)
            memcpy(hypothesis.attention + (size_t)t * columns, tree->weights + at->attention,
                   columns * sizeof(float));
        node = at->parent;
    }
    return hypothesis;
}

void backpointers_free(Backpointers *tree) {
    mem_free(tree->nodes);
    mem_free(tree->weights);
    *tree = (Backpointers){0};
}

void backpointers_finish(Backpointers *tree, const SearchOptions *options) {
    if (options->tree)
        *options->tree = *tree;
    else
        backpointers_free(tree);
}
