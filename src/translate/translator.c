/* translator.c - lines to chunks, chunks to groups, groups to the workers, and back. */
#include "translate/translator.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "search/rescore.h"
#include "text/line_split.h"
#include "text/whole_words.h"
#include "translate/sentences.h"

struct Translator {
    const Seq2Seq **models;
    int count;
    TranslatorOptions options;
    Workers *workers;
    Rescorer **rescorers; /* [threads], each made in its thread's first group */
    long tokens;
    bool warned_of_prefix;
};

Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers) {
    TRY(scorer_check(models, count));
    if (options->search.attention) TRY(seq2seq_check_attention(models[0]));
    Translator *made = mem_alloc(1, sizeof *made);
    *made = (Translator){.count = count, .options = *options, .workers = workers};
    made->models = mem_alloc((size_t)count, sizeof *made->models);
    memcpy(made->models, models, (size_t)count * sizeof *made->models);
    made->rescorers = mem_alloc((size_t)workers_count(workers), sizeof *made->rescorers);
    *translator = made;
    return STATUS_OK;
}

void translator_free(Translator *translator) {
    if (!translator) return;
    for (int i = 0; i < workers_count(translator->workers); i++) rescorer_free(translator->rescorers[i]);
    mem_free(translator->rescorers);
    mem_free(translator->models);
    mem_free(translator);
}

int translator_first_nonfinite(const Translator *translator) {
    int model = -1;
    for (int i = 0; i < workers_count(translator->workers) && model < 0; i++)
        if (translator->rescorers[i]) model = rescorer_first_nonfinite(translator->rescorers[i]);
    return model;
}

Status translator_check_finite(const Translator *translator, const StrList *paths) {
    int model = translator_first_nonfinite(translator);
    if (model < 0) return STATUS_OK;
    status_fail(STATUS_DATA, "the scores of '%s' are not finite: its weights are out of range",
                paths->items[model]);
    return status_hint(STATUS_DATA, "its training diverged, or the file was made by hand: train it again");
}

long translator_tokens(const Translator *translator) { return translator->tokens; }

/* ---- groups of sentences ---- */

typedef struct {
    const Tokens *sources;          /* [total, models] */
    const Tokens *targets;          /* [total] given translations, or NULL */
    const Constraints *constraints; /* [total], or NULL */
    int models, total;
} Sentences;

typedef struct {
    int length, sentence;
} SentenceLength;

