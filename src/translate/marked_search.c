/* marked_search.c - see marked_search.h. */
#include "translate/marked_search.h"

#include <limits.h>
#include <string.h>
#include "base/mem.h"
#include "search/rescore.h"
#include "translate/chunk_constraints.h"

typedef struct {
    Searcher *searcher;
    Chunks *chunks;
    int *list, count; /* the chunks to search next */
} MarkedSearch;

static const StrList *prefix_unknown(const Chunks *chunks, int c) {
    bool first = c == 0 || chunks->line[c] != chunks->line[c - 1];
    return first ? &chunks->unknown[chunks->line[c]] : NULL;
}

/* Search the chunks of the list. `search`: as in Sentences. `targets` [count]: score these, or NULL. */
static void search_list(MarkedSearch *search, const SearchOptions *options, const Tokens *targets,
                        HypothesisList *results) {
    const Chunks *chunks = search->chunks;
    size_t count = (size_t)search->count, models = (size_t)chunks->model_count;
    Tokens *sources = mem_alloc(count * models, sizeof *sources);
    Constraints *constraints = mem_alloc(count, sizeof *constraints);
    for (size_t i = 0; i < count; i++) {
        memcpy(sources + i * models, chunks->sources + (size_t)search->list[i] * models,
               models * sizeof *sources);
        if (chunks->constraints) constraints[i] = chunks->constraints[search->list[i]];
    }
    Sentences sentences = {
        sources,       targets, chunks->constraints && !targets ? constraints : NULL, chunks->model_count,
        search->count, options};
    searcher_run(search->searcher, &sentences, results);
    mem_free(constraints);
    mem_free(sources);
}

/* Search the chunks of the list; those without a hypothesis that agrees with them stay in it. */
static void search_and_take(MarkedSearch *search, const SearchOptions *options) {
    Chunks *chunks = search->chunks;
    HypothesisList *results = mem_alloc((size_t)search->count, sizeof *results);
    int remaining = 0;
    search_list(search, options, NULL, results);
    for (int i = 0; i < search->count; i++) {
        int c = search->list[i];
        hypotheses_free(&chunks->results[c]);
        chunks->results[c] = results[i];
        if (!chunks->marked[c].is_marked) continue;
        if (!marked_chunk_take(&chunks->marked[c], &chunks->results[c], chunks->options->search.n_best,
                               seq2seq_target(chunks->models[0]), prefix_unknown(chunks, c)))
            search->list[remaining++] = c;
    }
    search->count = remaining;
    mem_free(results);
}

/* Search the chunks of the list with their placeholders as phrases. */
static void search_constrained(MarkedSearch *search, const SearchOptions *options) {
    Chunks *chunks = search->chunks;
    const Seq2Seq *model = chunks->models[0];
    size_t count = (size_t)search->count;
    MarkedSearch with = {search->searcher, chunks, mem_alloc(count, sizeof(int)), 0};
    bool alone = !chunks->constraints; /* no chunk has other constraints */
    if (alone) chunks->constraints = mem_alloc((size_t)chunks->count, sizeof *chunks->constraints);
    int *phrases = mem_alloc((size_t)chunks->count, sizeof *phrases); /* that each chunk had before */
    int without = 0;
    for (int c = 0; c < chunks->count; c++) phrases[c] = chunks->constraints[c].phrase_count;
    for (int i = 0; i < search->count; i++) {
        int c = search->list[i];
        Tokens source = chunks->sources[(size_t)c * (size_t)chunks->model_count];
        if (marked_chunk_constrain(&chunks->marked[c], &chunks->constraints[c], model, source))
            with.list[with.count++] = c;
        else
            search->list[without++] = c;
    }
    if (with.count > 0) search_and_take(&with, options);
    memcpy(search->list + without, with.list, (size_t)with.count * sizeof *with.list);
    search->count = without + with.count;
    for (int c = 0; c < chunks->count; c++) constraints_cut_phrases(&chunks->constraints[c], phrases[c]);
    for (int c = 0; alone && c < chunks->count; c++) constraints_free(&chunks->constraints[c]);
    if (alone) {
        mem_free(chunks->constraints);
        chunks->constraints = NULL;
        chunks->constraints_capacity = 0;
    }
    mem_free(phrases);
    mem_free(with.list);
}

/* Encode the text that models read now. */
static void encode_again(MarkedSearch *search, int c) {
    Chunks *chunks = search->chunks;
    chunks_encode(chunks, c, marked_chunk_text(&chunks->marked[c]));
    if (!chunks->constraints) return;
    constraints_cut_phrases(&chunks->constraints[c], 0);
    chunks_add_terms(chunks, c);
}

