/* corpus.c - see corpus.h. */
#include "text/corpus.h"

#include <limits.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"

/* ---- reading ---- */

typedef struct {
    Corpus *corpus;
    size_t source_capacity, target_capacity; /* of the start arrays */
    long without_tokens;
} Builder;

static bool is_too_long(size_t source, size_t target, const DataOptions *options) {
    size_t longer = source > target ? source : target, shorter = source > target ? target : source;
    if (options->max_length > 0 && longer > (size_t)options->max_length) return true;
    return options->max_ratio > 0 && (double)longer > options->max_ratio * (double)shorter;
}

/* Encode a pair at the end of the corpus; take it off again if it is not wanted. Returns whether it
 * stayed. */
static bool add_pair(Builder *builder, Segmenter *source, Segmenter *target, StrView source_line,
                     StrView target_line, const DataOptions *filter) {
    Corpus *corpus = builder->corpus;
    size_t source_start = corpus->source.count, target_start = corpus->target.count;
    segmenter_encode(source, source_line, &corpus->source);
    segmenter_encode(target, target_line, &corpus->target);
    size_t source_length = corpus->source.count - source_start,
           target_length = corpus->target.count - target_start;
    bool empty = source_length == 0 || target_length == 0;
    bool too_long = !empty && filter && is_too_long(source_length, target_length, filter);
    builder->without_tokens += empty;
    corpus->too_long += too_long;
    if (empty || too_long) {
        corpus->source.count = source_start;
        corpus->target.count = target_start;
        return false;
    }
    corpus->count++;
    size_t count = (size_t)corpus->count;
    MEM_GROW(corpus->source_start, builder->source_capacity, count + 1);
    MEM_GROW(corpus->target_start, builder->target_capacity, count + 1);
    corpus->source_start[count - 1] = source_start;
    corpus->target_start[count - 1] = target_start;
    corpus->source_start[count] = corpus->source.count;
    corpus->target_start[count] = corpus->target.count;
    return true;
}

static void hash_pair(Sha256 *hash, StrView source, StrView target) {
    sha256_add(hash, source.data, source.length);
    sha256_add(hash, "\t", 1);
    sha256_add(hash, target.data, target.length);
    sha256_add(hash, "\n", 1);
}

static Status read_pairs(Builder *builder, PairReader *reader, const DataOptions *options, Segmenter *source,
                         Segmenter *target, bool filter, bool keep_text) {
    Corpus *corpus = builder->corpus;
    Sha256 hash;
    sha256_begin(&hash);
    for (;;) {
        StrView source_line, target_line;
        bool more;
        if (filter && options->limit > 0 && pair_reader_count(reader) >= options->limit) break;
        TRY(pair_reader_next(reader, &source_line, &target_line, &more));
        if (!more) break;
        if (corpus->count == INT_MAX - 1)
            return status_fail(STATUS_DATA, "more than %d sentence pairs", INT_MAX - 1);
        hash_pair(&hash, source_line, target_line);
        if (!add_pair(builder, source, target, source_line, target_line, filter ? options : NULL) ||
            !keep_text)
            continue;
        strlist_add(&corpus->source_text, source_line);
        strlist_add(&corpus->target_text, target_line);
    }
    sha256_end(&hash, corpus->sha256);
    if (corpus->count > 0) return STATUS_OK;
    status_fail(STATUS_DATA, "none of %ld sentence pairs is left after filtering", pair_reader_count(reader));
    return status_hint(STATUS_DATA, "raise data.max_length or data.max_ratio");
}

static void warn(const PairReader *reader, long without_tokens) {
    StrBuf report = {0};
    pair_reader_report(reader, &report);
    StrView line, rest = strbuf_view(&report);
    while (sv_next(&rest, '\n', &line))
        if (line.length > 0) log_warn("%.*s", SV_ARG(line));
    if (without_tokens > 0) log_warn("dropped %ld pairs with a side without any token", without_tokens);
    strbuf_free(&report);
}

/* Give back what growing by halves took too much. */
static void trim(IdList *list) {
    if (list->count == 0) return;
    list->ids = mem_realloc(list->ids, list->count, sizeof *list->ids);
    list->capacity = list->count;
}

static PairPart part_of(const DataOptions *options, bool training) {
    if (options->held_out <= 0 || options->valid.count > 0) return PAIRS_ALL;
    return training ? PAIRS_NOT_HELD_OUT : PAIRS_HELD_OUT;
}

