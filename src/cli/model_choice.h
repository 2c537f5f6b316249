/* model_choice.h - from --model and --languages to model files.
 *
 *   --model        a name in the folders of models (models/registry.h), or a path
 *   no --model     --languages: the model of this pair; otherwise $ATTN_MT_MODEL, the only model of the
 *                  folders, or the newest best.safetensors of the runs below runs/. One line on standard
 *                  error names the model and the reason.
 *
 * Fails   STATUS_USAGE if there is no such model; the hint tells how to get one
 */
#ifndef CLI_MODEL_CHOICE_H
#define CLI_MODEL_CHOICE_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"
#include "translate/pivot.h"

/* Replaces each name by its path. */
Status model_choice_paths(StrList *models);
/* Appends the paths of `models`, names or paths. */
Status model_choice_list(const StrList *models, StrList *paths);
/* Makes `models` the paths to load, one at least. `languages`: of --languages, or NULL; `quiet`: print
 * nothing. *target becomes the language token for --languages if the models need one and it is NULL; `target`
 * may be NULL. If no model has both languages, *route gets the models before the last one of the shortest
 * route; `route` may be NULL: then there are no routes. */
Status model_choice(StrList *models, const char *languages, bool quiet, char **target, PivotRoute *route);

/* For --languages auto-fr: appends the language of `sample`, of those that the named models translate to
 * `target`, also through others. If nothing can be told from the sample, it is the first of them. */
Status model_choice_detect(StrView sample, StrView target, bool quiet, StrBuf *source);

#endif
