/* corpus.c - see corpus.h. Learning is in corpus_learn.c. */
#include "data/corpus.h"

#include <assert.h>
#include <limits.h>
#include "base/log.h"
#include "base/mem.h"
#include "io/sha256.h"
#include "data/pair_blocks.h"
#include "text/copied_text.h"
#include "tokenizer/reserved_tokens.h"

/* ---- one side ------------------------------------------------------------------------------------------ */

enum { NARROW_IDS = 1 << 16 };

typedef struct {
    CorpusSide *side;
    size_t tokens, capacity; /* of side->ids */
    size_t start_capacity;   /* of side->start */
} SideBuilder;

static SideBuilder side_begin(CorpusSide *side, const Tokenizer *tokenizer) {
    side->wide = vocab_size(tokenizer_vocab(tokenizer)) > NARROW_IDS;
    return (SideBuilder){.side = side};
}

/* Appends sentences to the first `count` ones. `length` [sentences]: their tokens in `ids`. */
static void side_add(SideBuilder *builder, int count, const IdList *ids, const int *length, int sentences) {
    CorpusSide *side = builder->side;
    side->ids =
        mem_grow(side->ids, &builder->capacity, builder->tokens + ids->count + 1, corpus_id_size(side));
    MEM_GROW(side->start, builder->start_capacity, (size_t)count + (size_t)sentences + 1);
    uint32_t *wide = (uint32_t *)side->ids + builder->tokens;
    uint16_t *narrow = (uint16_t *)side->ids + builder->tokens;
    for (size_t i = 0; i < ids->count; i++) {
        if (side->wide)
            wide[i] = (uint32_t)ids->ids[i];
        else
            narrow[i] = (uint16_t)ids->ids[i];
    }
    side->start[count] = builder->tokens;
    for (int i = 0; i < sentences; i++)
        side->start[count + i + 1] = side->start[count + i] + (size_t)length[i];
    builder->tokens += ids->count;
}

/* Returns the spare capacity. */
static void side_end(SideBuilder *builder, int count) {
    CorpusSide *side = builder->side;
    side->ids = mem_realloc(side->ids, builder->tokens + 1, corpus_id_size(side));
    side->start = mem_realloc(side->start, (size_t)count + 1, sizeof *side->start);
}

static Tokens side_tokens(const CorpusSide *side, int pair, int *ids) {
    size_t start = side->start[pair];
    int length = (int)(side->start[pair + 1] - start);
    for (int i = 0; i < length; i++) ids[i] = (int)corpus_id(side, start + (size_t)i);
    return (Tokens){ids, length};
}

Tokens corpus_source(const Corpus *corpus, int pair, int *ids) {
    return side_tokens(&corpus->source, pair, ids);
}

