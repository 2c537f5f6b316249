/* broadcast.h - configuration, tokenizers, weights and translations for all processes of a group (group.h).
 *
 * The root process alone reads the run directory and completes the configuration. The other processes get
 * configuration, tokenizers and weights from it, and read the training data themselves. Every process makes
 * each call. In a group of one process nothing happens.
 */
#ifndef DISTRIBUTED_BROADCAST_H
#define DISTRIBUTED_BROADCAST_H

#include "base/workers.h"
#include "search/search.h"
#include "config/config.h"
#include "autograd/params.h"
#include "tokenizer/tokenizer.h"

/* The root's configuration, except data.train and data.valid: each process has its own. */
void broadcast_config(Config *config);
/* The root has both, the others have none yet. */
void broadcast_tokenizers(Tokenizer **source, Tokenizer **target);
void broadcast_weights(ParamSet *params); /* does not pack them */
/* STATUS_RUNTIME, with the first such parameter and the ranks, if weights differ from the root's. */
Status broadcast_check_weights(const ParamSet *params, long long update, Workers *workers);
/* Each process has the greedy translations of its items (group_strided_item): one hypothesis per sentence,
 * without attention and alternatives. Afterwards the root has all `count` translations, with token ids and
 * scores. */
void broadcast_gather_translations(HypothesisList *translations, int count);
/* STATUS_DATA, with the rank, if `digest` (64 digits) of `what` differs from the root's. */
Status broadcast_compare(const char *digest, const char *what, const char *hint);

#endif
