/* bench_training.c - updates of a model from scratch, on one thread and on all.
 *
 * Every run goes through the same batches. Before that, both teams make the same updates from the same start, which must give the same
 * losses to the last bit. What is learned in all runs, and in some time after them, is what the translation part uses.
 */
#include <math.h>
#include <stdio.h>
#include "base/log.h"
#include "bench.h"
#include "measure/measure.h"
#include "train_loop.h"

enum { CHECKED = 6, RUNS_ONE = 5 };

/* The first updates on every team. loops[] stay at the same place. */
static Status check(const Bench *bench, TrainLoop *loops[TEAMS]) {
    double first = 0;
    for (int i = 0; i < CHECKED; i++) {
        for (int team = 0; team < bench_teams(bench); team++) TRY(train_loop_update(loops[team]));
        if (bench_teams(bench) > 1 && loops[0]->loss != loops[1]->loss)
            return status_fail(STATUS_RUNTIME, "update %d: the loss is %.9g on one thread, %.9g on %d", i + 1,
                               loops[0]->loss, loops[1]->loss, bench->threads);
        if (i == 0) first = loops[0]->loss;
    }
    double unlearned = log(vocab_size(segmenter_vocab(bench->target)));
    if (first < 0.3 * unlearned || first > 3 * unlearned)
        return status_fail(STATUS_RUNTIME, "the first loss is %.3f, that of a guess is %.3f", first,
                           unlearned);
    return STATUS_OK;
}

typedef struct {
    Sample tokens, gflops, share;
} Speed;

static Status run_updates(TrainLoop *loop, int updates, double *seconds) {
    train_loop_rewind(loop);
    loop->work = (Work){0};
    double begin = clock_seconds();
    for (int i = 0; i < updates; i++) TRY(train_loop_update(loop));
    *seconds = clock_seconds() - begin;
    return STATUS_OK;
}

/* As many updates as fill `seconds`, within one epoch. */
static Status count_updates(TrainLoop *loop, double seconds, int *updates) {
    double spent;
    TRY(run_updates(loop, loop->plan->count < 3 ? loop->plan->count : 3, &spent));
    *updates = (int)fmax(1, fmin(loop->plan->count, seconds / spent * 3));
    return STATUS_OK;
}

static void add_speed(Bench *bench, int team, Speed *speed, const TrainLoop *loop) {
    const char *name = bench_team_name(bench, team);
    BenchReport *r = &bench->report;
    bench_report_add(r, "training", name, "target", "tokens/s", MORE_IS_BETTER, &speed->tokens);
    bench_report_add(r, "training", name, "useful", "GFLOP/s", MORE_IS_BETTER, &speed->gflops);
    if (bench->peak[0][team] > 0) /* else it was not measured */
        bench_report_add(r, "training", name, "of the GEMM peak", "%", MORE_IS_BETTER, &speed->share);
    bench_report_add_one(r, "training", name, "work", "MFLOP/token", NOT_JUDGED,
                         1e-6 * work_flops(loop->model, &loop->work) / loop->work.target);
    bench_report_add_one(r, "training", name, "target", "tokens/sentence", NOT_JUDGED,
                         loop->work.target / loop->work.sentences);
}

static Status measure(Bench *bench, TrainLoop *loops[TEAMS]) {
    Speed speed[TEAMS] = {0};
    int runs = bench->options->quick ? 2 : RUNS_ONE, updates[TEAMS] = {0};
    double seconds = bench_seconds(bench, 0.22, runs * bench_teams(bench)), spent;
    for (int team = 0; team < bench_teams(bench); team++)
        TRY(count_updates(loops[team], seconds, &updates[team]));
    for (int run = 0; run < runs; run++) /* in turn, so that a busy minute does not hit one of them alone */
        for (int team = 0; team < bench_teams(bench); team++) {
            TrainLoop *loop = loops[team];
            log_progress("training: run %d of %d, %s", run + 1, runs, bench_team_name(bench, team));
            TRY(run_updates(loop, updates[team], &spent));
            double gflops = work_flops(loop->model, &loop->work) / spent / 1e9;
            sample_add(&speed[team].tokens, loop->work.target / spent);
            sample_add(&speed[team].gflops, gflops);
            sample_add(&speed[team].share, 100 * gflops / bench->peak[0][team]);
        }
    log_progress_end();
    for (int team = 0; team < bench_teams(bench); team++) add_speed(bench, team, &speed[team], loops[team]);
    return bench_report_show(&bench->report, "Training",
                             "runs over the same batches; useful work has no padding and no optimiser");
}

