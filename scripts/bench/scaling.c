/* scaling.c - speed of training and of translation against threads, hidden size, batch, vocabulary and
 * sentence length, and as which power of these time and memory grow; memory against batch and length.
 *
 * Each size is trained on made-up sentences, or translates some, in a process of its own, so that the most
 * memory it ever had is that of this size alone.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench/child.h"
#include "bench/survey.h"
#include "decode/translator.h"
#include "num/gemm.h"
#include "num/kern.h"

enum { BATCHES = 4 /* different ones, in turn */, RUNS = 3, BEAM = 5 };

/* `length` words in each sentence; </s> comes on top. */
typedef struct {
    int threads, batch, hidden, vocabulary, length;
    bool translates; /* instead of training */
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
     {64, 128, 256, 512, 768, 1024}, {16, 24}},
    {"batch", "sentences in a batch", "sentence", offsetof(Size, batch),
     {1, 4, 16, 32, 64, 128, 256, 512}, {4, 8}},
    {"vocabulary", "words of each language", NULL, offsetof(Size, vocabulary),
     {2000, 4000, 8000, 16000, 32000, 64000}, {50, 90}},
    {"sentence length", "words in a sentence", "word", offsetof(Size, length),
     {4, 8, 16, 32, 64, 128, 256, 512}, {5, 9}},
};
/* clang-format on */
enum { SWEEPS = sizeof FACTS / sizeof *FACTS };

static int base_value(const Size *size, int sweep) {
    int value;
    memcpy(&value, (const char *)size + FACTS[sweep].number, sizeof value);
    return value;
}

/* ---- the process that trains ------------------------------------------------------------------------- */

/* In memory that both processes see. */
typedef struct {
    Size size;
    const Bench *bench;
    double seconds;     /* to spend in each run */
    double token[RUNS]; /* result: seconds of a target token, </s> counted, in each run */
    double work;        /* result: operations that a token needs */
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
    config->decode.beam_size = BEAM;
    config->decode.mini_batch = size->batch;
    config->decode.max_length_factor = 1;
    config->decode.max_length_extra = 0;
}

/* What both kinds of work begin with. */
typedef struct {
    Config config;
    Segmenter *source, *target;
    Corpus corpus;
    Workers *workers;
    StrList files;
} Setting;

static Status set_up(Setting *s, const Shared *shared, char *path, size_t path_size) {
    const Size *size = &shared->size;
    configure(&s->config, size);
    TRY(config_check(&s->config));
    TRY(gemm_self_test(size->threads));
    snprintf(path, path_size, "%s/pairs.tsv", shared->bench->folder);
    TRY(write_corpus(size, path));
    s->workers = workers_new(size->threads);
    if (workers_count(s->workers) != size->threads)
        return status_fail(STATUS_RUNTIME, "cannot have %d threads", size->threads);
    TRY(corpus_learn_segmenters(&s->files, &s->config.data, &s->config.text, s->workers, &s->source,
                                &s->target));
    return corpus_read(&s->corpus, &s->files, &s->config.data, s->source, s->target, false, false,
                       s->workers);
}

/* Nothing is released: the process ends. */
static Status train(void *context) {
    Shared *shared = context;
    Sample sample[MEASURE_PARTS] = {0};
    char path[1100], *paths[] = {path};
    Setting s = {.files = {paths, 1}};
    TRY(set_up(&s, shared, path, sizeof path));
    TrainLoop *loop = train_loop_new(&s.config, &s.corpus, s.source, s.target, s.workers);
    TRY(measure(&(Trial){.run = run_updates, .context = loop}, shared->seconds, RUNS, sample));
    for (int i = 0; i < RUNS; i++)
        shared->token[i] = sample[0].values[i] / (shared->size.batch * (shared->size.length + 1.0));
    shared->work = work_flops(loop->model, &loop->work) / loop->work.target;
    return STATUS_OK;
}

/* ---- the process that translates ----------------------------------------------------------------------- */

typedef struct {
    Translator *translator;
    StrView *lines;
    Translation *out;
    int count;
} Lines;

static Status run_lines(void *context, int repeats, double *seconds) {
    Lines *lines = context;
    double begin = clock_seconds();
    for (int i = 0; i < repeats; i++) {
        translator_run(lines->translator, lines->lines, lines->count, 1, lines->out);
        for (int l = 0; l < lines->count; l++) translation_free(&lines->out[l]);
        memset(lines->out, 0, (size_t)lines->count * sizeof *lines->out);
    }
    seconds[0] = clock_seconds() - begin;
    return STATUS_OK;
}

/* Sentences of the corpus, as text. */
static StrView *write_lines(const Size *size, int count) {
    StrView *lines = mem_alloc((size_t)count, sizeof *lines);
    for (int i = 0; i < count; i++) {
        StrBuf text = {0};
        for (int j = 0; j < size->length; j++)
            strbuf_format(&text, "w%d ", (i * size->length + j) % size->vocabulary);
        lines[i] = strbuf_view(&text);
    }
    return lines;
}

/* A token's share of the encoder, and BEAM times the decoder; a third of what training needs with the
 * backward pass. */
static double translation_work(const Seq2Seq *model, const Size *size) {
    double length = size->length + 1.0, rows = BEAM * length;
    Work work = {.sentences = 1, .source = length, .target = rows, .cross_pairs = rows * length};
    return work_flops(model, &work) / 3 / length;
}

