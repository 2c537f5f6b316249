/* bpe_learn.c - see bpe_learn.h.
 *
 * Pair counts are updated after each merge instead of being counted again: a pair lists the words that
 * contain it, and a heap orders the pairs by count. Only one merge makes a symbol, because the same merges
 * apply inside of all its occurrences. So a pair appears together with its newer symbol, and its count only
 * falls after that. Its entry in the heap may be too high, never too low, and is corrected when it comes to
 * the top.
 */
#include "tokenizer/bpe_learn.h"

#include <assert.h>
#include <stdint.h>
#include "base/mem.h"
#include "base/progress_line.h"
#include "tokenizer/bigram.h"

typedef struct {
    int left, right;
    int64_t count;
    int *words; /* words that contain it, or did so once */
    size_t word_count, word_capacity;
} Pair;

typedef struct {
    int64_t count;
    int pair;
} Entry;

typedef struct {
    HashMap *symbols;
    int *cells; /* symbols of all words */
    size_t cell_count, cell_capacity;
    size_t *start;   /* [words] into cells */
    int *length;     /* [words] */
    int64_t *weight; /* [words] count of the word */

    BigramMap index; /* symbols -> pair */
    Pair *pairs;
    size_t pair_count, pair_capacity;
    size_t queued; /* pairs[0..queued) entered the heap */
    Entry *heap;
    size_t heap_count, heap_capacity;
} Learner;

static int compare_symbols(const Learner *learner, int a, int b) {
    return sv_compare(hashmap_key(learner->symbols, (size_t)a), hashmap_key(learner->symbols, (size_t)b));
}

/* Greatest count, then greatest left symbol, then greatest right symbol, by bytes: by code points. */
static bool comes_before(const Learner *learner, Entry a, Entry b) {
    if (a.count != b.count) return a.count > b.count;
    const Pair *p = &learner->pairs[a.pair], *q = &learner->pairs[b.pair];
    int order = p->left == q->left ? 0 : compare_symbols(learner, p->left, q->left);
    if (order == 0) order = compare_symbols(learner, p->right, q->right);
    return order > 0;
}

