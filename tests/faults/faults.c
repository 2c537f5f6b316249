/* faults.c - runs commands with injected faults: after each fault the command ends in time, and its output is
 * complete or absent.
 *
 *     faults [--all] [--kills N] [--minutes N] [--seed N] PROGRAM SHIM [ROW|COMMAND...]
 *
 * --all      every call and allocation fails once (every fifth allocation of a training), instead of a sample
 * --kills    the number of random kills of a training; half as many races for its folder
 * --minutes  kills and races until this time is over
 * SHIM       fault_shim.c, compiled; subject.h describes the working folder
 * ROW        only these rows; COMMAND: only these commands of the rows
 *
 * Prints the injections of each row and command. Exits 0 if nothing failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "subject.h"

/* ---- the table ----------------------------------------------------------------------------------------- */

/* The expected end of a command. In each case a replaced file is the old or the complete new one, only a
 * killed command leaves a temporary file, models load, and training can be resumed to the same bytes. */
typedef enum {
    CLEAN,    /* success with the same result, or failure with a reason */
    REPAIRED, /* success with the same result */
    REFUSED,  /* failure with a reason, or death by SIGPIPE */
    KILLED    /* death by SIGKILL */
} Must;

typedef struct Case Case;
struct Case {
    const char *row, *how; /* a call and its fault, or a limit; "+": the call and all after it */
    long from, to, step;   /* limits; for calls: every step-th call fails */
    long all;              /* the step with --all */
    Must must;
    const char *subjects;
    void (*sweep)(const Case *, const Subject *);
};

static void sweep_calls(const Case *, const Subject *);
static void sweep_limit(const Case *, const Subject *);
static void sweep_disk(const Case *, const Subject *);
static void attack_output(const Case *, const Subject *);
static void kill_and_resume(const Case *, const Subject *);
static void race(const Case *, const Subject *);
static void cut_file(const Case *, const Subject *);
static void put_pipe(const Case *, const Subject *);

#define DOCUMENTS "po xliff html srt markdown"
#define PRINTING  "version help complete inspect data formats bleu score print"
#define WRITING   "translate clean heatmap average convert train resume " DOCUMENTS
#define READING   "inspect data formats bleu score " WRITING
#define EVERY     PRINTING " demo " WRITING

#define CALLS(row, how, step, must, subjects) SOME_CALLS(row, how, step, 1, must, subjects)
#define SOME_CALLS(row, how, step, all, must, subjects)                                                      \
    { row, how, 1, 1000000, step, all, must, subjects, sweep_calls }

