/* translator.c - lines to pieces, pieces to groups, groups to the workers, and back. */
#include "decode/translator.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "decode/split.h"

struct Translator {
    const Seq2Seq **models;
    int count;
    TranslatorOptions options;
    Workers *workers;
    Scorer **scorers; /* [threads], made when first needed */
    long tokens;
};

Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers) {
    TRY(scorer_check(models, count));
    Translator *made = mem_alloc(1, sizeof *made);
    *made = (Translator){.count = count, .options = *options, .workers = workers};
    made->models = mem_alloc((size_t)count, sizeof *made->models);
    memcpy(made->models, models, (size_t)count * sizeof *made->models);
    made->scorers = mem_alloc((size_t)workers_count(workers), sizeof *made->scorers);
    *translator = made;
    return STATUS_OK;
}

void translator_free(Translator *translator) {
    if (!translator) return;
    for (int i = 0; i < workers_count(translator->workers); i++) scorer_free(translator->scorers[i]);
    mem_free(translator->scorers);
    mem_free(translator->models);
    mem_free(translator);
}

int translator_broken(const Translator *translator) {
    int broken = -1;
    for (int i = 0; i < workers_count(translator->workers) && broken < 0; i++)
        if (translator->scorers[i]) broken = scorer_broken(translator->scorers[i]);
    return broken;
}

long translator_tokens(const Translator *translator) { return translator->tokens; }

/* ---- groups of sentences ---- */

typedef struct {
    int length, sentence;
} Place;

/* What the workers search. */
typedef struct {
    Translator *translator;
    const Tokens *sources;   /* [total, models] */
    const Tokens *targets;   /* [total] given translations, or NULL */
    HypothesisList *results; /* [total] */
    const Place *order;      /* longest first, so that the last groups to start are the short ones */
    int total, group;
} GroupJob;

