/* inspect_data.h - `attn-mt inspect` of files of sentence pairs. */
#ifndef CLI_INSPECT_DATA_H
#define CLI_INSPECT_DATA_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

/* Are these sentence pairs rather than a model: a pattern with {}, gzip, or text? */
bool inspect_is_data(const char *path);

typedef struct {
    const char *valid;        /* validation file, or NULL */
    const char *languages;    /* "en-de": names in patterns, or NULL */
    const char *columns;      /* "-,en,fr": names of the columns in order, or NULL: see data/columns.h */
    const char *clean;        /* write the pairs that stay to this file, or NULL */
    const char *dropped;      /* and the others to this one; NULL: a name after `clean` */
    const StrList *drop;      /* names of findings (data/pair_checks.h), "none" */
    const StrList *split_off; /* "valid.tsv=1000" */
    bool json;
} InspectData;

/* Writes the files of `clean`, then prints the report. */
Status inspect_data(const InspectData *options, const StrList *files);

#endif
