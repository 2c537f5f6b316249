/* translation.c - translating lines of text: many together, and one at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "translate/translator.h"
#include "models/modelfile.h"

enum { MINI_BATCH = 64, CHECKED = 24, RUNS = 5 };
static const int BEAMS[] = {1, 5};
enum { BEAM_COUNT = sizeof BEAMS / sizeof *BEAMS };
/* What begins the names of measurements with weights in a format. */
static const struct {
    WeightFormat format;
    const char *name;
} PRECISIONS[] = {{WEIGHT_FLOAT32, ""}, {WEIGHT_BF16, "bf16, "}, {WEIGHT_INT8, "int8, "}};
enum { PRECISION_COUNT = sizeof PRECISIONS / sizeof *PRECISIONS };

typedef struct {
    Translator *translator;
    StrView *lines;
    int count;
    Translation *out;
} Lines;

static Status lines_new(Lines *lines, const Bench *bench, int beam, int count, Workers *workers) {
    const Seq2Seq *model = bench->model;
    TranslatorOptions options = {
        .search = {.decode = bench->config->decode, .n_best = 1, .tokens_only = true}, .quiet = true};
    options.search.decode.beam_size = beam;
    options.search.decode.mini_batch = MINI_BATCH;
    *lines = (Lines){.count = count};
    TRY(translator_new(&lines->translator, &model, 1, &options, workers));
    lines->lines = mem_alloc((size_t)count, sizeof *lines->lines);
    lines->out = mem_alloc((size_t)count, sizeof *lines->out);
    for (int i = 0; i < count; i++) lines->lines[i] = sv(bench->input.items[i]);
    return STATUS_OK;
}

static void forget(Lines *lines) {
    for (int i = 0; i < lines->count; i++) {
        translation_free(&lines->out[i]);
        lines->out[i] = (Translation){0};
    }
}

static void lines_free(Lines *lines) {
    if (lines->out) forget(lines);
    translator_free(lines->translator);
    mem_free(lines->lines);
    mem_free(lines->out);
}

static Status run(void *context, int repeats, double *seconds) {
    Lines *lines = context;
    for (int i = 0; i < repeats; i++) {
        forget(lines);
        double begin = clock_seconds();
        translator_run(lines->translator, lines->lines, NULL, lines->count, 1, lines->out);
        seconds[0] += clock_seconds() - begin;
    }
    return STATUS_OK;
}

/* Alone on one thread, a line must become what it becomes among others on all threads. */
static Status check(const Bench *bench, int beam, const Lines *together) {
    int count = together->count < CHECKED ? together->count : CHECKED;
    Lines alone;
    TRY(lines_new(&alone, bench, beam, count, bench->team[0]));
    Status status = STATUS_OK;
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        translator_run(alone.translator, alone.lines + i, NULL, 1, 1, alone.out + i);
        const Translation *a = &alone.out[i], *b = &together->out[i];
        if (a->chunks != b->chunks ||
            (a->chunks && strcmp(strbuf_text(&a->items[0].text), strbuf_text(&b->items[0].text))))
            status = status_fail(STATUS_RUNTIME, "beam %d: line %d alone becomes '%s', and with others '%s'",
                                 beam, i + 1, a->chunks ? strbuf_text(&a->items[0].text) : "",
                                 b->chunks ? strbuf_text(&b->items[0].text) : "");
    }
    lines_free(&alone);
    return status;
}

static double count_tokens(const Lines *lines) {
    double tokens = 0;
    for (int i = 0; i < lines->count; i++)
        if (lines->out[i].chunks) tokens += lines->out[i].items[0].length;
    return tokens;
}

static Status measure_together(Bench *bench, const char *precision, int beam, int team, double seconds) {
    Lines lines;
    char item[64], name[32];
    Sample sample[MEASURE_PARTS] = {0};
    TRY(lines_new(&lines, bench, beam, (int)bench->input.count, bench->team[team]));
    Status status = measure(&(Trial){.run = run, .context = &lines}, seconds / RUNS, RUNS, sample);
    if (status == STATUS_OK) status = check(bench, beam, &lines);
    double count = lines.count, made = count_tokens(&lines);
    lines_free(&lines);
    TRY(status);
    snprintf(item, sizeof item, "%sbeam %d, %s", precision, beam, bench_team_name(bench, team, name));
    report_seconds(&bench->report, item, "speed", "sentences/s", MORE_IS_BETTER, count, &sample[0]);
    report_seconds(&bench->report, item, "made", "tokens/s", MORE_IS_BETTER, made, &sample[0]);
    report_value(&bench->report, item, "made", "tokens/sentence", NOT_JUDGED, made / count);
    sample_free(&sample[0]);
    return STATUS_OK;
}

