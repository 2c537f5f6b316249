/* sentencepiece_encode.c - cuts the normal form into pieces: unigram (Viterbi) or BPE (merges). */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "sentencepiece/sentencepiece_parts.h"

static const float UNKNOWN_PENALTY = 10.0F, FAR_SCORE = 100000.0F;

typedef struct {
    float score;
    int id;
    size_t start; /* SIZE_MAX: no piece ends here yet */
} Best;

/* A piece, or an unknown character, that begins at one place. */
typedef struct {
    size_t end;
    float score;
    int id;
} Candidate;

/* The same for sampling; `before`: the edge before it with the same end, or -1. */
typedef struct {
    size_t start;
    double score; /* times alpha */
    int id;
    ptrdiff_t before;
} Edge;

/* A part of the text, in a list linked both ways. The list has no parts of length 0: they are merged. */
typedef struct {
    size_t at, length;
    ptrdiff_t before, after; /* -1: none */
    bool frozen;             /* a user-defined piece, never merged */
} Part;

typedef struct {
    float score;
    ptrdiff_t left, right; /* parts */
    size_t length;         /* of both, when the pair was added: another length now means that it is gone */
} Pair;

typedef struct {
    size_t at, length;
} Span;

struct SentencePieceScratch {
    Candidate *candidates; /* [SENTENCEPIECE_PIECE_BYTES + 1] */
    Best *best;            /* [bytes + 1] the best pieces up to each byte */
    Edge *edges;
    ptrdiff_t *last; /* [bytes + 1] the last edge that ends there, or -1 */
    double *sums;    /* [bytes + 1] of the probabilities of all ways to get there, as a logarithm */
    Part *parts;
    Pair *pairs;   /* a heap: the best pair first */
    size_t *split; /* [pieces] of an unused piece: the length of the left part that it was merged from */
    Span *spans;   /* a stack */
    size_t best_capacity, part_capacity, pair_capacity, pairs_count, split_capacity, span_capacity,
        edge_capacity, last_capacity, sum_capacity;
};

void sentencepiece_scratch_free(struct SentencePieceScratch *scratch) {
    if (!scratch) return;
    mem_free(scratch->candidates);
    mem_free(scratch->best);
    mem_free(scratch->edges);
    mem_free(scratch->last);
    mem_free(scratch->sums);
    mem_free(scratch->parts);
    mem_free(scratch->pairs);
    mem_free(scratch->split);
    mem_free(scratch->spans);
    mem_free(scratch);
}

/* ---- the result ---- */

static void add_piece(SentencePieceText *result, EncodedPiece piece) {
    MEM_GROW(result->pieces, result->capacity, result->count + 1);
    result->pieces[result->count++] = piece;
}

/* Adds the piece of normal[at, at + length): bytes for an unknown piece if the model has them, otherwise one
 * unknown piece for neighbours. */
static void add_span(const SentencePiece *model, SentencePieceText *result, Span span, int id) {
    StrView text = {result->normal.data + span.at, span.length};
    size_t begin = result->origin[span.at], end = result->origin[span.at + span.length];
    EncodedPiece *last = result->count ? &result->pieces[result->count - 1] : NULL;
    if (id == model->unknown && model->bytes) {
        for (size_t i = 0; i < span.length; i++) {
            int byte_id = model->byte_ids[(unsigned char)text.data[i]];
            bool ends = i + 1 == span.length;
            add_piece(result,
                      (EncodedPiece){byte_id, model->pieces[byte_id].text, begin, ends ? end : begin});
        }
    } else if (id == model->unknown && last && last->id == model->unknown) {
        last->text.length += span.length;
        last->end = end;
    } else {
        add_piece(result, (EncodedPiece){id, text, begin, end});
    }
}

/* ---- unigram ---- */

static void offer(Best *end, float score, size_t start, int id) {
    if (end->start == SIZE_MAX || score > end->score) *end = (Best){score, id, start};
}

/* A user-defined piece beats all other pieces, and a longer one the shorter ones that it begins with. */
static float piece_score(const ModelPiece *piece) {
    if (piece->kind != PIECE_USER_DEFINED) return piece->score;
    return (float)(0.1 * (double)(piece->text.length - 1));
}

/* All pieces that start at `start`, in the order of their ends, and the character as unknown if it is
 * none. */
