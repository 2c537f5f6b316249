/* bpe.c - see bpe.h. */
#include "tokenizer/bpe.h"

#include <assert.h>
#include <string.h>
#include "base/hashmap.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tokenizer/bigram.h"

enum { NONE = -1 };

typedef struct {
    int left, right;
    int result; /* symbol; NONE if the merge is never applied */
} Merge;

typedef struct {
    int rank;
    int at; /* position of the left symbol */
} Candidate;

struct Bpe {
    BpeMarker marker;
    HashMap *symbols; /* text -> id, in order of appearance */
    Merge *merges;
    size_t count, merges_capacity;
    int *made_by; /* [symbol] the first merge that makes it, or NONE */
    size_t made_by_capacity;
    BigramMap ranks;
    bool is_view; /* the fields above belong to another Bpe */

    /* Scratch of bpe_apply: the word as a linked list of symbols, and the candidate merges. */
    int *symbol, *next, *previous;
    size_t *start; /* [symbols + 1] start of each symbol in the word */
    size_t symbol_capacity, next_capacity, previous_capacity, start_capacity;
    Candidate *heap, *round;
    size_t heap_count, heap_capacity, round_capacity;
};

Bpe *bpe_new(BpeMarker marker) {
    Bpe *bpe = mem_alloc(1, sizeof *bpe);
    bpe->marker = marker;
    bpe->symbols = hashmap_new();
    return bpe;
}

Bpe *bpe_view(const Bpe *bpe) {
    Bpe *view = mem_alloc(1, sizeof *view);
    *view = (Bpe){.marker = bpe->marker,
                  .symbols = bpe->symbols,
                  .merges = bpe->merges,
                  .count = bpe->count,
                  .made_by = bpe->made_by,
                  .ranks = bpe->ranks,
                  .is_view = true};
    return view;
}

static void merges_free(Bpe *bpe) {
    hashmap_free(bpe->symbols);
    mem_free(bpe->merges);
    mem_free(bpe->made_by);
    bigram_free(&bpe->ranks);
}

void bpe_free(Bpe *bpe) {
    if (!bpe) return;
    if (!bpe->is_view) merges_free(bpe);
    mem_free(bpe->symbol);
    mem_free(bpe->next);
    mem_free(bpe->previous);
    mem_free(bpe->start);
    mem_free(bpe->heap);
    mem_free(bpe->round);
    mem_free(bpe);
}

BpeMarker bpe_marker(const Bpe *bpe) { return bpe->marker; }
size_t bpe_count(const Bpe *bpe) { return bpe->count; }

void bpe_merge(const Bpe *bpe, size_t rank, StrView *left, StrView *right) {
    assert(rank < bpe->count);
    *left = hashmap_key(bpe->symbols, (size_t)bpe->merges[rank].left);
    *right = hashmap_key(bpe->symbols, (size_t)bpe->merges[rank].right);
}

static int intern(Bpe *bpe, StrView text) {
    size_t before = hashmap_count(bpe->symbols);
    int id = (int)*hashmap_slot(bpe->symbols, text, (int)before);
    if ((size_t)id == before) {
        MEM_GROW(bpe->made_by, bpe->made_by_capacity, before + 1);
        bpe->made_by[id] = NONE;
    }
    return id;
}

bool bpe_mergeable(StrView left, StrView right) {
    if (left.length + right.length > BPE_SYMBOL_BYTES) return false;
    StrView end = SV(BPE_WORD_END);
    if (sv_ends(left, end)) return false; /* nothing follows the end of a word */
    if (right.length >= end.length) return true;
    char tail[2 * sizeof BPE_WORD_END];
    size_t length = left.length < end.length ? left.length : end.length;
    memcpy(tail, left.data + left.length - length, length);
    memcpy(tail + length, right.data, right.length);
    return !sv_ends((StrView){tail, length + right.length}, end);
}

void bpe_add(Bpe *bpe, StrView left, StrView right) {
    int rank = (int)bpe->count;
    Merge merge = {intern(bpe, left), intern(bpe, right), NONE};
    MEM_GROW(bpe->merges, bpe->merges_capacity, bpe->count + 1);
    bpe->merges[bpe->count++] = merge;
    if (!bpe_mergeable(left, right)) return;
    if (*bigram_slot(&bpe->ranks, merge.left, merge.right, rank) != rank) return;
    StrBuf joined = {0};
    strbuf_add(&joined, hashmap_key(bpe->symbols, (size_t)merge.left));
    strbuf_add(&joined, hashmap_key(bpe->symbols, (size_t)merge.right));
    int result = intern(bpe, strbuf_view(&joined));
    if (bpe->made_by[result] == NONE) bpe->made_by[result] = rank;
    bpe->merges[rank].result = result;
    strbuf_free(&joined);
}

