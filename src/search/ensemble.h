/* ensemble.h - loads the models that translate together; scorer.h averages their probabilities.
 *
 * Owner   an Ensemble owns its models; release with ensemble_free. A zeroed one is empty
 * Fails   STATUS_USAGE without a path; otherwise as modelfile_load
 */
#ifndef SEARCH_ENSEMBLE_H
#define SEARCH_ENSEMBLE_H

#include "io/options.h"
#include "models/seq2seq.h"

typedef struct {
    Seq2Seq **items;
    int count;
    StrBuf provenance;                       /* of the first model */
    bool translates_symbols;                 /* the first model: modelfile_translates_symbols */
    StrBuf source_language, target_language; /* of the first model; empty: unknown */
} Ensemble;

/* Loads all models, with weights in that format, and with their shortlists if these will be used. */
Status ensemble_load(Ensemble *models, const StrList *paths, WeightFormat format, bool shortlists);
void ensemble_free(Ensemble *models);
/* STATUS_USAGE if one of them, loaded from `paths` with shortlists, has none. */
Status ensemble_check_shortlists(const Ensemble *models, const StrList *paths);
/* Gives every search option that the user did not set its value in the first model's file, bounded by
 * decode_options_bound; warns of each value that is bounded. */
void ensemble_apply_defaults(const Ensemble *models, const UserOptions *user_options, DecodeOptions *decode);
static inline const Seq2Seq *const *ensemble_items(const Ensemble *models) {
    return (const Seq2Seq *const *)models->items;
}

#endif
