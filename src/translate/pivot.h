/* pivot.h - the models that translate a text into the language that the last model of a route reads.
 *
 * From French to German with models from French to English and from English to German: the pivot holds the
 * first. Its translator goes to TranslatorOptions.pivot of the last one.
 *
 * Owner   pivot_free; the workers must outlive the pivot
 * Fails   as ensemble_load and translator_new
 */
#ifndef TRANSLATE_PIVOT_H
#define TRANSLATE_PIVOT_H

#include "translate/translator.h"

/* The models of a route but the last, in order. */
typedef struct {
    StrList paths;
    StrList targets; /* language tokens, one for each path; "": the model has none */
} PivotRoute;
void pivot_route_free(PivotRoute *route);

typedef struct Pivot Pivot;
/* Loads the models, with weights in `format`. Of `options` the search options that the user set, tags, split
 * and accelerators count; each model's file has the other search options. */
Status pivot_new(Pivot **pivot, const PivotRoute *route, WeightFormat format, const UserOptions *user_options,
                 const TranslatorOptions *options, Workers *workers);
Translator *pivot_translator(const Pivot *pivot);
/* translator_check_finite of all models. */
Status pivot_check_finite(const Pivot *pivot);
void pivot_free(Pivot *pivot); /* NULL is allowed */

#endif
