/* bench_scaling.c - training speed against threads, batch, hidden size, vocabulary and sentence length; memory against batch and length.
 *
 * Each size is trained for a moment in a process of its own (scaling_point.h), all of them several times over, so that a minute in which
 * the machine was busy does not hit one of them alone.
 *
 * Run by scripts/bench-scaling.
 */
#include <string.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/workers.h"
#include "measure/measure.h"
#include "num/gemm.h"
#include "num/kern.h"
#include "scaling_report.h"

/* ---- what is measured -------------------------------------------------------------------------------------------------- */

static const ScalingSize BASE = {.batch = 64, .hidden = 256, .vocabulary = 8000, .length = 16};
static const ScalingSize QUICK = {.batch = 4, .hidden = 16, .vocabulary = 50, .length = 5};

static const int VALUES[SWEEPS][SWEEP_POINTS] = {
    [SWEEP_HIDDEN] = {128, 256, 384, 512, 768, 1024},
    [SWEEP_BATCH] = {8, 16, 32, 64, 128, 256},
    [SWEEP_VOCABULARY] = {1000, 2000, 4000, 8000, 16000, 32000},
    [SWEEP_LENGTH] = {4, 8, 16, 32, 64, 128},
};
static const int QUICK_VALUES[SWEEPS][SWEEP_POINTS] = {[SWEEP_HIDDEN] = {16, 24},
                                                       [SWEEP_BATCH] = {4, 8},
                                                       [SWEEP_VOCABULARY] = {50, 90},
                                                       [SWEEP_LENGTH] = {5, 9}};

static int *number_of(ScalingSize *size, int sweep) {
    int *const numbers[SWEEPS] = {[SWEEP_HIDDEN] = &size->hidden,
                                  [SWEEP_BATCH] = &size->batch,
                                  [SWEEP_VOCABULARY] = &size->vocabulary,
                                  [SWEEP_LENGTH] = &size->length};
    return numbers[sweep];
}

/* The number of the point of this size: sweeps meet in the base. */
static int point_of(Survey *survey, const ScalingSize *size) {
    for (int i = 0; i < survey->count; i++)
        if (memcmp(&survey->points[i].size, size, sizeof *size) == 0) return i;
    survey->points[survey->count].size = *size;
    return survey->count++;
}

static Survey plan(int threads, bool quick) {
    Survey survey = {.base = quick ? QUICK : BASE, .teams = threads > 1 ? 2 : 1};
    survey.base.threads = threads;
    survey.points = mem_alloc(SWEEPS * SCALING_TEAMS * SWEEP_POINTS, sizeof *survey.points);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        Sweep *s = &survey.sweep[sweep];
        for (; s->count < SWEEP_POINTS && (quick ? QUICK_VALUES : VALUES)[sweep][s->count]; s->count++)
            for (int team = 0; team < survey.teams; team++) {
                ScalingSize size = survey.base;
                size.threads = team == survey.teams - 1 ? threads : 1;
                *number_of(&size, sweep) = (quick ? QUICK_VALUES : VALUES)[sweep][s->count];
                s->x[s->count] = *number_of(&size, sweep);
                s->point[team][s->count] = point_of(&survey, &size);
            }
    }
    return survey;
}

static Status measure(ScalingPoint *point, double seconds, int least) {
    ScalingRun run = {0};
    TRY(scaling_point_run(&point->size, seconds, least, &run));
    point->seconds =
        mem_realloc(point->seconds, (size_t)(point->updates + run.updates), sizeof *point->seconds);
    memcpy(point->seconds + point->updates, run.seconds, (size_t)run.updates * sizeof *run.seconds);
    point->updates += run.updates;
    if (run.megabytes > point->megabytes) point->megabytes = run.megabytes;
    return STATUS_OK;
}

static Status measure_all(Survey *survey, int rounds, double seconds) {
    Status status = STATUS_OK;
    for (int round = 0; round < rounds && status == STATUS_OK; round++)
        for (int i = 0; i < survey->count && status == STATUS_OK; i++) {
            const ScalingSize *size = &survey->points[i].size;
            log_progress("round %d of %d: %d threads, batch %d, hidden %d, vocabulary %d, length %d",
                         round + 1, rounds, size->threads, size->batch, size->hidden, size->vocabulary,
                         size->length);
            status = measure(&survey->points[i], seconds, 2);
        }
    log_progress_end();
    return status;
}

