/* unigram_learn.c - see unigram_learn.h.
 *
 * Substrings are found by sorting all suffixes of the distinct words. Neighbours in that order with a common
 * beginning form intervals, one for each substring that cannot be extended without losing an occurrence
 * (Kasai et al. 2001, "Linear-time longest-common-prefix computation in suffix arrays").
 */
#include "tokenizer/unigram_learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "tokenizer/bpe_learn.h"
#include "sentencepiece/piece_trie.h"

enum { EM_STEPS = 2, UNKNOWN_PIECE = -1 };
static const double SHRINK = 0.75, SPARE = 1.1, MIN_EXPECTED = 0.5, UNKNOWN_PENALTY = 10, SCORE_STEP = 1e-4;

typedef struct {
    StrView text; /* in the words */
    double score; /* log probability; of seeds a count */
    bool single;  /* one character */
} Piece;

typedef struct {
    Piece *items;
    size_t count, capacity;
} PieceList;

typedef struct {
    StrView text;
    double count;
} Word;

/* A piece of a word, or an unknown character. */
typedef struct {
    size_t start, end; /* bytes of the word */
    int piece;
    double score;
} Edge;

typedef struct {
    Word *words;
    size_t word_count;
    double total;        /* of the counts of words */
    HashMap *characters; /* that become pieces: with their counts */
    PieceList pieces;
    PieceTrie *trie;  /* of `pieces` */
    double min_score; /* score of `pieces` */
    /* scratch of one word */
    Edge *edges;
    size_t edge_count, edge_capacity;
    double *alpha, *beta; /* [BPE_LEARN_LONGEST + 1] */
    size_t *back;         /* [BPE_LEARN_LONGEST + 1] edge */
} Learner;

static void add_piece(PieceList *list, StrView text, double score, bool single) {
    MEM_GROW(list->items, list->capacity, list->count + 1);
    list->items[list->count++] = (Piece){text, score, single};
}

static StrView character_at(StrView text, size_t position) {
    size_t end = position;
    utf8_next(text, &end);
    return (StrView){text.data + position, end - position};
}

/* ---- seeds ---- */

/* A word from one of its characters on, at most UNIGRAM_PIECE_CHARACTERS. */
typedef struct {
    StrView text;
    bool whole; /* up to the end of the word */
    double count;
} Suffix;

static int compare_suffixes(const void *a, const void *b) {
    return sv_compare(((const Suffix *)a)->text, ((const Suffix *)b)->text);
}

static Suffix *list_suffixes(const Learner *l, size_t *count) {
    Suffix *suffixes = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t w = 0; w < l->word_count; w++) {
        StrView word = l->words[w].text;
        for (size_t start = 0; start < word.length;) {
            StrView rest = {word.data + start, word.length - start};
            size_t end = 0;
            for (int i = 0; i < UNIGRAM_PIECE_CHARACTERS && end < rest.length; i++) utf8_next(rest, &end);
            MEM_GROW(suffixes, capacity, *count + 1);
            suffixes[(*count)++] = (Suffix){{rest.data, end}, end == rest.length, l->words[w].count};
            start += character_at(word, start).length;
        }
    }
    if (*count > 0) qsort(suffixes, *count, sizeof *suffixes, compare_suffixes);
    return suffixes;
}

/* Bytes of the characters that both begin with. */
static size_t common_bytes(StrView a, StrView b) {
    size_t length = 0, most = a.length < b.length ? a.length : b.length;
    while (length < most && a.data[length] == b.data[length]) length++;
    while (length > 0 && length < a.length && utf8_continues(a.data[length])) length--;
    return length;
}

static void add_seed(Learner *l, StrView text, double count) {
    size_t characters = utf8_count(text);
    if (characters < 2 || count < 2) return;
    for (size_t at = 0; at < text.length;) {
        StrView character = character_at(text, at);
        if (hashmap_get(l->characters, character, -1) < 0) return;
        at += character.length;
    }
    add_piece(&l->pieces, text, count * (double)characters, false);
}

typedef struct {
    size_t length; /* of the substring */
    double count;
} Interval;

/* Adds each repeated substring that cannot be extended without losing an occurrence. */
static void add_repeated(Learner *l, const Suffix *suffixes, size_t count) {
    Interval *stack = NULL;
    size_t depth = 0, capacity = 0;
    MEM_GROW(stack, capacity, 1);
    stack[depth++] = (Interval){0, 0};
    for (size_t i = 0; i < count; i++) {
        StrView text = suffixes[i].text;
        size_t next = i + 1 < count ? common_bytes(text, suffixes[i + 1].text) : 0;
        double found = suffixes[i].count;
        if (suffixes[i].whole && text.length > next && text.length > stack[depth - 1].length)
            add_seed(l, text, found);
        if (next > stack[depth - 1].length) {
            MEM_GROW(stack, capacity, depth + 1);
            stack[depth++] = (Interval){next, 0};
        }
        stack[depth - 1].count += found;
        while (next < stack[depth - 1].length) {
            Interval ended = stack[--depth];
            add_seed(l, (StrView){text.data, ended.length}, ended.count);
            if (next > stack[depth - 1].length) {
                MEM_GROW(stack, capacity, depth + 1);
                stack[depth++] = (Interval){next, 0};
            }
            stack[depth - 1].count += ended.count;
        }
    }
    mem_free(stack);
}