/* One beam on each team. */
static Status translate_together(Bench *bench, const char *precision, int beam, double seconds) {
    int teams = bench_teams(bench);
    for (int team = 0; team < teams; team++)
        TRY(measure_together(bench, precision, beam, team, seconds / teams));
    return STATUS_OK;
}

static Status measure_latency(Bench *bench, const char *precision, int beam, double seconds) {
    enum { LINES_MIN = 20, LINES_MAX = 500 };
    Lines lines;
    char item[64];
    Sample milliseconds = {0};
    double warm_up[MEASURE_PARTS] = {0};
    int count = bench->input.count < LINES_MAX ? (int)bench->input.count : LINES_MAX, done = 0;
    TRY(lines_new(&lines, bench, beam, count, bench->team[0]));
    run(&lines, 1, warm_up);
    forget(&lines);
    double begin = clock_seconds();
    for (; done < count && (done < LINES_MIN || clock_seconds() - begin < seconds); done++) {
        double start = clock_seconds();
        translator_run(lines.translator, lines.lines + done, NULL, 1, 1, lines.out + done);
        sample_add(&milliseconds, 1e3 * (clock_seconds() - start));
    }
    lines_free(&lines);
    snprintf(item, sizeof item, "%sbeam %d, one at a time, 1 thread", precision, beam);
    Report *r = &bench->report;
    report_value(r, item, "median", "ms", LESS_IS_BETTER, sample_median(&milliseconds));
    report_value(r, item, "99th percentile", "ms", LESS_IS_BETTER, sample_percentile(&milliseconds, 0.99));
    report_value(r, item, "measured", "lines", NOT_JUDGED, done);
    sample_free(&milliseconds);
    return STATUS_OK;
}

typedef Status BeamRun(Bench *bench, const char *precision, int beam, double seconds);

/* With the weights as they are read in one format, with each beam. */
static Status measure_precision(Bench *bench, int p, const char *path, double seconds, BeamRun *run_beam) {
    Seq2Seq *floats = bench->model;
    Status status = modelfile_load(&bench->model, path, PRECISIONS[p].format, true, NULL);
    for (int i = 0; i < BEAM_COUNT && status == STATUS_OK; i++) {
        log_progress("%s: %sbeam %d", bench->report.section, PRECISIONS[p].name, BEAMS[i]);
        status = run_beam(bench, PRECISIONS[p].name, BEAMS[i], seconds);
    }
    seq2seq_free(bench->model);
    bench->model = floats;
    return status;
}

static Status measure_all(Bench *bench, const char *section, double fraction, BeamRun *run_beam) {
    double seconds = bench_seconds(bench, fraction, PRECISION_COUNT * BEAM_COUNT);
    char path[sizeof bench->folder + 32];
    snprintf(path, sizeof path, "%s/translated.safetensors", bench->folder);
    Status status = modelfile_save(bench->model, seq2seq_params(bench->model)->data, "{}", path);
    bench->report.section = section;
    for (int p = 0; p < PRECISION_COUNT && status == STATUS_OK; p++)
        status = measure_precision(bench, p, path, seconds, run_beam);
    log_progress_end();
    return status;
}

Status bench_translation(Bench *bench) {
    char title[192];
    TRY(bench_model(bench));
    TRY(measure_all(bench, "translation", 0.25, translate_together));
    snprintf(title, sizeof title, "Translation: %zu lines, %d together; model %s", bench->input.count,
             MINI_BATCH, bench->knows);
    return report_show(&bench->report, title, NULL);
}

Status bench_latency(Bench *bench) {
    char title[192];
    TRY(bench_model(bench));
    TRY(measure_all(bench, "latency", 0.06, measure_latency));
    snprintf(title, sizeof title, "Latency: one line at a time; model %s", bench->knows);
    return report_show(&bench->report, title, NULL);
}