Tokens corpus_target(const Corpus *corpus, int pair, int *ids) {
    return side_tokens(&corpus->target, pair, ids);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* A block of pairs as token ids. */
typedef struct {
    IdList source, target;
    int count; /* pairs that are not too long */
    int pair[PAIR_BLOCK], source_length[PAIR_BLOCK], target_length[PAIR_BLOCK];
    long too_long, symbols, symbols_copied;
} EncodedBlock;

typedef struct {
    Corpus *corpus;
    SideBuilder source, target;
    const DataOptions *filter; /* or NULL */
    bool keep_text;
    Tokenizer **source_view, **target_view; /* [threads] */
    EncodedBlock *encoded;                  /* [PAIR_SLOTS] */
    Sha256 hash;
} CorpusReader;

/* `options`: NULL for validation. */
static bool is_too_long(size_t source, size_t target, const DataOptions *options) {
    size_t longer = source > target ? source : target, shorter = source > target ? target : source;
    if (!options) return longer > VALIDATION_LENGTH;
    if (options->max_length > 0 && longer > (size_t)options->max_length) return true;
    return options->max_ratio > 0 && (double)longer > options->max_ratio * (double)shorter;
}

/* Appends the ids of a pair, and removes them again if it is too long. */
static void encode_pair(const CorpusReader *corpus_reader, const PairBlock *block, int pair,
                        EncodedBlock *out, int thread) {
    size_t source_start = out->source.count, target_start = out->target.count;
    tokenizer_encode(corpus_reader->source_view[thread], pair_block_source(block, pair), &out->source);
    tokenizer_encode(corpus_reader->target_view[thread], pair_block_target(block, pair), &out->target);
    size_t source_length = out->source.count - source_start, target_length = out->target.count - target_start;
    assert(source_length > 0 && target_length > 0); /* the texts are not blank */
    if (is_too_long(source_length, target_length, corpus_reader->filter)) {
        out->too_long++;
        out->source.count = source_start;
        out->target.count = target_start;
        return;
    }
    StrView source = pair_block_source(block, pair), target = pair_block_target(block, pair);
    if (text_is_copied(source)) {
        out->symbols++;
        out->symbols_copied += sv_equal(sv_trim(source), sv_trim(target));
    }
    out->pair[out->count] = pair;
    out->source_length[out->count] = (int)source_length;
    out->target_length[out->count++] = (int)target_length;
}

static void encode_block(void *context, const PairBlock *block, int thread) {
    const CorpusReader *corpus_reader = context;
    EncodedBlock *out = &corpus_reader->encoded[block->slot];
    out->source.count = out->target.count = 0;
    out->too_long = out->symbols = out->symbols_copied = 0;
    out->count = 0;
    for (int pair = 0; pair < block->count; pair++) encode_pair(corpus_reader, block, pair, out, thread);
}

static Status collect_block(void *context, const PairBlock *block) {
    CorpusReader *corpus_reader = context;
    Corpus *corpus = corpus_reader->corpus;
    const EncodedBlock *in = &corpus_reader->encoded[block->slot];
    if (corpus->count >= INT_MAX - PAIR_BLOCK)
        return status_fail(STATUS_DATA, "more than %d sentence pairs", INT_MAX - PAIR_BLOCK);
    sha256_add(&corpus_reader->hash, block->text.data, block->text.length);
    side_add(&corpus_reader->source, corpus->count, &in->source, in->source_length, in->count);
    side_add(&corpus_reader->target, corpus->count, &in->target, in->target_length, in->count);
    for (int i = 0; i < in->count && corpus_reader->keep_text; i++) {
        strlist_add(&corpus->source_text, pair_block_source(block, in->pair[i]));
        strlist_add(&corpus->target_text, pair_block_target(block, in->pair[i]));
    }
    corpus->count += in->count;
    corpus->too_long += in->too_long;
    corpus->symbols += in->symbols;
    corpus->symbols_copied += in->symbols_copied;
    return STATUS_OK;
}

static Status fail_empty(long pairs, bool training) {
    status_fail(STATUS_DATA, "no sentence pair is left after filtering %ld pairs", pairs);
    if (training) return status_hint(STATUS_DATA, "raise data.max_length or data.max_ratio");
    return status_hint(STATUS_DATA, "validation pairs can have at most %d tokens on each side",
                       VALIDATION_LENGTH);
}

static Status read_pairs(CorpusReader *corpus_reader, PairReader *reader, Workers *workers) {
    Corpus *corpus = corpus_reader->corpus;
    PairWork work = {
        .doing = "reading", .context = corpus_reader, .work = encode_block, .collect = collect_block};
    TRY(pair_blocks_run(reader, workers, &work));
    if (corpus->count == 0) return fail_empty(pair_reader_count(reader), corpus_reader->filter != NULL);
    sha256_end(&corpus_reader->hash, corpus->sha256);
    side_end(&corpus_reader->source, corpus->count);
    side_end(&corpus_reader->target, corpus->count);
    return STATUS_OK;
}

void corpus_warn(StrView report) {
    StrView line;
    while (sv_next(&report, '\n', &line))
        if (line.length > 0) log_warn("%.*s", SV_ARG(line));
}

PairSplit corpus_split(const DataOptions *options, bool training) {
    if (options->held_out <= 0 || options->valid.count > 0) return PAIRS_ALL;
    return training ? PAIRS_NOT_HELD_OUT : PAIRS_HELD_OUT;
}

void corpus_set_limit(PairReader *reader, const DataOptions *options, bool training) {
    PairSplit split = corpus_split(options, training);
    pair_reader_set_range(reader, split, training || split == PAIRS_HELD_OUT ? options->limit : 0);
}

/* Each thread has a view of both tokenizers. */
static void corpus_reader_begin(CorpusReader *corpus_reader, Tokenizer *source, Tokenizer *target,
                                int threads) {
    size_t n = (size_t)threads;
    corpus_reader->source = side_begin(&corpus_reader->corpus->source, source);
    corpus_reader->target = side_begin(&corpus_reader->corpus->target, target);
    corpus_reader->encoded = mem_alloc(PAIR_SLOTS, sizeof *corpus_reader->encoded);
    corpus_reader->source_view = mem_alloc(n, sizeof *corpus_reader->source_view);
    corpus_reader->target_view = mem_alloc(n, sizeof *corpus_reader->target_view);
    for (int i = 0; i < threads; i++) {
        corpus_reader->source_view[i] = tokenizer_view(source);
        corpus_reader->target_view[i] =
            target == source ? tokenizer_retain(corpus_reader->source_view[i]) : tokenizer_view(target);
    }
    sha256_begin(&corpus_reader->hash);
}

static void corpus_reader_end(CorpusReader *corpus_reader, int threads) {
    for (int i = 0; i < threads; i++) {
        tokenizer_free(corpus_reader->source_view[i]);
        tokenizer_free(corpus_reader->target_view[i]);
    }
    for (int slot = 0; slot < PAIR_SLOTS; slot++) {
        id_list_free(&corpus_reader->encoded[slot].source);
        id_list_free(&corpus_reader->encoded[slot].target);
    }
    mem_free(corpus_reader->source_view);
    mem_free(corpus_reader->target_view);
    mem_free(corpus_reader->encoded);
}

/* `options`: NULL for validation. */
static void report_too_long(Corpus *corpus, const DataOptions *options) {
    char number[32];
    StrBuf *out = &corpus->report;
    int most = options ? options->max_length : VALIDATION_LENGTH;
    strbuf_format(out, "left out %s %s pair%s", str_count(corpus->too_long, number),
                  options ? "training" : "validation", corpus->too_long == 1 ? "" : "s");
    if (most > 0) strbuf_format(out, " of more than %d tokens a side", most);
    if (options && most > 0) strbuf_add(out, SV(" (data.max_length)"));
    if (options && options->max_ratio > 0)
        strbuf_format(out, "%s one side %g times as long as the other (data.max_ratio)",
                      most > 0 ? " or" : ",", options->max_ratio);
    strbuf_add(out, SV("\n"));
}

Status corpus_read(Corpus *corpus, const StrList *entries, const DataOptions *options, Tokenizer *source,
                   Tokenizer *target, bool filter, bool keep_text, Workers *workers) {
    *corpus = (Corpus){0};
    PairReader *reader;
    TRY(pair_reader_open(&reader, entries, options));
    corpus_set_limit(reader, options, filter);
    CorpusReader corpus_reader = {
        .corpus = corpus, .filter = filter ? options : NULL, .keep_text = keep_text};
    corpus_reader_begin(&corpus_reader, source, target, workers_count(workers));
    Status status = read_pairs(&corpus_reader, reader, workers);
    corpus_reader_end(&corpus_reader, workers_count(workers));
    if (status == STATUS_OK && corpus_split(options, filter) != PAIRS_HELD_OUT)
        pair_reader_report(reader, &corpus->report);
    if (status == STATUS_OK && corpus->too_long > 0) report_too_long(corpus, corpus_reader.filter);
    pair_reader_close(reader);
    if (status == STATUS_OK)
        corpus_warn(strbuf_view(&corpus->report));
    else
        corpus_free(corpus);
    return status;
}

bool corpus_translates_symbols(const Corpus *corpus) {
    enum { LEAST = 10 };
    return corpus->symbols >= LEAST && 2 * corpus->symbols_copied < corpus->symbols;
}

Corpus corpus_swapped(const Corpus *c) {
    Corpus other = *c;
    other.source = c->target;
    other.target = c->source;
    other.source_text = c->target_text;
    other.target_text = c->source_text;
    return other;
}

void corpus_free(Corpus *corpus) {
    mem_free(corpus->source.ids);
    mem_free(corpus->target.ids);
    mem_free(corpus->source.start);
    mem_free(corpus->target.start);
    strlist_free(&corpus->source_text);
    strlist_free(&corpus->target_text);
    strbuf_free(&corpus->report);
    *corpus = (Corpus){0};
}

/* ---- other tokens in each epoch ------------------------------------------------------------------------ */

/* Third part of the random key; batches have 1 and 2. */
enum { STREAM_SOURCE = 3, STREAM_TARGET = 4, STREAM_RESERVED = 5 };

/* PAIR_SLOTS blocks of sentences in parallel. */
typedef struct {
    const Corpus *corpus;
    int side;         /* PAIR_SOURCE or PAIR_TARGET */
    Tokenizer **view; /* [threads] */
    double rate;
    bool reserved;
    uint64_t key, reserved_key;
    size_t first; /* sentence of the first block */
    IdList *ids;  /* [PAIR_SLOTS] */
    int (*length)[PAIR_BLOCK];
} SideWork;

static int retokenize_count(const SideWork *work, int task) {
    size_t start = work->first + (size_t)task * PAIR_BLOCK, count = (size_t)work->corpus->count;
    if (start >= count) return 0;
    return count - start < PAIR_BLOCK ? (int)(count - start) : PAIR_BLOCK;
}

/* The text of the side, with reserved tokens if this epoch has them for the pair. */
static StrView epoch_text(const SideWork *work, size_t pair, StrBuf texts[PAIR_SIDES]) {
    StrView source = sv(work->corpus->source_text.items[pair]);
    StrView target = sv(work->corpus->target_text.items[pair]);
    for (int side = 0; side < PAIR_SIDES; side++) strbuf_clear(&texts[side]);
    Rng rng = rng_new(rng_key(work->reserved_key, pair, 0, 0));
    if (work->reserved && rng_below(&rng, 2) == 0 &&
        reserved_replace_pair(source, target, &texts[PAIR_SOURCE], &texts[PAIR_TARGET]))
        return strbuf_view(&texts[work->side]);
    return work->side == PAIR_SOURCE ? source : target;
}

static void retokenize_block(void *context, int task, int thread) {
    SideWork *work = context;
    IdList *ids = &work->ids[task];
    StrBuf texts[PAIR_SIDES] = {0};
    size_t start = work->first + (size_t)task * PAIR_BLOCK;
    ids->count = 0;
    for (int i = 0; i < retokenize_count(work, task); i++) {
        size_t pair = start + (size_t)i, before = ids->count;
        Rng rng = rng_new(rng_key(work->key, pair, 0, 0));
        StrView text = epoch_text(work, pair, texts);
        tokenizer_encode_sampled(work->view[thread], text, work->rate, &rng, ids);
        work->length[task][i] = (int)(ids->count - before);
    }
    for (int side = 0; side < PAIR_SIDES; side++) strbuf_free(&texts[side]);
}

static void retokenize(CorpusSide *side, Tokenizer *tokenizer, SideWork work, Workers *workers) {
    if (work.rate <= 0 && !work.reserved) return;
    size_t count = (size_t)work.corpus->count;
    int threads = workers_count(workers);
    SideBuilder builder = side_begin(side, tokenizer);
    mem_free(side->ids);
    mem_free(side->start);
    side->ids = side->start = NULL;
    work.view = mem_alloc((size_t)threads, sizeof *work.view);
    work.ids = mem_alloc(PAIR_SLOTS, sizeof *work.ids);
    work.length = mem_alloc(PAIR_SLOTS, sizeof *work.length);
    for (int i = 0; i < threads; i++) work.view[i] = tokenizer_view(tokenizer);
    for (int done = 0; work.first < count; work.first += (size_t)PAIR_SLOTS * PAIR_BLOCK) {
        workers_run(workers, PAIR_SLOTS, retokenize_block, &work);
        for (int task = 0; task < PAIR_SLOTS; task++) {
            int sentences = retokenize_count(&work, task);
            side_add(&builder, done, &work.ids[task], work.length[task], sentences);
            done += sentences;
        }
    }
    side_end(&builder, (int)count);
    for (int i = 0; i < threads; i++) tokenizer_free(work.view[i]);
    for (int slot = 0; slot < PAIR_SLOTS; slot++) id_list_free(&work.ids[slot]);
    mem_free(work.view);
    mem_free(work.ids);
    mem_free(work.length);
}

void corpus_retokenize(Corpus *c, Tokenizer *source, Tokenizer *target, const RetokenizeOptions *how,
                       uint64_t seed, int epoch, Workers *workers) {
    SideWork work = {.corpus = c, .reserved = how->reserved};
    work.reserved_key = rng_key(seed, (uint64_t)epoch, STREAM_RESERVED, 0);
    work.side = PAIR_SOURCE;
    work.rate = how->source_rate;
    work.key = rng_key(seed, (uint64_t)epoch, STREAM_SOURCE, 0);
    retokenize(&c->source, source, work, workers);
    work.side = PAIR_TARGET;
    work.rate = how->target_rate;
    work.key = rng_key(seed, (uint64_t)epoch, STREAM_TARGET, 0);
    retokenize(&c->target, target, work, workers);
}