static void heap_push(Learner *learner, int pair) {
    Entry item = {learner->pairs[pair].count, pair};
    MEM_GROW(learner->heap, learner->heap_capacity, learner->heap_count + 1);
    size_t hole = learner->heap_count++;
    for (; hole > 0 && comes_before(learner, item, learner->heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
        learner->heap[hole] = learner->heap[(hole - 1) / 2];
    learner->heap[hole] = item;
}

static Entry heap_pop(Learner *learner) {
    Entry *heap = learner->heap, top = heap[0], last = heap[--learner->heap_count];
    size_t hole = 0;
    for (size_t child; (child = 2 * hole + 1) < learner->heap_count; hole = child) {
        if (child + 1 < learner->heap_count && comes_before(learner, heap[child + 1], heap[child])) child++;
        if (!comes_before(learner, heap[child], last)) break;
        heap[hole] = heap[child];
    }
    heap[hole] = last;
    return top;
}

/* Adds `change` to the count of a pair, and `word` to its words unless it is negative. */
static void count_pair(Learner *learner, int left, int right, int64_t change, int word) {
    int at = *bigram_slot(&learner->index, left, right, (int)learner->pair_count);
    if ((size_t)at == learner->pair_count) {
        MEM_GROW(learner->pairs, learner->pair_capacity, learner->pair_count + 1);
        learner->pairs[learner->pair_count++] = (Pair){.left = left, .right = right};
    }
    Pair *pair = &learner->pairs[at];
    pair->count += change;
    if (word < 0 || (pair->word_count > 0 && pair->words[pair->word_count - 1] == word)) return;
    MEM_GROW(pair->words, pair->word_capacity, pair->word_count + 1);
    pair->words[pair->word_count++] = word;
}

/* Pushes new pairs. Their counts are complete only after all words are counted or merged. */
static void queue_new(Learner *learner) {
    for (; learner->queued < learner->pair_count; learner->queued++) heap_push(learner, (int)learner->queued);
}

static void add_word(Learner *learner, int word, StrView text, int64_t count, BpeMarker marker) {
    learner->start[word] = learner->cell_count;
    learner->weight[word] = count;
    if (text.length > BPE_LEARN_LONGEST) return; /* not a word, and slow to merge */
    for (size_t position = 0; position < text.length;) {
        size_t length = bpe_unit(marker, text, position);
        int known = (int)hashmap_count(learner->symbols);
        int symbol = (int)*hashmap_slot(learner->symbols, (StrView){text.data + position, length}, known);
        MEM_GROW(learner->cells, learner->cell_capacity, learner->cell_count + 1);
        learner->cells[learner->cell_count++] = symbol;
        position += length;
    }
    learner->length[word] = (int)(learner->cell_count - learner->start[word]);
    const int *cells = learner->cells + learner->start[word];
    for (int i = 0; i + 1 < learner->length[word]; i++)
        count_pair(learner, cells[i], cells[i + 1], count, word);
}

static void learner_begin(Learner *learner, const HashMap *words, BpeMarker marker) {
    size_t count = hashmap_count(words);
    *learner = (Learner){.symbols = hashmap_new(),
                         .start = mem_alloc(count + 1, sizeof *learner->start),
                         .length = mem_alloc(count + 1, sizeof *learner->length),
                         .weight = mem_alloc(count + 1, sizeof *learner->weight)};
    for (size_t i = 0; i < count; i++)
        add_word(learner, (int)i, hashmap_key(words, i), hashmap_value(words, i), marker);
    queue_new(learner);
}

static void learner_end(Learner *learner) {
    hashmap_free(learner->symbols);
    mem_free(learner->cells);
    mem_free(learner->start);
    mem_free(learner->length);
    mem_free(learner->weight);
    bigram_free(&learner->index);
    for (size_t i = 0; i < learner->pair_count; i++) mem_free(learner->pairs[i].words);
    mem_free(learner->pairs);
    mem_free(learner->heap);
}

/* Replaces left and right by `merged` throughout a word, and updates the counts of its pairs. */
static void merge_in_word(Learner *learner, int word, int left, int right, int merged) {
    int *cells = learner->cells + learner->start[word];
    int length = learner->length[word], new_length = 0;
    int64_t weight = learner->weight[word];
    bool has_pair = false;
    for (int i = 0; i + 1 < length && !has_pair; i++) has_pair = cells[i] == left && cells[i + 1] == right;
    if (!has_pair) return;
    for (int i = 0; i + 1 < length; i++) count_pair(learner, cells[i], cells[i + 1], -weight, -1);
    for (int i = 0; i < length; new_length++) {
        bool here = i + 1 < length && cells[i] == left && cells[i + 1] == right;
        cells[new_length] = here ? merged : cells[i];
        i += here ? 2 : 1;
    }
    learner->length[word] = new_length;
    for (int i = 0; i + 1 < new_length; i++) {
        bool is_new = cells[i] == merged || cells[i + 1] == merged;
        count_pair(learner, cells[i], cells[i + 1], weight, is_new ? word : -1);
    }
}

static void merge_pair(Learner *learner, int best, int merged) {
    Pair pair = learner->pairs[best]; /* a copy: the array may move */
    learner->pairs[best].words = NULL;
    learner->pairs[best].word_count = learner->pairs[best].word_capacity = 0;
    for (size_t i = 0; i < pair.word_count; i++)
        merge_in_word(learner, pair.words[i], pair.left, pair.right, merged);
    mem_free(pair.words);
    queue_new(learner);
}

/* The pair to merge next, or -1. */
static int best_pair(Learner *learner, int min_count) {
    while (learner->heap_count > 0) {
        Entry top = heap_pop(learner);
        const Pair *pair = &learner->pairs[top.pair];
        if (top.count != pair->count) { /* the count fell: push it again */
            if (pair->count >= min_count) heap_push(learner, top.pair);
            continue;
        }
        if (top.count < min_count) return -1;
        StrView left = hashmap_key(learner->symbols, (size_t)pair->left);
        StrView right = hashmap_key(learner->symbols, (size_t)pair->right);
        if (bpe_mergeable(left, right)) return top.pair;
    }
    return -1;
}

Bpe *bpe_learn(const HashMap *words, BpeMarker marker, int merges, int min_count, ProgressLine *progress) {
    Bpe *bpe = bpe_new(marker);
    Learner learner;
    learner_begin(&learner, words, marker);
    StrBuf joined = {0};
    for (int number = 1; number <= merges; number++) {
        int best = best_pair(&learner, min_count < 1 ? 1 : min_count);
        if (best < 0) break;
        progress_line_fraction(progress, (double)number / merges);
        StrView left = hashmap_key(learner.symbols, (size_t)learner.pairs[best].left);
        StrView right = hashmap_key(learner.symbols, (size_t)learner.pairs[best].right);
        bpe_add(bpe, left, right);
        strbuf_clear(&joined);
        strbuf_add(&joined, left);
        strbuf_add(&joined, right);
        int known = (int)hashmap_count(learner.symbols);
        int merged = (int)*hashmap_slot(learner.symbols, strbuf_view(&joined), known);
        assert(merged == known);
        merge_pair(&learner, best, merged);
    }
    strbuf_free(&joined);
    learner_end(&learner);
    return bpe;
}