static size_t find_pieces(const SentencePiece *model, StrView text, size_t start, Candidate *candidates) {
    size_t character = character_bytes(text.data[start]), count = 0;
    bool whole = false; /* is the character at `start` a piece? */
    int node = 0;
    for (size_t i = start; i < text.length; i++) {
        node = piece_trie_child(model->trie, node, text.data[i]);
        if (node == 0) break;
        int id = piece_trie_id(model->trie, node);
        if (id < 0 || model->pieces[id].kind == PIECE_UNUSED) continue;
        candidates[count++] = (Candidate){i + 1, piece_score(&model->pieces[id]), id};
        whole |= i + 1 - start == character;
    }
    if (!whole)
        candidates[count++] =
            (Candidate){start + character, model->min_score - UNKNOWN_PENALTY, model->unknown};
    return count;
}

/* Sums of long lines are set back, or they would lose digits. As in the original: rounding decides ties. */
static void set_back(Best *best, size_t start, size_t farthest) {
    float offset = best[start].score;
    if (fabsf(offset) <= FAR_SCORE) return;
    for (size_t i = start; i <= farthest; i++)
        if (i == start || best[i].start != SIZE_MAX) best[i].score -= offset;
}

/* Adds the pieces of a path: `count` spans, the last one first, with their ids in `best`. */
static void add_spans(const SentencePiece *model, SentencePieceText *result, size_t count) {
    const struct SentencePieceScratch *scratch = result->scratch;
    while (count-- > 0) {
        Span span = scratch->spans[count];
        add_span(model, result, span, scratch->best[span.at + span.length].id);
    }
}

static void encode_unigram(const SentencePiece *model, SentencePieceText *result) {
    struct SentencePieceScratch *scratch = result->scratch;
    StrView text = strbuf_view(&result->normal);
    MEM_GROW(scratch->best, scratch->best_capacity, text.length + 1);
    Best *best = scratch->best;
    for (size_t i = 0; i <= text.length; i++) best[i] = (Best){0, -1, SIZE_MAX};
    size_t farthest = 0;
    for (size_t start = 0; start < text.length; start += character_bytes(text.data[start])) {
        set_back(best, start, farthest);
        size_t count = find_pieces(model, text, start, scratch->candidates);
        for (const Candidate *c = scratch->candidates; c < scratch->candidates + count; c++) {
            offer(&best[c->end], c->score + best[start].score, start, c->id);
            if (c->end > farthest) farthest = c->end;
        }
    }
    size_t count = 0; /* of the path, from its end */
    for (size_t end = text.length; end > 0; end = best[end].start) {
        MEM_GROW(scratch->spans, scratch->span_capacity, count + 1);
        scratch->spans[count++] = (Span){best[end].start, end - best[end].start};
    }
    add_spans(model, result, count);
}

/* ---- sampling ---- */

static double add_logs(double a, double b) {
    double most = fmax(a, b), least = fmin(a, b);
    return most > -INFINITY ? most + log1p(exp(least - most)) : most;
}

/* All ways to cut the text, with the probabilities of unigrams to the power of `alpha`. */
static void build_lattice(const SentencePiece *model, StrView text, double alpha,
                          struct SentencePieceScratch *scratch) {
    ptrdiff_t edges = 0;
    MEM_GROW(scratch->last, scratch->last_capacity, text.length + 1);
    MEM_GROW(scratch->sums, scratch->sum_capacity, text.length + 1);
    for (size_t i = 0; i <= text.length; i++) {
        scratch->last[i] = -1;
        scratch->sums[i] = i == 0 ? 0 : -INFINITY;
    }
    for (size_t start = 0; start < text.length; start += character_bytes(text.data[start])) {
        size_t count = find_pieces(model, text, start, scratch->candidates);
        MEM_GROW(scratch->edges, scratch->edge_capacity, (size_t)edges + count);
        for (const Candidate *c = scratch->candidates; c < scratch->candidates + count; c++) {
            double score = alpha * (double)c->score;
            scratch->edges[edges] = (Edge){start, score, c->id, scratch->last[c->end]};
            scratch->last[c->end] = edges++;
            scratch->sums[c->end] = add_logs(scratch->sums[c->end], scratch->sums[start] + score);
        }
    }
}

