/* pair_files.h - glossaries and translation memories of a server of many models: `--glossary en-de=FILE`.
 *
 * Each belongs to the models that translate this pair, also as a step on the way to another language.
 *
 * Owner   pair_files_free
 * Fails   pair_files_read: STATUS_USAGE; STATUS_RUNTIME if a file is not there. pair_files_check:
 *         STATUS_USAGE
 */
#ifndef SERVE_PAIR_FILES_H
#define SERVE_PAIR_FILES_H

#include "serve/model_cache.h"

typedef struct {
    char *pair;             /* that the views are of */
    StrView source, target; /* languages in any spelling */
    const char *path;
    bool is_memory;
    bool used; /* a model translates the pair */
} PairFile;

typedef struct {
    PairFile *items; /* [count] */
    size_t count;
} PairFiles;

/* The lists must outlive *files, which pair_files_free releases also after a failure. */
Status pair_files_read(PairFiles *files, const StrList *glossaries, const StrList *memories);
void pair_files_free(PairFiles *files);
/* The guides [*count] of a model, to release with model_guides_free. */
ModelGuide *pair_files_guides(PairFiles *files, const ModelInfo *info, int *count);
/* Is there a model for each file? */
Status pair_files_check(const PairFiles *files);

#endif
