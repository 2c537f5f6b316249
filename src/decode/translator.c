/* translator.c - segment, split, search, join. */
#include "decode/translator.h"

#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
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

/* Everything that is searched in one call: pieces of lines. */
typedef struct {
    Arena *ids; /* of all tokens */
    IdList scratch;
    Tokens *sources; /* [count, models] */
    Tokens *targets; /* [count] given translations, if there are any */
    int count;
    size_t sources_capacity, targets_capacity;
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

static void work_free(Work *work) {
    arena_free(work->ids);
    id_list_free(&work->scratch);
    mem_free(work->sources);
    mem_free(work->targets);
}

static Tokens work_tokens(Work *work, Segmenter *segmenter, StrView text) {
    IdList *ids = &work->scratch;
    ids->count = 0;
    segmenter_encode(segmenter, text, ids);
    int *kept = arena_alloc(work->ids, (ids->count + 1) * sizeof *kept);
    if (ids->count > 0) memcpy(kept, ids->ids, ids->count * sizeof *kept);
    return (Tokens){kept, (int)ids->count};
}

/* Add one piece of text; false if there is nothing in it for the first model. */
static bool work_add(Work *work, const Translator *translator, StrView piece) {
    size_t models = (size_t)translator->count, at = (size_t)work->count * models;
    MEM_GROW(work->sources, work->sources_capacity, at + models);
    for (size_t m = 0; m < models; m++) {
        work->sources[at + m] = work_tokens(work, seq2seq_source(translator->models[m]), piece);
        if (work->sources[at].length == 0) return false;
    }
    work->count++;
    return true;
}

static void work_run(const Work *work, Translator *translator, HypothesisList *results) {
    SearchOptions options = search_options(&translator->options.decode);
    options.n_best = translator->options.n_best > 1 ? translator->options.n_best : 1;
    if (options.n_best > options.beam_size) options.n_best = options.beam_size;
    options.tokens_only = translator->options.tokens_only;
    options.attention = translator->options.attention;
    options.choice = translator->options.choice;
    search_team_run(translator->team, work->sources, work->targets, work->count, &options,
                    translator->options.decode.mini_batch, results);
}

/* Cut the line and add its pieces; returns how many. */
static int line_add(Work *work, Translator *translator, StrView line, long number, PieceList *pieces) {
    const DecodeOptions *decode = &translator->options.decode;
    int added = 0;
    pieces->count = 0;
    if (text_is_blank(line)) return 0;
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
static void lines_join(Translator *translator, const Work *work, int count, HypothesisList *results,
                       Translation *out) {
    size_t models = (size_t)translator->count;
    for (int i = 0, piece = 0; i < count; piece += out[i++].pieces) {
        JoinInput input = {.source = seq2seq_source(translator->models[0]),
                           .target = seq2seq_target(translator->models[0]),
                           .stride = models,
                           .pieces = out[i].pieces,
                           .length_penalty = translator->options.decode.length_penalty};
        if (input.pieces > 0) { /* if no line has any, there are no arrays to point into */
            input.sources = work->sources + (size_t)piece * models;
            input.results = results + piece;
        }
        translation_join(&input, &out[i]);
        translator->tokens += out[i].items[0].steps;
    }
    for (int p = 0; p < work->count; p++) hypotheses_free(&results[p]);
}

void translator_run(Translator *translator, const StrView *lines, int count, long first_number,
                    Translation *out) {
    Work work = {.ids = arena_new()};
    PieceList pieces = {0};
    for (int i = 0; i < count; i++)
        out[i] = (Translation){.pieces = line_add(&work, translator, lines[i], first_number + i, &pieces)};
    HypothesisList *results = mem_alloc((size_t)work.count, sizeof *results);
    work_run(&work, translator, results);
    lines_join(translator, &work, count, results, out);
    mem_free(results);
    piece_list_free(&pieces);
    work_free(&work);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Work work = {.ids = arena_new()};
    for (int i = 0; i < count; i++) {
        out[i] = (Translation){.pieces = !text_is_blank(lines[i]) && work_add(&work, translator, lines[i])};
        if (out[i].pieces == 0) continue;
        MEM_GROW(work.targets, work.targets_capacity, (size_t)work.count);
        work.targets[work.count - 1] = work_tokens(&work, seq2seq_target(translator->models[0]), targets[i]);
    }
    HypothesisList *results = mem_alloc((size_t)work.count, sizeof *results);
    work_run(&work, translator, results);
    lines_join(translator, &work, count, results, out);
    mem_free(results);
    work_free(&work);
}

void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, HypothesisList *results) {
    SearchOptions search = search_options(options);
    SearchTeam *team = search_team_new(&model, 1, workers);
    search.beam_size = 1;
    search.tokens_only = true;
    search_team_run(team, sources, NULL, count, &search, options->mini_batch, results);
    search_team_free(team);
}
