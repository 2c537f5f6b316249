/* mbr.c - see mbr.h. */
#include "postprocess/mbr.h"

#include <math.h>
#include <stdlib.h>
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"

static const ChrfOptions CHRF = {.char_order = 6, .beta = 2}; /* the defaults */
static const BleuOptions SENTENCE_BLEU = {.smooth_value = -1, .effective_order = true, .force = true};

/* The scores of all pairs: [i n + j] is item i's with item j as the reference. */
static Statistics score_pairs(const Translation *t, MbrScore score) {
    ConfiguredMetric chosen = score == MBR_CHRF ? (ConfiguredMetric){&METRIC_CHRF, &CHRF}
                                                : (ConfiguredMetric){&METRIC_BLEU, &SENTENCE_BLEU};
    size_t n = (size_t)t->count;
    StrView *hypotheses = mem_alloc(n * n, sizeof *hypotheses),
            *references = mem_alloc(n * n, sizeof *references);
    const StrView *columns[] = {references};
    for (size_t i = 0; i < n * n; i++) {
        hypotheses[i] = strbuf_view(&t->items[i / n].text);
        references[i] = strbuf_view(&t->items[i % n].text);
    }
    Statistics statistics = statistics_count(chosen, hypotheses, n * n, columns, 1);
    mem_free(hypotheses);
    mem_free(references);
    return statistics;
}

typedef struct {
    TranslationItem item;
    double gain;
    int rank; /* for equal gains */
} Candidate;

static int greater_gain_first(const void *a, const void *b) {
    const Candidate *p = a, *q = b;
    if (p->gain != q->gain) return p->gain > q->gain ? -1 : 1;
    return p->rank < q->rank ? -1 : 1;
}

/* The expected score of item i. */
static double gain(const Translation *t, const Statistics *pairs, int i, double scale) {
    const Metric *metric = pairs->configured.metric;
    double sum = 0, weights = 0, most = t->items[0].score;
    for (int j = 1; j < t->count; j++) most = fmax(most, t->items[j].score);
    for (int j = 0; j < t->count; j++) {
        const double *row = pairs->rows + ((size_t)i * (size_t)t->count + (size_t)j) * (size_t)pairs->width;
        double weight = exp(scale * (t->items[j].score - most));
        sum += weight * metric->score(pairs->configured.options, row);
        weights += weight;
    }
    return sum / weights;
}

void mbr_rerank(Translation *t, MbrScore score, double scale) {
    bool constrained = t->constraints_met.count + t->constraints_unmet.count > 0;
    if (score == MBR_NONE || t->count < 2 || constrained) return;
    Statistics pairs = score_pairs(t, score);
    Candidate *sorted = mem_alloc((size_t)t->count, sizeof *sorted);
    for (int i = 0; i < t->count; i++) sorted[i] = (Candidate){t->items[i], gain(t, &pairs, i, scale), i};
    qsort(sorted, (size_t)t->count, sizeof *sorted, greater_gain_first);
    for (int i = 0; i < t->count; i++) t->items[i] = sorted[i].item;
    mem_free(sorted);
    statistics_free(&pairs);
}
