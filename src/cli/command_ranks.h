/* command_ranks.h - a command whose work ranks share (base/comm.h), and that has nothing to save when it is
 * stopped. Alone none of these does anything. */
#ifndef CLI_COMMAND_RANKS_H
#define CLI_COMMAND_RANKS_H

#include "base/status.h"
#include "base/strview.h"

/* Join the others. A signal ends all of them from now on. STATUS_USAGE if they do not find each other.
 * `threads` of each, 0: as many as there are cores; afterwards those of this rank. */
Status command_join_ranks(int *threads);
/* STATUS_DATA, naming the rank, where one of the models is not what rank 0 has loaded. */
Status command_compare_models(const StrList *paths);
/* One status for all when the work is done. A launcher that ends everything closes standard input first,
 * which must not look like the end of the work: a rank that a signal has met never comes to it. */
Status command_settle_work(Status mine);

#endif
