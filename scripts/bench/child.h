/* child.h - runs another program and measures its time and its greatest memory.
 *
 * The system counts the memory of the forking process as memory of its child. The benchmark is large, so it
 * does not fork the program itself: it runs itself with CHILD_FLAG, and this small copy forks the program,
 * waits, and prints the measurements.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stddef.h>
#include "base/status.h"

#define CHILD_FLAG "--run-child"

typedef struct {
    int status;         /* of exit; 128 + signal */
    double first_line;  /* seconds from the fork to the end of the first line of output */
    double seconds;     /* to the end */
    double peak_memory; /* bytes */
} ChildFacts;

/* Run argv[0], which reads `input`; its output is counted and dropped, its messages go to `messages`.
 * STATUS_RUNTIME if it cannot be run or fails: the last line of its messages is quoted. */
Status child_run(char *const *argv, const char *input, const char *messages, ChildFacts *facts);
/* main of the small copy: argv[2] input, argv[3] messages, argv[4] ... the program. Returns its status. */
int child_main(char **argv);

#endif
