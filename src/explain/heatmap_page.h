/* heatmap_page.h - the explorer page of attn-mt heatmap: all sentences and models in one file. */
#ifndef EXPLAIN_HEATMAP_PAGE_H
#define EXPLAIN_HEATMAP_PAGE_H

#include "base/progress_line.h"
#include "search/ensemble.h"
#include "postprocess/alignment.h"
#include "translate/translator.h"
#include "postprocess/unknown_text.h"

/* Counts for the warnings after the last line. Begins zeroed. */
typedef struct {
    UnknownText unknown;
    int translated; /* lines with text */
} HeatmapCounts;

typedef struct {
    const Ensemble *models;               /* at most EXPLORER_MODELS; more are STATUS_USAGE */
    const StrList *paths;                 /* of the models */
    const TranslatorOptions *translating; /* of each model */
    const StrView *lines, *targets;       /* [count]; targets: translations of the user, or NULL */
    int count;
    int layer, head;        /* the initial choice, from 1; 0: the mean of all */
    bool subwords;          /* the initial choice, instead of words */
    HeatmapCounts *counts;  /* or NULL */
    ProgressLine *progress; /* or NULL */
} HeatmapPage;

/* Counts a translation. `number` is the line, or 0 if there is only one. */
void heatmap_count(HeatmapCounts *counts, const Translation *translation, const Seq2Seq *model, int number);

/* Appends the title of a picture: the line, an arrow, its translation. */
void heatmap_title(StrView line, const Translation *translation, StrBuf *out);
/* Appends the page to `out`. STATUS_DATA if a model computes scores that are not finite. */
Status heatmap_page_write(const HeatmapPage *page, StrBuf *out);

#endif
