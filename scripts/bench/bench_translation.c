/* bench_translation.c - translating lines of text: many together, and one at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench.h"
#include "decode/translator.h"
#include "measure/measure.h"

enum { MINI_BATCH = 64, CHECKED = 24, RUNS = 5 };
static const int BEAMS[] = {1, 5};
enum { BEAM_COUNT = sizeof BEAMS / sizeof *BEAMS };
/* What begins the names of measurements with weights in a format. */
static const struct {
    WeightFormat format;
    const char *name;
} PRECISIONS[] = {{FORMAT_FLOAT32, ""}, {FORMAT_BF16, "bf16, "}, {FORMAT_INT8, "int8, "}};
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

static double translate_all(Lines *lines) {
    forget(lines);
    double begin = clock_seconds();
    translator_run(lines->translator, lines->lines, lines->count, 1, lines->out);
    return clock_seconds() - begin;
}

/* Alone on one thread, a line must become what it becomes among others on all threads. */
static Status check(const Bench *bench, int beam, const Lines *together) {
    int count = together->count < CHECKED ? together->count : CHECKED;
    Lines alone;
    TRY(lines_new(&alone, bench, beam, count, bench->one));
    Status status = STATUS_OK;
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        translator_run(alone.translator, alone.lines + i, 1, 1, alone.out + i);
        const Translation *a = &alone.out[i], *b = &together->out[i];
        if (a->pieces != b->pieces ||
            (a->pieces && strcmp(strbuf_text(&a->items[0].text), strbuf_text(&b->items[0].text))))
            status = status_fail(STATUS_RUNTIME, "beam %d: line %d alone becomes '%s', and with others '%s'",
                                 beam, i + 1, a->pieces ? strbuf_text(&a->items[0].text) : "",
                                 b->pieces ? strbuf_text(&b->items[0].text) : "");
    }
    lines_free(&alone);
    return status;
}

static double count_tokens(const Lines *lines) {
    double tokens = 0;
    for (int i = 0; i < lines->count; i++)
        if (lines->out[i].pieces) tokens += lines->out[i].items[0].length;
    return tokens;
}

static Status measure_many(Bench *bench, const char *precision, int beam, int team, double seconds) {
    Lines lines;
    char item[64];
    Sample sentences = {0}, tokens = {0};
    TRY(lines_new(&lines, bench, beam, (int)bench->input.count, bench_team(bench, team)));
    double spent = translate_all(&lines);
    Status status = check(bench, beam, &lines);
    int times = (int)fmax(1, seconds / RUNS / spent);
    double made = count_tokens(&lines);
    for (int run = 0; run < RUNS && status == STATUS_OK; run++) {
        spent = 0;
        for (int i = 0; i < times; i++) spent += translate_all(&lines);
        sample_add(&sentences, lines.count * times / spent);
        sample_add(&tokens, made * times / spent);
    }
    lines_free(&lines);
    TRY(status);
    snprintf(item, sizeof item, "%sbeam %d, %s", precision, beam, bench_team_name(bench, team));
    BenchReport *r = &bench->report;
    bench_report_add(r, "translation", item, "speed", "sentences/s", MORE_IS_BETTER, &sentences);
    bench_report_add(r, "translation", item, "made", "tokens/s", MORE_IS_BETTER, &tokens);
    bench_report_add_one(r, "translation", item, "made", "tokens/sentence", NOT_JUDGED,
                         made / (double)bench->input.count);
    return STATUS_OK;
}

static Status measure_latency(Bench *bench, const char *precision, int beam, double seconds) {
    enum { LINES_MOST = 500 };
    Lines lines;
    char item[64];
    static double milliseconds[LINES_MOST];
    int count = bench->input.count < LINES_MOST ? (int)bench->input.count : LINES_MOST, done = 0;
    TRY(lines_new(&lines, bench, beam, count, bench->one));
    translate_all(&lines); /* warms up */
    forget(&lines);
    double begin = clock_seconds();
    for (; done < count && (done < 20 || clock_seconds() - begin < seconds); done++) {
        double start = clock_seconds();
        translator_run(lines.translator, lines.lines + done, 1, 1, lines.out + done);
        milliseconds[done] = 1e3 * (clock_seconds() - start);
    }
    lines_free(&lines);
    snprintf(item, sizeof item, "%sbeam %d, one at a time, 1 thread", precision, beam);
    BenchReport *r = &bench->report;
    bench_report_add_one(r, "latency", item, "median", "ms", LESS_IS_BETTER,
                         measure_median(milliseconds, done));
    bench_report_add_one(r, "latency", item, "99th percentile", "ms", LESS_IS_BETTER,
                         measure_percentile(milliseconds, done, 99));
    bench_report_add_one(r, "latency", item, "measured", "lines", NOT_JUDGED, done);
    return STATUS_OK;
}

static Status measure_precision(Bench *bench, const char *precision, double seconds) {
    for (int b = 0; b < BEAM_COUNT; b++)
        for (int team = 0; team < bench_teams(bench); team++) {
            log_progress("translation: %sbeam %d, %s", precision, BEAMS[b], bench_team_name(bench, team));
            TRY(measure_many(bench, precision, BEAMS[b], team, seconds / (BEAM_COUNT * bench_teams(bench))));
        }
    for (int b = 0; b < BEAM_COUNT; b++) {
        log_progress("latency: %sbeam %d", precision, BEAMS[b]);
        TRY(measure_latency(bench, precision, BEAMS[b], seconds / 4 / BEAM_COUNT));
    }
    return STATUS_OK;
}

Status bench_translation(Bench *bench) {
    char title[160];
    for (int p = 0; p < PRECISION_COUNT; p++) {
        params_repack(seq2seq_params(bench->model), PRECISIONS[p].format);
        TRY(measure_precision(bench, PRECISIONS[p].name, bench_seconds(bench, 0.25, PRECISION_COUNT)));
    }
    params_repack(seq2seq_params(bench->model), FORMAT_FLOAT32);
    log_progress_end();
    snprintf(title, sizeof title, "Translation: %zu lines, %d together, or one at a time; model %s",
             bench->input.count, MINI_BATCH, bench->knows);
    return bench_report_show(&bench->report, title, NULL);
}