/* Translate the chunks of the list without their markup, and put it back. */
static void search_plain(MarkedSearch *search) {
    Chunks *chunks = search->chunks;
    const Seq2Seq *model = chunks->models[0];
    SearchOptions options = chunks->options->search;
    size_t models = (size_t)chunks->model_count;
    HypothesisList *results = mem_alloc((size_t)search->count, sizeof *results);
    options.attention = seq2seq_has_attention(model);
    for (int i = 0; i < search->count; i++) {
        int c = search->list[i];
        chunks->marked[c].in_place = false;
        encode_again(search, c);
    }
    search_list(search, &options, NULL, results);
    for (int i = 0; i < search->count; i++) {
        int c = search->list[i];
        marked_chunk_restore(&chunks->marked[c], model, chunks->sources + (size_t)c * models,
                             chunks->model_count, &results[i], &options.decode, prefix_unknown(chunks, c));
        for (int rank = 0; rank < results[i].count && !chunks->options->search.attention; rank++) {
            mem_free(results[i].items[rank].attention);
            results[i].items[rank].attention = NULL;
        }
        hypotheses_free(&chunks->results[c]);
        chunks->results[c] = results[i];
    }
    mem_free(results);
}

/* The best hypothesis of a beam has alternatives; add those of others that were taken. */
static void add_alternatives(MarkedSearch *search) {
    const SearchOptions *options = &search->chunks->options->search;
    search->count = 0;
    for (int c = 0; c < search->chunks->count && options->alternatives > 0; c++)
        if (!search->chunks->results[c].items[0].alternatives) search->list[search->count++] = c;
    if (search->count == 0) return;
    Tokens *targets = mem_alloc((size_t)search->count, sizeof *targets);
    HypothesisList *results = mem_alloc((size_t)search->count, sizeof *results);
    for (int i = 0; i < search->count; i++) {
        const Hypothesis *best = &search->chunks->results[search->list[i]].items[0];
        targets[i] = (Tokens){best->ids, best->length};
    }
    search_list(search, options, targets, results);
    for (int i = 0; i < search->count; i++) {
        search->chunks->results[search->list[i]].items[0].alternatives = results[i].items[0].alternatives;
        results[i].items[0].alternatives = NULL;
        hypotheses_free(&results[i]);
    }
    mem_free(targets);
    mem_free(results);
}

/* Search the chunks of the list; then, with their whole beam, those of which no hypothesis agrees. */
static void search_beam(MarkedSearch *search, const SearchOptions *whole_beam) {
    const SearchOptions *own = &search->chunks->options->search;
    if (search->count > 0) search_and_take(search, NULL);
    if (search->count > 0 && own->decode.beam_size > own->n_best) search_and_take(search, whole_beam);
}

/* Search the chunks with reserved tokens; those without a hypothesis that agrees are read without. */
static void search_reserved(MarkedSearch *search, const SearchOptions *whole_beam) {
    Chunks *chunks = search->chunks;
    for (int c = 0; c < chunks->count; c++)
        if (chunks->marked[c].reserved.length > 0) search->list[search->count++] = c;
    search_beam(search, whole_beam);
    for (int i = 0; i < search->count; i++) {
        marked_chunk_leave_reserved(&chunks->marked[search->list[i]]);
        encode_again(search, search->list[i]);
    }
    search->count = 0;
}

void chunks_search_marked(Chunks *chunks, Searcher *searcher) {
    MarkedSearch search = {searcher, chunks, mem_alloc((size_t)chunks->count, sizeof(int)), 0};
    const SearchOptions *own = &chunks->options->search;
    SearchOptions whole_beam = *own;
    whole_beam.n_best = INT_MAX;
    whole_beam.alternatives = 0;
    search_reserved(&search, &whole_beam);
    for (int c = 0; c < chunks->count; c++)
        if (!chunks->marked[c].is_marked || (chunks->marked[c].in_place && !chunks->marked[c].outputs))
            search.list[search.count++] = c;
    search_beam(&search, &whole_beam);
    if (search.count > 0 && !model_is_right_to_left(chunks->models[0]))
        search_constrained(&search, &whole_beam);
    for (int c = 0; c < chunks->count; c++)
        if (chunks->marked[c].is_marked && !chunks->marked[c].in_place && !chunks->marked[c].outputs)
            search.list[search.count++] = c;
    if (search.count > 0) search_plain(&search);
    add_alternatives(&search);
    mem_free(search.list);
}
