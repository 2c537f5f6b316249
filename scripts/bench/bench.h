/* bench.h - what the parts of the benchmark share.
 *
 * Each part checks that what it is about to time computes the right thing, times it, and adds to the report.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/workers.h"
#include "bench_report.h"
#include "models/modelfile.h"
#include "text/corpus.h"

typedef struct {
    char *model, *input, *json, *program;
    StrList only;   /* parts to measure; empty: all */
    double seconds; /* for all parts together, about */
    int threads;
    bool quick;
} BenchOptions;

enum { PEAK_FORMATS = 8 };

typedef struct {
    const BenchOptions *options;
    const Config *config; /* of the training, or of the model that was given */
    BenchReport report;
    Workers *one, *all;
    int threads; /* of `all` */
    double peak[PEAK_FORMATS]
               [2];      /* greatest GFLOP/s of any product: by format, BLAS first; one thread, all threads */
    Corpus train, valid; /* empty if a model was given */
    Segmenter *source, *target;
    Seq2Seq *model;    /* to translate with: given, or left by the training part */
    const char *knows; /* what it has learned */
    StrList input;     /* lines to translate */
    char folder[1024]; /* temporary */
} Bench;

/* Names for one thread and for all: "1 thread", "2 threads". Only the first if they are the same. */
enum { TEAMS = 2 };
static inline int bench_teams(const Bench *bench) { return bench->threads > 1 ? TEAMS : 1; }
static inline Workers *bench_team(const Bench *bench, int team) { return team ? bench->all : bench->one; }
const char *bench_team_name(const Bench *bench, int team);
/* Seconds for each of `runs` runs of something that gets `share` of the whole time. */
double bench_seconds(const Bench *bench, double share, int runs);

Status bench_gemm(Bench *bench);
Status bench_ops(Bench *bench);
Status bench_training(Bench *bench); /* leaves bench->model if none was given */
Status bench_translation(Bench *bench);
Status bench_processes(Bench *bench); /* start-up and memory of the real program */

#endif
