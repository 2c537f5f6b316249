/* comm_parts.h - what the two carriers of comm.h share. */
#ifndef DISTRIBUTED_COMM_PARTS_H
#define DISTRIBUTED_COMM_PARTS_H

#include <stdbool.h>
#include "base/status.h"

/* STATUS_USAGE if more processes were started than comm_size() says. */
Status comm_check_launch(bool has_mpi);

#endif
