/* search_begin.c - what sentences are translated into: all tokens, or those that shortlists have for them. */
#include <string.h>
#include "base/mem.h"
#include "search/search.h"

/* The tokens of sentence b, of all models. */
static void mark_sentence(const Scorer *scorer, int best, const Tokens *sources, int B, int b, bool *wanted) {
    const Seq2Seq *model;
    for (int v = 0; v < VOCAB_SPECIALS; v++) wanted[v] = true;
    for (int m = 0; (model = scorer_model(scorer, m)); m++) {
        Tokens source = sources[(size_t)m * (size_t)B + (size_t)b];
        bool joint = seq2seq_source(model) == seq2seq_target(model);
        shortlist_mark(seq2seq_shortlist(model), best, source, wanted);
        for (int i = 0; joint && i < source.length; i++) wanted[source.ids[i]] = true; /* what is copied */
    }
}

int forced_sentence(const ForcedTargets *targets, int i) {
    return targets->sentence ? targets->sentence[i] : i;
}

void search_begin(Scorer *scorer, const SearchOptions *options, const Tokens *sources, int B,
                  const ForcedTargets *targets, const Constraints *constraints) {
    int next = 0;
    scorer_encode(scorer, sources, B);
    if (options->shortlist == 0) return;
    size_t V = (size_t)vocab_size(tokenizer_vocab(seq2seq_target(scorer_model(scorer, 0))));
    bool *wanted = mem_alloc(V, sizeof *wanted);
    for (int b = 0; b < B; b++) {
        memset(wanted, 0, V * sizeof *wanted);
        mark_sentence(scorer, options->shortlist, sources, B, b, wanted);
        for (; targets && next < targets->count && forced_sentence(targets, next) == b; next++)
            for (int i = 0; i < targets->items[next].length; i++) wanted[targets->items[next].ids[i]] = true;
        if (constraints) constraints_mark_tokens(&constraints[b], wanted);
        scorer_allow(scorer, wanted);
    }
    mem_free(wanted);
}