/* An untrained model: it hardly ever ends a sentence before its longest length, that of the source. */
static Status translate(void *context) {
    Shared *shared = context;
    Sample sample[MEASURE_PARTS] = {0};
    char path[1100], *paths[] = {path};
    Setting s = {.files = {paths, 1}};
    TRY(set_up(&s, shared, path, sizeof path));
    Seq2Seq *model = seq2seq_new(&s.config, s.source, s.target);
    ParamSet *params = seq2seq_params(model);
    params_initialize(params, 1);
    params->format = FORMAT_FLOAT32;
    params_pack_all(params);
    TranslatorOptions options = {.search = {.decode = s.config.decode, .n_best = 1}, .quiet = true};
    Lines lines = {.count = BATCHES * shared->size.batch};
    const Seq2Seq *models[] = {model};
    TRY(translator_new(&lines.translator, models, 1, &options, s.workers));
    lines.lines = write_lines(&shared->size, lines.count);
    lines.out = mem_alloc((size_t)lines.count, sizeof *lines.out);
    TRY(run_lines(&lines, 1, &(double){0}));
    double tokens = (double)translator_tokens(lines.translator);
    TRY(measure(&(Trial){.run = run_lines, .context = &lines}, shared->seconds, RUNS, sample));
    for (int i = 0; i < RUNS; i++) shared->token[i] = sample[0].values[i] / tokens;
    shared->work = translation_work(model, &shared->size);
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
    size.translates = line == bench_teams(context);
    memcpy((char *)&size + FACTS[sweep].number, &x, sizeof x);
    Shared *shared = child_shared(sizeof *shared);
    *shared = (Shared){.size = size, .bench = context, .seconds = seconds / RUNS};
    Status status = child_call(size.translates ? translate : train, shared, &peak);
    for (int i = 0; i < RUNS && status == STATUS_OK; i++) sample_add(&point->seconds, shared->token[i]);
    point->megabytes = fmax(point->megabytes, peak / 1e6);
    point->work = shared->work;
    child_unshare(shared, sizeof *shared);
    if (status == STATUS_OK) return STATUS_OK;
    return status_context(status, "%s %d, %d threads", FACTS[sweep].name, x, size.threads);
}

static void plan(const Bench *bench, char names[TEAMS][32], Sweep sweeps[SWEEPS]) {
    bool quick = bench->options.quick;
    for (int s = 0; s < SWEEPS; s++) {
        const int *values = quick ? FACTS[s].quick : FACTS[s].values;
        sweeps[s] = (Sweep){.axis = FACTS[s].axis, .lines = bench_teams(bench) + 1};
        for (int i = 0; i < (quick ? 2 : SURVEY_POINTS) && values[i]; i++)
            sweeps[s].x[sweeps[s].count++] = values[i];
        for (int team = 0; team < TEAMS; team++)
            sweeps[s].line[team] = bench_team_name(bench, team, names[team]);
        sweeps[s].line[bench_teams(bench)] = "translation";
    }
}

/* ---- tables ------------------------------------------------------------------------------------------ */

/* Of training with the larger team, fitted to relative errors, so that small values matter as much as large
 * ones. */
static Line memory_line(Sweep *s, double *megabytes) {
    double weight[SURVEY_POINTS];
    survey_values(s, s->lines - 2, SURVEY_MEGABYTES, megabytes);
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

/* As which power of the number time and memory grow from the base on, and the arithmetic. */
static Status show_growth(Bench *bench, int sweep, Sweep *s) {
    static const char *const WHAT[] = {"training", "translation"};
    Size base = base_size(bench);
    double from = base_value(&base, sweep);
    StrBuf text = {0};
    for (int i = 0; i < 2; i++) {
        int line = s->lines - 2 + i;
        strbuf_format(
            &text, "%s %s from %g up: time of a token ^%.2f, its arithmetic ^%.2f, memory ^%.2f.\n",
            i ? "Of" : "\nGrowth of", WHAT[i], from, survey_exponent(s, line, SURVEY_MILLISECONDS, from),
            survey_exponent(s, line, SURVEY_WORK, from), survey_exponent(s, line, SURVEY_MEGABYTES, from));
    }
    Status status = bench_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status show_sweep(Bench *bench, int sweep, Sweep *s) {
    const SweepFacts *facts = &FACTS[sweep];
    Report *r = &bench->report;
    double rate[TEAMS][SURVEY_POINTS];
    char item[32], title[96];
    int last = s->lines - 2;
    r->section = facts->name;
    for (int team = 0; team <= last; team++) survey_values(s, team, SURVEY_RATE, rate[team]);
    for (int i = 0; i < s->count; i++) {
        str_count((long long)s->x[i], item);
        for (int team = 0; team <= last; team++)
            report_seconds(r, item, s->line[team], "tokens/s", MORE_IS_BETTER, 1, &s->point[team][i].seconds);
        if (last) report_value(r, item, "speed-up", "", NOT_JUDGED, rate[1][i] / rate[0][i]);
        report_value(r, item, "peak memory", "MB", LESS_IS_BETTER, s->point[last][i].megabytes);
        report_seconds(r, item, "translation", "tokens/s", MORE_IS_BETTER, 1, &s->point[last + 1][i].seconds);
        report_value(r, item, "its memory", "MB", LESS_IS_BETTER, s->point[last + 1][i].megabytes);
    }
    snprintf(title, sizeof title, "Speed against %s", facts->name);
    TRY(report_show(r, title, NULL));
    TRY(show_line(s, facts->each));
    return show_growth(bench, sweep, s);
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
        "target tokens. Memory: the process\nwith all threads, without validation. Translation: beam %d, "
        "all threads, as many lines at a time.\n",
        gemm_kernel(), kern->name, b.batch, b.hidden, str_count(b.vocabulary, (char[32]){0}), b.length, BEAM);
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
    for (int s = 0; s < SWEEPS && status == STATUS_OK; s++) status = show_sweep(bench, s, &sweeps[s]);
    if (status == STATUS_OK) status = draw(bench, sweeps);
    survey_free(sweeps, SWEEPS);
    return status;
}