/* Greatest score first. */
static int by_score(const void *a, const void *b) {
    const Piece *p = a, *q = b;
    if (p->score > q->score || p->score < q->score) return p->score > q->score ? -1 : 1;
    return sv_compare(p->text, q->text);
}

static void sort_pieces(PieceList *list) {
    if (list->count > 0) qsort(list->items, list->count, sizeof *list->items, by_score);
}

static void make_seeds(Learner *l) {
    size_t count;
    Suffix *suffixes = list_suffixes(l, &count);
    add_repeated(l, suffixes, count);
    mem_free(suffixes);
    sort_pieces(&l->pieces);
    if (l->pieces.count > UNIGRAM_SEEDS) l->pieces.count = UNIGRAM_SEEDS;
    for (size_t i = 0; i < hashmap_count(l->characters); i++)
        add_piece(&l->pieces, hashmap_key(l->characters, i), (double)hashmap_value(l->characters, i), true);
    double sum = 0;
    for (size_t i = 0; i < l->pieces.count; i++) sum += l->pieces.items[i].score;
    for (size_t i = 0; i < l->pieces.count; i++)
        l->pieces.items[i].score = log(l->pieces.items[i].score) - log(sum);
}

/* ---- the pieces of a word ---- */

/* After a change of the pieces. */
static void index_pieces(Learner *l) {
    size_t count = l->pieces.count;
    TriePiece *pieces = mem_alloc(count + 1, sizeof *pieces);
    l->min_score = 0;
    for (size_t i = 0; i < count; i++) {
        pieces[i] = (TriePiece){l->pieces.items[i].text, (int)i};
        l->min_score = fmin(l->min_score, l->pieces.items[i].score);
    }
    piece_trie_free(l->trie);
    l->trie = piece_trie_new(pieces, count, NULL);
    mem_free(pieces);
}

/* All pieces in a word, in the order of their starts, but not `without`. */
static void find_edges(Learner *l, StrView word, int without) {
    l->edge_count = 0;
    for (size_t start = 0, character; start < word.length; start += character) {
        bool whole = false; /* is the character a piece? */
        int node = 0;
        character = character_at(word, start).length;
        MEM_GROW(l->edges, l->edge_capacity, l->edge_count + 4 * UNIGRAM_PIECE_CHARACTERS + 1);
        for (size_t i = start; i < word.length; i++) {
            node = piece_trie_child(l->trie, node, word.data[i]);
            if (node == 0) break;
            int id = piece_trie_id(l->trie, node);
            if (id < 0 || id == without) continue;
            l->edges[l->edge_count++] = (Edge){start, i + 1, id, l->pieces.items[id].score};
            whole |= i + 1 - start == character;
        }
        if (!whole)
            l->edges[l->edge_count++] =
                (Edge){start, start + character, UNKNOWN_PIECE, l->min_score - UNKNOWN_PENALTY};
    }
}

static double add_logs(double a, double b) {
    double most = fmax(a, b), least = fmin(a, b);
    return most > -INFINITY ? most + log1p(exp(least - most)) : most;
}

/* Adds the expected number of each piece in a word that occurs `count` times. */
static void expect_pieces(Learner *l, StrView word, double count, double *expected) {
    double *alpha = l->alpha, *beta = l->beta;
    find_edges(l, word, UNKNOWN_PIECE);
    for (size_t i = 0; i <= word.length; i++) alpha[i] = beta[i] = -INFINITY;
    alpha[0] = beta[word.length] = 0;
    for (size_t i = 0; i < l->edge_count; i++) {
        const Edge *edge = &l->edges[i];
        alpha[edge->end] = add_logs(alpha[edge->end], alpha[edge->start] + edge->score);
    }
    for (size_t i = l->edge_count; i-- > 0;) {
        const Edge *edge = &l->edges[i];
        beta[edge->start] = add_logs(beta[edge->start], beta[edge->end] + edge->score);
    }
    for (size_t i = 0; i < l->edge_count; i++) {
        const Edge *edge = &l->edges[i];
        if (edge->piece != UNKNOWN_PIECE)
            expected[edge->piece] +=
                count * exp(alpha[edge->start] + edge->score + beta[edge->end] - alpha[word.length]);
    }
}

