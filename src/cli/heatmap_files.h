/* heatmap_files.h - the formats of `attn-mt heatmap` and their files.
 *
 *   with a prefix   PREFIX.csv and so on; several sentences: PREFIX-1.csv, PREFIX-2.csv, ... The prefix x.svg
 *                   is x in the format svg
 *   without         standard output, with one format, and pictures of one sentence only
 *
 * Fails   STATUS_USAGE if the formats do not fit on standard output
 */
#ifndef CLI_HEATMAP_FILES_H
#define CLI_HEATMAP_FILES_H

#include "io/options.h"
#include "base/status.h"
#include "base/strview.h"

typedef enum {
    HEATMAP_TEXT,
    HEATMAP_CSV,
    HEATMAP_PGM,
    HEATMAP_SVG,
    HEATMAP_JSON,
    HEATMAP_HTML,
    HEATMAP_FORMAT_COUNT
} HeatmapFormat;
#define HEATMAP_FORMAT_CHOICES "text|csv|pgm|svg|json|html"

typedef struct {
    const char *prefix; /* NULL: standard output */
    bool quiet;         /* no message for each file */
    bool selected[HEATMAP_FORMAT_COUNT];
} HeatmapFiles;

/* Selects the formats: those of `formats`, names of HEATMAP_FORMAT_CHOICES; by default the format of the
 * prefix's extension, otherwise text on standard output, and csv, pgm and svg in files. */
Status heatmap_files_choose(HeatmapFiles *files, const StrList *formats);
/* Can `sentences` sentences be written? */
Status heatmap_files_check(const HeatmapFiles *files, int sentences);
/* Writes one heatmap. `number` is the sentence from 1, or 0 if there is only one. On standard output each
 * JSON document of several is one line, and other formats have an empty line between sentences. */
Status heatmap_files_write(const HeatmapFiles *files, HeatmapFormat format, int number, StrBuf *content);

#endif
