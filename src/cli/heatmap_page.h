/* heatmap_page.h - the explorer page of attn-mt heatmap: all sentences and all models in one file. */
#ifndef CLI_HEATMAP_PAGE_H
#define CLI_HEATMAP_PAGE_H

#include "cli/command_io.h"
#include "decode/alignment.h"

typedef struct {
    const ModelSet *models;               /* at most EXPLORE_MODELS, or it fails */
    const StrList *paths;                 /* of the models */
    const TranslatorOptions *translating; /* how each of them translates */
    const StrView *lines, *targets;       /* [count]; targets NULL: none are given */
    int count;
    int layer, head; /* to begin with, from 1; 0: the mean of all */
    bool subwords;   /* to begin with, instead of words */
} HeatmapPage;

/* Append the title of a picture: the line, an arrow, its translation. */
void heatmap_title(StrView line, const Translation *translation, StrBuf *out);
/* Append the page to `out`. STATUS_DATA if a model's scores mean nothing. */
Status heatmap_page_write(const HeatmapPage *page, StrBuf *out);

#endif