static const Case TABLE[] = {
    {"memory", "MB", 16, 512, 16, 0, CLEAN, EVERY " blas", sweep_limit},
    {"files", "", 3, 12, 1, 0, CLEAN, EVERY, sweep_limit},
    {"filesize", "KB", 0, 160, 8, 0, CLEAN, EVERY, sweep_limit},
    {"disk", "KB", 4, 256, 12, 0, CLEAN, "translate clean " DOCUMENTS " heatmap average convert train",
     sweep_disk},
    {"output", "/dev/full", 1, 1, 1, 0, REFUSED, PRINTING, attack_output},
    {"output", "closed", 1, 1, 1, 0, REFUSED, PRINTING, attack_output},
    {"output", "pipe", 1, 1, 1, 0, REFUSED, PRINTING, attack_output},
    {"output", "pipe", 1, 1, 1, 0, REPAIRED, "train", attack_output},
    /* A training allocates 7000 times, always in the same functions, and the first failure usually ends the
     * command. */
    CALLS("alloc", "ENOMEM", 211, CLEAN, PRINTING " demo translate clean heatmap average convert " DOCUMENTS),
    SOME_CALLS("alloc", "ENOMEM", 211, 5, CLEAN, "train resume"),
    SOME_CALLS("alloc", "ENOMEM+", 211, 7, CLEAN, EVERY),
    CALLS("mmap", "ENOMEM", 1, CLEAN, "blas"),
    CALLS("mmap", "ENOMEM+", 1, CLEAN, "blas"),
    CALLS("thread", "EAGAIN", 1, CLEAN, "translate heatmap average train resume " DOCUMENTS),
    CALLS("open", "EMFILE", 1, CLEAN, READING),
    CALLS("open", "EMFILE+", 1, CLEAN, READING),
    CALLS("open", "EACCES", 1, CLEAN, READING),
    CALLS("open", "EINTR", 1, REPAIRED, READING),
    CALLS("read", "EIO", 1, CLEAN, READING),
    CALLS("read", "EINTR", 1, REPAIRED, READING),
    CALLS("read", "short", 1, REPAIRED, READING),
    CALLS("write", "ENOSPC", 1, CLEAN, EVERY),
    CALLS("write", "EDQUOT", 1, CLEAN, EVERY),
    CALLS("write", "EIO", 1, CLEAN, EVERY),
    CALLS("write", "EINTR", 1, REPAIRED, EVERY),
    CALLS("write", "short", 1, REPAIRED, EVERY),
    CALLS("write", "zero", 1, CLEAN, WRITING),
    CALLS("write", "ENOSPC+", 1, CLEAN, EVERY),
    CALLS("fsync", "EIO", 1, CLEAN, WRITING),
    CALLS("fsync", "EIO+", 1, CLEAN, WRITING),
    CALLS("close", "EIO", 1, CLEAN, WRITING),
    CALLS("rename", "EIO", 1, CLEAN, WRITING),
    CALLS("rename", "EIO+", 1, CLEAN, WRITING),
    CALLS("unlink", "EIO", 1, CLEAN, "train"),
    CALLS("ftruncate", "EIO", 1, CLEAN, "train resume"),
    CALLS("mkdir", "EACCES", 1, CLEAN, "train resume"),
    CALLS("flock", "ENOLCK", 1, CLEAN, WRITING),
    CALLS("fchmod", "EPERM", 1, CLEAN, WRITING),
    CALLS("access", "EACCES", 1, CLEAN, "translate heatmap average train resume"),
    CALLS("open", "kill", 1, KILLED, WRITING),
    CALLS("write", "kill", 1, KILLED, WRITING),
    CALLS("write", "killafter", 1, KILLED, WRITING),
    CALLS("fsync", "kill", 1, KILLED, WRITING),
    CALLS("fsync", "killafter", 1, KILLED, WRITING),
    CALLS("rename", "kill", 1, KILLED, WRITING),
    CALLS("rename", "killafter", 1, KILLED, WRITING),
    {"kill", "random", 1, 1, 1, 0, KILLED, "long", kill_and_resume},
    {"race", "LOCK", 1, 1, 1, 0, CLEAN, "endless", race},
    {"race", "mkdir", 1, 1, 1, 0, CLEAN, "endless", race},
    {"race", "three", 1, 1, 1, 0, CLEAN, "endless", race},
    {"cut", "train.jsonl", 0, 1000000, 7, 1, CLEAN, "resume", cut_file},
    {"cut", "last.state.safetensors", 0, 1000000, 3001, 101, CLEAN, "resume", cut_file},
    {"pipe", "train.jsonl", 1, 1, 1, 0, REFUSED, "resume", put_pipe},
    {"pipe", "last.state.safetensors", 1, 1, 1, 0, REFUSED, "resume", put_pipe},
};

/* ---- one run and its check ----------------------------------------------------------------------------- */

static struct {
    const char *shim;
    char mark[4096]; /* the file that the shim creates when it injects a fault */
    bool all;
    long kills;
    double minutes;
    uint64_t seed;
} options = {.kills = 20, .seed = 1};

typedef struct {
    long injections, failures;
    bool skipped;
} Count;
static Count *count; /* of a row and a command; in memory shared with child processes */

static void fail(const Case *c, const Subject *subject, long value, const char *why, const Outcome *outcome) {
    printf("FAILED %s %s %ld, %s: %s (status %d)\n", c->row, c->how, value, subject->name, why,
           outcome->status);
    if (outcome->messages[0]) printf("    %.600s\n", outcome->messages);
    count->failures++;
}

/* If every write fails, the message cannot be written either. */
static bool is_mute(const Case *c) { return !strcmp(c->row, "write") && strchr(c->how, '+'); }

/* 127: the program cannot be loaded, a possible result of low limits on memory or open files. */
static const char *wrong_end(const Case *c, const Outcome *outcome) {
    int status = outcome->status;
    bool fails = status >= 1 && status <= 4;
    if (outcome->stopped) return "timeout";
    if (fails && !outcome->messages[0] && !is_mute(c)) return "fails without a message";
    if (c->must == REPAIRED) return status == 0 ? NULL : "fails instead of a retry";
    if (c->must == KILLED) return status == 128 + SIGKILL ? NULL : "was not killed";
    if (c->must == REFUSED)
        return fails || (status == 128 + SIGPIPE && !strcmp(c->how, "pipe"))
                   ? NULL
                   : "does not detect the output error";
    return status == 0 || fails || (status == 127 && c->sweep == sweep_limit) ? NULL
                                                                              : "unexpected exit status";
}

