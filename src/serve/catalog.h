/* catalog.h - what the server can translate: languages, and the models on the way from one to another.
 *
 * Either the models of the folders of models (models/registry.h), or fixed ones, which the command line names
 * and which form an ensemble. A pair that no model has goes through models in between.
 *
 * A catalog does not change. A reload makes a new one; models whose files are the same stay in memory.
 *
 *   Codes     of folders: ISO 639 with the region ("pt-BR") or, where it tells two languages apart, the
 *             script. Of fixed models: as their file or --languages names them; "source" and "target" if
 *             these are no languages: then requests for any language are accepted
 *   Owner     counted: catalog_retain, catalog_release. Routes, codes and names live as long as it
 *   Threads   any, except the functions that open one
 *   Fails     catalog_open_fixed: as attn_mt_open. catalog_open_folders: STATUS_USAGE if there are no models,
 *             or none for one of the files.
 *             catalog_choose: STATUS_DATA, with a message for the client
 */
#ifndef SERVE_CATALOG_H
#define SERVE_CATALOG_H

#include "models/registry.h"
#include "serve/model_cache.h"
#include "serve/pair_files.h"
#include "text/detect.h"

typedef struct Catalog Catalog;

/* Names of the languages of --languages, both empty: without. */
typedef struct {
    StrView source, target;
} CatalogPair;

/* `guide`: of any target. */
Status catalog_open_fixed(Catalog **catalog, ModelCache *models, const StrList *paths, CatalogPair pair,
                          const ModelGuide *guide);
/* Loads the models again. */
Status catalog_reopen_fixed(Catalog **catalog, const Catalog *old, CatalogPair pair);
/* `old`: whose models stay if their files are the same, or NULL. `pair`: the only languages. `files`: of the
 * models, which are read again. Damaged files are left out, with a warning unless `quiet`. */
Status catalog_open_folders(Catalog **catalog, ModelCache *models, const Catalog *old, CatalogPair pair,
                            PairFiles *files, bool quiet);
Catalog *catalog_retain(Catalog *catalog);
void catalog_release(Catalog *catalog); /* NULL is allowed */

typedef struct {
    CachedModel *model;
    const char *target; /* language token of the model; NULL: it has none */
} CatalogStep;

typedef struct {
    int count; /* 0: there is no route */
    CatalogStep steps[REGISTRY_STEPS];
} CatalogRoute;

int catalog_count(const Catalog *catalog); /* languages */
StrView catalog_code(const Catalog *catalog, int language);
StrView catalog_name(const Catalog *catalog, int language); /* "Portuguese (BR)" */
const CatalogRoute *catalog_route(const Catalog *catalog, int source, int target);
bool catalog_is_source(const Catalog *catalog, int language);
bool catalog_is_target(const Catalog *catalog, int language);

int catalog_model_count(const Catalog *catalog);
CachedModel *catalog_model(const Catalog *catalog, int model);

/* NULL: no detection. Its candidates are the languages of the catalog. */
const Detector *catalog_detector(const Catalog *catalog);

/* Chooses source and target for a request: names in any spelling, or NULL or "auto". `texts` [count] tell an
 * unnamed source. */
Status catalog_choose(const Catalog *catalog, const char *source_name, const char *target_name,
                      const char *const *texts, int count, int *source, int *target);

#endif
