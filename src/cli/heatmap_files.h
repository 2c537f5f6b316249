/* heatmap_files.h - the formats of `attn-mt heatmap`, and where each goes.
 *
 *   with a prefix   PREFIX.csv and so on, of many sentences PREFIX-1.csv, PREFIX-2.csv, ...; a prefix such as
 *                   x.svg means x in this format
 *   without         standard output, which takes one format, and pictures of one sentence only
 *
 * Fails   STATUS_USAGE for what cannot be written there
 */
#ifndef CLI_HEATMAP_FILES_H
#define CLI_HEATMAP_FILES_H

#include "base/options.h"
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
    bool quiet;         /* do not tell which files were written */
    bool wanted[HEATMAP_FORMAT_COUNT];
} HeatmapFiles;

/* Which formats are wanted: `formats`, names of HEATMAP_FORMAT_CHOICES; else that of the prefix's ending;
 * else text on standard output, or csv, pgm and svg. */
Status heatmap_files_choose(HeatmapFiles *files, const StrList *formats);
/* Do so many sentences fit where they go? */
Status heatmap_files_check(const HeatmapFiles *files, int sentences);
/* `number`: of the sentence from 1, or 0 if there is only one. On standard output a JSON document of many is
 * one line, and an empty line stands between other ones. */
Status heatmap_files_write(const HeatmapFiles *files, HeatmapFormat format, int number, StrBuf *content);

#endif
