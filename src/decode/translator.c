/* translator.c - segment, split, search, join. */
#include "decode/translator.h"

#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "decode/search_team.h"
#include "decode/split.h"
#include "decode/translation_join.h"

struct Translator {
    const Seq2Seq **models;
    int count;
    TranslatorOptions options;
    SearchTeam *team;
    long long_lines, tokens;
};

/* Everything that is searched in one call: pieces of lines as token ids of each model. */
typedef struct {
    IdList *ids;              /* [models] */
    int **lengths;            /* [models] of [capacity] */
    size_t *lengths_capacity; /* [models] */
    int count;                /* pieces */
} Work;

static SearchOptions search_options(const DecodeOptions *decode) {
    return (SearchOptions){.beam_size = decode->beam_size,
                           .n_best = 1,
                           .length_penalty = decode->length_penalty,
                           .max_length_factor = decode->max_length_factor,
                           .max_length_extra = decode->max_length_extra,
                           .allow_unk = decode->allow_unk};
}

Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers) {
    TRY(scorer_check(models, count));
    Translator *made = mem_alloc(1, sizeof *made);
    made->models = mem_alloc((size_t)count, sizeof *made->models);
    memcpy(made->models, models, (size_t)count * sizeof *made->models);
    made->count = count;
    made->options = *options;
    made->team = search_team_new(models, count, workers);
    *translator = made;
    return STATUS_OK;
}

void translator_free(Translator *translator) {
    if (!translator) return;
    search_team_free(translator->team);
    mem_free(translator->models);
    mem_free(translator);
}

long translator_long_lines(const Translator *translator) { return translator->long_lines; }
long translator_tokens(const Translator *translator) { return translator->tokens; }

static Work work_new(int models) {
    return (Work){.ids = mem_alloc((size_t)models, sizeof(IdList)),
                  .lengths = mem_alloc((size_t)models, sizeof(int *)),
                  .lengths_capacity = mem_alloc((size_t)models, sizeof(size_t))};
}

static void work_free(Work *work, int models) {
    for (int m = 0; m < models; m++) {
        id_list_free(&work->ids[m]);
        mem_free(work->lengths[m]);
    }
    mem_free(work->ids);
    mem_free(work->lengths);
    mem_free(work->lengths_capacity);
}

/* Add one piece of text; false if there is nothing in it for the first model. */
static bool work_add(Work *work, const Translator *translator, StrView piece) {
    for (int m = 0; m < translator->count; m++) {
        IdList *ids = &work->ids[m];
        size_t before = ids->count;
        segmenter_encode(seq2seq_source(translator->models[m]), piece, ids);
        if (m == 0 && ids->count == before) return false;
        MEM_GROW(work->lengths[m], work->lengths_capacity[m], (size_t)work->count + 1);
        work->lengths[m][work->count] = (int)(ids->count - before);
    }
    work->count++;
    return true;
}

/* Search all pieces; *starts receives [pieces] pointers to the first model's ids: release the array. */
static void work_run(const Work *work, Translator *translator, const int *const *targets,
                     const int *target_lengths, const int ***starts, HypothesisList *results) {
    size_t models = (size_t)translator->count, count = (size_t)work->count;
    SourceBatch *sources = mem_alloc(models, sizeof *sources);
    const int **ids = mem_alloc(models * count, sizeof *ids);
    for (size_t m = 0; m < models; m++) {
        const int *next = work->ids[m].ids;
        for (size_t i = 0; i < count; i++) {
            ids[m * count + i] = next;
            next += work->lengths[m][i];
        }
        sources[m] = (SourceBatch){work->count, ids + m * count, work->lengths[m]};
    }
    SearchOptions options = search_options(&translator->options.decode);
    options.n_best = translator->options.n_best > 1 ? translator->options.n_best : 1;
    if (options.n_best > options.beam_size) options.n_best = options.beam_size;
    options.tokens_only = translator->options.tokens_only;
    options.attention = translator->options.attention;
    options.choice = translator->options.choice;
    search_team_run(translator->team, sources, targets, target_lengths, &options,
                    translator->options.decode.mini_batch, results);
    mem_free(sources);
    *starts = ids;
}