size_t bpe_unit(BpeMarker marker, StrView word, size_t position) {
    size_t end = position;
    utf8_next(word, &end);
    StrView rest = {word.data + end, word.length - end};
    if (marker == BPE_SUFFIX && sv_equal(rest, SV(BPE_WORD_END))) end = word.length;
    return end - position;
}

/* ---- applying: a heap of candidate merges over a linked list of symbols ---- */

static bool comes_before(Candidate a, Candidate b) {
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

static void heap_push(Bpe *bpe, Candidate item) {
    MEM_GROW(bpe->heap, bpe->heap_capacity, bpe->heap_count + 1);
    size_t hole = bpe->heap_count++;
    for (; hole > 0 && comes_before(item, bpe->heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
        bpe->heap[hole] = bpe->heap[(hole - 1) / 2];
    bpe->heap[hole] = item;
}

static Candidate heap_pop(Bpe *bpe) {
    Candidate top = bpe->heap[0], last = bpe->heap[--bpe->heap_count];
    size_t hole = 0;
    for (size_t child; (child = 2 * hole + 1) < bpe->heap_count; hole = child) {
        if (child + 1 < bpe->heap_count && comes_before(bpe->heap[child + 1], bpe->heap[child])) child++;
        if (!comes_before(bpe->heap[child], last)) break;
        bpe->heap[hole] = bpe->heap[child];
    }
    bpe->heap[hole] = last;
    return top;
}

/* The rank of the pair that starts at `at`, or NONE. */
static int rank_at(const Bpe *bpe, int at) {
    int after = bpe->next[at];
    if (bpe->symbol[at] == NONE || after == NONE || bpe->symbol[after] == NONE) return NONE;
    return bigram_get(&bpe->ranks, bpe->symbol[at], bpe->symbol[after], NONE);
}

static void push_candidate(Bpe *bpe, int at) {
    int rank = at == NONE ? NONE : rank_at(bpe, at);
    if (rank != NONE) heap_push(bpe, (Candidate){rank, at});
}

static size_t split_units(Bpe *bpe, StrView word) {
    size_t count = 0;
    for (size_t position = 0; position < word.length;) {
        size_t length = bpe_unit(bpe->marker, word, position);
        MEM_GROW(bpe->symbol, bpe->symbol_capacity, count + 1);
        MEM_GROW(bpe->start, bpe->start_capacity, count + 2);
        bpe->symbol[count] = (int)hashmap_get(bpe->symbols, (StrView){word.data + position, length}, NONE);
        bpe->start[count++] = position;
        position += length;
        bpe->start[count] = position;
    }
    MEM_GROW(bpe->next, bpe->next_capacity, count);
    MEM_GROW(bpe->previous, bpe->previous_capacity, count);
    for (size_t i = 0; i < count; i++) {
        bpe->previous[i] = (int)i - 1;
        bpe->next[i] = i + 1 < count ? (int)i + 1 : NONE;
    }
    return count;
}

/* Replaces the symbol at `at` and the next one by the result of merge `rank`. */
static void merge_at(Bpe *bpe, int rank, int at) {
    int removed = bpe->next[at], after = bpe->next[removed];
    bpe->symbol[at] = bpe->merges[rank].result;
    bpe->symbol[removed] = NONE;
    bpe->next[at] = after;
    if (after != NONE) bpe->previous[after] = at;
}

/* One round: all occurrences of the best pair. Pairs that arise from them wait for later rounds. */
static void merge_round(Bpe *bpe) {
    int rank = bpe->heap[0].rank;
    size_t count = 0;
    while (bpe->heap_count > 0 && bpe->heap[0].rank == rank) {
        MEM_GROW(bpe->round, bpe->round_capacity, count + 1);
        bpe->round[count++] = heap_pop(bpe);
    }
    size_t merged = 0;
    for (size_t i = 0; i < count; i++) {
        int at = bpe->round[i].at;
        if (rank_at(bpe, at) != rank) continue; /* a neighbour is merged already, as in "aaa" */
        merge_at(bpe, rank, at);
        bpe->round[merged++] = bpe->round[i];
    }
    for (size_t i = 0; i < merged; i++) {
        int at = bpe->round[i].at;
        push_candidate(bpe, bpe->previous[at]);
        push_candidate(bpe, at);
    }
}

static void emit_pieces(const Bpe *bpe, StrView word, BpePiece piece, void *context) {
    for (int at = 0; at != NONE; at = bpe->next[at]) {
        size_t end = bpe->next[at] == NONE ? word.length : bpe->start[bpe->next[at]];
        piece(context, (StrView){word.data + bpe->start[at], end - bpe->start[at]});
    }
}

void bpe_apply(Bpe *bpe, StrView word, BpePiece piece, void *context) {
    if (word.length == 0) return;
    size_t count = split_units(bpe, word);
    bpe->heap_count = 0;
    for (size_t i = 0; i + 1 < count; i++) push_candidate(bpe, (int)i);
    while (bpe->heap_count > 0) merge_round(bpe);
    emit_pieces(bpe, word, piece, context);
}

/* One round: drops pairs at random and merges the ones of lowest rank. False if none is left. */
static bool merge_some(Bpe *bpe, double p, Rng *rng) {
    bpe->heap_count = 0;
    for (int at = 0; at != NONE; at = bpe->next[at])
        if (rank_at(bpe, at) != NONE && rng_uniform(rng) >= p) push_candidate(bpe, at);
    if (bpe->heap_count == 0) return false;
    merge_round(bpe);
    return true;
}

void bpe_apply_dropout(Bpe *bpe, StrView word, double p, Rng *rng, BpePiece piece, void *context) {
    if (word.length == 0) return;
    split_units(bpe, word);
    while (merge_some(bpe, p, rng)) continue;
    emit_pieces(bpe, word, piece, context);
}

bool bpe_split(const Bpe *bpe, StrView piece, StrView *left, StrView *right) {
    int symbol = (int)hashmap_get(bpe->symbols, piece, NONE);
    if (symbol == NONE || bpe->made_by[symbol] == NONE) return false;
    Merge merge = bpe->merges[bpe->made_by[symbol]];
    size_t cut = hashmap_key(bpe->symbols, (size_t)merge.left).length;
    *left = (StrView){piece.data, cut};
    *right = (StrView){piece.data + cut, piece.length - cut};
    return true;
}

/* ---- subword-nmt's file format ---- */

#define VERSION_LINE "#version: 0.2"

void bpe_write(const Bpe *bpe, StrBuf *out) {
    strbuf_add(out, SV(VERSION_LINE "\n"));
    for (size_t rank = 0; rank < bpe->count; rank++) {
        StrView left, right;
        bpe_merge(bpe, rank, &left, &right);
        strbuf_format(out, "%.*s %.*s\n", SV_ARG(left), SV_ARG(right));
    }
}

/* A line has two fields with one plain space between them; a field may contain any other character. */
Status bpe_add_line(Bpe *bpe, StrView line, const char *name, long number) {
    StrView rest = line, left = {0}, right = {0}, extra;
    bool has_two = sv_next(&rest, ' ', &left) && sv_next(&rest, ' ', &right) && !sv_next(&rest, ' ', &extra);
    bool has_line_end =
        line.length > 0 && (memchr(line.data, '\n', line.length) || memchr(line.data, '\r', line.length));
    if (!has_two || has_line_end || left.length == 0 || right.length == 0) {
        status_fail(STATUS_DATA, "'%s', line %ld: not two symbols separated by one space", name, number);
        return status_hint(STATUS_DATA,
                           "merge lists have one 'left right' a line, as subword-nmt writes them");
    }
    if (left.length + right.length > BPE_SYMBOL_BYTES)
        return status_fail(STATUS_DATA, "'%s', line %ld: symbol of more than %d bytes", name, number,
                           BPE_SYMBOL_BYTES);
    bpe_add(bpe, left, right);
    return STATUS_OK;
}

static StrView strip_line(StrView line) {
    while (line.length > 0 && (line.data[line.length - 1] == '\r' || line.data[line.length - 1] == ' '))
        line.length--;
    return line;
}

static Status read_merges(Bpe *bpe, StrView text, const char *name) {
    while (text.length > 0 && (text.data[text.length - 1] == '\n' || text.data[text.length - 1] == '\r'))
        text.length--;
    StrView line, rest = text;
    bool first = sv_next(&rest, '\n', &line);
    if (!first || !sv_equal(strip_line(line), SV(VERSION_LINE))) {
        status_fail(STATUS_DATA, "'%s' does not start with '" VERSION_LINE "'", name);
        return status_hint(STATUS_DATA, "give a file written by 'subword-nmt learn-bpe' or by attn-mt");
    }
    bool suffix = false, prefix = false;
    for (long number = 2; sv_next(&rest, '\n', &line); number++) {
        line = strip_line(line);
        TRY(bpe_add_line(bpe, line, name, number));
        suffix |= sv_ends(line, SV(BPE_WORD_END));
        prefix |= sv_starts(line, SV(BPE_SPACE));
    }
    if (suffix || prefix) bpe->marker = suffix ? BPE_SUFFIX : BPE_PREFIX;
    return STATUS_OK;
}

Status bpe_read(Bpe **bpe, StrView text, const char *name, BpeMarker default_marker) {
    *bpe = NULL;
    if (!utf8_valid(text) || (text.length > 0 && memchr(text.data, 0, text.length)))
        return status_fail(STATUS_DATA, "'%s' is not a merge list: invalid UTF-8 or a NUL byte", name);
    Bpe *result = bpe_new(default_marker);
    Status status = read_merges(result, text, name);
    if (status == STATUS_OK)
        *bpe = result;
    else
        bpe_free(result);
    return status;
}
