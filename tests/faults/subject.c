/* subject.c - starts commands and checks their outputs. */
#include "subject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MODEL     "model.safetensors"
#define TRAIN     "train", "--quiet", "--threads", "2", "--config", "config.json", "--run", "dir"
#define TRANSLATE "translate", "--quiet", "--threads", "2", "-m", MODEL

const Subject SUBJECTS[MAX_SUBJECTS] = {
    {"version", .arguments = {"--version"}},
    {"help", .arguments = {"train", "--help"}},
    {"complete", .arguments = {"completion", "line", "train", "--set", "model."}},
    {"inspect", .arguments = {"inspect", MODEL}},
    {"data", .arguments = {"inspect", "pairs.tsv"}},
    {"formats", .arguments = {"inspect", "pairs.tmx", "pairs.xlf", "pairs.po", "pairs.csv", "pairs.jsonl"}},
    {"bleu", .arguments = {"bleu", "source.txt", "-i", "source.txt", "-m", "bleu", "chrf"}},
    {"score", .arguments = {"score", "--threads", "2", "-m", MODEL, "source.txt", "source.txt"}},
    {"demo", .inside = true, .arguments = {"demo", "attention", "-o", "attention"}},
    {"print", .arguments = {TRANSLATE, "source.txt"}},
    {"translate", "dir/out", .arguments = {TRANSLATE, "-o", "dir/out", "source.txt"}},
    {"clean", "dir/out", .others = 1,
     .arguments = {"inspect", "pairs.jsonl", "pairs.po", "--clean", "dir/out"}},
    {"po", "dir/out", .arguments = {TRANSLATE, "-o", "dir/out", "text.po"}},
    {"xliff", "dir/out", .arguments = {TRANSLATE, "-o", "dir/out", "text.xlf"}},
    {"html", "dir/out", .arguments = {TRANSLATE, "-o", "dir/out", "text.html"}},
    {"srt", "dir/out", .arguments = {TRANSLATE, "-o", "dir/out", "text.srt"}},
    {"markdown", "dir/out", .arguments = {TRANSLATE, "--format", "markdown", "-o", "dir/out", "text.md"}},
    {"heatmap", "dir/out.svg", .arguments = {"heatmap", "-m", MODEL, "-f", "svg", "-o", "dir/out", "go ."}},
    {"average", "dir/out.safetensors", .arguments = {"average", MODEL, MODEL, "-o", "dir/out.safetensors"}},
    {"convert", "dir/out.safetensors", .arguments = {"convert", MODEL, "-o", "dir/out.safetensors"}},
    {"train", .trains = true, .arguments = {TRAIN, "--overwrite"}},
    {"resume", .trains = true, .begun = true, .arguments = {TRAIN, "--resume"}},
    /* Products by OpenBLAS, which maps its buffers in its first product. */
    {"blas", .trains = true, .simd = "base", .arguments = {TRAIN, "--overwrite"}},
    {"long", .trains = true,
     .arguments = {TRAIN, "--set", "train.max_updates=150", "--set", "train.valid_every=3", "--overwrite"}},
    {"endless", .trains = true, .arguments = {TRAIN, "--set", "train.max_updates=0", "--overwrite"}},
    {0},
};
static const char *const MODELS[] = {"best.safetensors", "last.safetensors"};
static const char *const BEGUN[] = {"best.safetensors", "last.safetensors", "last.state.safetensors",
                                    "train.jsonl"};
enum { PATIENCE = 120000 }; /* milliseconds; far longer than any command on a slow and busy machine */
static const char OLD[] = "what was there before\n";
static const char *program;

_Noreturn void test_fails(const char *what) {
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    exit(1);
}

void subject_program(const char *path) { program = path; }

const Subject *subject_find(const char *name) {
    for (const Subject *s = SUBJECTS; s->name; s++)
        if (strcmp(s->name, name) == 0) return s;
    errno = EINVAL;
    test_fails(name);
}

/* ---- processes ----------------------------------------------------------------------------------------- */

