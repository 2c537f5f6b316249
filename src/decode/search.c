/* search.c - what greedy, beam and forced search have in common. */
#include "decode/search.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"

void hypotheses_free(HypothesisList *list) {
    for (int i = 0; i < list->count; i++) {
        mem_free(list->items[i].ids);
        mem_free(list->items[i].token_scores);
        mem_free(list->items[i].attention);
    }
    mem_free(list->items);
    *list = (HypothesisList){0};
}

void search_run(Scorer *scorer, const SourceBatch *sources, const SearchOptions *options,
                HypothesisList *results) {
    if (options->beam_size == 1)
        greedy_search(scorer, sources, options, results);
    else
        beam_search(scorer, sources, options, results);
}

int search_max_steps(const SearchOptions *options, int source_length) {
    double steps = floor(options->max_length_factor * source_length + options->max_length_extra);
    return steps < 1 ? 1 : steps > 1e6 ? 1000000 : (int)steps;
}

double search_normalise(const SearchOptions *options, double score, int steps) {
    return steps > 0 ? score / pow((double)steps, options->length_penalty) : score;
}

/* Insert token v into the sorted list of the best `count` of at most k; equal ones stay in front of it. */
static int top_insert(const real *x, int v, int k, int *tokens, int count) {
    if (count == k && !(x[v] > x[tokens[k - 1]])) return count;
    int at = count < k ? count++ : k - 1;
    for (; at > 0 && x[v] > x[tokens[at - 1]]; at--) tokens[at] = tokens[at - 1];
    tokens[at] = v;
    return count;
}

int search_top_tokens(const real *x, int V, int k, bool allow_unk, int *tokens) {
    enum { BLOCK = 64 };
    int count = 0, v = VOCAB_SPECIALS;
    if (allow_unk && !isnan(x[VOCAB_UNK])) count = top_insert(x, VOCAB_UNK, k, tokens, count);
    if (!isnan(x[VOCAB_EOS])) count = top_insert(x, VOCAB_EOS, k, tokens, count);
    for (; v < V && count < k; v++)
        if (!isnan(x[v])) count = top_insert(x, v, k, tokens, count);
    /* From here on few tokens get in: look at whole blocks first, in a loop that the compiler turns into vector code. */
    for (; v + BLOCK <= V; v += BLOCK) {
        real least = x[tokens[k - 1]];
        int any = 0;
        for (int i = 0; i < BLOCK; i++) any |= x[v + i] > least;
        if (!any) continue;
        for (int i = 0; i < BLOCK; i++) top_insert(x, v + i, k, tokens, count);
    }
    for (; v < V; v++) top_insert(x, v, k, tokens, count);
    return count;
}

int trail_add(Trail *trail, int parent, int token, double score, size_t attention) {
    MEM_GROW(trail->nodes, trail->capacity, (size_t)trail->count + 1);
    trail->nodes[trail->count] = (TrailNode){parent, token, (float)score, attention};
    return trail->count++;
}

size_t trail_keep_attention(Trail *trail, const AttentionWeights *attention, int row) {
    size_t start = trail->weights_count, length = (size_t)attention->length[row];
    MEM_GROW(trail->weights, trail->weights_capacity, start + length);
    const real *weights = attention->weights + attention->start[row];
    for (size_t s = 0; s < length; s++) trail->weights[start + s] = (float)weights[s];
    trail->weights_count = start + length;
    return start;
}

Hypothesis trail_hypothesis(const Trail *trail, int node, int steps, double score,
                            const SearchOptions *options, int source_length) {
    bool ended = node >= 0 && trail->nodes[node].token == VOCAB_EOS;
    Hypothesis made = {.length = ended ? steps - 1 : steps, .steps = steps, .score = score};
    size_t columns = (size_t)source_length;
    made.normalised = search_normalise(options, score, steps);
    made.ids = mem_alloc((size_t)steps + 1, sizeof *made.ids);
    made.token_scores = mem_alloc((size_t)steps + 1, sizeof *made.token_scores);
    if (options->attention) made.attention = mem_alloc((size_t)steps * columns + 1, sizeof *made.attention);
    for (int t = steps - 1; t >= 0; t--) {
        const TrailNode *at = &trail->nodes[node];
        if (t < made.length) made.ids[t] = at->token;
        made.token_scores[t] = at->score;
        if (made.attention)
            memcpy(made.attention + (size_t)t * columns, trail->weights + at->attention,
                   columns * sizeof(float));
        node = at->parent;
    }
    return made;
}

void trail_free(Trail *trail) {
    mem_free(trail->nodes);
    mem_free(trail->weights);
    *trail = (Trail){0};
}
