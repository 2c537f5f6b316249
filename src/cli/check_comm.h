/* check_comm.h - attn-mt train --check-comm: the ranks of a run, and the speed of their exchanges. */
#ifndef CLI_CHECK_COMM_H
#define CLI_CHECK_COMM_H

#include "base/status.h"

/* Every rank calls it after comm_start; rank 0 prints. `threads` as on the command line, 0 = automatic. */
Status check_comm(int threads);

#endif