/* Where the threads spend one more run over the same batches. */
static Status measure_phases(Bench *bench, int team, TrainLoop *loop) {
    double seconds = bench_seconds(bench, 0.04, bench_teams(bench)), spent;
    int updates;
    TRY(count_updates(loop, seconds, &updates));
    Profiler *profiler = profiler_new(bench_team(bench, team));
    train_loop_profile(loop, profiler);
    Status status = run_updates(loop, updates, &spent);
    ProfilerSum sum = profiler_sum(profiler);
    train_loop_profile(loop, NULL);
    profiler_free(profiler);
    TRY(status);
    const char *name = bench_team_name(bench, team);
    BenchReport *r = &bench->report;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double time = sum.seconds[phase];
        if (!(time > 0)) continue;
        const char *item = profile_name((Phase)phase);
        bench_report_add_one(r, "phases", item, name, "ms/update", LESS_IS_BETTER, 1e3 * time / updates);
        bench_report_add_one(r, "phases", item, name, "%", NOT_JUDGED, 100 * time / (sum.threads * sum.wall));
        if (sum.flops[phase] > 0)
            bench_report_add_one(r, "phases", item, name, "GFLOP/s", MORE_IS_BETTER,
                                 1e-9 * sum.flops[phase] / time);
    }
    return STATUS_OK;
}

/* Ordinary epochs for a while, so that the translations have sensible lengths. */
static Status learn(Bench *bench, TrainLoop *loop) {
    static char knows[96];
    double begin = clock_seconds(), seconds = bench_seconds(bench, 0.16, 1);
    long before = loop->updates;
    while (clock_seconds() - begin < seconds) {
        log_progress("learning: update %ld, loss %.2f", loop->updates, loop->loss);
        TRY(train_loop_update(loop));
    }
    log_progress_end();
    snprintf(knows, sizeof knows, "after %ld updates, loss %.2f", loop->updates, loop->loss);
    bench->knows = knows;
    bench_report_add_one(&bench->report, "learning", "model", "learned in", "updates", NOT_JUDGED,
                         (double)(loop->updates - before));
    bench_report_add_one(&bench->report, "learning", "model", "last loss", "", NOT_JUDGED, loop->loss);
    return STATUS_OK;
}

static Status train(Bench *bench, TrainLoop *loops[TEAMS]) {
    TRY(check(bench, loops));
    TRY(measure(bench, loops));
    for (int team = 0; team < bench_teams(bench); team++) TRY(measure_phases(bench, team, loops[team]));
    TRY(bench_report_show(&bench->report, "Where training spends its time",
                          "times of all threads together; GFLOP/s: matrix products of one thread"));
    TRY(learn(bench, loops[bench_teams(bench) - 1]));
    return bench_report_show(&bench->report, "Model that translates", NULL);
}

Status bench_training(Bench *bench) {
    TrainLoop *loops[TEAMS] = {0};
    for (int team = 0; team < bench_teams(bench); team++)
        loops[team] = train_loop_new(bench->config, &bench->train, bench->source, bench->target,
                                     bench_team(bench, team));
    Status status = train(bench, loops);
    for (int team = 0; team < bench_teams(bench); team++) {
        Seq2Seq *model = train_loop_end(loops[team]);
        if (team == bench_teams(bench) - 1)
            bench->model = model;
        else
            seq2seq_free(model);
    }
    return status;
}