/* Longest first. */
static int place_compare(const void *a, const void *b) {
    const Place *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    return (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* Search the sentences of one group with this thread's scorer. */
static void group_search(void *context, int task, int thread) {
    const GroupJob *job = context;
    const SearchOptions *options = &job->translator->options.search;
    const Place *order = job->order + (size_t)task * (size_t)job->group;
    int rest = job->total - task * job->group, B = rest < job->group ? rest : job->group;
    int models = job->translator->count;
    Scorer **scorer = &job->translator->scorers[thread];
    if (!*scorer) *scorer = scorer_new(job->translator->models, models);

    Tokens *sources = mem_alloc((size_t)models * (size_t)B, sizeof *sources); /* [models, B] */
    Tokens *targets = mem_alloc((size_t)B, sizeof *targets);
    HypothesisList *results = mem_alloc((size_t)B, sizeof *results);
    for (int b = 0; b < B; b++) {
        for (int m = 0; m < models; m++) sources[m * B + b] = job->sources[order[b].sentence * models + m];
        if (job->targets) targets[b] = job->targets[order[b].sentence];
    }
    if (job->targets)
        forced_search(*scorer, sources, targets, B, options, results);
    else if (options->decode.beam_size == 1)
        greedy_search(*scorer, sources, B, options, results);
    else
        beam_search(*scorer, sources, B, options, results);
    for (int b = 0; b < B; b++) job->results[order[b].sentence] = results[b];
    mem_free(results);
    mem_free(targets);
    mem_free(sources);
}

/* Search `total` sentences, or score their given translations; arguments as in GroupJob. */
static void groups_search(Translator *translator, const Tokens *sources, const Tokens *targets, int total,
                          HypothesisList *results) {
    int threads = workers_count(translator->workers), group = translator->options.search.decode.mini_batch;
    if (total == 0) return;
    Place *order = mem_alloc((size_t)total, sizeof *order);
    for (int i = 0; i < total; i++) order[i] = (Place){sources[i * translator->count].length, i};
    qsort(order, (size_t)total, sizeof *order, place_compare);
    int share = (total + threads - 1) / threads; /* little work: still something for every thread */
    if (group > share) group = share;
    GroupJob job = {translator, sources, targets, results, order, total, group};
    workers_run(translator->workers, (total + group - 1) / group, group_search, &job);
    mem_free(order);
}

/* ---- pieces of lines ---- */

/* The pieces of all lines of a call. */
typedef struct {
    Tokens *sources; /* [count, models] */
    Tokens *targets; /* [count] given translations; NULL if none was added */
    int count;
    size_t sources_capacity, targets_capacity;
    Arena *arena; /* of the ids */
    IdList ids;   /* scratch */
} Pieces;

static Tokens pieces_tokens(Pieces *pieces, Segmenter *segmenter, StrView text) {
    pieces->ids.count = 0;
    segmenter_encode(segmenter, text, &pieces->ids);
    size_t bytes = pieces->ids.count * sizeof(int);
    int *ids = arena_alloc(pieces->arena, bytes);
    if (bytes > 0) memcpy(ids, pieces->ids.ids, bytes);
    return (Tokens){ids, (int)pieces->ids.count};
}

/* Add one piece of text; false if there is nothing in it for the first model. */
static bool pieces_add(Pieces *pieces, const Translator *translator, StrView text) {
    size_t models = (size_t)translator->count, first = (size_t)pieces->count * models;
    MEM_GROW(pieces->sources, pieces->sources_capacity, first + models);
    for (size_t m = 0; m < models; m++) {
        pieces->sources[first + m] = pieces_tokens(pieces, seq2seq_source(translator->models[m]), text);
        if (pieces->sources[first].length == 0) return false;
    }
    pieces->count++;
    return true;
}

/* Cut the line and add its pieces; returns how many. */
static int pieces_add_line(Pieces *pieces, const Translator *translator, StrView line, long number) {
    const TranslatorOptions *options = &translator->options;
    int limit = options->search.decode.max_input_length, added = 0;
    PieceList texts = {0};
    if (unicode_is_blank(line)) return 0;
    split_line(seq2seq_source(translator->models[0]), line, limit, &texts);
    if (texts.count > 1 && !options->quiet) {
        if (options->crop)
            log_warn("line %ld is longer than %d tokens: cropped to its first %zu of %zu bytes", number,
                     limit, texts.items[0].length, line.length);
        else
            log_warn("line %ld is longer than %d tokens: translated in %d pieces", number, limit,
                     texts.count);
    }
    for (int p = 0; p < texts.count && (p == 0 || !options->crop); p++)
        added += pieces_add(pieces, translator, texts.items[p]);
    piece_list_free(&texts);
    return added;
}

/* Make the Translation of each line, of out[i].pieces pieces, from what was found; releases pieces and
 * results. */
static void pieces_join(Pieces *pieces, HypothesisList *results, Translator *translator, int lines,
                        Translation *out) {
    for (int i = 0, first = 0; i < lines; first += out[i++].pieces) {
        FoundPieces found = {.model = translator->models[0], .models = translator->count};
        if (out[i].pieces > 0) { /* if no line has any, there are no sources to point into */
            found.pieces = out[i].pieces;
            found.sources = pieces->sources + (size_t)first * (size_t)translator->count;
            found.results = results + first;
        }
        translation_join(&out[i], &found, translator->options.search.decode.length_penalty);
        translator->tokens += out[i].items[0].steps;
    }
    for (int p = 0; p < pieces->count; p++) hypotheses_free(&results[p]);
    mem_free(results);
    mem_free(pieces->sources);
    mem_free(pieces->targets);
    id_list_free(&pieces->ids);
    arena_free(pieces->arena);
}

/* ---- lines ---- */

void translator_run(Translator *translator, const StrView *lines, int count, long first_number,
                    Translation *out) {
    Pieces pieces = {.arena = arena_new()};
    for (int i = 0; i < count; i++)
        out[i].pieces = pieces_add_line(&pieces, translator, lines[i], first_number + i);
    HypothesisList *results = mem_alloc((size_t)pieces.count, sizeof *results);
    groups_search(translator, pieces.sources, NULL, pieces.count, results);
    pieces_join(&pieces, results, translator, count, out);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Pieces pieces = {.arena = arena_new()};
    for (int i = 0; i < count; i++) {
        out[i].pieces = !unicode_is_blank(lines[i]) && pieces_add(&pieces, translator, lines[i]);
        if (out[i].pieces == 0) continue;
        MEM_GROW(pieces.targets, pieces.targets_capacity, (size_t)pieces.count);
        pieces.targets[pieces.count - 1] =
            pieces_tokens(&pieces, seq2seq_target(translator->models[0]), targets[i]);
    }
    HypothesisList *results = mem_alloc((size_t)pieces.count, sizeof *results);
    groups_search(translator, pieces.sources, pieces.targets, pieces.count, results);
    pieces_join(&pieces, results, translator, count, out);
}

void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, HypothesisList *results) {
    TranslatorOptions greedy = {.search = {.decode = *options, .n_best = 1, .tokens_only = true}};
    greedy.search.decode.beam_size = 1;
    Translator *translator;
    Status status = translator_new(&translator, &model, 1, &greedy, workers);
    assert(status == STATUS_OK); /* one model agrees with itself */
    (void)status;
    groups_search(translator, sources, NULL, count, results);
    translator_free(translator);
}
