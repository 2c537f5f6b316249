/* child.c - runs another program through a small copy of the benchmark. */
#include "bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"

/* ---- the small copy ------------------------------------------------------------------------------------ */

static void become(char **argv, const char *input, const char *messages, int output) {
    int in = open(input, O_RDONLY), err = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in >= 0 && err >= 0 && dup2(in, 0) >= 0 && dup2(output, 1) >= 0 && dup2(err, 2) >= 0)
        execv(argv[0], argv);
    _exit(127);
}

static double peak_bytes(const struct rusage *usage) {
#ifdef __APPLE__
    return (double)usage->ru_maxrss;
#else
    return 1024.0 * (double)usage->ru_maxrss;
#endif
}

int child_main(char **argv) {
    int ends[2], status;
    char buffer[4096];
    struct rusage usage;
    ssize_t got;
    if (!argv[2] || !argv[3] || !argv[4] || pipe(ends)) return 1;
    double begin = clock_seconds(), first = -1;
    pid_t pid = fork();
    if (pid < 0) return 1;
    if (pid == 0) {
        close(ends[0]);
        become(argv + 4, argv[2], argv[3], ends[1]);
    }
    close(ends[1]);
    while ((got = read(ends[0], buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        if (first < 0 && got > 0 && memchr(buffer, '\n', (size_t)got)) first = clock_seconds() - begin;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR) return 1;
    double seconds = clock_seconds() - begin;
    printf("%d %.9f %.9f %.0f\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           first < 0 ? seconds : first, seconds, peak_bytes(&usage));
    return fflush(stdout) ? 1 : 0;
}

/* ---- the benchmark ------------------------------------------------------------------------------------- */

static const char *own_path(void) {
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *named = getenv("BENCH_PROGRAM"); /* where there is no /proc */
    return length > 0 ? path : named;
}

static Status complain(const char *program, int code, const char *messages) {
    StrBuf text = {0};
    StrView rest, line, last = {0};
    Status status = file_read(messages, 1 << 20, &text);
    rest = strbuf_view(&text);
    while (status == STATUS_OK && sv_next(&rest, '\n', &line))
        if (line.length) last = line;
    status = status_fail(STATUS_RUNTIME, "'%s' failed (%d): %.*s", program, code, SV_ARG(last));
    strbuf_free(&text);
    return status;
}

static Status collect(FILE *from, pid_t pid, const char *program, ChildFacts *facts) {
    int status = 0, read = fscanf(from, "%d %lf %lf %lf", &facts->status, &facts->first_line, &facts->seconds,
                                  &facts->peak_memory);
    fclose(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (read != 4 || status) return status_fail(STATUS_RUNTIME, "cannot run '%s'", program);
    return STATUS_OK;
}

Status child_run(char *const *argv, const char *input, const char *messages, ChildFacts *facts) {
    int ends[2], count = 0;
    const char *self = own_path();
    if (!self || pipe(ends)) return status_fail(STATUS_RUNTIME, "cannot run another program");
    while (argv[count]) count++;
    char **all = mem_alloc((size_t)count + 5, sizeof *all);
    char *front[] = {mem_strdup(self), mem_strdup(CHILD_FLAG), mem_strdup(input), mem_strdup(messages)};
    memcpy(all, front, sizeof front);
    memcpy(all + 4, argv, (size_t)count * sizeof *all);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(ends[1], 1) >= 0) execv(self, all);
        _exit(127);
    }
    close(ends[1]);
    Status status = STATUS_OK;
    FILE *from = pid < 0 ? NULL : fdopen(ends[0], "r");
    if (from)
        status = collect(from, pid, argv[0], facts);
    else
        status = status_fail(STATUS_RUNTIME, "cannot run '%s': %s", argv[0], strerror(errno));
    for (int i = 0; i < 4; i++) mem_free(front[i]);
    mem_free(all);
    TRY(status);
    return facts->status ? complain(argv[0], facts->status, messages) : STATUS_OK;
}