static int longest_first(const void *a, const void *b) {
    const SentenceLength *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    return (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* The groups of one call of workers_run. */
typedef struct {
    Translator *translator;
    const Sentences *sentences;
    HypothesisList *results;     /* [sentences->total] */
    const SentenceLength *order; /* longest first, so that the last groups to start are short */
    int total, group;            /* sentences of the job, and of a group */
    int beam_size;
    const Constraints *constraints; /* [sentences->total]; NULL: none of the job's sentences has any */
    pthread_mutex_t *lock;          /* guards `done` and the calls of progress */
    double *done, all;              /* source tokens, over all jobs */
} GroupJob;

static void group_done(const GroupJob *job, const Tokens *sources, int B) {
    const TranslatorOptions *options = &job->translator->options;
    if (!options->progress) return;
    pthread_mutex_lock(job->lock);
    for (int b = 0; b < B; b++) *job->done += sources[b].length;
    options->progress(options->progress_context, job->all > 0 ? *job->done / job->all : 1);
    pthread_mutex_unlock(job->lock);
}

/* Search the sentences of one group with this thread's models. */
static void group_search(void *context, int task, int thread) {
    const GroupJob *job = context;
    const Sentences *sentences = job->sentences;
    SearchOptions options = job->translator->options.search;
    const SentenceLength *order = job->order + (size_t)task * (size_t)job->group;
    int rest = job->total - task * job->group, B = rest < job->group ? rest : job->group;
    int models = job->translator->count;
    Rescorer **rescorer = &job->translator->rescorers[thread];
    if (!*rescorer) *rescorer = rescorer_new(job->translator->models, models, options.decode.left_to_right);

    Tokens *sources = mem_alloc((size_t)models * (size_t)B, sizeof *sources); /* [models, B] */
    Tokens *targets = mem_alloc((size_t)B, sizeof *targets);
    Constraints *constraints = mem_alloc(job->constraints ? (size_t)B : 0, sizeof *constraints);
    HypothesisList *results = mem_alloc((size_t)B, sizeof *results);
    options.decode.beam_size = job->beam_size;
    for (int b = 0; b < B; b++) {
        if (job->constraints) constraints[b] = job->constraints[order[b].sentence];
        for (int m = 0; m < models; m++)
            sources[m * B + b] = sentences->sources[order[b].sentence * models + m];
        if (sentences->targets) targets[b] = sentences->targets[order[b].sentence];
    }
    SearchInput input = {.sources = sources,
                         .targets = sentences->targets ? targets : NULL,
                         .constraints = job->constraints ? constraints : NULL,
                         .B = B};
    Scorer *scorer = rescorer_only_scorer(*rescorer);
    bool beam = scorer && !input.targets && options.decode.beam_size > 1;
    if (beam)
        beam_search(scorer, sources, input.constraints, B, &options, results);
    else
        rescorer_search(*rescorer, &input, &options, results);
    if (beam && options.alternatives > 0) search_add_alternatives(scorer, sources, B, &options, results);
    for (int b = 0; b < B; b++) job->results[order[b].sentence] = results[b];
    group_done(job, sources, B);
    mem_free(results);
    mem_free(constraints);
    mem_free(targets);
    mem_free(sources);
}

typedef enum { CONSTRAINED_NOT, CONSTRAINED_PREFIX, CONSTRAINED_PHRASES } ConstraintKind;

static ConstraintKind constraint_kind(const Constraints *constraints, int sentence) {
    if (!constraints) return CONSTRAINED_NOT;
    if (constraints[sentence].phrase_count > 0) return CONSTRAINED_PHRASES;
    return constraints[sentence].prefix.count > 0 ? CONSTRAINED_PREFIX : CONSTRAINED_NOT;
}

/* Search sentences, or score their given translations. Each kind of constraints has groups of its own:
 * phrases may need a wider beam, and models of one direction search for sentences with constraints
 * (rescore.h). */
static void sentences_search(Translator *translator, const Sentences *sentences, HypothesisList *results) {
    const Tokens *sources = sentences->sources;
    int total = sentences->total;
    Workers *workers = translator->workers;
    int beam = translator->options.search.decode.beam_size, threads = workers_count(workers), count = 0;
    SentenceLength *order = mem_alloc((size_t)total, sizeof *order);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    double done = 0, all = 0;
    for (int i = 0; i < total; i++) all += sources[(size_t)i * (size_t)translator->count].length;
    for (ConstraintKind kind = CONSTRAINED_NOT; kind <= CONSTRAINED_PHRASES; kind++) {
        int first = count;
        for (int i = 0; i < total; i++)
            if (constraint_kind(sentences->constraints, i) == kind)
                order[count++] = (SentenceLength){sources[(size_t)i * (size_t)translator->count].length, i};
        qsort(order + first, (size_t)(count - first), sizeof *order, longest_first);
        if (kind == CONSTRAINED_PHRASES && beam < CONSTRAINTS_BEAM) beam = CONSTRAINTS_BEAM;
        GroupJob job = {.translator = translator,
                        .sentences = sentences,
                        .results = results,
                        .order = order + first,
                        .total = count - first,
                        .group = translator->options.search.decode.mini_batch,
                        .beam_size = beam,
                        .constraints = kind != CONSTRAINED_NOT ? sentences->constraints : NULL,
                        .lock = &lock,
                        .done = &done,
                        .all = all};
        int share = (job.total + threads - 1) / threads; /* smaller groups if threads would have none */
        if (job.group > share) job.group = share;
        if (job.total > 0) workers_run(workers, (job.total + job.group - 1) / job.group, group_search, &job);
    }
    mem_free(order);
}

/* ---- chunks of lines ---- */

/* The texts of the <unk>s in a line, and in its given translation or prefix. */
typedef struct {
    StrList source, target;
} UnknownTexts;

/* The words that a chunk must contain: the target of each; a phrase of the line has no source. */
typedef struct {
    const GlossaryTerm *terms;
    int count;
} RequiredTerms;

/* The chunks of all lines of a call. */
typedef struct {
    Tokens *sources;          /* [count, models] */
    Tokens *targets;          /* [count] given translations, or NULL */
    Constraints *constraints; /* [count], or NULL */
    RequiredTerms *required;  /* [count], or NULL */
    StrView *texts;           /* [count] */
    StrView *gaps; /* [count + lines] the text before each chunk of a line, and after the last one */
    int count, gap_count;
    size_t sources_capacity, targets_capacity, constraints_capacity, required_capacity, texts_capacity;
    size_t gaps_capacity;
    Arena *arena;          /* of the ids, and of the lists of terms */
    IdList ids;            /* scratch */
    UnknownTexts *unknown; /* [lines] */
} Chunks;

/* `unknown` may be NULL. */
static Tokens chunks_tokens(Chunks *chunks, Tokenizer *tokenizer, StrView text, StrList *unknown) {
    chunks->ids.count = 0;
    tokenizer_encode_spelled(tokenizer, text, &chunks->ids, unknown);
    size_t bytes = chunks->ids.count * sizeof(int);
    int *ids = arena_alloc(chunks->arena, bytes);
    if (bytes > 0) memcpy(ids, chunks->ids.ids, bytes);
    return (Tokens){ids, (int)chunks->ids.count};
}

/* Add one chunk; returns false if the first model has no tokens for it. `unknown` receives the texts of the
 * first model's <unk>s. */
static bool chunks_add(Chunks *chunks, const Translator *translator, StrView text, StrList *unknown) {
    size_t models = (size_t)translator->count, first = (size_t)chunks->count * models;
    MEM_GROW(chunks->sources, chunks->sources_capacity, first + models);
    for (size_t m = 0; m < models; m++) {
        chunks->sources[first + m] =
            chunks_tokens(chunks, seq2seq_source(translator->models[m]), text, m == 0 ? unknown : NULL);
        if (m == 0 && chunks->sources[first].length == 0) return false;
    }
    MEM_GROW(chunks->texts, chunks->texts_capacity, (size_t)chunks->count + 1);
    chunks->texts[chunks->count++] = text;
    return true;
}

/* The words that a chunk must contain: the phrases of `constraints`, which may be NULL, and the
 * glossary's. */
static RequiredTerms find_required(const Chunks *chunks, const Translator *translator,
                                   const LineConstraints *constraints, int chunk) {
    GlossaryTerm *terms = arena_alloc(chunks->arena, CONSTRAINTS_MAX * sizeof *terms);
    int count = constraints ? constraints->phrase_count : 0;
    for (int c = 0; c < count; c++) terms[c] = (GlossaryTerm){.target = constraints->phrases[c]};
    if (translator->options.glossary)
        count =
            glossary_find(translator->options.glossary, chunks->texts[chunk], terms, count, CONSTRAINTS_MAX);
    return (RequiredTerms){terms, count};
}

/* Once: usually all lines have the same prefix. */
static void warn_of_prefix(Translator *translator, StrView prefix, long number) {
    if (translator->warned_of_prefix || translator->options.quiet) return;
    translator->warned_of_prefix = true;
    log_warn("line %ld: the model does not know all of the prefix '%.*s': it reads <unk> instead", number,
             SV_ARG(prefix));
}

/* Terms of a model without attention have no positions in the source. */
static void add_terms(Chunks *chunks, const Translator *translator, const RequiredTerms *required,
                      int chunk) {
    const Seq2Seq *model = translator->models[0];
    Tokens sentence = {0};
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    if (layers > 0) sentence = chunks->sources[(size_t)chunk * (size_t)translator->count];
    for (int c = 0; c < required->count; c++)
        constraints_add_term(&chunks->constraints[chunk], seq2seq_target(model), required->terms[c].target,
                             seq2seq_source(model), required->terms[c].source, sentence);
}

/* Set the constraints of a line's chunks, from `first` on. `line`: its own, or NULL. */
static void chunks_constrain(Chunks *chunks, Translator *translator, const LineConstraints *line, long number,
                             int first, StrList *unknown) {
    Tokenizer *target = seq2seq_target(translator->models[0]);
    MEM_GROW(chunks->constraints, chunks->constraints_capacity, (size_t)chunks->count);
    MEM_GROW(chunks->required, chunks->required_capacity, (size_t)chunks->count);
    for (int c = first; c < chunks->count; c++) {
        const LineConstraints *own = c == first ? line : NULL;
        chunks->constraints[c] = (Constraints){0};
        chunks->required[c] = find_required(chunks, translator, own, c);
        if (own && !constraints_add_prefix(&chunks->constraints[c], target, own->prefix, unknown))
            warn_of_prefix(translator, own->prefix, number);
        add_terms(chunks, translator, &chunks->required[c], c);
    }
}

/* The text from `start` to `end` stands before the next chunk, or after the last one of its line. */
static void chunks_add_gap(Chunks *chunks, const char *start, const char *end) {
    MEM_GROW(chunks->gaps, chunks->gaps_capacity, (size_t)chunks->gap_count + 1);
    chunks->gaps[chunks->gap_count++] = (StrView){start, (size_t)(end - start)};
}

static void warn_long(const TranslatorOptions *options, StrView text, const TextList *texts, long number) {
    int limit = options->search.decode.max_input_length;
    const char *what = options->split ? "a sentence of line" : "line";
    if (texts->count < 2 || options->quiet) return;
    if (options->crop)
        log_warn("%s %ld is longer than %d tokens: cropped to its first %zu of %zu bytes", what, number,
                 limit, texts->items[0].length, text.length);
    else
        log_warn("%s %ld is longer than %d tokens: translated in %d chunks", what, number, limit,
                 texts->count);
}

/* Cut a text that may be too long and add its chunks; returns their number. `*end`: the end of the line's
 * chunks so far. */
static int chunks_add_text(Chunks *chunks, const Translator *translator, StrView text, long number,
                           StrList *unknown, const char **end) {
    const TranslatorOptions *options = &translator->options;
    TextList texts = {0};
    int added = 0;
    split_line(seq2seq_source(translator->models[0]), text, options->search.decode.max_input_length, &texts);
    warn_long(options, text, &texts, number);
    for (int i = 0; i < texts.count && (i == 0 || !options->crop); i++) {
        StrView chunk = texts.items[i];
        if (!chunks_add(chunks, translator, chunk, unknown)) continue;
        chunks_add_gap(chunks, *end, chunk.data);
        *end = chunk.data + chunk.length;
        added++;
    }
    if (options->crop && added > 0) *end = text.data + text.length;
    text_list_free(&texts);
    return added;
}

/* Cut the line and add its chunks; returns their number. */
static int chunks_add_line(Chunks *chunks, Translator *translator, StrView line,
                           const LineConstraints *constraints, long number, UnknownTexts *unknown) {
    if (!line.data) line = SV(""); /* for the pointers of gaps */
    const char *end = line.data;
    TextList sentences = {0};
    int added = 0;
    if (!unicode_is_blank(line)) {
        if (translator->options.split)
            split_sentences(line, translator->options.wrapped, &sentences);
        else
            added += chunks_add_text(chunks, translator, line, number, &unknown->source, &end);
        for (int i = 0; i < sentences.count; i++)
            added += chunks_add_text(chunks, translator, sentences.items[i], number, &unknown->source, &end);
    }
    chunks_add_gap(chunks, end, line.data + line.length);
    if (constraints || translator->options.glossary)
        chunks_constrain(chunks, translator, constraints, number, chunks->count - added, &unknown->target);
    text_list_free(&sentences);
    return added;
}

/* Join the results of each line's out[i].chunks chunks. */
static void chunks_join(const Chunks *chunks, const HypothesisList *results, Translator *translator,
                        int lines, Translation *out) {
    for (int i = 0, first = 0; i < lines; first += out[i++].chunks) {
        ChunkResults line = {.model = translator->models[0],
                             .models = translator->count,
                             .alternatives = translator->options.search.alternatives,
                             .unknown = &chunks->unknown[i].target};
        if (translator->options.split && chunks->gaps) line.gaps = chunks->gaps + first + i;
        if (out[i].chunks > 0) { /* chunks->sources is NULL if no line has any */
            line.chunks = out[i].chunks;
            line.sources = chunks->sources + (size_t)first * (size_t)translator->count;
            line.results = results + first;
        }
        translation_join(&out[i], &line, &translator->options.search.decode);
        out[i].source_unknown = chunks->unknown[i].source;
        out[i].target_unknown = chunks->unknown[i].target;
        translator->tokens += out[i].items[0].steps;
    }
}

static void chunks_free(Chunks *chunks, HypothesisList *results) {
    for (int c = 0; c < chunks->count; c++) hypotheses_free(&results[c]);
    for (int c = 0; chunks->constraints && c < chunks->count; c++) constraints_free(&chunks->constraints[c]);
    mem_free(results);
    mem_free(chunks->sources);
    mem_free(chunks->targets);
    mem_free(chunks->unknown);
    mem_free(chunks->gaps);
    mem_free(chunks->texts);
    mem_free(chunks->constraints);
    mem_free(chunks->required);
    id_list_free(&chunks->ids);
    arena_free(chunks->arena);
}

/* ---- constraints that are met ---- */

/* Does the text of the best hypothesis contain the words? */
static bool has_words(const Translator *translator, const HypothesisList *results, StrView words) {
    const TextOptions *options = &seq2seq_config(translator->models[0])->text;
    const Hypothesis *best = &results->items[0];
    StrBuf text = {0}, normal = {0};
    tokenizer_decode(seq2seq_target(translator->models[0]), best->ids, (size_t)best->length, &text);
    text_normalize_words(words, (NormalForm)options->normalize, options->lowercase, &normal);
    bool has = text_has_words(strbuf_view(&text), strbuf_view(&normal));
    strbuf_free(&text);
    strbuf_free(&normal);
    return has;
}

/* List the words that a line must contain by whether each is met: every chunk that requires it contains it.
 * A line without chunks meets none. `constraints` may be NULL; `required` and `results` are the line's. */
static void check_constraints(const Translator *translator, const LineConstraints *constraints,
                              const RequiredTerms *required, const HypothesisList *results, long number,
                              Translation *out) {
    Tokenizer *target = seq2seq_target(translator->models[0]);
    HashMap *met = hashmap_new(); /* in the order of their first chunks */
    for (int p = 0; constraints && out->chunks == 0 && p < constraints->phrase_count; p++)
        hashmap_set(met, constraints->phrases[p], false);
    for (int c = 0; c < out->chunks; c++)
        for (int t = 0; t < required[c].count; t++) {
            StrView words = required[c].terms[t].target;
            int64_t *is_met = hashmap_slot(met, words, true);
            *is_met = *is_met && has_words(translator, &results[c], words);
        }
    for (size_t i = 0; i < hashmap_count(met); i++) {
        StrView words = hashmap_key(met, i);
        bool is_met = hashmap_value(met, i);
        strlist_add(is_met ? &out->constraints_met : &out->constraints_unmet, words);
        if (!is_met && !translator->options.quiet)
            log_warn("line %ld: '%.*s' is not in the translation%s", number, SV_ARG(words),
                     constraints_knows(target, words) ? "" : ": the model does not know all of it");
    }
    hashmap_free(met);
}

/* ---- lines ---- */

void translator_run(Translator *translator, const StrView *lines, const LineConstraints *constraints,
                    int count, long first_number, Translation *out) {
    Chunks chunks = {.arena = arena_new(), .unknown = mem_alloc((size_t)count, sizeof *chunks.unknown)};
    for (int i = 0; i < count; i++)
        out[i].chunks = chunks_add_line(&chunks, translator, lines[i], constraints ? &constraints[i] : NULL,
                                        first_number + i, &chunks.unknown[i]);
    HypothesisList *results = mem_alloc((size_t)chunks.count, sizeof *results);
    Sentences sentences = {chunks.sources, NULL, chunks.constraints, translator->count, chunks.count};
    sentences_search(translator, &sentences, results);
    chunks_join(&chunks, results, translator, count, out);
    bool constrained = constraints || translator->options.glossary;
    for (int i = 0, first = 0; constrained && i < count; first += out[i++].chunks)
        check_constraints(translator, constraints ? &constraints[i] : NULL,
                          chunks.required ? chunks.required + first : NULL, results + first, first_number + i,
                          &out[i]);
    chunks_free(&chunks, results);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Chunks chunks = {.arena = arena_new(), .unknown = mem_alloc((size_t)count, sizeof *chunks.unknown)};
    for (int i = 0; i < count; i++) {
        UnknownTexts *unknown = &chunks.unknown[i];
        out[i].chunks =
            !unicode_is_blank(lines[i]) && chunks_add(&chunks, translator, lines[i], &unknown->source);
        if (out[i].chunks == 0) continue;
        MEM_GROW(chunks.targets, chunks.targets_capacity, (size_t)chunks.count);
        chunks.targets[chunks.count - 1] =
            chunks_tokens(&chunks, seq2seq_target(translator->models[0]), targets[i], &unknown->target);
    }
    HypothesisList *results = mem_alloc((size_t)chunks.count, sizeof *results);
    Sentences sentences = {chunks.sources, chunks.targets, NULL, translator->count, chunks.count};
    sentences_search(translator, &sentences, results);
    chunks_join(&chunks, results, translator, count, out);
    chunks_free(&chunks, results);
}

void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, void (*progress)(void *context, double share), void *context,
                       HypothesisList *results) {
    TranslatorOptions greedy = {
        .search = {.decode = *options, .n_best = 1}, .progress = progress, .progress_context = context};
    greedy.search.decode.beam_size = 1;
    Translator *translator;
    Status status = translator_new(&translator, &model, 1, &greedy, workers);
    assert(status == STATUS_OK); /* one model has one vocabulary, and no attention is needed */
    (void)status;
    sentences_search(translator, &(Sentences){.sources = sources, .models = 1, .total = count}, results);
    translator_free(translator);
}
