/* models_add.h - attn-mt models add: puts a model of ours or of another program into the user's folder.
 *
 * The model is written to a hidden file in the folder, loaded, and translates one sentence. Then it gets its
 * name, at once: two processes that add the same name cannot overwrite each other.
 *
 * Fails   STATUS_USAGE if the name is taken and not `overwrite`, or cannot be the name of a file; otherwise
 *         as model_convert.h
 */
#ifndef CLI_MODELS_ADD_H
#define CLI_MODELS_ADD_H

#include <stdbool.h>
#include "cli/model_convert.h"

typedef struct {
    char *name;      /* NULL: from the path */
    char *languages; /* "en-de"; NULL: those in the model */
    bool overwrite;
    ModelConvertOptions convert;
} ModelsAddOptions;

/* `path`: a model file, the folder of a run, or what model_convert reads. Logs the name and the
 * translation. */
Status models_add(const char *path, const ModelsAddOptions *options);

#endif
