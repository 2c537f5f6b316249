/* broadcast.h - what rank 0 hands to the other ranks of a training run (comm.h) when it begins.
 *
 * Rank 0 alone looks into the run directory and decides what a command line leaves open. The others get its
 * configuration and vocabularies, and read the data themselves. With one rank nothing happens. Every rank
 * makes each call.
 */
#ifndef DISTRIBUTED_BROADCAST_H
#define DISTRIBUTED_BROADCAST_H

#include "base/workers.h"
#include "search/search.h"
#include "config/config.h"
#include "autograd/params.h"
#include "text/tokenizer.h"

/* All of rank 0's configuration, but for the names of data, which are as the own command line has them. */
void broadcast_config(Config *config);
/* Rank 0 has both, the others none yet. */
void broadcast_tokenizers(Tokenizer **source, Tokenizer **target);
void broadcast_weights(ParamSet *params); /* without packing them */
/* STATUS_RUNTIME, with the first parameter's name and the ranks, if a rank has other weights than rank 0. */
Status broadcast_check_weights(const ParamSet *params, long long update, Workers *workers);
/* Rank r has the greedy translations of the sentences r, r + size ...: one hypothesis each, without attention
 * and alternatives. Afterwards rank 0 has those of all `count`, with their ids and scores of tokens. */
void broadcast_translations(HypothesisList *translations, int count);
/* STATUS_DATA, naming the rank, where `digest` (of 64 digits) of `what` is not rank 0's. */
Status broadcast_compare(const char *digest, const char *what, const char *hint);

#endif