Status corpus_read(Corpus *corpus, const StrList *entries, const DataOptions *options, Segmenter *source,
                   Segmenter *target, bool filter, bool keep_text) {
    *corpus = (Corpus){0};
    PairReader *reader;
    TRY(pair_reader_open(&reader, entries, options));
    pair_reader_take(reader, part_of(options, filter));
    Builder builder = {.corpus = corpus};
    Status status = read_pairs(&builder, reader, options, source, target, filter, keep_text);
    if (status == STATUS_OK) {
        if (part_of(options, filter) != PAIRS_HELD_OUT) warn(reader, builder.without_tokens);
        trim(&corpus->source);
        trim(&corpus->target);
    } else {
        corpus_free(corpus);
    }
    pair_reader_close(reader);
    return status;
}

Corpus corpus_swapped(const Corpus *c) {
    Corpus other = *c;
    other.source = c->target;
    other.target = c->source;
    other.source_start = c->target_start;
    other.target_start = c->source_start;
    other.source_text = c->target_text;
    other.target_text = c->source_text;
    return other;
}

/* ---- BPE-dropout ---- */

enum { STREAM_SOURCE = 3, STREAM_TARGET = 4 }; /* third part of the random key; batches have 1 and 2 */

static void resegment(IdList *ids, size_t *start, const StrList *texts, Segmenter *segmenter, double dropout,
                      uint64_t key) {
    if (dropout <= 0) return;
    ids->count = 0;
    for (size_t pair = 0; pair < texts->count; pair++) {
        Rng rng = rng_new(rng_key(key, pair, 0, 0));
        segmenter_encode_dropout(segmenter, sv(texts->items[pair]), dropout, &rng, ids);
        start[pair + 1] = ids->count;
    }
}

void corpus_resegment(Corpus *c, Segmenter *source, double source_dropout, Segmenter *target,
                      double target_dropout, uint64_t seed, int epoch) {
    resegment(&c->source, c->source_start, &c->source_text, source, source_dropout,
              rng_key(seed, (uint64_t)epoch, STREAM_SOURCE, 0));
    resegment(&c->target, c->target_start, &c->target_text, target, target_dropout,
              rng_key(seed, (uint64_t)epoch, STREAM_TARGET, 0));
}

void corpus_free(Corpus *corpus) {
    id_list_free(&corpus->source);
    id_list_free(&corpus->target);
    mem_free(corpus->source_start);
    mem_free(corpus->target_start);
    strlist_free(&corpus->source_text);
    strlist_free(&corpus->target_text);
    *corpus = (Corpus){0};
}

/* ---- learning ---- */

typedef struct {
    PairReader *reader;
    bool source, target; /* which sides to give */
    int limit;
    StrView waiting; /* the target of a pair whose source was just given */
    bool has_waiting;
} SideLines;

static Status next_side(void *context, StrView *line, bool *more) {
    SideLines *sides = context;
    *more = true;
    if (sides->has_waiting) {
        *line = sides->waiting;
        sides->has_waiting = false;
        return STATUS_OK;
    }
    StrView source, target;
    *more = false;
    if (sides->limit > 0 && pair_reader_count(sides->reader) >= sides->limit) return STATUS_OK;
    TRY(pair_reader_next(sides->reader, &source, &target, more));
    *line = sides->source ? source : target;
    sides->waiting = target;
    sides->has_waiting = *more && sides->source && sides->target;
    return STATUS_OK;
}

static Status learn_side(Segmenter **segmenter, SideLines *sides, const TextOptions *text) {
    pair_reader_rewind(sides->reader);
    return segmenter_learn(segmenter, text, next_side, sides);
}

static Status learn_both(PairReader *reader, const DataOptions *data, const TextOptions *text,
                         Segmenter **source, Segmenter **target) {
    SideLines sides = {.reader = reader, .source = true, .target = text->joint, .limit = data->limit};
    TRY(learn_side(source, &sides, text));
    if (text->joint) {
        *target = segmenter_retain(*source);
        return STATUS_OK;
    }
    sides.source = false, sides.target = true;
    return learn_side(target, &sides, text);
}

Status corpus_learn_segmenters(const StrList *entries, const DataOptions *data, const TextOptions *text,
                               Segmenter **source, Segmenter **target) {
    *source = *target = NULL;
    PairReader *reader;
    TRY(pair_reader_open(&reader, entries, data));
    pair_reader_take(reader, part_of(data, true));
    Status status = learn_both(reader, data, text, source, target);
    pair_reader_close(reader);
    if (status == STATUS_OK) return STATUS_OK;
    segmenter_free(*source);
    *source = NULL;
    return status;
}
