/* repetition.c - see repetition.h. */
#include "search/repetition.h"

#include <limits.h>
#include <string.h>
#include "base/mem.h"

int tokens_repeats(const int *ids, int count) {
    int most = 1;
    for (int length = 1; length <= LOOP_PHRASE; length++)
        for (int i = length, same = 0; i < count; i++) {
            same = ids[i] == ids[i - length] ? same + 1 : 0;
            if (same / length + 1 > most) most = same / length + 1;
        }
    return most;
}

int loop_limit(const SearchOptions *options, Tokens source) {
    if (options->keep_loops) return INT_MAX;
    int repeats = tokens_repeats(source.ids, source.length);
    return repeats > LOOP_MAX ? repeats : LOOP_MAX;
}

/* The last `count` tokens, the newest one first. */
static void last_tokens(const Backpointers *tree, int node, int count, int *tokens) {
    for (int i = 0; i < count; i++) {
        tokens[i] = tree->nodes[node].token;
        node = tree->nodes[node].parent;
    }
}

bool hypothesis_loops(const Backpointers *tree, int node, int count, int limit) {
    bool loops = false;
    if (count <= limit) return false;
    if (count > (limit + 1) * LOOP_PHRASE) count = (limit + 1) * LOOP_PHRASE;
    int *tokens = mem_alloc((size_t)count, sizeof *tokens);
    last_tokens(tree, node, count, tokens);
    for (int length = 1; length <= LOOP_PHRASE && !loops; length++) {
        int same = 0;
        while (same + length < count && tokens[same] == tokens[same + length]) same++;
        loops = same / length + 1 > limit;
    }
    mem_free(tokens);
    return loops;
}

void repeat_filter_begin(RepeatFilter *filter, int rows, int steps) {
    filter->ids_count = 0;
    MEM_GROW(filter->ids, filter->ids_capacity, (size_t)rows * (size_t)steps + 1);
    MEM_GROW(filter->tokens, filter->tokens_capacity, (size_t)steps + 1);
}

void repeat_filter_ban(RepeatFilter *filter, const Backpointers *tree, int node, int steps, int n,
                       RowChoice *choice) {
    int *banned = filter->ids + filter->ids_count, count = 0, *tokens = filter->tokens;
    size_t before = (size_t)(n - 1) * sizeof *tokens;
    last_tokens(tree, node, steps, tokens);
    for (int i = 1; i + n - 2 < steps; i++)
        if (memcmp(tokens, tokens + i, before) == 0) banned[count++] = tokens[i - 1];
    filter->ids_count += (size_t)count;
    choice->banned = banned;
    choice->banned_count = count;
}

void repeat_filter_free(RepeatFilter *filter) {
    mem_free(filter->ids);
    mem_free(filter->tokens);
}
