/* scaling.c - training speed against threads, hidden size, batch, vocabulary and sentence length; memory
 * against batch and length.
 *
 * Each size is trained on made-up sentences in a process of its own, so that the most memory it ever had is
 * that of this size alone.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "bench/child.h"
#include "bench/survey.h"
#include "num/gemm.h"
#include "num/kern.h"

enum { BATCHES = 4 /* different ones, in turn */, RUNS = 3 };

/* `length` words in each sentence; </s> comes on top. */
typedef struct {
    int threads, batch, hidden, vocabulary, length;
} Size;

static const Size BASE = {.batch = 64, .hidden = 256, .vocabulary = 8000, .length = 16};
static const Size QUICK = {.batch = 4, .hidden = 16, .vocabulary = 50, .length = 5};

/* One number varies, the others are those of the base. */
typedef struct {
    const char *name, *axis;
    const char *each; /* what memory grows by; NULL: it is not shown against this number */
    size_t number;    /* the one that varies, in Size */
    int values[SURVEY_POINTS], quick[2];
} SweepFacts;

/* clang-format off */
static const SweepFacts FACTS[] = {
    {"hidden size", "units of encoder and decoder (model.hidden)", NULL, offsetof(Size, hidden),
     {128, 256, 384, 512, 768, 1024}, {16, 24}},
    {"batch", "sentences in a batch", "sentence", offsetof(Size, batch), {8, 16, 32, 64, 128, 256}, {4, 8}},
    {"vocabulary", "words of each language", NULL, offsetof(Size, vocabulary),
     {1000, 2000, 4000, 8000, 16000, 32000}, {50, 90}},
    {"sentence length", "words in a sentence", "word", offsetof(Size, length),
     {4, 8, 16, 32, 64, 128}, {5, 9}},
};
/* clang-format on */
enum { SWEEPS = sizeof FACTS / sizeof *FACTS };

/* ---- the process that trains ------------------------------------------------------------------------- */

/* In memory that both processes see. */
typedef struct {
    Size size;
    const Bench *bench;
    double seconds;      /* to spend in each run */
    double update[RUNS]; /* result: seconds of an update, one batch, in each run */
} Shared;