/* The most probable pieces of a word, from its end: l->back of each end. Their score. */
static double best_pieces(Learner *l, StrView word, int without) {
    find_edges(l, word, without);
    for (size_t i = 0; i <= word.length; i++) l->alpha[i] = -INFINITY;
    l->alpha[0] = 0;
    for (size_t i = 0; i < l->edge_count; i++) {
        const Edge *edge = &l->edges[i];
        double score = l->alpha[edge->start] + edge->score;
        if (score > l->alpha[edge->end]) {
            l->alpha[edge->end] = score;
            l->back[edge->end] = i;
        }
    }
    return l->alpha[word.length];
}

/* ---- expectation and maximization ---- */

/* The derivative of log gamma: Bernardo 1976, algorithm AS 103. */
static double digamma(double x) {
    double result = 0;
    for (; x < 7; x++) result -= 1 / x;
    x -= 0.5;
    double square = 1 / (x * x);
    return result + log(x) + square / 24 - 7 * square * square / 960 + 31 * square * square * square / 8064 -
           127 * square * square * square * square / 30720;
}

/* One step of EM; pieces that the text hardly needs are dropped. */
static void maximize(Learner *l) {
    size_t kept = 0;
    double sum = 0, *expected = mem_alloc(l->pieces.count + 1, sizeof *expected);
    for (size_t w = 0; w < l->word_count; w++)
        expect_pieces(l, l->words[w].text, l->words[w].count, expected);
    for (size_t i = 0; i < l->pieces.count; i++) {
        if (expected[i] < MIN_EXPECTED) continue;
        l->pieces.items[kept] = l->pieces.items[i];
        l->pieces.items[kept++].score = expected[i];
        sum += expected[i];
    }
    l->pieces.count = kept;
    for (size_t i = 0; i < kept; i++)
        l->pieces.items[i].score = digamma(l->pieces.items[i].score) - digamma(sum);
    index_pieces(l);
    mem_free(expected);
}

/* ---- pruning ---- */

/* How often each piece is in the best pieces of the words, and the fraction of the words that have it. */
static double count_best(Learner *l, double *count, double *fraction) {
    double sum = 0;
    size_t *last = mem_alloc(l->pieces.count + 1, sizeof *last); /* word + 1 */
    for (size_t w = 0; w < l->word_count; w++) {
        StrView word = l->words[w].text;
        best_pieces(l, word, UNKNOWN_PIECE);
        for (size_t end = word.length; end > 0; end = l->edges[l->back[end]].start) {
            int piece = l->edges[l->back[end]].piece;
            if (piece == UNKNOWN_PIECE) continue;
            count[piece] += l->words[w].count;
            sum += l->words[w].count;
            if (last[piece] != w + 1) fraction[piece] += l->words[w].count / l->total;
            last[piece] = w + 1;
        }
    }
    mem_free(last);
    return sum;
}

/* What the likelihood loses without piece i: its best other pieces take its place. INFINITY: there are none.
 * -1: they are better anyway. */
static double loss_without(Learner *l, int i, const double *count, double fraction, double sum) {
    const Piece *piece = &l->pieces.items[i];
    if (piece->single) return INFINITY;
    double other = best_pieces(l, piece->text, i), others = 0, number = 0;
    bool spelled = true;
    for (size_t end = piece->text.length; end > 0; end = l->edges[l->back[end]].start)
        spelled &= l->edges[l->back[end]].piece != UNKNOWN_PIECE;
    if (!spelled) return INFINITY;
    if (other > piece->score || !(count[i] > 0)) return -1;
    for (size_t end = piece->text.length; end > 0; end = l->edges[l->back[end]].start, number++)
        others += log(count[l->edges[l->back[end]].piece] + count[i]);
    others -= number * log(sum + count[i] * (number - 1));
    return fraction * (log(count[i]) - log(sum) - others);
}

static void prune(Learner *l, size_t target_size) {
    size_t count = l->pieces.count, kept = 0;
    double *counts = mem_alloc(count + 1, sizeof *counts), *fraction = mem_alloc(count + 1, sizeof *fraction);
    double sum = count_best(l, counts, fraction);
    PieceList order = {0}; /* `score` is the loss */
    for (size_t i = 0; i < count; i++) {
        double loss = loss_without(l, (int)i, counts, fraction[i], sum);
        if (loss >= 0) add_piece(&order, l->pieces.items[i].text, loss, false);
    }
    size_t limit = (size_t)(SHRINK * (double)count);
    if (limit < target_size) limit = target_size;
    sort_pieces(&order);
    if (order.count > limit) order.count = limit;
    bool *keep = mem_alloc(count + 1, sizeof *keep);
    for (size_t i = 0; i < order.count; i++) keep[piece_trie_find(l->trie, order.items[i].text)] = true;
    for (size_t i = 0; i < count; i++)
        if (keep[i]) l->pieces.items[kept++] = l->pieces.items[i];
    l->pieces.count = kept;
    index_pieces(l);
    mem_free(keep);
    mem_free(order.items);
    mem_free(counts);
    mem_free(fraction);
}

