/* pivot.c - see pivot.h. */
#include "translate/pivot.h"

#include "base/mem.h"
#include "search/ensemble.h"

typedef struct {
    Ensemble models;
    StrList paths; /* of its only model */
    Translator *translator;
} PivotStep;

struct Pivot {
    PivotStep *steps; /* [count] */
    size_t count;
};

void pivot_route_free(PivotRoute *route) {
    strlist_free(&route->paths);
    strlist_free(&route->targets);
}

/* `before`: the translator of the step before, or NULL. */
static Status step_open(PivotStep *step, const char *path, char *target, WeightFormat format,
                        const UserOptions *user_options, const TranslatorOptions *options, Translator *before,
                        Workers *workers) {
    TranslatorOptions own = *options;
    strlist_add(&step->paths, sv(path));
    TRY(ensemble_load(&step->models, &step->paths, format, own.search.shortlist > 0));
    if (own.search.shortlist > 0) TRY(ensemble_check_shortlists(&step->models, &step->paths));
    ensemble_apply_defaults(&step->models, user_options, &own.search.decode);
    own.search.n_best = 1;
    own.search.alternatives = 0;
    own.glossary = NULL;
    own.memory = NULL;
    own.progress = NULL;
    own.pivot = before;
    own.target_language = target[0] ? target : NULL;
    own.translate_symbols = step->models.translates_symbols;
    return translator_new(&step->translator, ensemble_items(&step->models), step->models.count, &own,
                          workers);
}

Status pivot_new(Pivot **out, const PivotRoute *route, WeightFormat format, const UserOptions *user_options,
                 const TranslatorOptions *options, Workers *workers) {
    Pivot *pivot = mem_alloc(1, sizeof *pivot);
    pivot->steps = mem_alloc(route->paths.count, sizeof *pivot->steps);
    Status status = STATUS_OK;
    for (size_t i = 0; i < route->paths.count && status == STATUS_OK; i++) {
        Translator *before = i > 0 ? pivot->steps[i - 1].translator : NULL;
        pivot->count++;
        status = step_open(&pivot->steps[i], route->paths.items[i], route->targets.items[i], format,
                           user_options, options, before, workers);
    }
    if (status != STATUS_OK) {
        pivot_free(pivot);
        pivot = NULL;
    }
    *out = pivot;
    return status;
}

Translator *pivot_translator(const Pivot *pivot) { return pivot->steps[pivot->count - 1].translator; }

Status pivot_check_finite(const Pivot *pivot) {
    for (size_t i = 0; i < pivot->count; i++)
        TRY(translator_check_finite(pivot->steps[i].translator, &pivot->steps[i].paths));
    return STATUS_OK;
}

void pivot_free(Pivot *pivot) {
    if (!pivot) return;
    for (size_t i = 0; i < pivot->count; i++) {
        translator_free(pivot->steps[i].translator);
        ensemble_free(&pivot->steps[i].models);
        strlist_free(&pivot->steps[i].paths);
    }
    mem_free(pivot->steps);
    mem_free(pivot);
}
