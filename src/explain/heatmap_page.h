/* heatmap_page.h - the explorer page of attn-mt heatmap: all sentences and all models in one file. */
#ifndef EXPLAIN_HEATMAP_PAGE_H
#define EXPLAIN_HEATMAP_PAGE_H

#include "base/progress_line.h"
#include "base/progress_line.h"
#include "search/ensemble.h"
#include "translate/alignment.h"
#include "translate/translator.h"
#include "translate/unknown_text.h"

/* What is to be said of the lines. A zeroed one has seen none. */
typedef struct {
    UnknownText unknown;
    int shown; /* lines with text */
} HeatmapRemarks;

typedef struct {
    const Ensemble *models;               /* at most EXPLORER_MODELS, or it fails */
    const StrList *paths;                 /* of the models */
    const TranslatorOptions *translating; /* how each of them translates */
    const StrView *lines, *targets;       /* [count]; targets NULL: none are given */
    int count;
    int layer, head;         /* to begin with, from 1; 0: the mean of all */
    bool subwords;           /* to begin with, instead of words */
    HeatmapRemarks *remarks; /* or NULL */
    ProgressLine *progress;  /* told after each sentence; or NULL */
} HeatmapPage;

/* `number`: of the line; 0 if there is only one. */
void heatmap_remark(HeatmapRemarks *remarks, const Translation *translation, const Seq2Seq *model,
                    int number);

/* Append the title of a picture: the line, an arrow, its translation. */
void heatmap_title(StrView line, const Translation *translation, StrBuf *out);
/* Append the page to `out`. STATUS_DATA if a model's scores mean nothing. */
Status heatmap_page_write(const HeatmapPage *page, StrBuf *out);

#endif
