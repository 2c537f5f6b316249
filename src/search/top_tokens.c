/* top_tokens.c - a vectorised pass for the maxima of blocks, then a pass over the few blocks that can have a
 * top token. */
#include "search/top_tokens.h"

#include <math.h>
#include "kern/kern.h"

/* Blocks of words; special tokens, which come first, are in none. */
static size_t block_count(int V) {
    return ((size_t)(V - VOCAB_SPECIALS) + KERN_MAXIMA_BLOCK - 1) / KERN_MAXIMA_BLOCK;
}

size_t top_tokens_scratch(int V, int k) { return block_count(V) + (size_t)k; }

/* Insert token v into the sorted list of `count` tokens, at most k, after equal ones. */
static int insert(const real *x, int v, int k, int *tokens, int count) {
    if (count == k && !(x[v] > x[tokens[k - 1]])) return count;
    int at = count < k ? count++ : k - 1;
    for (; at > 0 && x[v] > x[tokens[at - 1]]; at--) tokens[at] = tokens[at - 1];
    tokens[at] = v;
    return count;
}

/* The k-th greatest maximum, or minus infinity if there are fewer. `sorted` [k] is scratch. */
static real bound(const real *maxima, size_t blocks, int k, real *sorted) {
    int count = 0;
    if ((size_t)k > blocks) return (real)-INFINITY;
    for (size_t b = 0; b < blocks; b++) {
        if (count == k && !(maxima[b] > sorted[k - 1])) continue;
        int at = count < k ? count++ : k - 1;
        for (; at > 0 && maxima[b] > sorted[at - 1]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = maxima[b];
    }
    return sorted[k - 1];
}

int top_tokens_find(const real *x, int V, int k, bool allow_unk, real *scratch, int *tokens, real *greatest) {
    size_t blocks = block_count(V);
    real *maxima = scratch;
    *greatest = kern->block_maxima((size_t)(V - VOCAB_SPECIALS), x + VOCAB_SPECIALS, maxima);
    for (int v = 0; v < VOCAB_SPECIALS; v++)
        if (x[v] > *greatest) *greatest = x[v];
    if (k == 0) return 0;
    int count = 0;
    if (allow_unk && !isnan(x[VOCAB_UNK])) count = insert(x, VOCAB_UNK, k, tokens, count);
    if (!isnan(x[VOCAB_EOS])) count = insert(x, VOCAB_EOS, k, tokens, count);
    real least = bound(maxima, blocks, k, scratch + blocks);
    for (size_t b = 0; b < blocks; b++) {
        if (!(maxima[b] >= least)) continue;
        int v = VOCAB_SPECIALS + (int)b * KERN_MAXIMA_BLOCK;
        int end = V - v < KERN_MAXIMA_BLOCK ? V : v + KERN_MAXIMA_BLOCK;
        for (; v < end; v++)
            if (x[v] >= least) count = insert(x, v, k, tokens, count); /* false for NaN */
    }
    return count;
}