static const char *wrong_files(const Case *c, const Subject *subject, const Outcome *outcome) {
    if (subject_strays() > (c->must == KILLED ? 1 + subject->others : 0)) return "a temporary file is left";
    if (outcome->status == 0 && c->must != REFUSED && !subject_done(subject))
        return "success with another result";
    if (subject->result && !subject_done(subject) && !subject_untouched(subject))
        return "neither the old nor the new file";
    if (subject->trains && !subject_models_load()) return "a model does not load";
    return subject->trains && outcome->status != 0 ? subject_go_on(subject) : NULL;
}

static void check_run(const Case *c, const Subject *subject, long value, const Outcome *outcome) {
    const char *why = wrong_end(c, outcome);
    if (!why) why = wrong_files(c, subject, outcome);
    if (why) fail(c, subject, value, why, outcome);
    count->injections++;
}

/* ---- calls that fail ----------------------------------------------------------------------------------- */

static void arm_shim(void *fault) {
    setenv("FAULT", fault, 1);
    setenv("FAULT_MARK", options.mark, 1);
    setenv("LD_PRELOAD", options.shim, 1);
}

/* The first, second, third... call fails, until no call is left. */
static void sweep_calls(const Case *c, const Subject *subject) {
    char fault[64];
    bool on = strchr(c->how, '+') != NULL;
    for (long k = c->from; k <= c->to; k += options.all ? c->all : c->step) {
        snprintf(fault, sizeof fault, "%s:%ld%s:%.*s", c->row, k, on ? "+" : "", (int)strcspn(c->how, "+"),
                 c->how);
        unlink(options.mark);
        subject_reset(subject);
        Outcome outcome = subject_run(subject, NULL, arm_shim, fault);
        if (access(options.mark, F_OK) != 0) break;
        check_run(c, subject, k, &outcome);
    }
}

/* ---- limits -------------------------------------------------------------------------------------------- */

typedef struct {
    int resource;
    rlim_t value;
} Limit;

static void arm_limit(void *context) {
    const Limit *limit = context;
    struct rlimit both = {limit->value, limit->value};
    if (setrlimit((__rlimit_resource_t)limit->resource, &both) != 0) _exit(126);
}

static void sweep_limit(const Case *c, const Subject *subject) {
    static const int RESOURCES[] = {RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_FSIZE};
    static const rlim_t UNITS[] = {1 << 20, 1, 1 << 10};
    int which = !strcmp(c->row, "memory") ? 0 : !strcmp(c->row, "files") ? 1 : 2;
    for (long value = c->from; value <= c->to; value += c->step) {
        Limit limit = {RESOURCES[which], (rlim_t)value * UNITS[which]};
        subject_reset(subject);
        Outcome outcome = subject_run(subject, NULL, arm_limit, &limit);
        check_run(c, subject, value, &outcome);
    }
}

/* ---- a full disk --------------------------------------------------------------------------------------- */

/* Lets this process mount: as root in a mount namespace, otherwise in a user namespace. */
static bool may_mount(void) {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool mount_disk(long kilobytes, unsigned long flags) {
    char size[32];
    snprintf(size, sizeof size, "size=%ldk", kilobytes);
    return mount("tmpfs", "dir", "tmpfs", flags, size) == 0;
}

static void fill_disks(const Case *c, const Subject *subject) {
    for (long value = c->from; value <= c->to; value += c->step) {
        if (!mount_disk(value, 0)) test_fails("mount");
        subject_reset(subject);
        Outcome outcome = subject_run(subject, NULL, NULL, NULL);
        if (!mount_disk(1 << 16, MS_REMOUNT)) test_fails("mount"); /* the disk gets free space again */
        check_run(c, subject, value, &outcome);
        umount("dir");
    }
}

static void sweep_disk(const Case *c, const Subject *subject) {
    fflush(stdout);
    pid_t id = fork();
    if (id == 0) {
        if (!may_mount() || !mount_disk(4, 0))
            count->skipped = true;
        else if (umount("dir") == 0)
            fill_disks(c, subject);
        fflush(stdout);
        _exit(0);
    }
    int state;
    if (id < 0 || waitpid(id, &state, 0) != id || state != 0) test_fails("disk");
}

/* ---- an output that cannot be written ------------------------------------------------------------------ */

static void arm_output(void *how) {
    int ends[2];
    if (!strcmp(how, "closed")) {
        close(STDOUT_FILENO);
    } else if (!strcmp(how, "pipe")) {
        if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(126);
        close(ends[0]);
        close(ends[1]);
    } else {
        int fd = open(how, O_WRONLY);
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) _exit(126);
        close(fd);
    }
}