/* Words follow each other in a circle, so that the vocabulary has each of them, and all equally often. */
static Status write_corpus(const Size *size, const char *path) {
    int pairs = BATCHES * size->batch, all = size->vocabulary / size->length + 1,
        word[2] = {0, size->vocabulary / 2};
    StrBuf text = {0};
    for (int i = 0; i < pairs || i < all; i++)
        for (int j = 0; j < 2 * size->length; j++)
            strbuf_format(&text, "w%d%s", word[j / size->length]++ % size->vocabulary,
                          j + 1 == size->length      ? "\t"
                          : j + 1 < 2 * size->length ? " "
                                                     : "\n");
    Status status = bench_write(path, strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status run_updates(void *context, int repeats, double *seconds) {
    TrainLoop *loop = context;
    double begin = clock_seconds();
    for (int i = 0; i < repeats; i++) {
        TRY(train_loop_update(loop));
        if (!(loop->loss > 0.3 && loop->loss < 100))
            return status_fail(STATUS_RUNTIME, "update %ld: loss %g", loop->updates, loop->loss);
    }
    seconds[0] = clock_seconds() - begin;
    return STATUS_OK;
}

static void configure(Config *config, const Size *size) {
    config_init(config);
    config->text.tokenizer = TOKENIZER_WORD;
    config->text.joint = false;
    config->text.min_count = 1;
    config->model.hidden = size->hidden;
    config->model.tie = TIE_TARGET;
    config->train.batch_size = size->batch;
    config->train.schedule = SCHEDULE_CONSTANT;
    config->train.learning_rate = 1e-4;
}

/* Nothing is released: the process ends. */
static Status train(void *context) {
    Shared *shared = context;
    const Size *size = &shared->size;
    Config config;
    Segmenter *source, *target;
    Corpus corpus;
    Sample sample[MEASURE_PARTS] = {0};
    char path[1100], *paths[] = {path};
    StrList files = {paths, 1};
    configure(&config, size);
    TRY(config_check(&config));
    TRY(gemm_self_test(size->threads));
    snprintf(path, sizeof path, "%s/pairs.tsv", shared->bench->folder);
    TRY(write_corpus(size, path));
    Workers *workers = workers_new(size->threads);
    TRY(corpus_learn_segmenters(&files, &config.data, &config.text, workers, &source, &target));
    TRY(corpus_read(&corpus, &files, &config.data, source, target, false, false, workers));
    if (workers_count(workers) != size->threads)
        return status_fail(STATUS_RUNTIME, "cannot have %d threads", size->threads);
    TrainLoop *loop = train_loop_new(&config, &corpus, source, target, workers);
    TRY(measure(&(Trial){.run = run_updates, .context = loop}, shared->seconds, RUNS, sample));
    memcpy(shared->update, sample[0].values, sizeof shared->update);
    return STATUS_OK;
}

/* ---- measuring --------------------------------------------------------------------------------------- */

static Size base_size(const Bench *bench) {
    Size size = bench->options.quick ? QUICK : BASE;
    size.threads = bench->threads;
    return size;
}

/* The point's sample is seconds a target token, </s> counted. */
static Status measure_size(void *context, int sweep, int line, int x, double seconds, Point *point) {
    Size size = base_size(context);
    double peak;
    if (line < bench_teams(context) - 1) size.threads = 1;
    memcpy((char *)&size + FACTS[sweep].number, &x, sizeof x);
    Shared *shared = child_shared(sizeof *shared);
    *shared = (Shared){.size = size, .bench = context, .seconds = seconds / RUNS};
    Status status = child_call(train, shared, &peak);
    for (int i = 0; i < RUNS && status == STATUS_OK; i++)
        sample_add(&point->seconds, shared->update[i] / (size.batch * (size.length + 1.0)));
    point->megabytes = fmax(point->megabytes, peak / 1e6);
    child_unshare(shared, sizeof *shared);
    if (status == STATUS_OK) return STATUS_OK;
    return status_context(status, "%s %d, %d threads", FACTS[sweep].name, x, size.threads);
}

static void plan(const Bench *bench, char names[TEAMS][32], Sweep sweeps[SWEEPS]) {
    bool quick = bench->options.quick;
    for (int s = 0; s < SWEEPS; s++) {
        const int *values = quick ? FACTS[s].quick : FACTS[s].values;
        sweeps[s] = (Sweep){.axis = FACTS[s].axis, .lines = bench_teams(bench)};
        for (int i = 0; i < (quick ? 2 : SURVEY_POINTS) && values[i]; i++)
            sweeps[s].x[sweeps[s].count++] = values[i];
        for (int team = 0; team < TEAMS; team++)
            sweeps[s].line[team] = bench_team_name(bench, team, names[team]);
    }
}

/* ---- tables ------------------------------------------------------------------------------------------ */

/* Of the larger team, fitted to relative errors, so that small values matter as much as large ones. */
static Line memory_line(Sweep *s, double *megabytes) {
    double weight[SURVEY_POINTS];
    survey_values(s, s->lines - 1, SURVEY_MEGABYTES, megabytes);
    for (int i = 0; i < s->count; i++) weight[i] = 1 / (megabytes[i] * megabytes[i]);
    return measure_line(s->x, megabytes, weight, s->count);
}

static Status show_line(Sweep *s, const char *each) {
    double megabytes[SURVEY_POINTS], off = 0;
    StrBuf text = {0};
    if (!each || s->count < 3) return STATUS_OK; /* two points are always on a line */
    Line line = memory_line(s, megabytes);
    for (int i = 0; i < s->count; i++)
        off = fmax(off, fabs(line.at_zero + line.slope * s->x[i] - megabytes[i]) / megabytes[i]);
    strbuf_format(&text,
                  "\nPeak memory is %.0f MB and %.3g MB for each %s: no point is more than %.1f %% off.\n",
                  line.at_zero, line.slope, each, 100 * off);
    Status status = bench_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status show_sweep(Bench *bench, const SweepFacts *facts, Sweep *s) {
    Report *r = &bench->report;
    double rate[TEAMS][SURVEY_POINTS];
    char item[32], title[96];
    int last = s->lines - 1;
    r->section = facts->name;
    for (int team = 0; team <= last; team++) survey_values(s, team, SURVEY_RATE, rate[team]);
    for (int i = 0; i < s->count; i++) {
        str_count((long long)s->x[i], item);
        for (int team = 0; team <= last; team++)
            report_seconds(r, item, s->line[team], "tokens/s", MORE_IS_BETTER, 1, &s->point[team][i].seconds);
        if (last) report_value(r, item, "speed-up", "", NOT_JUDGED, rate[1][i] / rate[0][i]);
        report_value(r, item, "peak memory", "MB", LESS_IS_BETTER, s->point[last][i].megabytes);
    }
    snprintf(title, sizeof title, "Training against %s", facts->name);
    TRY(report_show(r, title, NULL));
    return show_line(s, facts->each);
}

static Status announce(Bench *bench) {
    Size b = base_size(bench);
    StrBuf text = {0};
    strbuf_format(&bench->facts, ", \"batch\": %d, \"hidden\": %d, \"vocabulary\": %d, \"length\": %d",
                  b.batch, b.hidden, b.vocabulary, b.length);
    strbuf_format(
        &text,
        "Training of the default model (bidirectional GRU, additive attention, conditional GRU, "
        "embeddings of 256),\nmedians (%s, %s). Where a table does not say otherwise: batches of %d "
        "sentences, hidden size %d,\n%s words in each language, %d words in every sentence. Speed: "
        "target tokens. Memory: the process\nwith all threads, without validation.\n",
        gemm_kernel(), kern->name, b.batch, b.hidden, str_count(b.vocabulary, (char[32]){0}), b.length);
    Status status = bench_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

/* ---- the picture ------------------------------------------------------------------------------------- */

/* Points and the straight line through them. */
static Plot draw_memory(const SweepFacts *facts, Sweep *s, Panel *panel) {
    Line line = memory_line(s, panel->y[0]);
    for (int i = 0; i < s->count; i++) panel->y[1][i] = line.at_zero + line.slope * s->x[i];
    snprintf(panel->title, sizeof panel->title, "Peak memory against %s", facts->name);
    snprintf(panel->name, sizeof panel->name, "%.0f MB + %.3g MB for each %s", line.at_zero, line.slope,
             facts->each);
    panel->series[0] = (PlotSeries){"measured", s->x, panel->y[0], s->count, false};
    panel->series[1] = (PlotSeries){panel->name, s->x, panel->y[1], s->count, false};
    return (Plot){.title = panel->title,
                  .x = {.title = facts->axis},
                  .left = {.title = "megabytes"},
                  .series = panel->series,
                  .count = 2};
}

static Status draw(Bench *bench, Sweep *sweeps) {
    Panel panels[2 * SWEEPS];
    Plot plots[2 * SWEEPS];
    int count = 0;
    for (int s = 0; s < SWEEPS; s++, count++) {
        Panel *panel = &panels[count];
        snprintf(panel->title, sizeof panel->title, "Speed of training against %s", FACTS[s].name);
        plots[count] = survey_plot(&sweeps[s], SURVEY_RATE, "target tokens per second", panel);
    }
    for (int s = 0; s < SWEEPS; s++) {
        if (!FACTS[s].each) continue;
        plots[count] = draw_memory(&FACTS[s], &sweeps[s], &panels[count]);
        count++;
    }
    return bench_draw(bench, plots, count, 2);
}

Status bench_scaling(Bench *bench) {
    const char *list = bench->options.thread_list;
    if (bench->options.network) return bench_machines(bench);
    if (bench->options.simulate || (list && strpbrk(list, " ,"))) return bench_cores(bench);
    static Sweep sweeps[SWEEPS];
    char names[TEAMS][32];
    plan(bench, names, sweeps);
    Status status = survey_measure(bench, sweeps, SWEEPS, measure_size, bench);
    if (status == STATUS_OK) status = announce(bench);
    for (int s = 0; s < SWEEPS && status == STATUS_OK; s++) status = show_sweep(bench, &FACTS[s], &sweeps[s]);
    if (status == STATUS_OK) status = draw(bench, sweeps);
    survey_free(sweeps, SWEEPS);
    return status;
}
