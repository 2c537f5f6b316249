/* translator.c - lines to pieces, pieces to groups, groups to the workers, and back. */
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
#include "translate/sentences.h"
#include "text/sentence_split.h"
#include "search/rescore.h"
#include "text/whole_words.h"

struct Translator {
    const Seq2Seq **models;
    int count;
    TranslatorOptions options;
    Workers *workers;
    Rescorer **rescorer; /* [threads], made when first needed */
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
    made->rescorer = mem_alloc((size_t)workers_count(workers), sizeof *made->rescorer);
    *translator = made;
    return STATUS_OK;
}

void translator_free(Translator *translator) {
    if (!translator) return;
    for (int i = 0; i < workers_count(translator->workers); i++) rescorer_free(translator->rescorer[i]);
    mem_free(translator->rescorer);
    mem_free(translator->models);
    mem_free(translator);
}

int translator_first_nonfinite(const Translator *translator) {
    int broken = -1;
    for (int i = 0; i < workers_count(translator->workers) && broken < 0; i++)
        if (translator->rescorer[i]) broken = rescorer_first_nonfinite(translator->rescorer[i]);
    return broken;
}

Status translator_check_finite(const Translator *translator, const StrList *paths) {
    int broken = translator_first_nonfinite(translator);
    if (broken < 0) return STATUS_OK;
    status_fail(STATUS_DATA, "the scores of '%s' are not finite: its weights are out of range",
                paths->items[broken]);
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

/* What the workers search. */
typedef struct {
    Translator *translator;
    const Sentences *sentences;
    HypothesisList *results;     /* [sentences->total] */
    const SentenceLength *order; /* longest first, so that the last groups to start are the short ones */
    int total, group;
    int beam_size;
    const Constraints *constraints; /* of all sentences; NULL: these are free */
    pthread_mutex_t *lock;          /* of `done` and of what it is told to */
    double *done, all;              /* source tokens, over all jobs of a call */
} GroupJob;

static void group_done(const GroupJob *job, const Tokens *sources, int B) {
    const TranslatorOptions *options = &job->translator->options;
    if (!options->progress) return;
    pthread_mutex_lock(job->lock);
    for (int b = 0; b < B; b++) *job->done += sources[b].length;
    options->progress(options->progress_context, job->all > 0 ? *job->done / job->all : 1);
    pthread_mutex_unlock(job->lock);
}

/* Search the sentences of one group with this thread's voters. */
static void group_search(void *context, int task, int thread) {
    const GroupJob *job = context;
    const Sentences *sentences = job->sentences;
    SearchOptions options = job->translator->options.search;
    const SentenceLength *order = job->order + (size_t)task * (size_t)job->group;
    int rest = job->total - task * job->group, B = rest < job->group ? rest : job->group;
    int models = job->translator->count;
    Rescorer **rescorer = &job->translator->rescorer[thread];
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
    SearchInput group = {.sources = sources,
                         .targets = sentences->targets ? targets : NULL,
                         .constraints = job->constraints ? constraints : NULL,
                         .B = B};
    rescorer_search(*rescorer, &group, &options, results);
    for (int b = 0; b < B; b++) job->results[order[b].sentence] = results[b];
    group_done(job, sources, B);
    mem_free(results);
    mem_free(constraints);
    mem_free(targets);
    mem_free(sources);
}

/* What a translation must be like. */
typedef enum { FREE, PREFIXED, CONSTRAINED } Asked;

static Asked what_is_asked(const Constraints *constraints, int sentence) {
    if (!constraints) return FREE;
    if (constraints[sentence].phrase_count > 0) return CONSTRAINED;
    return constraints[sentence].prefix.count > 0 ? PREFIXED : FREE;
}

/* Search sentences, or score their given translations. Each kind stays among itself: the beam of those with
 * constraints may be wider, and fewer models may search for what is guided (rescore.h). */
static void sentences_search(Translator *translator, const Sentences *sentences, HypothesisList *results) {
    const Tokens *sources = sentences->sources;
    int total = sentences->total;
    Workers *workers = translator->workers;
    int beam = translator->options.search.decode.beam_size, threads = workers_count(workers), count = 0;
    SentenceLength *order = mem_alloc((size_t)total, sizeof *order);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    double done = 0, all = 0;
    for (int i = 0; i < total; i++) all += sources[(size_t)i * (size_t)translator->count].length;
    for (Asked asked = FREE; asked <= CONSTRAINED; asked++) {
        int first = count;
        for (int i = 0; i < total; i++)
            if (what_is_asked(sentences->constraints, i) == asked)
                order[count++] = (SentenceLength){sources[(size_t)i * (size_t)translator->count].length, i};
        qsort(order + first, (size_t)(count - first), sizeof *order, longest_first);
        if (asked == CONSTRAINED && beam < CONSTRAINTS_BEAM) beam = CONSTRAINTS_BEAM;
        GroupJob job = {.translator = translator,
                        .sentences = sentences,
                        .results = results,
                        .order = order + first,
                        .total = count - first,
                        .group = translator->options.search.decode.mini_batch,
                        .beam_size = beam,
                        .constraints = asked != FREE ? sentences->constraints : NULL,
                        .lock = &lock,
                        .done = &done,
                        .all = all};
        int share = (job.total + threads - 1) / threads; /* little work: still something for every thread */
        if (job.group > share) job.group = share;
        if (job.total > 0) workers_run(workers, (job.total + job.group - 1) / job.group, group_search, &job);
    }
    mem_free(order);
}

/* ---- pieces of lines ---- */

/* What the <unk>s of a line and of its given translation stand for. */
typedef struct {
    StrList source, target;
} Spelling;

/* The words that a piece must contain: the target of each; the source is empty where it is not known. */
typedef struct {
    const GlossaryTerm *terms;
    int count;
} Wanted;

/* The pieces of all lines of a call. */
typedef struct {
    Tokens *sources;          /* [count, models] */
    Tokens *targets;          /* [count] given translations; NULL if none was added */
    Constraints *constraints; /* [count]; NULL if nothing is asked for */
    Wanted *wanted;           /* the same */
    StrView *texts;           /* [count] */
    StrView *gaps; /* [count + lines] what stands before each piece of a line, and behind the last */
    int count, gap_count;
    size_t sources_capacity, targets_capacity, constraints_capacity, wanted_capacity, texts_capacity;
    size_t gaps_capacity;
    Arena *arena;      /* of the ids, and of the lists of words */
    IdList ids;        /* scratch */
    Spelling *spelled; /* [lines] */
} Pieces;

/* `unknown` may be NULL. */
static Tokens pieces_tokens(Pieces *pieces, Tokenizer *tokenizer, StrView text, StrList *unknown) {
    pieces->ids.count = 0;
    tokenizer_encode_spelled(tokenizer, text, &pieces->ids, unknown);
    size_t bytes = pieces->ids.count * sizeof(int);
    int *ids = arena_alloc(pieces->arena, bytes);
    if (bytes > 0) memcpy(ids, pieces->ids.ids, bytes);
    return (Tokens){ids, (int)pieces->ids.count};
}

/* Add one piece of text; false if the first model finds nothing in it, whose <unk>s are spelled out. */
static bool pieces_add(Pieces *pieces, const Translator *translator, StrView text, StrList *unknown) {
    size_t models = (size_t)translator->count, first = (size_t)pieces->count * models;
    MEM_GROW(pieces->sources, pieces->sources_capacity, first + models);
    for (size_t m = 0; m < models; m++) {
        pieces->sources[first + m] =
            pieces_tokens(pieces, seq2seq_source(translator->models[m]), text, m == 0 ? unknown : NULL);
        if (m == 0 && pieces->sources[first].length == 0) return false;
    }
    MEM_GROW(pieces->texts, pieces->texts_capacity, (size_t)pieces->count + 1);
    pieces->texts[pieces->count++] = text;
    return true;
}

/* The words that piece p must contain: the line's own for its first piece, those of the glossary for each. */
static Wanted find_wanted(const Pieces *pieces, const Translator *translator,
                          const LineConstraints *constraints, int p) {
    GlossaryTerm *terms = arena_alloc(pieces->arena, CONSTRAINTS_MAX * sizeof *terms);
    int count = constraints ? constraints->phrase_count : 0;
    for (int c = 0; c < count; c++) terms[c] = (GlossaryTerm){.target = constraints->phrases[c]};
    if (translator->options.glossary)
        count = glossary_find(translator->options.glossary, pieces->texts[p], terms, count, CONSTRAINTS_MAX);
    return (Wanted){terms, count};
}

/* Mostly the prefix of all lines is one. */
static void warn_of_prefix(Translator *translator, StrView prefix, long number) {
    if (translator->warned_of_prefix || translator->options.quiet) return;
    translator->warned_of_prefix = true;
    log_warn("line %ld: the model does not know all of the prefix '%.*s': it reads <unk> instead", number,
             SV_ARG(prefix));
}

/* Ask for the words that piece p must contain. Where a model without attention looks is not known. */
static void constrain_words(Pieces *pieces, const Translator *translator, const Wanted *wanted, int p) {
    const Seq2Seq *model = translator->models[0];
    Tokens sentence = {0};
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    if (layers > 0) sentence = pieces->sources[(size_t)p * (size_t)translator->count];
    for (int c = 0; c < wanted->count; c++)
        constraints_add_term(&pieces->constraints[p], seq2seq_target(model), wanted->terms[c].target,
                             seq2seq_source(model), wanted->terms[c].source, sentence);
}

/* Ask for what `guide`, which may be NULL, and the glossary say in the pieces from `first` on. */
static void chunks_constraints(Pieces *pieces, Translator *translator, const LineConstraints *constraints,
                               long number, int first, StrList *unknown) {
    Tokenizer *target = seq2seq_target(translator->models[0]);
    MEM_GROW(pieces->constraints, pieces->constraints_capacity, (size_t)pieces->count);
    MEM_GROW(pieces->wanted, pieces->wanted_capacity, (size_t)pieces->count);
    for (int p = first; p < pieces->count; p++) {
        const LineConstraints *own = p == first ? constraints : NULL;
        Wanted wanted = find_wanted(pieces, translator, own, p);
        pieces->constraints[p] = (Constraints){0};
        if (own && !constraints_add_prefix(&pieces->constraints[p], target, own->prefix, unknown))
            warn_of_prefix(translator, own->prefix, number);
        constrain_words(pieces, translator, &wanted, p);
        pieces->wanted[p] = wanted;
    }
}

/* The text from `start` to `end` stands before the next piece, or behind the last of its line. */
static void pieces_add_gap(Pieces *pieces, const char *start, const char *end) {
    MEM_GROW(pieces->gaps, pieces->gaps_capacity, (size_t)pieces->gap_count + 1);
    pieces->gaps[pieces->gap_count++] = (StrView){start, (size_t)(end - start)};
}

static void warn_long(const TranslatorOptions *options, StrView text, const PieceList *pieces, long number) {
    int limit = options->search.decode.max_input_length;
    const char *what = options->split ? "a sentence of line" : "line";
    if (pieces->count < 2 || options->quiet) return;
    if (options->crop)
        log_warn("%s %ld is longer than %d tokens: cropped to its first %zu of %zu bytes", what, number,
                 limit, pieces->items[0].length, text.length);
    else
        log_warn("%s %ld is longer than %d tokens: translated in %d pieces", what, number, limit,
                 pieces->count);
}

/* Cut a text that may be too long and add its pieces; returns how many. `*end` is where those before it
 * ended, and moves behind it. */
static int pieces_add_text(Pieces *pieces, const Translator *translator, StrView text, long number,
                           StrList *unknown, const char **end) {
    const TranslatorOptions *options = &translator->options;
    PieceList texts = {0};
    int added = 0;
    split_line(seq2seq_source(translator->models[0]), text, options->search.decode.max_input_length, &texts);
    warn_long(options, text, &texts, number);
    for (int p = 0; p < texts.count && (p == 0 || !options->crop); p++) {
        StrView piece = texts.items[p];
        if (!pieces_add(pieces, translator, piece, unknown)) continue;
        pieces_add_gap(pieces, *end, piece.data);
        *end = piece.data + piece.length;
        added++;
    }
    if (options->crop && added > 0) *end = text.data + text.length;
    piece_list_free(&texts);
    return added;
}

/* Cut the line and add its pieces; returns how many. */
static int pieces_add_line(Pieces *pieces, Translator *translator, StrView line,
                           const LineConstraints *constraints, long number, Spelling *spelled) {
    if (!line.data) line = SV(""); /* what has no place has none in front of it */
    const char *end = line.data;
    PieceList sentences = {0};
    int added = 0;
    if (!unicode_is_blank(line)) {
        if (translator->options.split)
            split_sentences(line, translator->options.wrapped, &sentences);
        else
            added += pieces_add_text(pieces, translator, line, number, &spelled->source, &end);
        for (int i = 0; i < sentences.count; i++)
            added += pieces_add_text(pieces, translator, sentences.items[i], number, &spelled->source, &end);
    }
    pieces_add_gap(pieces, end, line.data + line.length);
    if (constraints || translator->options.glossary)
        chunks_constraints(pieces, translator, constraints, number, pieces->count - added, &spelled->target);
    piece_list_free(&sentences);
    return added;
}

/* Make the Translation of each line, of out[i].pieces pieces, from what was found. */
static void pieces_join(const Pieces *pieces, const HypothesisList *results, Translator *translator,
                        int lines, Translation *out) {
    for (int i = 0, first = 0; i < lines; first += out[i++].pieces) {
        ChunkResults found = {.model = translator->models[0],
                              .models = translator->count,
                              .alternatives = translator->options.search.alternatives,
                              .unknown = &pieces->spelled[i].target};
        if (translator->options.split && pieces->gaps) found.gaps = pieces->gaps + first + i;
        if (out[i].pieces > 0) { /* if no line has any, there are no sources to point into */
            found.pieces = out[i].pieces;
            found.sources = pieces->sources + (size_t)first * (size_t)translator->count;
            found.results = results + first;
        }
        translation_join(&out[i], &found, &translator->options.search.decode);
        out[i].source_unknown = pieces->spelled[i].source;
        out[i].target_unknown = pieces->spelled[i].target;
        translator->tokens += out[i].items[0].steps;
    }
}

static void pieces_free(Pieces *pieces, HypothesisList *results) {
    for (int p = 0; p < pieces->count; p++) hypotheses_free(&results[p]);
    for (int p = 0; pieces->constraints && p < pieces->count; p++) constraints_free(&pieces->constraints[p]);
    mem_free(results);
    mem_free(pieces->sources);
    mem_free(pieces->targets);
    mem_free(pieces->spelled);
    mem_free(pieces->gaps);
    mem_free(pieces->texts);
    mem_free(pieces->constraints);
    mem_free(pieces->wanted);
    id_list_free(&pieces->ids);
    arena_free(pieces->arena);
}

/* ---- constraints ---- */

/* Look in the text itself. */
static bool piece_has(const Translator *translator, const HypothesisList *found, StrView words) {
    const TextOptions *options = &seq2seq_config(translator->models[0])->text;
    const Hypothesis *best = &found->items[0];
    StrBuf text = {0}, normal = {0};
    tokenizer_decode(seq2seq_target(translator->models[0]), best->ids, (size_t)best->length, &text);
    text_normalize_words(words, (NormalForm)options->normalize, options->lowercase, &normal);
    bool has = text_has_words(strbuf_view(&text), strbuf_view(&normal));
    strbuf_free(&text);
    strbuf_free(&normal);
    return has;
}

/* Of a line, whose guide may be NULL, and its pieces: met are words that all pieces have which want them. Of
 * a line without pieces none are. */
static void constraints_check(const Translator *translator, const LineConstraints *constraints,
                              const Wanted *wanted, const HypothesisList *results, long number,
                              Translation *out) {
    Tokenizer *target = seq2seq_target(translator->models[0]);
    HashMap *met = hashmap_new(); /* of the words, as they come */
    for (int c = 0; constraints && out->pieces == 0 && c < constraints->phrase_count; c++)
        hashmap_set(met, constraints->phrases[c], false);
    for (int p = 0; p < out->pieces; p++)
        for (int c = 0; c < wanted[p].count; c++) {
            StrView words = wanted[p].terms[c].target;
            int64_t *is_met = hashmap_slot(met, words, true);
            *is_met = *is_met && piece_has(translator, &results[p], words);
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

void translator_run(Translator *translator, const StrView *lines, int count, long first_number,
                    Translation *out) {
    translator_run_constrained(translator, lines, NULL, count, first_number, out);
}

void translator_run_constrained(Translator *translator, const StrView *lines,
                                const LineConstraints *constraints, int count, long first_number,
                                Translation *out) {
    Pieces pieces = {.arena = arena_new(), .spelled = mem_alloc((size_t)count, sizeof *pieces.spelled)};
    for (int i = 0; i < count; i++)
        out[i].pieces = pieces_add_line(&pieces, translator, lines[i], constraints ? &constraints[i] : NULL,
                                        first_number + i, &pieces.spelled[i]);
    HypothesisList *results = mem_alloc((size_t)pieces.count, sizeof *results);
    Sentences sentences = {pieces.sources, NULL, pieces.constraints, translator->count, pieces.count};
    sentences_search(translator, &sentences, results);
    pieces_join(&pieces, results, translator, count, out);
    bool asked = constraints || translator->options.glossary;
    for (int i = 0, first = 0; asked && i < count; first += out[i++].pieces)
        constraints_check(translator, constraints ? &constraints[i] : NULL,
                          pieces.wanted ? pieces.wanted + first : NULL, results + first, first_number + i,
                          &out[i]);
    pieces_free(&pieces, results);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Pieces pieces = {.arena = arena_new(), .spelled = mem_alloc((size_t)count, sizeof *pieces.spelled)};
    for (int i = 0; i < count; i++) {
        Spelling *spelled = &pieces.spelled[i];
        out[i].pieces =
            !unicode_is_blank(lines[i]) && pieces_add(&pieces, translator, lines[i], &spelled->source);
        if (out[i].pieces == 0) continue;
        MEM_GROW(pieces.targets, pieces.targets_capacity, (size_t)pieces.count);
        pieces.targets[pieces.count - 1] =
            pieces_tokens(&pieces, seq2seq_target(translator->models[0]), targets[i], &spelled->target);
    }
    HypothesisList *results = mem_alloc((size_t)pieces.count, sizeof *results);
    Sentences sentences = {pieces.sources, pieces.targets, NULL, translator->count, pieces.count};
    sentences_search(translator, &sentences, results);
    pieces_join(&pieces, results, translator, count, out);
    pieces_free(&pieces, results);
}

void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, void (*progress)(void *context, double share), void *context,
                       HypothesisList *results) {
    TranslatorOptions greedy = {
        .search = {.decode = *options, .n_best = 1}, .progress = progress, .progress_context = context};
    greedy.search.decode.beam_size = 1;
    Translator *translator;
    Status status = translator_new(&translator, &model, 1, &greedy, workers);
    assert(status == STATUS_OK); /* one model agrees with itself */
    (void)status;
    sentences_search(translator, &(Sentences){.sources = sources, .models = 1, .total = count}, results);
    translator_free(translator);
}
