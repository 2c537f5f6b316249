/* shortlist_learn.c - IBM Model 1 by expectation maximization.
 *
 * One of the source tokens of a pair, or the empty word, generates each target token: p(target | source). The
 * expected counts of a source token need its row of probabilities, expanded over the target vocabulary, and
 * the pairs that contain it. So no pair of tokens has to be looked up, and all sums have a fixed order.
 */
#include <stdlib.h>
#include "base/mem.h"
#include "data/shortlist.h"
#include "tokenizer/vocab.h"

enum {
    ITERATIONS = 5,
    MAX_CELLS = 32 << 20, /* pairs of tokens; larger corpora are sampled */
    MAX_IDS = 1 << 20     /* of all lists, for the size of the model file */
};
static const float LEAST = 0.01f; /* probability of a listed token */

typedef struct {
    int id;
    float p;
} Entry;

typedef struct {
    int sources, targets; /* of the vocabularies; source token number `sources` is the empty word */
    int pairs;
    size_t *target_start; /* [pairs + 1] */
    int *target;          /* ids of all target sentences */
    float *scale;         /* [tokens of all target sentences] 1 / sum over its source tokens of p */
    size_t *seen_start;   /* [sources + 3] */
    int *seen;            /* for each source token its pairs, once per occurrence */
    size_t *row_start;    /* [sources + 2] */
    Entry *row;           /* p(target | source) */
    float *p, *sum;       /* [targets] an expanded row, and its expected counts */
} Model1;

/* Every step-th pair is used. */
static int find_step(const Corpus *corpus) {
    double cells = 0;
    for (int i = 0; i < corpus->count; i++)
        cells += (corpus_source_length(corpus, i) + 1.0) * corpus_target_length(corpus, i);
    return 1 + (int)(cells / MAX_CELLS);
}

/* Copies the target sentences, and lists the pairs of each source token. */
static void copy_pairs(Model1 *m, const Corpus *corpus) {
    int step = find_step(corpus), *ids = NULL;
    size_t capacity = 0, tokens = 0;
    m->pairs = (corpus->count + step - 1) / step;
    m->target_start = mem_alloc((size_t)m->pairs + 1, sizeof *m->target_start);
    m->seen_start = mem_alloc((size_t)m->sources + 3, sizeof *m->seen_start);
    for (int i = 0; i < m->pairs; i++) {
        tokens += (size_t)corpus_target_length(corpus, i * step);
        m->target_start[i + 1] = tokens;
        MEM_GROW(ids, capacity, (size_t)corpus_source_length(corpus, i * step) + 1);
        Tokens source = corpus_source(corpus, i * step, ids);
        for (int s = 0; s < source.length; s++) m->seen_start[source.ids[s] + 2]++;
    }
    m->seen_start[m->sources + 2] = (size_t)m->pairs;
    for (int s = 0; s <= m->sources; s++) m->seen_start[s + 2] += m->seen_start[s + 1];
    m->target = mem_alloc(tokens + 1, sizeof *m->target);
    m->scale = mem_alloc(tokens + 1, sizeof *m->scale);
    m->seen = mem_alloc(m->seen_start[m->sources + 2] + 1, sizeof *m->seen);
    for (int i = 0; i < m->pairs; i++) { /* seen_start[s + 1] moves from the start of s to its end */
        corpus_target(corpus, i * step, m->target + m->target_start[i]);
        Tokens source = corpus_source(corpus, i * step, ids);
        for (int s = 0; s < source.length; s++) m->seen[m->seen_start[source.ids[s] + 1]++] = i;
        m->seen[m->seen_start[m->sources + 1]++] = i;
    }
    mem_free(ids);
}

/* The target tokens that occur in a pair with source token s, each once; returns their number. `last`
 * [targets]: the last row that listed a token, from 1. */
static size_t list_cooccurring(const Model1 *m, int s, int *last, Entry *out) {
    size_t count = 0;
    for (size_t i = m->seen_start[s]; i < m->seen_start[s + 1]; i++)
        for (size_t j = m->target_start[m->seen[i]]; j < m->target_start[m->seen[i] + 1]; j++) {
            if (last[m->target[j]] == s + 1) continue;
            last[m->target[j]] = s + 1;
            if (out) out[count] = (Entry){m->target[j], 1};
            count++;
        }
    return count;
}

/* A row for each source token, with equal values. */
static void make_rows(Model1 *m) {
    int *last = mem_alloc((size_t)m->targets, sizeof *last);
    m->row_start = mem_alloc((size_t)m->sources + 2, sizeof *m->row_start);
    for (int s = 0; s <= m->sources; s++)
        m->row_start[s + 1] = m->row_start[s] + list_cooccurring(m, s, last, NULL);
    m->row = mem_alloc(m->row_start[m->sources + 1] + 1, sizeof *m->row);
    for (int v = 0; v < m->targets; v++) last[v] = 0;
    for (int s = 0; s <= m->sources; s++) list_cooccurring(m, s, last, m->row + m->row_start[s]);
    mem_free(last);
}

static void expand_row(const Model1 *m, int s) {
    for (size_t i = m->row_start[s]; i < m->row_start[s + 1]; i++) {
        m->p[m->row[i].id] = m->row[i].p;
        m->sum[m->row[i].id] = 0;
    }
}

