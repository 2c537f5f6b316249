/* subject.h - the commands that the faults are injected into: start, wait, check the outputs.
 *
 * The working folder contains model.safetensors, source.txt, pairs.tsv and config.json, pairs.* and text.* in
 * other formats. Commands write files
 * to dir/; their standard output goes to the file out. Functions exit if the test itself cannot work.
 */
#ifndef FAULTS_SUBJECT_H
#define FAULTS_SUBJECT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    const char *name;
    const char *result; /* the file that it replaces, or NULL */
    int others;         /* further files that it writes */
    bool trains;        /* a training; to resume it, --overwrite, the last argument, becomes --resume */
    bool begun;         /* dir/ contains the first half of a training before the start */
    bool inside;        /* starts in dir/ and writes other files there */
    const char *simd;   /* ATTN_MT_SIMD, or NULL */
    const char *arguments[20];
} Subject;

enum { MAX_SUBJECTS = 32 };
extern const Subject SUBJECTS[MAX_SUBJECTS]; /* ends with a row without a name */
const Subject *subject_find(const char *name);
void subject_program(const char *path);

typedef struct {
    pid_t id;
    int error; /* read end of the pipe from its standard error */
} Running;

typedef struct {
    int status;           /* exit status, 128 + N for signal N */
    bool stopped;         /* killed, because it did not end in time */
    char messages[16384]; /* standard error */
} Outcome;

/* Starts it; `last` replaces its last argument unless NULL. `arm` runs in the new process. */
Running subject_start(const Subject *subject, const char *last, void (*arm)(void *), void *context);
/* Waits for the end; kills after `milliseconds`. */
Outcome subject_wait(Running running, double milliseconds);
Outcome subject_run(const Subject *subject, const char *last, void (*arm)(void *), void *context);

/* Runs it without faults and stores the outputs, the reference for other runs; false if the program was built
 * without a library that it needs. */
bool subject_learn(const Subject *subject);
/* Restores dir/: empty except the old result or the first half of a training. */
void subject_reset(const Subject *subject);
/* Restores one file of the first half of a training. */
void subject_restore(const char *name);
/* Is dir/ as subject_reset left it? */
bool subject_unchanged(const Subject *subject);
/* Is the result the reference (done), or the old file (untouched)? */
bool subject_done(const Subject *subject);
bool subject_untouched(const Subject *subject);
int subject_strays(void); /* temporary files in dir/ */
/* Do the models in dir/ load? */
bool subject_models_load(void);
/* Resumes the training: NULL if the result is the reference, otherwise an error. */
const char *subject_go_on(const Subject *subject);

_Noreturn void test_fails(const char *what);

#endif
