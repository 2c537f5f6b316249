/* translator.c - lines to chunks, chunks to groups, groups to the workers, and back. */
#include "translate/translator.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "search/rescore.h"
#include "tokenizer/bpe.h"
#include "text/copied_text.h"
#include "text/placeholders.h"
#include "tokenizer/line_split.h"
#include "tokenizer/respell.h"
#include "tokenizer/unknown_words.h"
#include "text/whole_words.h"
#include "translate/accelerator_place.h"
#include "translate/sentences.h"

struct Translator {
    const Seq2Seq **models;
    int count;
    TranslatorOptions options;
    Workers *workers;
    Rescorer **rescorers; /* [threads], each made in its thread's first group */
    long tokens, unsplit;
    bool warned_of_prefix, warned_of_language;
};

/* The language tokens of a model, as a list for people. */
static void list_languages(const Tokenizer *source, StrBuf *out) {
    enum { MOST = 20 };
    const IdList *languages = tokenizer_role(source, TOKENIZER_LANGUAGES);
    for (size_t i = 0; i < languages->count && i < MOST; i++) {
        strbuf_add(out, i ? SV(", ") : SV(""));
        tokenizer_label(source, languages->ids[i], out);
    }
    if (languages->count > MOST) strbuf_add(out, SV(", ..."));
}