/* ---- the program ----------------------------------------------------------------------------------------------------------- */

typedef struct {
    char *json, *svg;
    int threads, rounds;
    double seconds;
    bool quick;
} Options;

/* clang-format off */
static const Option OPTIONS[] = {
    {.flag = "svg", .type = OPT_STRING, OPT_FIELD(Options, svg), .arg = "FILE",
     .help = "draw speed and memory there (scripts/bench-scaling: docs/scaling.svg, except with --quick)"},
    {.flag = "json", .type = OPT_STRING, OPT_FIELD(Options, json), .arg = "FILE",
     .help = "also write all numbers there"},
    {.flag = "threads", .type = OPT_INT, OPT_FIELD(Options, threads), .fallback = "0", .max = 1024, .arg = "N",
     .help = "compare one thread with so many; 0 = one per core"},
    {.flag = "rounds", .type = OPT_INT, OPT_FIELD(Options, rounds), .fallback = "3", .min = 1, .max = 100, .arg = "N",
     .help = "how often all sizes are measured"},
    {.flag = "seconds", .type = OPT_REAL, OPT_FIELD(Options, seconds), .fallback = "1", .min = 0.001, .max = 600, .arg = "X",
     .help = "time for each size in a round, if two updates do not take more"},
    {.flag = "quick", .type = OPT_BOOL, OPT_FIELD(Options, quick),
     .help = "tiny models for a moment: tries the program, measures nothing"},
    {0}};
/* clang-format on */

/* Files are opened before the measuring, so that a wrong name is found at once. */
static Status save(OutFile **file, void (*write)(const Survey *survey, StrBuf *out), const Survey *survey) {
    StrBuf text = {0};
    if (!*file) return STATUS_OK;
    write(survey, &text);
    Status status = file_write(*file, text.data, text.length);
    strbuf_free(&text);
    TRY(status);
    OutFile *done = *file;
    *file = NULL; /* released whether or not it can be committed */
    return file_commit(done);
}

static Status measure_and_write(const Options *options, OutFile **json, OutFile **svg) {
    Survey survey = plan(options->threads ? options->threads : workers_default_count(), options->quick);
    StrBuf tables = {0};
    Status status =
        measure_all(&survey, options->quick ? 1 : options->rounds, options->quick ? 0.001 : options->seconds);
    if (status == STATUS_OK) {
        scaling_report_tables(&survey, &tables);
        status = measure_print(strbuf_view(&tables));
    }
    if (status == STATUS_OK) status = save(json, scaling_report_json, &survey);
    if (status == STATUS_OK) status = save(svg, scaling_report_picture, &survey);
    strbuf_free(&tables);
    for (int i = 0; i < survey.count; i++) mem_free(survey.points[i].seconds);
    mem_free(survey.points);
    return status;
}

static Status bench(const Options *options) {
    OutFile *json = NULL, *svg = NULL;
    Status status = STATUS_OK;
    if (options->json) status = file_create(&json, options->json);
    if (status == STATUS_OK && options->svg) status = file_create(&svg, options->svg);
    if (status == STATUS_OK) status = measure_and_write(options, &json, &svg);
    file_discard(json);
    file_discard(svg);
    return status;
}

int main(int argc, char **argv) {
    Options options = {0};
    OptionTable tables[] = {{OPTIONS, &options}, {0}};
    StrList rest = {0};
    bool help = false;
    gemm_startup(argv);
    kern_select();
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, false, &rest, &help);
    if (status == STATUS_OK && rest.count)
        status = status_fail(STATUS_USAGE, "unexpected argument '%s'", rest.items[0]);
    if (status == STATUS_OK && help) {
        StrBuf text = {0};
        strbuf_add(&text, SV("Usage: scripts/bench-scaling [OPTION]...\n\nTrains models of many sizes for a "
                             "moment each and prints tables in Markdown: about six minutes.\n\n"));
        options_write_help(tables, 80, &text);
        status = measure_print(strbuf_view(&text));
        strbuf_free(&text);
    } else if (status == STATUS_OK) {
        status = bench(&options);
    }
    if (status != STATUS_OK) log_failure();
    mem_free(rest.items);
    options_free(tables);
    return (int)status;
}
