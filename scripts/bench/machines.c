/* machines.c - what several machines would make of an update: a speed that is measured on one thread of this
 * one, and arithmetic.
 *
 *     seconds = compute / (P threads) + 2 * 4 bytes * parameters * (P - 1) / P / bandwidth + 4 latency
 *
 * for P machines: each computes its share of the batch, gets its slice of everybody's gradients, and gives
 * its slice of the new weights to all. Nothing overlaps, and threads are taken to share a machine's work
 * evenly.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench/bench.h"

enum { NETWORKS = 6, SUBJECTS = 6, MACHINES = 9 /* 1, 2, 4 ... */, THREADS = 16, WARM_UP = 2 };
static const double MESSAGE = 50e-6; /* seconds of a small one, over a network with sockets */

typedef struct {
    char name[64];
    double parameters, compute; /* seconds of an update on one thread */
} Subject;

/* A Transformer: 6 operations for each parameter and token. */
static const struct {
    double parameters, tokens;
} LARGE[] = {{60e6, 8000}, {60e6, 50000}, {200e6, 8000}, {200e6, 50000}};

static double update_seconds(const Subject *s, double machines, double gigabits) {
    double bytes = 8 * s->parameters * (machines - 1) / machines, bandwidth = gigabits * 1e9 / 8;
    return s->compute / (machines * THREADS) + (machines > 1 ? bytes / bandwidth + 4 * MESSAGE : 0);
}

/* As many machines as still compute longer than they exchange. */
static int worthwhile(const Subject *s, double gigabits) {
    int machines = 1;
    for (int p = 2; p < 100000; p++) {
        double compute = s->compute / (p * THREADS);
        if (update_seconds(s, p, gigabits) - compute <= compute) machines = p;
    }
    return machines;
}

/* ---- measuring ----------------------------------------------------------------------------------------- */

/* Of the configuration, on one thread: the first subject, at its own batches and at 16 times as large ones;
 * and the speed that the others are computed with. */
static Status measure_subjects(Bench *bench, Subject subjects[SUBJECTS], double *flops) {
    int updates = bench->options.quick ? 2 : 20;
    TrainLoop *loop =
        train_loop_new(bench->config, &bench->train, bench->source, bench->target, bench->team[0]);
    Status status = STATUS_OK;
    for (int i = 0; i < WARM_UP && status == STATUS_OK; i++) status = train_loop_update(loop);
    loop->work = (Work){0};
    clock_t begin = clock(); /* of the processor: others may want it too */
    for (int i = 0; i < updates && status == STATUS_OK; i++) status = train_loop_update(loop);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC / updates;
    double tokens = loop->work.source + loop->work.target;
    *flops = work_flops(loop->model, &loop->work) / updates / seconds;
    tokens /= updates;
    for (int s = 0; s < SUBJECTS; s++) {
        double times = s == 1 ? 16 : 1;
        char digits[32];
        subjects[s] =
            (Subject){.parameters = (double)seq2seq_params(loop->model)->size, .compute = times * seconds};
        if (s > 1) subjects[s].parameters = LARGE[s - 2].parameters;
        double batch = s > 1 ? LARGE[s - 2].tokens : times * tokens;
        if (s > 1) subjects[s].compute = 6 * subjects[s].parameters * batch / *flops;
        snprintf(subjects[s].name, sizeof subjects[s].name, "%.3g M parameters, %s tokens",
                 subjects[s].parameters / 1e6, str_count((long long)batch, digits));
    }
    seq2seq_free(train_loop_end(loop));
    return status;
}

/* ---- what is shown ------------------------------------------------------------------------------------- */

static Status show_table(const Subject *subjects, const double *gigabits, int networks, double flops) {
    StrBuf text = {0};
    strbuf_format(&text,
                  "\nMachines of %d threads, each of %.0f GFLOP/s, that compute longer than they exchange\n",
                  THREADS, flops / 1e9);
    strbuf_format(&text, "%-36s  %10s", "a batch", "s/update");
    for (int n = 0; n < networks; n++) strbuf_format(&text, "  %4g Gbit/s", gigabits[n]);
    for (int s = 0; s < SUBJECTS; s++) {
        strbuf_format(&text, "\n%-36s  %10.3f", subjects[s].name, update_seconds(&subjects[s], 1, 1));
        for (int n = 0; n < networks; n++)
            strbuf_format(&text, "  %11d", worthwhile(&subjects[s], gigabits[n]));
    }
    strbuf_add(&text, SV("\ns/update: of one machine.\n"));
    Status status = bench_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

typedef struct {
    double x[MACHINES], y[NETWORKS + 1][MACHINES];
    PlotSeries series[NETWORKS + 1];
} Curves;

static Plot draw_subject(const Subject *s, const double *gigabits, int networks, char names[][32],
                         Curves *c) {
    for (int n = 0; n <= networks; n++) { /* at last without any exchange */
        for (int i = 0; i < MACHINES; i++) {
            c->x[i] = ldexp(1, i);
            c->y[n][i] =
                n < networks ? update_seconds(s, 1, 1) / update_seconds(s, c->x[i], gigabits[n]) : c->x[i];
        }
        c->series[n] = (PlotSeries){names[n], c->x, c->y[n], MACHINES, false};
    }
    return (Plot){.title = s->name,
                  .x = {.title = "machines", .scale = AXIS_LOG2},
                  .left = {.title = "times as fast as one", .scale = AXIS_LOG2},
                  .series = c->series,
                  .count = networks + 1};
}

static Status draw(Bench *bench, const Subject *subjects, const double *gigabits, int networks) {
    Curves curves[SUBJECTS];
    Plot plots[SUBJECTS];
    char names[NETWORKS + 1][32];
    for (int n = 0; n < networks; n++) snprintf(names[n], sizeof names[n], "%g Gbit/s", gigabits[n]);
    snprintf(names[networks], sizeof names[networks], "no exchange");
    for (int s = 0; s < SUBJECTS; s++)
        plots[s] = draw_subject(&subjects[s], gigabits, networks, names, &curves[s]);
    return bench_draw(bench, plots, SUBJECTS, 2);
}

Status bench_machines(Bench *bench) {
    double gigabits[NETWORKS], flops;
    Subject subjects[SUBJECTS];
    int networks = 0;
    for (char *at = bench->options.network, *end; networks < NETWORKS && *at; at = end) {
        double value = strtod(at, &end);
        if (end == at || !(value > 0)) return status_fail(STATUS_USAGE, "--network '%s': no Gbit/s", at);
        gigabits[networks++] = value;
        end += strspn(end, " ,");
    }
    if (networks == 0) return status_fail(STATUS_USAGE, "--network: no Gbit/s");
    TRY(bench_subject(bench));
    TRY(measure_subjects(bench, subjects, &flops));
    TRY(show_table(subjects, gigabits, networks, flops));
    return draw(bench, subjects, gigabits, networks);
}