/* Draws one of the edges that end at `end`. */
static const Edge *sample_edge(const struct SentencePieceScratch *scratch, size_t end, Rng *rng) {
    double remaining = rng_uniform(rng);
    const Edge *edge = &scratch->edges[scratch->last[end]];
    for (;; edge = &scratch->edges[edge->before]) {
        remaining -= exp(scratch->sums[edge->start] + edge->score - scratch->sums[end]);
        if (remaining < 0 || edge->before < 0) return edge;
    }
}

static void sample_unigram(const SentencePiece *model, double alpha, Rng *rng, SentencePieceText *result) {
    struct SentencePieceScratch *scratch = result->scratch;
    StrView text = strbuf_view(&result->normal);
    size_t count = 0;
    build_lattice(model, text, alpha, scratch);
    MEM_GROW(scratch->best, scratch->best_capacity, text.length + 1);
    for (size_t end = text.length; end > 0; end = scratch->best[end].start) {
        const Edge *edge = sample_edge(scratch, end, rng);
        scratch->best[end] = (Best){0, edge->id, edge->start};
        MEM_GROW(scratch->spans, scratch->span_capacity, count + 1);
        scratch->spans[count++] = (Span){edge->start, end - edge->start};
    }
    add_spans(model, result, count);
}

/* ---- BPE ---- */

static bool comes_first(const Pair *a, const Pair *b) {
    return a->score > b->score || (!(a->score < b->score) && a->left < b->left);
}

static void swap(Pair *a, Pair *b) {
    Pair pair = *a;
    *a = *b;
    *b = pair;
}

static void heap_push(struct SentencePieceScratch *scratch, Pair pair) {
    MEM_GROW(scratch->pairs, scratch->pair_capacity, scratch->pairs_count + 1);
    size_t at = scratch->pairs_count++;
    scratch->pairs[at] = pair;
    for (; at > 0 && comes_first(&scratch->pairs[at], &scratch->pairs[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&scratch->pairs[at], &scratch->pairs[(at - 1) / 2]);
}

static Pair heap_pop(struct SentencePieceScratch *scratch) {
    Pair *pairs = scratch->pairs, first = pairs[0];
    size_t count = --scratch->pairs_count;
    pairs[0] = pairs[count];
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_first(&pairs[child + 1], &pairs[child])) child++;
        if (!comes_first(&pairs[child], &pairs[at])) break;
        swap(&pairs[child], &pairs[at]);
    }
    return first;
}

static size_t *split_of(const SentencePiece *model, struct SentencePieceScratch *scratch, int id) {
    if (!scratch->split) {
        MEM_GROW(scratch->split, scratch->split_capacity, model->count);
        memset(scratch->split, 0, model->count * sizeof *scratch->split);
    }
    return &scratch->split[id];
}

static void offer_pair(const SentencePiece *model, SentencePieceText *result, ptrdiff_t left,
                       ptrdiff_t right) {
    struct SentencePieceScratch *scratch = result->scratch;
    if (left < 0 || right < 0) return;
    const Part *a = &scratch->parts[left], *b = &scratch->parts[right];
    if (a->frozen || b->frozen) return;
    size_t length = a->length + b->length;
    int id = piece_trie_find(model->trie, (StrView){result->normal.data + a->at, length});
    if (id < 0) return;
    heap_push(scratch, (Pair){model->pieces[id].score, left, right, length});
    if (model->pieces[id].kind == PIECE_UNUSED) *split_of(model, scratch, id) = a->length;
}

static size_t cut_parts(const SentencePiece *model, SentencePieceText *result) {
    struct SentencePieceScratch *scratch = result->scratch;
    StrView text = strbuf_view(&result->normal);
    size_t count = 0;
    for (size_t at = 0, length; at < text.length; at += length) {
        StrView rest = {text.data + at, text.length - at};
        length = model->user_trie ? piece_trie_longest(model->user_trie, rest) : 0;
        bool frozen = length > 0;
        if (!frozen) length = character_bytes(rest.data[0]);
        MEM_GROW(scratch->parts, scratch->part_capacity, count + 1);
        scratch->parts[count] = (Part){at, length, (ptrdiff_t)count - 1, (ptrdiff_t)count + 1, frozen};
        count++;
    }
    scratch->parts[count - 1].after = -1;
    return count;
}

