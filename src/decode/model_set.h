/* model_set.h - the models that translate together, and what the first of them may choose.
 *
 * Owner   a ModelSet owns its models; release with model_set_free. A zeroed one is empty
 * Fails   STATUS_USAGE without a path; else as modelfile_load
 */
#ifndef DECODE_MODEL_SET_H
#define DECODE_MODEL_SET_H

#include "models/seq2seq.h"

typedef struct {
    Seq2Seq **items;
    int count;
    StrBuf provenance;                       /* of the first model */
    StrBuf source_language, target_language; /* as its training named them; empty: not known */
} ModelSet;

/* Load all models, with weights in that format. */
Status model_set_load(ModelSet *models, const StrList *paths, WeightFormat format);
void model_set_free(ModelSet *models);
/* STATUS_USAGE if one of them, loaded from `paths`, has no shortlist. */
Status model_set_check_shortlists(const ModelSet *models, const StrList *paths);
static inline const Seq2Seq *const *model_set_items(const ModelSet *models) {
    return (const Seq2Seq *const *)models->items;
}
/* Target tokens that a model file may ask for, for each source token. */
enum { MODEL_SET_MOST_FACTOR = 20 };
/* A model's own search options, up to bounds: a beam of 20, translations of 20 tokens for each source
 * token and 200 more (20 if a piece has so few tokens), pieces of 1000 tokens that become no more than 5000
 * and those 200, 256 sentences at once and 1000 times as many read ahead. */
DecodeOptions model_set_decode(const Seq2Seq *first);

/* The fields that are bounded. */
#define MODEL_SET_BOUNDED(FIELD)                                                                             \
    FIELD(beam_size)                                                                                         \
    FIELD(max_length_factor)                                                                                 \
    FIELD(max_length_extra)                                                                                  \
    FIELD(max_input_length)                                                                                  \
    FIELD(mini_batch)                                                                                        \
    FIELD(maxi_batch)

#endif