static void attack_output(const Case *c, const Subject *subject) {
    subject_reset(subject);
    Outcome outcome = subject_run(subject, NULL, arm_output, (void *)c->how);
    check_run(c, subject, 1, &outcome);
}

/* ---- kills and races ----------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* xorshift64*, 0 to 1 */
static double draw(void) {
    options.seed ^= options.seed >> 12;
    options.seed ^= options.seed << 25;
    options.seed ^= options.seed >> 27;
    return (double)((options.seed * UINT64_C(0x2545F4914F6CDD1D)) >> 11) * 0x1p-53;
}

/* Kills take half of the time, races the other half. */
static bool enough(long done, long wanted, double begin) {
    return options.minutes > 0 ? now() - begin > 60 * options.minutes / 2 : done >= wanted;
}

/* A training is killed at a random time, resumed and killed again, until it ends; then another one. The times
 * are fractions of the duration of an undisturbed run, so some runs end before their kill. */
static void kill_and_resume(const Case *c, const Subject *subject) {
    double begin = now();
    subject_learn(subject);
    double whole = 1000 * (now() - begin);
    Outcome outcome = {0};
    bool fresh = true;
    while (!enough(count->injections, options.kills, begin) || !fresh) {
        if (fresh) subject_reset(subject);
        bool resumes = access("dir/last.state.safetensors", F_OK) == 0;
        outcome =
            subject_wait(subject_start(subject, resumes ? "--resume" : NULL, NULL, NULL), whole * draw());
        count->injections += outcome.stopped;
        fresh = outcome.status == 0;
        if (outcome.stopped && !subject_models_load())
            fail(c, subject, count->injections, "a model does not load", &outcome);
        else if (!outcome.stopped && outcome.status != 0)
            fail(c, subject, count->injections, "cannot go on", &outcome);
        else if (fresh && !subject_done(subject))
            fail(c, subject, count->injections, "another model", &outcome);
        else if (fresh && subject_strays() > 0)
            fail(c, subject, count->injections, "temporary files stay", &outcome);
        else
            continue;
        fresh = true;
    }
}

/* Waits for the first process that ends; its place in `ends` becomes -1. */
static int first_end(struct pollfd *ends, int count) {
    while (poll(ends, (nfds_t)count, 120000) < 0 && errno == EINTR) continue;
    int first = 0;
    while (first < count - 1 && (ends[first].fd < 0 || !ends[first].revents)) first++;
    ends[first].fd = -1;
    return first;
}

/* Two or three trainings start at once: one works, the others are refused. Except for "LOCK", all find that
 * the folder does not exist. */
static void race(const Case *c, const Subject *subject) {
    double begin = now();
    bool makes_folder = strcmp(c->how, "LOCK") != 0;
    int starters = strcmp(c->how, "three") == 0 ? 3 : 2;
    void (*arm)(void *) = makes_folder ? arm_shim : NULL;
    for (long round = 1; !enough(round - 1, options.kills / 2, begin); round++) {
        subject_reset(subject);
        if (makes_folder && rmdir("dir") != 0) test_fails("rmdir");
        Running all[3];
        struct pollfd ends[3];
        for (int i = 0; i < starters; i++)
            all[i] = subject_start(subject, NULL, arm, (void *)"mkdir:1+:slow");
        for (int i = 0; i < starters; i++) ends[i] = (struct pollfd){all[i].error, 0, 0};
        Outcome outcome;
        for (int left = starters; left > 1; left--) {
            outcome = subject_wait(all[first_end(ends, starters)], 120000);
            if (outcome.status != 2 || !strstr(outcome.messages, "is in use by process"))
                fail(c, subject, round, "more than one is not refused", &outcome);
        }
        int winner = 0;
        while (ends[winner].fd < 0) winner++;
        kill(all[winner].id, SIGTERM);
        outcome = subject_wait(all[winner], 120000);
        if (outcome.status != 128 + SIGTERM || !subject_models_load())
            fail(c, subject, round, "the first one does not save and stop", &outcome);
        count->injections++;
    }
}

/* ---- damaged files of a run ---------------------------------------------------------------------------- */

/* A failed command changes no file: with the file restored, dir/ is as before. */
static void check_damaged(const Case *c, const Subject *subject, long value, const char *path) {
    Outcome outcome = subject_run(subject, NULL, NULL, NULL);
    if (outcome.status != 0) {
        unlink(path);
        subject_restore(c->how);
    }
    const char *why = wrong_end(c, &outcome);
    if (!why && outcome.status != 0 && !subject_unchanged(subject)) why = "changes files before it fails";
    if (!why && outcome.status == 0 && c->must != REFUSED && !subject_done(subject)) why = "another result";
    if (why) fail(c, subject, value, why, &outcome);
    count->injections++;
}

