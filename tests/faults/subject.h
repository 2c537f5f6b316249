/* subject.h - the program's commands as what is attacked: started in a folder, watched, and judged by what
 * they leave.
 *
 * The working folder has model.safetensors, source.txt, pairs.tsv and config.json; what a command writes goes
 * to dir/, what it prints to out. Functions end the program when the test itself cannot work.
 */
#ifndef FAULTS_SUBJECT_H
#define FAULTS_SUBJECT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    const char *name;
    const char *result; /* what it writes; there is an old file before */
    bool trains;        /* dir/ can be gone on with: --overwrite, its last argument, becomes --resume */
    bool begun;         /* there is half a training in dir/ before */
    bool inside;        /* starts in dir/, where it leaves what else it writes */
    const char *simd;   /* vector instructions that it is told to use, or NULL */
    const char *arguments[20];
} Subject;

extern const Subject SUBJECTS[]; /* ends with a row without a name */
const Subject *subject_find(const char *name);
void subject_program(const char *path);

typedef struct {
    pid_t id;
    int error; /* the end of a pipe that has its standard error */
} Running;

typedef struct {
    int status;        /* exit status, 128 + N for signal N */
    bool stopped;      /* it did not end in time and was killed */
    char words[16384]; /* what it said */
} Outcome;

/* Start it with `last` in place of its last argument (NULL: as it is). `arm` runs in the new process. */
Running subject_start(const Subject *subject, const char *last, void (*arm)(void *), void *context);
/* Wait for its end; after `milliseconds` it is killed. */
Outcome subject_wait(Running running, double milliseconds);
Outcome subject_run(const Subject *subject, const char *last, void (*arm)(void *), void *context);

/* Run it undisturbed and keep what it leaves: what every other run is compared with. */
void subject_learn(const Subject *subject);
/* Empty dir/, but for the old result or what was begun. */
void subject_reset(const Subject *subject);
/* Is the result there as it is to be, or that of before? */
bool subject_done(const Subject *subject);
bool subject_untouched(const Subject *subject);
int subject_strays(void); /* temporary files in dir/ */
/* Do the models in dir/ load? */
bool subject_models_load(void);
/* Train on from what is there: NULL if that gives what an undisturbed run gives. */
const char *subject_go_on(const Subject *subject);

_Noreturn void test_fails(const char *what);

#endif