/* ---- all ---- */

static void count_characters(Learner *l, int min_count) {
    HashMap *all = hashmap_new();
    l->characters = hashmap_new();
    for (size_t w = 0; w < l->word_count; w++)
        for (size_t at = 0; at < l->words[w].text.length;) {
            StrView character = character_at(l->words[w].text, at);
            *hashmap_slot(all, character, 0) += (int64_t)l->words[w].count;
            at += character.length;
        }
    for (size_t i = 0; i < hashmap_count(all); i++)
        if (hashmap_value(all, i) >= min_count)
            hashmap_set(l->characters, hashmap_key(all, i), hashmap_value(all, i));
    hashmap_free(all);
}

static void learner_begin(Learner *l, const HashMap *words, int min_count) {
    *l = (Learner){.words = mem_alloc(hashmap_count(words) + 1, sizeof *l->words),
                   .alpha = mem_alloc(BPE_LEARN_LONGEST + 1, sizeof *l->alpha),
                   .beta = mem_alloc(BPE_LEARN_LONGEST + 1, sizeof *l->beta),
                   .back = mem_alloc(BPE_LEARN_LONGEST + 1, sizeof *l->back)};
    for (size_t i = 0; i < hashmap_count(words); i++) {
        StrView word = hashmap_key(words, i);
        if (word.length == 0 || word.length > BPE_LEARN_LONGEST) continue;
        l->words[l->word_count++] = (Word){word, (double)hashmap_value(words, i)};
        l->total += (double)hashmap_value(words, i);
    }
    count_characters(l, min_count);
    make_seeds(l);
    index_pieces(l);
}

static void learner_end(Learner *l) {
    mem_free(l->words);
    hashmap_free(l->characters);
    mem_free(l->pieces.items);
    piece_trie_free(l->trie);
    mem_free(l->edges);
    mem_free(l->alpha);
    mem_free(l->beta);
    mem_free(l->back);
}

/* The final pieces: first all characters, then the most probable pieces. Characters that EM has dropped come
 * behind all others. */
static SentencePiece *finish(Learner *l, size_t target_size) {
    PieceList characters = {0}, result = {0};
    for (size_t i = 0; i < hashmap_count(l->characters); i++)
        add_piece(&characters, hashmap_key(l->characters, i), (double)hashmap_value(l->characters, i), true);
    sort_pieces(&characters);
    if (characters.count > target_size) characters.count = target_size;
    double missing = l->min_score;
    for (size_t i = 0; i < characters.count; i++) {
        int id = piece_trie_find(l->trie, characters.items[i].text);
        if (id < 0) missing -= SCORE_STEP;
        add_piece(&result, characters.items[i].text, id < 0 ? missing : l->pieces.items[id].score, true);
    }
    sort_pieces(&l->pieces); /* the trie is out of date now */
    for (size_t i = 0; i < l->pieces.count && result.count < target_size; i++)
        if (!l->pieces.items[i].single)
            add_piece(&result, l->pieces.items[i].text, l->pieces.items[i].score, false);
    sort_pieces(&result);
    StrView *texts = mem_alloc(result.count + 1, sizeof *texts);
    float *scores = mem_alloc(result.count + 1, sizeof *scores);
    for (size_t i = 0; i < result.count; i++) {
        texts[i] = result.items[i].text;
        scores[i] = (float)result.items[i].score;
    }
    SentencePiece *model = result.count > 0 ? sentencepiece_new_unigram(texts, scores, result.count) : NULL;
    mem_free(texts);
    mem_free(scores);
    mem_free(characters.items);
    mem_free(result.items);
    return model;
}

SentencePiece *unigram_learn(const HashMap *words, int pieces, int min_count, ProgressLine *progress) {
    Learner l;
    if (pieces <= 0) return NULL;
    learner_begin(&l, words, min_count);
    size_t target_size = (size_t)pieces, spare = (size_t)(SPARE * (double)target_size);
    double rounds = log((double)l.pieces.count / (double)spare) / -log(SHRINK) + 1;
    for (int round = 0;; round++) {
        for (int step = 0; step < EM_STEPS; step++) maximize(&l);
        size_t before = l.pieces.count;
        progress_line_fraction(progress, fmin(1, (double)(round + 1) / rounds));
        if (before <= spare) break;
        prune(&l, spare);
        if (l.pieces.count == before) break;
    }
    SentencePiece *model = finish(&l, target_size);
    learner_end(&l);
    return model;
}