static void to_descriptor(const char *path, int flags, int wanted) {
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, wanted) < 0) _exit(126);
    close(fd);
}

_Noreturn static void become(const Subject *subject, const char *last, void (*arm)(void *), void *context) {
    const char *arguments[22] = {program};
    int count = 1;
    for (int i = 0; subject->arguments[i]; i++) arguments[count++] = subject->arguments[i];
    if (last) arguments[count - 1] = last;
    to_descriptor("/dev/null", O_RDONLY, STDIN_FILENO);
    to_descriptor("out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    if (subject->inside && chdir("dir") != 0) _exit(126);
    if (subject->simd && setenv("ATTN_MT_SIMD", subject->simd, 1) != 0) _exit(126);
    if (arm) arm(context);
    execv(program, (char **)arguments);
    _exit(127);
}

Running subject_start(const Subject *subject, const char *last, void (*arm)(void *), void *context) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) test_fails("pipe");
    pid_t id = fork();
    if (id < 0) test_fails("fork");
    if (id == 0) {
        dup2(ends[1], STDERR_FILENO);
        become(subject, last, arm, context);
    }
    close(ends[1]);
    return (Running){id, ends[0]};
}

static double milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* The pipe ends with the process. Output beyond the buffer is dropped. */
Outcome subject_wait(Running running, double milliseconds) {
    Outcome outcome = {0};
    double end = milliseconds_now() + milliseconds;
    size_t length = 0;
    char piece[4096];
    for (;;) {
        struct pollfd pipe = {.fd = running.error, .events = POLLIN};
        double left = end - milliseconds_now();
        if (left <= 0 && !outcome.stopped) {
            outcome.stopped = true;
            kill(running.id, SIGKILL);
        }
        if (!outcome.stopped && poll(&pipe, 1, (int)left + 1) <= 0) continue;
        ssize_t got = read(running.error, piece, sizeof piece);
        if (got <= 0) break;
        if ((size_t)got >= sizeof outcome.messages - length) continue;
        memcpy(outcome.messages + length, piece, (size_t)got);
        length += (size_t)got;
    }
    close(running.error);
    int state;
    if (waitpid(running.id, &state, 0) != running.id) test_fails("waitpid");
    outcome.status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    return outcome;
}

Outcome subject_run(const Subject *subject, const char *last, void (*arm)(void *), void *context) {
    return subject_wait(subject_start(subject, last, arm, context), PATIENCE);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t capacity = 1 << 20;
    char *data = malloc(capacity);
    *length = data ? fread(data, 1, capacity, file) : 0;
    if (!data || *length == capacity) test_fails(path);
    fclose(file);
    return data;
}

static bool same_files(const char *a, const char *b) {
    size_t m = 0, n = 0;
    char *x = read_file(a, &m), *y = read_file(b, &n);
    bool same = x && y && m == n && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

static void put_file(const char *path, const char *data, size_t length) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, length, file) != length || fclose(file) != 0) test_fails(path);
}

typedef struct {
    char text[300];
} Name;

static Name name_of(const char *format, const char *a, const char *b) {
    Name name;
    snprintf(name.text, sizeof name.text, format, a, b);
    return name;
}

static void keep(const char *from, const char *to) {
    size_t length = 0;
    char *data = read_file(from, &length);
    if (!data) test_fails(from);
    put_file(to, data, length);
    free(data);
}

static int each_file(bool (*which)(const char *), void (*act)(const char *)) {
    DIR *folder = opendir("dir");
    int count = 0;
    if (!folder) test_fails("dir");
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || !which(entry->d_name))
            continue;
        count++;
        if (act) act(entry->d_name);
    }
    closedir(folder);
    return count;
}

static bool any(const char *name) { return name[0] != 0; }
static bool temporary(const char *name) {
    size_t length = strlen(name);
    return name[0] == '.' && length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}
static void delete (const char *name) { unlink(name_of("dir/%s%s", name, "").text); }

int subject_strays(void) { return each_file(temporary, NULL); }

