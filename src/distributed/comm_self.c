/* comm_self.c - comm.h without MPI: one rank, which is this process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "distributed/comm.h"

static char host[64];

Status comm_start(volatile sig_atomic_t *stop) {
    (void)stop;
    return comm_check_launch(false);
}

void comm_finish(void) {}
void comm_timeout(double seconds) { (void)seconds; }
_Noreturn void comm_abort(int code) { exit(code); }
int comm_rank(void) { return 0; }
int comm_size(void) { return 1; }
const char *comm_library(void) { return "none (built without MPI)"; }

const char *comm_host(int rank) {
    (void)rank;
    if (!host[0] && gethostname(host, sizeof host - 1) != 0) memcpy(host, "here", 5);
    return host;
}

void comm_exchange(const CommMessage *messages) {
    if (messages->receive && messages->receive != messages->send)
        memcpy(messages->receive, messages->send, messages->receive_bytes);
}