static Status check_language(const Seq2Seq *model, const char *name) {
    const Tokenizer *source = seq2seq_source(model);
    Status status = STATUS_USAGE;
    if (!name || tokenizer_language(source, sv(name)) >= 0) return STATUS_OK;
    if (tokenizer_role(source, TOKENIZER_LANGUAGES)->count == 0) {
        status_fail(status, "the model translates to one language: it has no tokens for target languages");
        return status_hint(status, "leave the target language out");
    }
    StrBuf list = {0};
    list_languages(source, &list);
    status_fail(status, "the model has no token for the target language '%.40s'", name);
    status_hint(status, "it has %s", strbuf_text(&list));
    strbuf_free(&list);
    return status;
}

Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers) {
    TRY(scorer_check(models, count));
    for (int m = 0; m < count; m++) TRY(check_language(models[m], options->target_language));
    if (options->search.attention) TRY(seq2seq_check_attention(models[0]));
    bool accelerators = options->accelerator != ACCELERATOR_NONE;
    Translator *made = mem_alloc(1, sizeof *made);
    *made = (Translator){.count = count, .options = *options, .workers = workers};
    if (accelerators && seq2seq_has_attention(models[0])) made->options.search.attention = true;
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

long translator_unsplit(const Translator *translator) { return translator->unsplit; }

long translator_tokens(const Translator *translator) { return translator->tokens; }

/* ---- groups of sentences ---- */

typedef struct {
    const Tokens *sources;          /* [total, models] */
    const Tokens *targets;          /* [total] given translations, or NULL */
    const Constraints *constraints; /* [total], or NULL */
    int models, total;
    const SearchOptions *search; /* NULL: the translator's; at most a whole beam is returned */
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
    if (!options->progress || job->sentences->search) return; /* searched again: they have been counted */
    pthread_mutex_lock(job->lock);
    for (int b = 0; b < B; b++) *job->done += sources[b].length;
    options->progress(options->progress_context, job->all > 0 ? *job->done / job->all : 1);
    pthread_mutex_unlock(job->lock);
}

/* Search the sentences of one group with this thread's models. */
static void group_search(void *context, int task, int thread) {
    const GroupJob *job = context;
    const Sentences *sentences = job->sentences;
    SearchOptions options = sentences->search ? *sentences->search : job->translator->options.search;
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
    if (options.n_best > job->beam_size) options.n_best = job->beam_size;
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

/* The words that a chunk must contain: the target of each; a phrase of the line has no source. */
typedef struct {
    const GlossaryTerm *terms;
    int count;
} RequiredTerms;

/* The chunks of all lines of a call. */
typedef struct {
    int *line;               /* [count] the line of each */
    StrList *source_unknown; /* [count] texts of the first model's <unk>s */
    MarkedChunk *marked;     /* [count] */
    Markup *markups;         /* [lines] with options.tags, else NULL */
    bool any_marked;
    Tokens *sources;          /* [count, models] */
    Tokens *targets;          /* [count] given translations, or NULL */
    Constraints *constraints; /* [count], or NULL */
    RequiredTerms *required;  /* [count], or NULL */
    StrView *texts;           /* [count] */
    bool *capitals;           /* [count] translated in small letters */
    StrView *gaps; /* [count + lines] the text before each chunk of a line, and after the last one */
    int count, gap_count;
    size_t sources_capacity, targets_capacity, constraints_capacity, required_capacity, texts_capacity;
    size_t gaps_capacity, line_capacity, unknown_capacity, marked_capacity, capitals_capacity;
    Arena *arena;      /* of the ids, and of the lists of terms */
    StrView *language; /* [lines] the token that the line's chunks begin with, or empty */
    IdList ids;        /* scratch */
    StrList *unknown;  /* [lines] texts of the <unk>s in the given translation or prefix */
} Chunks;

static Chunks chunks_new(int lines) {
    return (Chunks){.arena = arena_new(),
                    .language = mem_alloc((size_t)lines, sizeof(StrView)),
                    .unknown = mem_alloc((size_t)lines, sizeof(StrList))};
}

/* The tokens of a text behind a language token, if `language` is not empty; without text there are none.
 * `unknown` may be NULL. */
static Tokens chunks_tokens(Chunks *chunks, Tokenizer *tokenizer, StrView language, StrView text,
                            StrList *unknown) {
    int id = language.length > 0 ? tokenizer_language(tokenizer, language) : -1;
    chunks->ids.count = 0;
    if (id >= 0) id_list_add(&chunks->ids, id);
    tokenizer_encode_spelled(tokenizer, text, &chunks->ids, unknown);
    if (chunks->ids.count == 1 && id >= 0) chunks->ids.count = 0;
    size_t bytes = chunks->ids.count * sizeof(int);
    int *ids = arena_alloc(chunks->arena, bytes);
    if (bytes > 0) memcpy(ids, chunks->ids.ids, bytes);
    return (Tokens){ids, (int)chunks->ids.count};
}

/* Does the tokenizer know all of the text? Not U+2581 of subwords, which it reads as another character. */
static bool knows_all(Chunks *chunks, Tokenizer *tokenizer, StrView text) {
    chunks->ids.count = 0;
    tokenizer_encode(tokenizer, text, &chunks->ids);
    for (size_t i = 0; i < chunks->ids.count; i++)
        if (chunks->ids.ids[i] == VOCAB_UNK) return false;
    for (size_t i = 0; i < text.length && tokenizer_has_subwords(tokenizer); i++)
        if (sv_starts((StrView){text.data + i, text.length - i}, SV(BPE_SPACE))) return false;
    return true;
}

static bool has_unknown(Tokens tokens) {
    for (int i = 0; i < tokens.length; i++)
        if (tokens.ids[i] == VOCAB_UNK) return true;
    return false;
}

/* The same for a source: in other characters where the tokenizer does not know those of the text. */
static Tokens chunks_source(Chunks *chunks, Tokenizer *tokenizer, StrView language, StrView text,
                            StrList *unknown) {
    Tokens tokens = chunks_tokens(chunks, tokenizer, language, text, NULL);
    if (!has_unknown(tokens)) return tokens;
    StrBuf repaired = {0}, respelled = {0};
    utf8_repair(text, &repaired);
    text_respell(tokenizer, strbuf_view(&repaired), &respelled);
    tokens = chunks_tokens(chunks, tokenizer, language, strbuf_view(&respelled), unknown);
    strbuf_free(&repaired);
    strbuf_free(&respelled);
    return tokens;
}

/* Set the tokens that the models read for a chunk; false if the first model has none. */
static bool chunks_encode(Chunks *chunks, const Translator *translator, int chunk, StrView text) {
    size_t models = (size_t)translator->count, first = (size_t)chunk * models;
    strlist_free(&chunks->source_unknown[chunk]);
    for (size_t m = 0; m < models; m++) {
        StrList *unknown = m == 0 ? &chunks->source_unknown[chunk] : NULL;
        chunks->sources[first + m] = chunks_source(chunks, seq2seq_source(translator->models[m]),
                                                   chunks->language[chunks->line[chunk]], text, unknown);
        if (m == 0 && chunks->sources[first].length == 0) return false;
    }
    return true;
}

/* Add one chunk of a line; returns false if the first model has no tokens for it. `marked` moves into it, or
 * is released. `capitals`: `text` is in small letters now. */
static bool chunks_add(Chunks *chunks, const Translator *translator, int line, StrView text,
                       MarkedChunk marked, bool capitals) {
    size_t count = (size_t)chunks->count + 1;
    MEM_GROW(chunks->sources, chunks->sources_capacity, count * (size_t)translator->count);
    MEM_GROW(chunks->line, chunks->line_capacity, count);
    MEM_GROW(chunks->source_unknown, chunks->unknown_capacity, count);
    MEM_GROW(chunks->marked, chunks->marked_capacity, count);
    MEM_GROW(chunks->texts, chunks->texts_capacity, count);
    MEM_GROW(chunks->capitals, chunks->capitals_capacity, count);
    chunks->line[chunks->count] = line;
    chunks->source_unknown[chunks->count] = (StrList){0};
    chunks->marked[chunks->count] = marked;
    chunks->texts[chunks->count] = marked.is_marked ? strbuf_view(&marked.text.plain) : text;
    chunks->any_marked |= marked.is_marked;
    if (marked.is_marked) text = marked_chunk_text(&marked);
    chunks->capitals[chunks->count] = capitals;
    bool added = chunks_encode(chunks, translator, chunks->count, text);
    if (added) return chunks->count++ >= 0;
    marked_chunk_free(&marked);
    strlist_free(&chunks->source_unknown[chunks->count]);
    return false;
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
    StrView gap = {start, (size_t)(end - start)};
    if (!utf8_valid(gap) || memchr(start, 0, gap.length)) {
        StrBuf repaired = {0};
        utf8_repair(gap, &repaired);
        gap = arena_text(chunks->arena, strbuf_view(&repaired));
        strbuf_free(&repaired);
    }
    chunks->gaps[chunks->gap_count++] = gap;
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

static bool has_tags(const MarkedText *text) {
    for (int i = 0; i < text->count; i++)
        if (text->items[i].is_tag) return true;
    return false;
}

/* Add a chunk with marks; `markup` must outlive it unless all views of the marks are into `source`. */
static bool chunks_add_marked(Chunks *chunks, const Translator *translator, int line, const Markup *markup,
                              StrView source, bool capitals) {
    MarkedText text = {0};
    MarkedChunk marked;
    marked_text_make(markup, source, &text);
    if (!text.has_letters && !translator->options.translate_symbols) {
        marked_text_free(&text);
        return false;
    }
    marked_chunk_make(&marked, text, translator->models, translator->count);
    if (translator->options.tags_aside && has_tags(&marked.text)) marked.in_place = false;
    return chunks_add(chunks, translator, line, source, marked, capitals);
}

static bool has_term(const TranslatorOptions *options, StrView text) {
    GlossaryTerm term;
    return options->glossary && glossary_find(options->glossary, text, &term, 0, 1) > 0;
}

/* Add a chunk of text without markup, in the spelling of the first model. */
static bool chunks_add_plain(Chunks *chunks, const Translator *translator, int line, StrView text) {
    Tokenizer *tokenizer = seq2seq_source(translator->models[0]);
    StrBuf small = {0}, repaired = {0}, respelled = {0};
    Markup unknown = {0};
    bool capitals = text_lower_capitals(tokenizer, text, &small), added = false;
    utf8_repair(capitals ? strbuf_view(&small) : text, &repaired);
    if (!translator->options.read_unknown && !knows_all(chunks, tokenizer, strbuf_view(&repaired)))
        text_respell(tokenizer, strbuf_view(&repaired), &respelled);
    StrView spelled = arena_text(chunks->arena, strbuf_view(respelled.length > 0 ? &respelled : &repaired));
    if (respelled.length > 0 && tokenizer_has_subwords(tokenizer))
        unknown_words_find(tokenizer, spelled, &unknown);
    if (unknown.count > 0) added = chunks_add_marked(chunks, translator, line, &unknown, spelled, capitals);
    if (unknown.count == 0 || (!added && has_term(&translator->options, text)))
        added = chunks_add(chunks, translator, line, spelled, (MarkedChunk){0}, capitals);
    if (added) chunks->texts[chunks->count - 1] = text;
    mem_free(unknown.items);
    strbuf_free(&small);
    strbuf_free(&repaired);
    strbuf_free(&respelled);
    return added;
}

/* Add the chunk that a part of a line stands for; returns whether it has something to translate. */
static bool chunks_add_part(Chunks *chunks, const Translator *translator, int line, StrView part,
                            const char **end) {
    StrView source = chunks->markups ? markup_source(&chunks->markups[line], part) : part;
    const char *last = source.data + source.length;
    if (last <= *end) return false;
    if (source.data < *end) source = (StrView){*end, (size_t)(last - *end)}; /* cut in a mark */
    if (!(chunks->markups ? chunks_add_marked(chunks, translator, line, &chunks->markups[line], source, false)
                          : chunks_add_plain(chunks, translator, line, source)))
        return false;
    chunks_add_gap(chunks, *end, source.data);
    *end = source.data + source.length;
    return true;
}

/* Cut a text that may be too long and add its chunks; returns their number. `*end`: the end of the line's
 * chunks so far. */
static int chunks_add_text(Chunks *chunks, const Translator *translator, int line, StrView text, long number,
                           const char **end) {
    const TranslatorOptions *options = &translator->options;
    TextList texts = {0};
    int added = 0;
    line_split(seq2seq_source(translator->models[0]), text, options->search.decode.max_input_length, &texts);
    warn_long(options, text, &texts, number);
    for (int i = 0; i < texts.count && (i == 0 || !options->crop); i++)
        added += chunks_add_part(chunks, translator, line, texts.items[i], end);
    if (options->crop && added > 0) {
        if (chunks->markups) text = markup_source(&chunks->markups[line], text);
        *end = text.data + text.length;
    }
    text_list_free(&texts);
    return added;
}

/* The language token of a line, which is taken off with the spaces behind it; none if the first model has no
 * such tokens, or the line does not choose. */
static StrView take_language(Translator *translator, StrView *line, long number) {
    const TranslatorOptions *options = &translator->options;
    const Tokenizer *source = seq2seq_source(translator->models[0]);
    const IdList *languages = tokenizer_role(source, TOKENIZER_LANGUAGES);
    int id = tokenizer_leading_language(source, *line);
    if (id >= 0) {
        size_t length = vocab_token(tokenizer_vocab(source), id).length;
        while (length < line->length && line->data[length] == ' ') length++;
        *line = (StrView){line->data + length, line->length - length};
    }
    if (id < 0 && options->target_language) return sv(options->target_language);
    if (id < 0 && languages->count == 1) id = languages->ids[0];
    if (id >= 0) return vocab_token(tokenizer_vocab(source), id);
    if (languages->count > 0 && !translator->warned_of_language && !options->quiet) {
        StrBuf list = {0};
        list_languages(source, &list);
        translator->warned_of_language = true;
        log_warn("line %ld names no target language, and the model has several: %s", number,
                 strbuf_text(&list));
        strbuf_free(&list);
    }
    return (StrView){0};
}

static StrView trim(StrView text) {
    text = unicode_trim_end(text);
    for (size_t next = 0, at = 0; next < text.length; at = next)
        if (!unicode_is_space(utf8_next(text, &next))) return (StrView){text.data + at, text.length - at};
    return (StrView){text.data, 0};
}

/* The texts between breaks. */
static void split_at_breaks(StrView text, TextList *parts) {
    for (StrView part; sv_next(&text, MARKUP_BREAK, &part);) {
        part = trim(part);
        if (part.length > 0) text_list_add(parts, part);
    }
}

/* The parts of a line that are translated separately, without the white space around them. */
static void split_text(Translator *translator, StrView text, TextList *parts) {
    split_sentences(text, translator->options.wrapped, parts);
    if (translator->options.split) return;
    int sentences = parts->count;
    parts->count = 0;
    if (translator->options.tags)
        split_at_breaks(text, parts);
    else
        text_list_add(parts, trim(text));
    translator->unsplit += sentences > parts->count;
}

/* Is the text copied? With tags, its marks decide (chunks_add_marked). */
static bool is_copied(const TranslatorOptions *options, StrView text) {
    return !options->tags && !options->translate_symbols && text_is_copied(text) && !has_term(options, text);
}

/* Cut the line and add its chunks; returns their number. */
static int chunks_add_line(Chunks *chunks, Translator *translator, int i, StrView line,
                           const LineConstraints *constraints, long number) {
    const TranslatorOptions *options = &translator->options;
    bool constrained = constraints && (constraints->prefix.length > 0 || constraints->phrase_count > 0);
    if (!line.data) line = SV(""); /* for the pointers of gaps */
    chunks->language[i] = take_language(translator, &line, number);
    StrView text = line;
    TextList parts = {0};
    int added = 0;
    if (chunks->markups) {
        Markup *markup = &chunks->markups[i];
        markup_find(line, markup);
        line = (StrView){strbuf_text(&markup->repaired), markup->repaired.length};
        text = (StrView){strbuf_text(&markup->masked), markup->masked.length};
    }
    const char *end = line.data;
    if (!unicode_is_blank(text)) split_text(translator, text, &parts);
    for (int p = 0; p < parts.count; p++)
        if (constrained || !is_copied(options, parts.items[p]))
            added += chunks_add_text(chunks, translator, i, parts.items[p], number, &end);
    chunks_add_gap(chunks, end, line.data + line.length);
    if (constraints || options->glossary)
        chunks_constrain(chunks, translator, constraints, number, chunks->count - added, &chunks->unknown[i]);
    text_list_free(&parts);
    return added;
}

/* Finish the texts of all items; returns whether all agree with the line. `copy`: those that do not become
 * the line itself. */
static bool finish_items(const Markup *markup, Translation *translation, bool copy) {
    bool all = true;
    for (int rank = 0; rank < translation->count; rank++) {
        StrBuf *text = &translation->items[rank].text;
        bool agrees = markup_finish(markup, text);
        all &= agrees;
        if (agrees || !copy) continue;
        strbuf_clear(text);
        strbuf_add(text, strbuf_view(&markup->repaired));
    }
    return all;
}

/* Join the results of each line's out[i].chunks chunks. */
static void chunks_join(const Chunks *chunks, const HypothesisList *results, Translator *translator,
                        int lines, Translation *out) {
    for (int i = 0, first = 0; i < lines; first += out[i++].chunks) {
        ChunkResults line = {.model = translator->models[0],
                             .models = translator->count,
                             .alternatives = translator->options.search.alternatives,
                             .unknown = &chunks->unknown[i]};
        if (chunks->gaps) line.gaps = chunks->gaps + first + i;
        if (out[i].chunks > 0) { /* chunks->sources is NULL if no line has any */
            line.chunks = out[i].chunks;
            line.sources = chunks->sources + (size_t)first * (size_t)translator->count;
            line.results = results + first;
            line.marked = chunks->marked + first;
            line.capitals = chunks->capitals + first;
        }
        translation_join(&out[i], &line, &translator->options.search.decode);
        if (chunks->markups && out[i].chunks > 0 && !finish_items(&chunks->markups[i], &out[i], false)) {
            for (int c = 0; c < out[i].chunks; c++) marked_chunk_close(&chunks->marked[first + c]);
            translation_free(&out[i]);
            translation_join(&out[i], &line, &translator->options.search.decode);
            finish_items(&chunks->markups[i], &out[i], true);
        }
        for (int c = first; c < first + out[i].chunks; c++)
            for (size_t u = 0; u < chunks->source_unknown[c].count; u++)
                strlist_add(&out[i].source_unknown, sv(chunks->source_unknown[c].items[u]));
        for (int c = first; c < first + out[i].chunks && !chunks->markups; c++)
            for (int m = 0; m < chunks->marked[c].text.count; m++)
                strlist_add(&out[i].copied, chunks->marked[c].text.items[m].text);
        out[i].target_unknown = chunks->unknown[i];
        translator->tokens += out[i].items[0].steps;
    }
}

static void chunks_free(Chunks *chunks, HypothesisList *results, int lines) {
    for (int c = 0; c < chunks->count; c++) {
        hypotheses_free(&results[c]);
        strlist_free(&chunks->source_unknown[c]);
        marked_chunk_free(&chunks->marked[c]);
    }
    for (int i = 0; chunks->markups && i < lines; i++) markup_free(&chunks->markups[i]);
    mem_free(chunks->markups);
    mem_free(chunks->line);
    mem_free(chunks->source_unknown);
    mem_free(chunks->marked);
    for (int c = 0; chunks->constraints && c < chunks->count; c++) constraints_free(&chunks->constraints[c]);
    mem_free(results);
    mem_free(chunks->sources);
    mem_free(chunks->targets);
    mem_free(chunks->unknown);
    mem_free(chunks->language);
    mem_free(chunks->gaps);
    mem_free(chunks->texts);
    mem_free(chunks->capitals);
    mem_free(chunks->constraints);
    mem_free(chunks->required);
    id_list_free(&chunks->ids);
    arena_free(chunks->arena);
}

/* ---- chunks with markup ---- */

typedef struct {
    Translator *translator;
    Chunks *chunks;
    HypothesisList *results; /* [chunks->count] */
    int *list, count;        /* the chunks to search next */
} MarkedSearch;

static const StrList *prefix_unknown(const Chunks *chunks, int c) {
    bool first = c == 0 || chunks->line[c] != chunks->line[c - 1];
    return first ? &chunks->unknown[chunks->line[c]] : NULL;
}

/* Search the chunks of the list. `search`: as in Sentences. `targets` [count]: score these, or NULL. */
static void search_list(MarkedSearch *search, const SearchOptions *options, const Tokens *targets,
                        HypothesisList *results) {
    const Chunks *chunks = search->chunks;
    size_t count = (size_t)search->count, models = (size_t)search->translator->count;
    Tokens *sources = mem_alloc(count * models, sizeof *sources);
    Constraints *constraints = mem_alloc(count, sizeof *constraints);
    for (size_t i = 0; i < count; i++) {
        memcpy(sources + i * models, chunks->sources + (size_t)search->list[i] * models,
               models * sizeof *sources);
        if (chunks->constraints) constraints[i] = chunks->constraints[search->list[i]];
    }
    Sentences sentences = {sources,
                           targets,
                           chunks->constraints && !targets ? constraints : NULL,
                           search->translator->count,
                           search->count,
                           options};
    sentences_search(search->translator, &sentences, results);
    mem_free(constraints);
    mem_free(sources);
}

/* Search the chunks of the list; those without a hypothesis that agrees with them stay in it. */
static void search_and_take(MarkedSearch *search, const SearchOptions *options) {
    Chunks *chunks = search->chunks;
    const Translator *translator = search->translator;
    HypothesisList *results = mem_alloc((size_t)search->count, sizeof *results);
    int left = 0;
    search_list(search, options, NULL, results);
    for (int i = 0; i < search->count; i++) {
        int c = search->list[i];
        hypotheses_free(&search->results[c]);
        search->results[c] = results[i];
        if (!chunks->marked[c].is_marked) continue;
        if (!marked_chunk_take(&chunks->marked[c], &search->results[c], translator->options.search.n_best,
                               seq2seq_target(translator->models[0]), prefix_unknown(chunks, c)))
            search->list[left++] = c;
    }
    search->count = left;
    mem_free(results);
}

/* Search the chunks of the list with their placeholders as phrases. */
static void search_constrained(MarkedSearch *search, const SearchOptions *options) {
    Chunks *chunks = search->chunks;
    const Seq2Seq *model = search->translator->models[0];
    size_t count = (size_t)search->count;
    MarkedSearch with = {search->translator, chunks, search->results, mem_alloc(count, sizeof(int)), 0};
    bool alone = !chunks->constraints; /* no chunk has other constraints */
    if (alone) chunks->constraints = mem_alloc((size_t)chunks->count, sizeof *chunks->constraints);
    int *phrases = mem_alloc((size_t)chunks->count, sizeof *phrases); /* that each chunk had before */
    int without = 0;
    for (int c = 0; c < chunks->count; c++) phrases[c] = chunks->constraints[c].phrase_count;
    for (int i = 0; i < search->count; i++) {
        int c = search->list[i];
        Tokens source = chunks->sources[(size_t)c * (size_t)search->translator->count];
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
    chunks_encode(chunks, search->translator, c, marked_chunk_text(&chunks->marked[c]));
    if (!chunks->constraints) return;
    constraints_cut_phrases(&chunks->constraints[c], 0);
    add_terms(chunks, search->translator, &chunks->required[c], c);
}

/* Translate the chunks of the list without their markup, and put it back. */
static void search_plain(MarkedSearch *search) {
    Chunks *chunks = search->chunks;
    const Translator *translator = search->translator;
    const Seq2Seq *model = translator->models[0];
    SearchOptions options = translator->options.search;
    size_t models = (size_t)translator->count;
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
                             translator->count, &results[i], &options.decode, prefix_unknown(chunks, c));
        for (int rank = 0; rank < results[i].count && !translator->options.search.attention; rank++) {
            mem_free(results[i].items[rank].attention);
            results[i].items[rank].attention = NULL;
        }
        hypotheses_free(&search->results[c]);
        search->results[c] = results[i];
    }
    mem_free(results);
}

/* The best hypothesis of a beam has alternatives; add those of others that were taken. */
static void add_alternatives(MarkedSearch *search) {
    const SearchOptions *options = &search->translator->options.search;
    search->count = 0;
    for (int c = 0; c < search->chunks->count && options->alternatives > 0; c++)
        if (!search->results[c].items[0].alternatives) search->list[search->count++] = c;
    if (search->count == 0) return;
    Tokens *targets = mem_alloc((size_t)search->count, sizeof *targets);
    HypothesisList *results = mem_alloc((size_t)search->count, sizeof *results);
    for (int i = 0; i < search->count; i++) {
        const Hypothesis *best = &search->results[search->list[i]].items[0];
        targets[i] = (Tokens){best->ids, best->length};
    }
    search_list(search, options, targets, results);
    for (int i = 0; i < search->count; i++) {
        search->results[search->list[i]].items[0].alternatives = results[i].items[0].alternatives;
        results[i].items[0].alternatives = NULL;
        hypotheses_free(&results[i]);
    }
    mem_free(targets);
    mem_free(results);
}

/* Search the chunks of the list; then, with their whole beam, those of which no hypothesis agrees. */
static void search_beam(MarkedSearch *search, const SearchOptions *whole_beam) {
    const SearchOptions *own = &search->translator->options.search;
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

/* Search all chunks: see "Markup" in translator.h. */
static void chunks_search_marked(Chunks *chunks, Translator *translator, HypothesisList *results) {
    MarkedSearch search = {translator, chunks, results, mem_alloc((size_t)chunks->count, sizeof(int)), 0};
    const SearchOptions *own = &translator->options.search;
    SearchOptions whole_beam = *own;
    whole_beam.n_best = INT_MAX;
    whole_beam.alternatives = 0;
    search_reserved(&search, &whole_beam);
    for (int c = 0; c < chunks->count; c++)
        if (!chunks->marked[c].is_marked || (chunks->marked[c].in_place && !chunks->marked[c].outputs))
            search.list[search.count++] = c;
    search_beam(&search, &whole_beam);
    if (search.count > 0 && !model_is_right_to_left(translator->models[0]))
        search_constrained(&search, &whole_beam);
    for (int c = 0; c < chunks->count; c++)
        if (chunks->marked[c].is_marked && !chunks->marked[c].in_place && !chunks->marked[c].outputs)
            search.list[search.count++] = c;
    if (search.count > 0) search_plain(&search);
    add_alternatives(&search);
    mem_free(search.list);
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

static void run(Translator *translator, const StrView *lines, const LineConstraints *constraints, int count,
                long first_number, Translation *out) {
    Chunks chunks = chunks_new(count);
    if (translator->options.tags) chunks.markups = mem_alloc((size_t)count, sizeof *chunks.markups);
    for (int i = 0; i < count; i++)
        out[i].chunks = chunks_add_line(&chunks, translator, i, lines[i],
                                        constraints ? &constraints[i] : NULL, first_number + i);
    HypothesisList *results = mem_alloc((size_t)chunks.count, sizeof *results);
    Sentences sentences = {chunks.sources, NULL, chunks.constraints, translator->count, chunks.count, NULL};
    if (chunks.any_marked)
        chunks_search_marked(&chunks, translator, results);
    else
        sentences_search(translator, &sentences, results);
    chunks_join(&chunks, results, translator, count, out);
    bool constrained = constraints || translator->options.glossary;
    for (int i = 0, first = 0; constrained && i < count; first += out[i++].chunks)
        check_constraints(translator, constraints ? &constraints[i] : NULL,
                          chunks.required ? chunks.required + first : NULL, results + first, first_number + i,
                          &out[i]);
    chunks_free(&chunks, results, count);
}

/* Lines without their accelerators. */
typedef struct {
    StrView *lines;            /* [count] */
    StrBuf *texts;             /* [count] of lines that have one */
    Accelerator *accelerators; /* [count] mark 0: none */
} Unmarked;

static Unmarked take_accelerators(const StrView *lines, int count, AcceleratorKind kind) {
    size_t n = (size_t)count;
    Unmarked u = {mem_alloc(n, sizeof *u.lines), mem_alloc(n, sizeof *u.texts),
                  mem_alloc(n, sizeof *u.accelerators)};
    for (int i = 0; i < count; i++) {
        bool taken =
            utf8_valid(lines[i]) && accelerator_take(lines[i], kind, &u.texts[i], &u.accelerators[i]);
        u.lines[i] = taken ? strbuf_view(&u.texts[i]) : lines[i];
    }
    return u;
}

static bool is_constrained(const LineConstraints *constraints) {
    return constraints && (constraints->prefix.length > 0 || constraints->phrase_count > 0);
}

/* Is the match the translation of the line? With `tags` it must have the line's placeholders. */
static bool is_taken(const TranslatorOptions *options, const MemoryMatch *match,
                     const LineConstraints *constraints) {
    return match->similarity == 1 && !is_constrained(constraints) &&
           (!options->tags || placeholders_agree_in(match->source, match->target));
}

/* The text of a line that the memory has, with the white space around the line. */
static void take_match(Translation *out, StrView line) {
    StrBuf text = {0};
    StrView rest = line, end = unicode_trim_end(line), word;
    if (!unicode_next_word(&rest, &word)) return;
    strbuf_add(&text, (StrView){line.data, (size_t)(word.data - line.data)});
    strbuf_add(&text, out->match.target);
    strbuf_add(&text, (StrView){line.data + end.length, line.length - end.length});
    strbuf_free(&out->items[0].text);
    out->items[0].text = text;
}

/* Translates what the memory does not have. */
static void run_with_memory(Translator *translator, const StrView *lines, const LineConstraints *constraints,
                            int count, long first_number, Translation *out) {
    const TranslatorOptions *options = &translator->options;
    if (!options->memory) {
        run(translator, lines, constraints, count, first_number, out);
        return;
    }
    StrView *rest = mem_alloc((size_t)count, sizeof *rest); /* empty: taken from the memory */
    MemoryMatch *matches = mem_alloc((size_t)count, sizeof *matches);
    bool *taken = mem_alloc((size_t)count, sizeof *taken);
    for (int i = 0; i < count; i++) {
        matches[i] = memory_find(options->memory, lines[i], options->memory_threshold);
        taken[i] = is_taken(options, &matches[i], constraints ? &constraints[i] : NULL);
        rest[i] = taken[i] ? SV("") : lines[i];
    }
    run(translator, rest, constraints, count, first_number, out);
    for (int i = 0; i < count; i++) {
        out[i].match = matches[i];
        if (taken[i]) take_match(&out[i], lines[i]);
    }
    mem_free(taken);
    mem_free(matches);
    mem_free(rest);
}

void translator_run(Translator *translator, const StrView *lines, const LineConstraints *constraints,
                    int count, long first_number, Translation *out) {
    if (translator->options.accelerator == ACCELERATOR_NONE) {
        run_with_memory(translator, lines, constraints, count, first_number, out);
        return;
    }
    Unmarked u = take_accelerators(lines, count, translator->options.accelerator);
    run_with_memory(translator, u.lines, constraints, count, first_number, out);
    for (int i = 0; i < count; i++) {
        if (u.accelerators[i].mark)
            accelerator_place(&u.accelerators[i], u.lines[i], &out[i], seq2seq_target(translator->models[0]));
        strbuf_free(&u.texts[i]);
    }
    mem_free(u.lines);
    mem_free(u.texts);
    mem_free(u.accelerators);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Chunks chunks = chunks_new(count);
    for (int i = 0; i < count; i++) {
        StrView line = lines[i];
        chunks.language[i] = take_language(translator, &line, i + 1);
        out[i].chunks =
            !unicode_is_blank(line) && chunks_add(&chunks, translator, i, line, (MarkedChunk){0}, false);
        if (out[i].chunks == 0) continue;
        MEM_GROW(chunks.targets, chunks.targets_capacity, (size_t)chunks.count);
        chunks.targets[chunks.count - 1] = chunks_tokens(&chunks, seq2seq_target(translator->models[0]),
                                                         (StrView){0}, targets[i], &chunks.unknown[i]);
    }
    HypothesisList *results = mem_alloc((size_t)chunks.count, sizeof *results);
    Sentences sentences = {chunks.sources, chunks.targets, NULL, translator->count, chunks.count, NULL};
    sentences_search(translator, &sentences, results);
    chunks_join(&chunks, results, translator, count, out);
    chunks_free(&chunks, results, count);
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