void subject_reset(const Subject *subject) {
    mkdir("dir", 0777);
    each_file(any, delete);
    if (subject->result) put_file(subject->result, OLD, sizeof OLD - 1);
    for (int i = 0; subject->begun && i < 4; i++) subject_restore(BEGUN[i]);
}

void subject_restore(const char *name) {
    keep(name_of("begun.%s%s", name, "").text, name_of("dir/%s%s", name, "").text);
}

/* ---- expected outputs ---------------------------------------------------------------------------------- */

/* The first half of a training, for the subjects that resume it. */
static void begin_training(void) {
    static const Subject half = {"begun", .trains = true,
                                 .arguments = {TRAIN, "--set", "train.max_updates=2", "--overwrite"}};
    subject_reset(&half);
    if (subject_run(&half, NULL, NULL, NULL).status != 0) test_fails("the first half of a training");
    for (int i = 0; i < 4; i++)
        keep(name_of("dir/%s%s", BEGUN[i], "").text, name_of("begun.%s%s", BEGUN[i], "").text);
}

bool subject_learn(const Subject *subject) {
    if (subject->begun) begin_training();
    subject_reset(subject);
    Outcome outcome = subject_run(subject, NULL, NULL, NULL);
    if (outcome.status != 0) {
        if (strstr(outcome.messages, "was built without")) return false;
        fputs(outcome.messages, stderr);
        test_fails(subject->name);
    }
    if (subject->trains)
        for (int i = 0; i < 2; i++)
            keep(name_of("dir/%s%s", MODELS[i], "").text,
                 name_of("expected.%s.%s", subject->name, MODELS[i]).text);
    else
        keep(subject->result ? subject->result : "out", name_of("expected.%s%s", subject->name, "").text);
    return true;
}

static bool same_models(const Subject *subject) {
    for (int i = 0; i < 2; i++)
        if (!same_files(name_of("dir/%s%s", MODELS[i], "").text,
                        name_of("expected.%s.%s", subject->name, MODELS[i]).text))
            return false;
    return true;
}

bool subject_done(const Subject *subject) {
    if (subject->trains) return same_models(subject);
    return same_files(subject->result ? subject->result : "out",
                      name_of("expected.%s%s", subject->name, "").text);
}

bool subject_untouched(const Subject *subject) {
    size_t length = 0;
    char *data = subject->result ? read_file(subject->result, &length) : NULL;
    bool same = data && length == sizeof OLD - 1 && memcmp(data, OLD, length) == 0;
    free(data);
    return same;
}

static bool no_lock(const char *name) { return strcmp(name, "LOCK") != 0; }
static bool as_begun(const char *name) {
    for (int i = 0; i < 4; i++)
        if (strcmp(name, BEGUN[i]) == 0)
            return same_files(name_of("begun.%s%s", name, "").text, name_of("dir/%s%s", name, "").text);
    return false;
}
/* Then a resume would repeat subject_learn. */
bool subject_unchanged(const Subject *subject) {
    int kept = each_file(as_begun, NULL);
    return each_file(no_lock, NULL) == kept && kept == (subject->begun ? 4 : 0);
}

bool subject_models_load(void) {
    for (int i = 0; i < 2; i++) {
        Name path = name_of("dir/%s%s", MODELS[i], "");
        Subject inspect = {.arguments = {"inspect", path.text}};
        if (access(path.text, F_OK) == 0 && subject_run(&inspect, NULL, NULL, NULL).status != 0) return false;
    }
    return true;
}

const char *subject_go_on(const Subject *subject) {
    if (subject_unchanged(subject)) return NULL;
    bool resumes = access("dir/last.state.safetensors", F_OK) == 0;
    Outcome outcome = subject_run(subject, resumes ? "--resume" : NULL, NULL, NULL);
    if (outcome.status != 0) return resumes ? "cannot be resumed" : "cannot be started again";
    if (!same_models(subject)) return resumes ? "resuming gives another model" : "another model";
    return subject_strays() ? "going on leaves temporary files" : NULL;
}
