/* registry.h - the folders of models: what models there are, and which ones translate a pair of languages.
 *
 * Folders   $ATTN_MT_MODELS, otherwise attn-mt/models in $XDG_DATA_HOME or ~/.local/share: the user's own.
 *           Then attn-mt/models in each folder of $XDG_DATA_DIRS (/usr/local/share:/usr/share), which are
 *           only read. The same name in an earlier folder hides a later one.
 * Model     NAME.safetensors. Names that begin with '.' are temporary files. Languages are in the file, not
 *           in the name. Only headers are read, no weights.
 * Damaged   a file that is no model is listed with the reason, and is no model of the registry
 * Threads   a Registry does not change; the environment is read when it is opened
 * Owner     registry_free, registry_routes_free; routes, steps and models are views into the Registry
 */
#ifndef MODELS_REGISTRY_H
#define MODELS_REGISTRY_H

#include "models/modelfile.h"

#define MODEL_SUFFIX ".safetensors"

typedef struct {
    char *name, *path;
    bool own; /* in the user's own folder */
    ModelInfo info;
} RegistryModel;

typedef struct {
    char *path, *reason;
} DamagedModel;

typedef struct {
    RegistryModel *items; /* [count] by name */
    size_t count, capacity;
    DamagedModel *damaged;
    size_t damaged_count, damaged_capacity;
    StrList folders; /* all, also those that do not exist; the first is the user's own unless `no_own` */
    bool no_own;     /* neither HOME nor one of the variables above is set */
} Registry;

/* Reads all folders. A folder that does not exist is empty. */
void registry_open(Registry *registry);
/* Reads the runs in `folder`: the best.safetensors of each folder in it, named like the folder. */
void registry_open_runs(Registry *registry, const char *folder);
void registry_free(Registry *registry);

/* The user's own folder. STATUS_USAGE if no variable tells where it is. */
Status registry_user_folder(StrBuf *path);
/* Appends the names in all folders, without reading the files. */
void registry_names(StrList *names);

/* Appends the path of the file that `model` means: text with a '/' or the ending .safetensors is a path,
 * everything else a name in the folders, and if there is none, a path again. A folder of a run stands for the
 * best.safetensors in it. STATUS_USAGE, with the nearest name, if there is neither. */
Status registry_path(const char *model, StrBuf *path);

const RegistryModel *registry_find(const Registry *registry, const char *name); /* NULL: none */

/* One model of a route. */
typedef struct {
    const RegistryModel *model;
    const char *source, *target; /* as the model's file names them */
    bool chooses_target;         /* `target` is a language token of the model (tokenizer.h) */
} RegistryStep;
enum { REGISTRY_STEPS = 4 };

/* The shortest route of models from one language to another, names in any spelling (languages.h). `most`: the
 * largest number of steps; 1: only a model of the pair. Among routes of the same length the one through
 * English, then the one with the most parameters. Returns the number of steps; 0: no route. */
int registry_route(const Registry *registry, StrView source, StrView target, int most,
                   RegistryStep steps[REGISTRY_STEPS]);

/* The same for many pairs: all routes from one language after the other. */
typedef struct RegistryRoutes RegistryRoutes;
RegistryRoutes *registry_routes_new(const Registry *registry);
void registry_routes_from(RegistryRoutes *routes, StrView source); /* `source` must live on */
int registry_routes_to(const RegistryRoutes *routes, StrView target, int most,
                       RegistryStep steps[REGISTRY_STEPS]);
void registry_routes_free(RegistryRoutes *routes);

#endif
