/* hypothesis.c - see hypothesis.h. */
#include "search/hypothesis.h"

#include <math.h>
#include "base/mem.h"

void hypotheses_truncate(HypothesisList *list, int count) {
    for (; list->count > count; list->count--) {
        const Hypothesis *last = &list->items[list->count - 1];
        mem_free(last->ids);
        mem_free(last->token_scores);
        mem_free(last->attention);
        mem_free(last->alternatives);
    }
}

void hypotheses_free(HypothesisList *list) {
    hypotheses_truncate(list, 0);
    mem_free(list->items);
    *list = (HypothesisList){0};
}

bool hypothesis_is_better(const Hypothesis *a, const Hypothesis *b) {
    bool a_ended = a->steps > a->length, b_ended = b->steps > b->length;
    if (a_ended != b_ended) return a_ended;
    if (a->met != b->met) return a->met > b->met;
    if (a->met > 0) return a->score + a->attention_score > b->score + b->attention_score;
    return a->normalized > b->normalized;
}

void hypotheses_rank(HypothesisList *list) {
    for (int i = 1; i < list->count; i++) {
        Hypothesis h = list->items[i];
        int to = i;
        for (; to > 0 && hypothesis_is_better(&h, &list->items[to - 1]); to--)
            list->items[to] = list->items[to - 1];
        list->items[to] = h;
    }
}

int hypothesis_max_steps(const DecodeOptions *options, int source_length) {
    double steps = floor(options->max_length_factor * source_length + options->max_length_extra);
    return steps < 1 ? 1 : steps > 1e6 ? 1000000 : (int)steps;
}

bool hypothesis_forces_end(const DecodeOptions *options) {
    return options->early_stopping == STOP_TRANSFORMERS;
}

double hypothesis_normalize(const DecodeOptions *options, double score, int steps) {
    return steps > 0 ? score / pow((double)steps, options->length_penalty) : score;
}