static void merge(const SentencePiece *model, SentencePieceText *result, const Pair *pair) {
    Part *parts = result->scratch->parts, *left = &parts[pair->left], *right = &parts[pair->right];
    if (left->length == 0 || right->length == 0 || left->length + right->length != pair->length) return;
    left->length += right->length;
    left->after = right->after;
    if (right->after >= 0) parts[right->after].before = pair->left;
    right->length = 0;
    offer_pair(model, result, left->before, pair->left);
    offer_pair(model, result, pair->left, left->after);
}

/* The id of a part, which may be a text that is only reserved: that is unknown text. */
static int part_id(const SentencePiece *model, StrView text) {
    int id = piece_trie_find(model->trie, text);
    return id >= 0 ? id : model->unknown;
}

/* Adds a part; unused pieces are split again. */
static void add_part(const SentencePiece *model, SentencePieceText *result, Span part) {
    struct SentencePieceScratch *scratch = result->scratch;
    size_t depth = 0;
    MEM_GROW(scratch->spans, scratch->span_capacity, 1);
    scratch->spans[depth++] = part;
    while (depth > 0) {
        Span span = scratch->spans[--depth];
        int id = part_id(model, (StrView){result->normal.data + span.at, span.length});
        bool unused = model->pieces[id].kind == PIECE_UNUSED;
        size_t left = unused ? *split_of(model, scratch, id) : 0;
        if (left == 0) {
            add_span(model, result, span, unused ? model->unknown : id);
            continue;
        }
        MEM_GROW(scratch->spans, scratch->span_capacity, depth + 2);
        scratch->spans[depth++] = (Span){span.at + left, span.length - left};
        scratch->spans[depth++] = (Span){span.at, left};
    }
}

static void encode_bpe(const SentencePiece *model, SentencePieceText *result) {
    struct SentencePieceScratch *scratch = result->scratch;
    mem_free(scratch->split);
    scratch->split = NULL;
    scratch->split_capacity = 0;
    scratch->pairs_count = 0;
    size_t count = cut_parts(model, result);
    for (size_t i = 1; i < count; i++) offer_pair(model, result, (ptrdiff_t)i - 1, (ptrdiff_t)i);
    while (scratch->pairs_count > 0) {
        Pair pair = heap_pop(scratch);
        merge(model, result, &pair);
    }
    for (ptrdiff_t i = 0; i >= 0; i = scratch->parts[i].after)
        add_part(model, result, (Span){scratch->parts[i].at, scratch->parts[i].length});
}

/* Writes the normal form; false if it is empty. */
static bool begin(const Normalizer *normalizer, StrView line, SentencePieceText *result) {
    result->count = 0;
    if (!result->scratch) {
        result->scratch = mem_alloc(1, sizeof *result->scratch);
        result->scratch->candidates =
            mem_alloc(SENTENCEPIECE_PIECE_BYTES + 1, sizeof *result->scratch->candidates);
    }
    sentencepiece_normalize(normalizer, line, result);
    return result->normal.length > 0;
}

static void encode(const SentencePiece *model, const Normalizer *normalizer, StrView line,
                   SentencePieceText *result) {
    if (!begin(normalizer, line, result)) return;
    if (model->unigram)
        encode_unigram(model, result);
    else
        encode_bpe(model, result);
}

void sentencepiece_encode(const SentencePiece *model, StrView line, SentencePieceText *result) {
    encode(model, &model->normalizer, line, result);
}

void sentencepiece_encode_after_text(const SentencePiece *model, StrView text, SentencePieceText *result) {
    Normalizer normalizer = model->normalizer;
    normalizer.dummy_prefix &= normalizer.space_is_suffix;
    encode(model, &normalizer, text, result);
}

void sentencepiece_sample(const SentencePiece *model, StrView line, double alpha, Rng *rng,
                          SentencePieceText *result) {
    if (begin(&model->normalizer, line, result)) sample_unigram(model, alpha, rng, result);
}

void sentencepiece_text_free(SentencePieceText *text) {
    mem_free(text->pieces);
    strbuf_free(&text->normal);
    mem_free(text->origin);
    sentencepiece_scratch_free(text->scratch);
    *text = (SentencePieceText){0};
}
