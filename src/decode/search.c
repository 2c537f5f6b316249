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

void search_run(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                HypothesisList *results) {
    if (options->beam_size == 1)
        greedy_search(scorer, sources, B, options, results);
    else
        beam_search(scorer, sources, B, options, results);
}

int search_max_steps(const SearchOptions *options, int source_length) {
    double steps = floor(options->max_length_factor * source_length + options->max_length_extra);
    return steps < 1 ? 1 : steps > 1e6 ? 1000000 : (int)steps;
}

double search_normalise(const SearchOptions *options, double score, int steps) {
    return steps > 0 ? score / pow((double)steps, options->length_penalty) : score;
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