static void iterate(Model1 *m) {
    size_t tokens = m->target_start[m->pairs];
    for (size_t j = 0; j < tokens; j++) m->scale[j] = 0;
    for (int s = 0; s <= m->sources; s++) {
        expand_row(m, s);
        for (size_t i = m->seen_start[s]; i < m->seen_start[s + 1]; i++)
            for (size_t j = m->target_start[m->seen[i]]; j < m->target_start[m->seen[i] + 1]; j++)
                m->scale[j] += m->p[m->target[j]];
    }
    for (size_t j = 0; j < tokens; j++) m->scale[j] = m->scale[j] > 0 ? 1 / m->scale[j] : 0;
    for (int s = 0; s <= m->sources; s++) {
        expand_row(m, s);
        for (size_t i = m->seen_start[s]; i < m->seen_start[s + 1]; i++)
            for (size_t j = m->target_start[m->seen[i]]; j < m->target_start[m->seen[i] + 1]; j++)
                m->sum[m->target[j]] += m->scale[j];
        double all = 0;
        for (size_t i = m->row_start[s]; i < m->row_start[s + 1]; i++)
            all += (double)(m->row[i].p *= m->sum[m->row[i].id]);
        for (size_t i = m->row_start[s]; i < m->row_start[s + 1] && all > 0; i++)
            m->row[i].p = (float)((double)m->row[i].p / all);
    }
}

/* ---- the lists ---- */

static int by_probability(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return x->p != y->p ? x->p > y->p ? -1 : 1 : (x->id > y->id) - (x->id < y->id);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void add_best(Shortlist *shortlist, int list, Entry *entries, size_t count, size_t most) {
    size_t *end = &shortlist->start[list + 1];
    if (count > 0) qsort(entries, count, sizeof *entries, by_probability);
    *end = shortlist->start[list];
    for (size_t i = 0; i < smaller(count, most); i++) shortlist->ids[(*end)++] = entries[i].id;
}

/* The tokens of a row that are likely enough. */
static size_t find_likely(const Model1 *m, int s, Entry *out) {
    size_t count = 0;
    for (size_t i = m->row_start[s]; i < m->row_start[s + 1]; i++)
        if (m->row[i].p >= LEAST && m->row[i].id >= VOCAB_SPECIALS) out[count++] = m->row[i];
    return count;
}

/* The greatest length limit, up to `most`, with which the lists have at most MAX_IDS tokens. */
static size_t fit_most(const Model1 *m, size_t most, Entry *scratch) {
    size_t *longer = mem_alloc(most + 1, sizeof *longer), ids = 0, fit = 0; /* lists of more than i tokens */
    for (int s = 0; s < m->sources; s++)
        for (size_t i = smaller(find_likely(m, s, scratch), most); i > 0; i--) longer[i - 1]++;
    while (fit < most && (ids += longer[fit]) <= MAX_IDS) fit++;
    mem_free(longer);
    return fit;
}

static Shortlist *list_best(const Model1 *m, int max_requested) {
    Shortlist *shortlist = mem_alloc(1, sizeof *shortlist);
    Entry *entries = mem_alloc((size_t)m->targets, sizeof *entries);
    size_t most = fit_most(m, (size_t)max_requested, entries), count = 0;
    *shortlist = (Shortlist){.source_size = m->sources, .target_size = m->targets};
    shortlist->start = mem_alloc((size_t)m->sources + 2, sizeof *shortlist->start);
    shortlist->ids = mem_alloc(SHORTLIST_MAX + MAX_IDS, sizeof *shortlist->ids);
    for (int v = 0; v < m->targets; v++) m->sum[v] = 0;
    for (size_t j = 0; j < m->target_start[m->pairs]; j++) m->sum[m->target[j]]++;
    for (int v = VOCAB_SPECIALS; v < m->targets; v++)
        if (m->sum[v] > 0) entries[count++] = (Entry){v, m->sum[v]};
    add_best(shortlist, 0, entries, count, SHORTLIST_MAX);
    for (int s = 0; s < m->sources; s++)
        add_best(shortlist, 1 + s, entries, find_likely(m, s, entries), most);
    size_t ids = shortlist->start[m->sources + 1];
    shortlist->ids = mem_realloc(shortlist->ids, ids + 1, sizeof *shortlist->ids);
    mem_free(entries);
    return shortlist;
}

Shortlist *shortlist_learn(const Corpus *corpus, int source_size, int target_size, int most) {
    Model1 m = {.sources = source_size, .targets = target_size};
    m.p = mem_alloc((size_t)target_size, sizeof *m.p);
    m.sum = mem_alloc((size_t)target_size, sizeof *m.sum);
    copy_pairs(&m, corpus);
    make_rows(&m);
    for (int i = 0; i < ITERATIONS; i++) iterate(&m);
    Shortlist *shortlist = list_best(&m, most);
    mem_free(m.target_start);
    mem_free(m.target);
    mem_free(m.scale);
    mem_free(m.seen_start);
    mem_free(m.seen);
    mem_free(m.row_start);
    mem_free(m.row);
    mem_free(m.p);
    mem_free(m.sum);
    return shortlist;
}