/* Cut the line and add its pieces; returns how many. */
static int line_add(Work *work, Translator *translator, StrView line, long number, PieceList *pieces) {
    const DecodeOptions *decode = &translator->options.decode;
    int added = 0;
    pieces->count = 0;
    if (unicode_is_blank(line)) return 0;
    split_line(seq2seq_source(translator->models[0]), line, decode->max_input_length, pieces);
    if (pieces->count > 1) {
        translator->long_lines++;
        if (translator->options.crop) {
            if (!translator->options.quiet)
                log_warn("line %ld is longer than %d tokens: cropped to its first %zu of %zu bytes", number,
                         decode->max_input_length, pieces->items[0].length, line.length);
            pieces->count = 1;
        } else if (!translator->options.quiet) {
            log_warn("line %ld is longer than %d tokens: translated in %d pieces", number,
                     decode->max_input_length, pieces->count);
        }
    }
    for (int p = 0; p < pieces->count; p++) added += work_add(work, translator, pieces->items[p]);
    return added;
}

/* Turn the results of each line's pieces into its Translation. */
static void lines_join(Translator *translator, const Work *work, const int *const *starts, int count,
                       HypothesisList *results, Translation *out) {
    for (int i = 0, piece = 0; i < count; piece += out[i++].pieces) {
        JoinInput input = {.source = seq2seq_source(translator->models[0]),
                           .target = seq2seq_target(translator->models[0]),
                           .pieces = out[i].pieces,
                           .length_penalty = translator->options.decode.length_penalty};
        if (input.pieces > 0) { /* if no line has any, there are no arrays to point into */
            input.ids = starts + piece;
            input.lengths = work->lengths[0] + piece;
            input.results = results + piece;
        }
        translation_join(&input, &out[i]);
        translator->tokens += out[i].items[0].steps;
    }
    for (int p = 0; p < work->count; p++) hypotheses_free(&results[p]);
}

void translator_run(Translator *translator, const StrView *lines, int count, long first_number,
                    Translation *out) {
    Work work = work_new(translator->count);
    PieceList pieces = {0};
    const int **starts;
    for (int i = 0; i < count; i++)
        out[i] = (Translation){.pieces = line_add(&work, translator, lines[i], first_number + i, &pieces)};
    HypothesisList *results = mem_alloc((size_t)work.count, sizeof *results);
    work_run(&work, translator, NULL, NULL, &starts, results);
    lines_join(translator, &work, starts, count, results, out);
    mem_free(results);
    mem_free(starts);
    piece_list_free(&pieces);
    work_free(&work, translator->count);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Work work = work_new(translator->count);
    IdList ids = {0};
    size_t *start = mem_alloc((size_t)count + 1, sizeof *start);
    const int **target_ids = mem_alloc((size_t)count, sizeof *target_ids), **starts;
    int *target_lengths = mem_alloc((size_t)count, sizeof *target_lengths);
    for (int i = 0; i < count; i++) {
        out[i] =
            (Translation){.pieces = !unicode_is_blank(lines[i]) && work_add(&work, translator, lines[i])};
        if (out[i].pieces == 0) continue;
        start[work.count - 1] = ids.count;
        segmenter_encode(seq2seq_target(translator->models[0]), targets[i], &ids);
        start[work.count] = ids.count;
    }
    for (int p = 0; p < work.count; p++) {
        target_ids[p] = ids.count ? ids.ids + start[p] : NULL;
        target_lengths[p] = (int)(start[p + 1] - start[p]);
    }
    HypothesisList *results = mem_alloc((size_t)work.count, sizeof *results);
    work_run(&work, translator, target_ids, target_lengths, &starts, results);
    lines_join(translator, &work, starts, count, results, out);
    mem_free(results);
    mem_free(starts);
    mem_free(start);
    mem_free(target_ids);
    mem_free(target_lengths);
    id_list_free(&ids);
    work_free(&work, translator->count);
}

Status translator_greedy_ids(const Seq2Seq *model, const int *const *ids, const int *lengths, int count,
                             const DecodeOptions *options, Workers *workers, int **out_ids,
                             int *out_lengths) {
    SearchOptions search = search_options(options);
    SearchTeam *team = search_team_new(&model, 1, workers);
    HypothesisList *results = mem_alloc((size_t)count, sizeof *results);
    SourceBatch sources = {count, ids, lengths};
    search.beam_size = 1;
    search.tokens_only = true;
    search_team_run(team, &sources, NULL, NULL, &search, options->mini_batch, results);
    for (int i = 0; i < count; i++) {
        out_ids[i] = results[i].items[0].ids;
        out_lengths[i] = results[i].items[0].length;
        results[i].items[0].ids = NULL; /* now the caller's */
        hypotheses_free(&results[i]);
    }
    mem_free(results);
    search_team_free(team);
    return STATUS_OK;
}