static void cut_file(const Case *c, const Subject *subject) {
    char path[300];
    struct stat about;
    snprintf(path, sizeof path, "dir/%s", c->how);
    for (long size = c->from; size <= c->to; size += options.all ? c->all : c->step) {
        subject_reset(subject);
        if (stat(path, &about) != 0) test_fails(path);
        if (size >= about.st_size) break;
        if (truncate(path, size) != 0) test_fails(path);
        check_damaged(c, subject, size, path);
    }
}

/* A pipe that no program writes to, in place of the file. */
static void put_pipe(const Case *c, const Subject *subject) {
    char path[300];
    snprintf(path, sizeof path, "dir/%s", c->how);
    subject_reset(subject);
    if (unlink(path) != 0 || mkfifo(path, 0666) != 0) test_fails(path);
    check_damaged(c, subject, 1, path);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static Count run_case(const Case *c, const Subject *subject) {
    *count = (Count){0};
    c->sweep(c, subject);
    if (count->injections == 0 && !count->skipped) fail(c, subject, 0, "nothing was injected", &(Outcome){0});
    printf("%-8s %-10s %-10s", c->row, c->how, subject->name);
    if (count->skipped)
        puts(" skipped: nothing can be mounted here");
    else
        printf("%6ld injections, %ld failures\n", count->injections, count->failures);
    fflush(stdout);
    return *count;
}

static bool learned[MAX_SUBJECTS]; /* false: not wanted here, or built without a library that it needs */

static bool names_a_row(const char *word) {
    for (const Case *c = TABLE; c < TABLE + sizeof TABLE / sizeof *TABLE; c++)
        if (strcmp(c->row, word) == 0) return true;
    return false;
}

/* Is the word among those that name a row (or a command), or are there none? */
static bool is_wanted(const char *word, bool row, char **words) {
    bool any = false;
    for (; *words; words++) {
        if (names_a_row(*words) != row) continue;
        if (strcmp(*words, word) == 0) return true;
        any = true;
    }
    return !any;
}

static Count run_table(char **words) {
    Count total = {0};
    for (const Case *c = TABLE; c < TABLE + sizeof TABLE / sizeof *TABLE; c++) {
        char names[256], *rest = NULL;
        if (!is_wanted(c->row, true, words)) continue;
        snprintf(names, sizeof names, "%s", c->subjects);
        for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            const Subject *subject = subject_find(name);
            if (!is_wanted(name, false, words)) continue;
            if (!learned[subject - SUBJECTS] && strcmp(name, "endless") != 0) continue;
            Count one = run_case(c, subject);
            total.injections += one.injections;
            total.failures += one.failures;
        }
    }
    return total;
}

static char **read_options(char **argv) {
    for (argv++; *argv && !strncmp(*argv, "--", 2); argv++) {
        if (!strcmp(*argv, "--all"))
            options.all = true;
        else if (!strcmp(*argv, "--kills") && argv[1])
            options.kills = strtol(*++argv, NULL, 10);
        else if (!strcmp(*argv, "--minutes") && argv[1])
            options.minutes = strtod(*++argv, NULL);
        else if (!strcmp(*argv, "--seed") && argv[1])
            options.seed = strtoull(*++argv, NULL, 10) | 1;
        else
            break;
    }
    return argv;
}

int main(int argc, char **argv) {
    char **rest = read_options(argv);
    if (argc < 3 || !rest[0] || !rest[1] || rest[0][0] == '-') {
        fputs("usage: faults [--all] [--kills N] [--minutes N] [--seed N] PROGRAM SHIM [ROW|COMMAND...]\n",
              stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_DFL);
    subject_program(rest[0]);
    options.shim = rest[1];
    if (!getcwd(options.mark, sizeof options.mark - 5)) test_fails("getcwd");
    strcat(options.mark, "/mark");
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count == MAP_FAILED) test_fails("mmap");
    for (const Subject *s = SUBJECTS; s->name; s++)
        if (is_wanted(s->name, false, rest + 2) && strcmp(s->name, "endless") != 0 &&
            (strcmp(s->name, "long") != 0 || is_wanted("kill", true, rest + 2)))
            learned[s - SUBJECTS] = subject_learn(s);
    Count total = run_table(rest + 2);
    printf("%ld injections, %ld failures\n", total.injections, total.failures);
    return total.failures > 0 || total.injections == 0;
}
