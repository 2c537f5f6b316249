/* training.c - updates of a model from scratch, on one thread and on all.
 *
 * Every run goes through the same batches. Before that, both teams make the same updates from the same
 * start, which must give the same losses to the last bit. The translation uses the model after all runs and a
 * further short training.
 */
#include <math.h>
#include <stdio.h>
#include "base/log.h"
#include "bench/bench.h"

enum { CHECKED = 6, RUNS = 5, RUNS_QUICK = 2 };

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
    double unlearned = log(vocab_size(tokenizer_vocab(bench->target)));
    if (first < 0.3 * unlearned || first > 3 * unlearned)
        return status_fail(STATUS_RUNTIME, "the first loss is %.3f, that of a guess is %.3f", first,
                           unlearned);
    return STATUS_OK;
}

/* `repeats` updates from the first batch of the epoch on. */
static Status run(void *context, int repeats, double *seconds) {
    TrainLoop *loop = context;
    train_loop_rewind(loop);
    loop->work = (Work){0};
    double begin = clock_seconds();
    for (int i = 0; i < repeats; i++) TRY(train_loop_update(loop));
    seconds[0] = clock_seconds() - begin;
    return STATUS_OK;
}

/* Within one epoch. */
static Trial trial_of(TrainLoop *loop) {
    return (Trial){.run = run, .context = loop, .most = loop->plan->count};
}

static void report_speed(Bench *bench, int team, const TrainLoop *loop, int updates, const Sample *seconds) {
    char name[32];
    const Work *work = &loop->work; /* of one run */
    double flops = work_flops(loop->model, work), peak = 1e9 * bench->peak[0][team];
    Report *r = &bench->report;
    bench_team_name(bench, team, name);
    report_seconds(r, name, "target", "tokens/s", MORE_IS_BETTER, work->target / updates, seconds);
    report_seconds(r, name, "useful", "GFLOP/s", MORE_IS_BETTER, 1e-9 * flops / updates, seconds);
    if (peak > 0) /* else it was not measured */
        report_seconds(r, name, "of the GEMM peak", "%", MORE_IS_BETTER, 100 * flops / updates / peak,
                       seconds);
    report_value(r, name, "work", "MFLOP/token", NOT_JUDGED, 1e-6 * flops / work->target);
    report_value(r, name, "target", "tokens/sentence", NOT_JUDGED, work->target / work->sentences);
}

static Status measure_speed(Bench *bench, TrainLoop *loops[TEAMS]) {
    Trial trial[TEAMS];
    Sample sample[TEAMS][MEASURE_PARTS] = {0};
    int runs = bench->options.quick ? RUNS_QUICK : RUNS, teams = bench_teams(bench);
    double seconds = bench_seconds(bench, 0.22, runs * teams);
    for (int team = 0; team < teams; team++) {
        trial[team] = trial_of(loops[team]);
        TRY(measure_prepare(&trial[team], seconds));
    }
    for (int i = 0; i < runs; i++) /* in turn, so that load from other programs affects both */
        for (int team = 0; team < teams; team++) {
            log_progress("training: run %d of %d, %s", i + 1, runs,
                         bench_team_name(bench, team, (char[32]){0}));
            TRY(measure_run(&trial[team], sample[team]));
        }
    bench->report.section = "training";
    for (int team = 0; team < teams; team++) {
        report_speed(bench, team, loops[team], trial[team].repeats, &sample[team][0]);
        sample_free(&sample[team][0]);
    }
    log_progress_end();
    return report_show(&bench->report, "Training",
                       "runs over the same batches; useful work has no padding and no optimizer");
}

static Status measure_training(Bench *bench, TrainLoop *loops[TEAMS]) {
    TRY(check(bench, loops));
    return measure_speed(bench, loops);
}

static TrainLoop *new_loop(const Bench *bench, int team) {
    return train_loop_new(bench->config, &bench->train, bench->source, bench->target, bench->team[team]);
}

Status bench_training(Bench *bench) {
    TrainLoop *loops[TEAMS] = {0};
    int last = bench_teams(bench) - 1;
    TRY(bench_subject(bench));
    if (bench->model) return STATUS_OK; /* from the options */
    for (int team = 0; team <= last; team++) loops[team] = new_loop(bench, team);
    Status status = measure_training(bench, loops);
    for (int team = 0; team < last; team++) seq2seq_free(train_loop_end(loops[team]));
    bench->loop = loops[last];
    return status;
}

Status bench_model(Bench *bench) {
    TRY(bench_subject(bench));
    if (bench->model) return STATUS_OK;
    if (!bench->loop) bench->loop = new_loop(bench, bench_teams(bench) - 1);
    /* Ordinary epochs for a while, so that the translations have sensible lengths. */
    TrainLoop *loop = bench->loop;
    double begin = clock_seconds(), seconds = bench_seconds(bench, 0.16, 1);
    long before = loop->updates;
    while (clock_seconds() - begin < seconds) {
        log_progress("learning: update %ld, loss %.2f", loop->updates, loop->loss);
        TRY(train_loop_update(loop));
    }
    log_progress_end();
    snprintf(bench->knows, sizeof bench->knows, "after %ld updates, loss %.2f", loop->updates, loop->loss);
    bench->report.section = "learning";
    report_value(&bench->report, "model", "learned in", "updates", NOT_JUDGED,
                 (double)(loop->updates - before));
    report_value(&bench->report, "model", "last loss", "", NOT_JUDGED, loop->loss);
    bench->model = train_loop_end(loop);
    bench->loop = NULL;
    return report_show(&bench->report, "Model that translates", NULL);
}
