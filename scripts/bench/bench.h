/* bench.h - shared by the subcommands of the benchmark.
 *
 * Each subcommand first checks the results of the code that it measures, then measures it and reports.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "io/fileio.h"
#include "base/workers.h"
#include "bench/report.h"
#include "bench/train_loop.h"

typedef struct {
    char *json; /* a file to write, or NULL */
    char *model, *input, *program;
    double seconds; /* for all measurements of the call, about */
    int threads;
    bool quick;
} BenchOptions;

enum { TEAMS = 2, WAYS_MAX = 8 };

typedef struct {
    BenchOptions options;
    int threads; /* of all threads: from the options, or one per core */
    Report report;
    StrBuf facts;      /* more members of the JSON object, each after ", " */
    OutFile *json;     /* opened before the measurements, to detect an invalid name early; or NULL */
    char folder[1024]; /* temporary */

    /* bench_subject sets these. */
    Config own;           /* from the command line */
    const Config *config; /* `own` or the model's; NULL before bench_subject */
    Workers *team[TEAMS]; /* one thread, all threads */
    Corpus train, valid;  /* empty if a model was given */
    Tokenizer *source, *target;
    StrList input;                /* lines to translate */
    double peak[WAYS_MAX][TEAMS]; /* maximal GFLOP/s of the products, by format, BLAS first */
    TrainLoop *loop;              /* with all threads, left by the training, or NULL */
    Seq2Seq *model;               /* for translation; NULL before bench_model unless from the options */
    char knows[96];               /* description of its training */
} Bench;

/* The subcommands. */
Status bench_gemm(Bench *bench);
Status bench_ops(Bench *bench);
Status bench_training(Bench *bench);
Status bench_translation(Bench *bench);
Status bench_latency(Bench *bench);
Status bench_start(Bench *bench);
Status bench_memory(Bench *bench);

/* Configuration, corpora or model, lines and threads. Every call after the first does nothing. */
Status bench_subject(Bench *bench);
/* Sets bench->model: trains a short time unless the options name a model. */
Status bench_model(Bench *bench);
void bench_release(Bench *bench);

/* The number of teams and their names: "1 thread", "2 threads". One team if both are the same. */
int bench_teams(const Bench *bench);
const char *bench_team_name(const Bench *bench, int team, char buffer[32]);
/* Seconds for each of `runs` runs of a measurement with `share` of the total time. */
double bench_seconds(const Bench *bench, double fraction, int runs);

#endif
