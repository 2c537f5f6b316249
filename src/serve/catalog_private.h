/* catalog_private.h - a catalog as catalog.c, which opens it, and catalog_choice.c share it. */
#ifndef SERVE_CATALOG_PRIVATE_H
#define SERVE_CATALOG_PRIVATE_H

#include <stdatomic.h>
#include <sys/stat.h>
#include "serve/catalog.h"
#include "text/languages.h"

typedef struct {
    char *code, *name;
    Language language; /* if `known` */
    bool known, is_source, is_target;
} CatalogLanguage;

typedef struct {
    CachedModel *cached; /* a reference */
    char *path;
    struct stat file; /* of the folders of models */
} CatalogModel;

struct Catalog {
    atomic_int references;
    CatalogLanguage *languages; /* [count] */
    int count;
    size_t capacity;
    CatalogRoute *routes; /* [count, count] source, target; owns the language tokens */
    CatalogModel *models; /* [model_count] */
    int model_count;
    Detector *detector; /* or NULL */
    bool any;           /* the languages are unknown: requests for any are accepted */
};

#endif
