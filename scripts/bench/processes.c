/* processes.c - the program as its users run it: start-up, peak memory of training and translation. */
#include <stdio.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "models/modelfile.h"

enum { STARTS = 11, LOADS = 7 };

/* Files in the temporary folder. */
enum { MODEL, LINES, LINE, CONFIG, RUN, MESSAGES, FILES };
static const char *const NAMES[FILES] = {"model.safetensors", "lines.txt", "line.txt",
                                         "config.json",       "run",       "messages.txt"};
typedef struct {
    char path[FILES][1100];
} Files;

static Status save_lines(const Bench *bench, const char *path, size_t count) {
    StrBuf text = {0};
    for (size_t i = 0; i < count && i < bench->input.count; i++)
        strbuf_format(&text, "%s\n", bench->input.items[i]);
    Status status = report_write(path, strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status save_config(const Bench *bench, const char *path) {
    Config config = config_view(bench->config);
    OptionTable tables[6];
    StrBuf text = {0};
    config_tables(&config, tables);
    options_write_json(tables, false, &text);
    Status status = report_write(path, strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

/* The model, and the lines to translate. */
static Status save_model(Bench *bench, Files *files) {
    TRY(bench_model(bench));
    for (int i = 0; i < FILES; i++)
        snprintf(files->path[i], sizeof files->path[i], "%s/%s", bench->folder, NAMES[i]);
    TRY(modelfile_save(bench->model, seq2seq_params(bench->model)->data, "{}", files->path[MODEL]));
    TRY(save_lines(bench, files->path[LINES], bench->input.count));
    return save_lines(bench, files->path[LINE], 1);
}

/* ---- start ------------------------------------------------------------------------------------------- */

static Status load_model(void *context, int repeats, double *seconds) {
    const Files *files = context;
    for (int i = 0; i < repeats; i++) {
        Seq2Seq *model;
        double begin = clock_seconds();
        TRY(modelfile_load(&model, files->path[MODEL], WEIGHT_FLOAT32, true, NULL));
        seconds[0] += clock_seconds() - begin;
        seq2seq_free(model);
    }
    return STATUS_OK;
}

static Status measure_starts(Bench *bench, const Files *files, Sample *seconds) {
    char *argv[] = {bench->options.program,     "translate", "--quiet", "--model",
                    (char *)files->path[MODEL], NULL};
    ChildFacts facts;
    for (int i = 0; i < STARTS; i++) {
        TRY(child_run(argv, files->path[LINE], files->path[MESSAGES], &facts));
        sample_add(seconds, facts.first_line);
    }
    return STATUS_OK;
}

Status bench_start(Bench *bench) {
    Files files;
    Sample loading[MEASURE_PARTS] = {0}, start = {0};
    TRY(save_model(bench, &files));
    log_progress("start-up");
    TRY(measure(&(Trial){.run = load_model, .context = &files}, 0, LOADS, loading));
    TRY(measure_starts(bench, &files, &start));
    bench->report.section = "start";
    report_seconds(&bench->report, "loading the model", "time", "ms", LESS_IS_BETTER, 1e3, &loading[0]);
    report_seconds(&bench->report, "process to first translation", "time", "ms", LESS_IS_BETTER, 1e3, &start);
    sample_free(&loading[0]);
    sample_free(&start);
    log_progress_end();
    return report_show(&bench->report, "Start", "files in the system's cache");
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static void report_megabytes(Bench *bench, const char *item, const char *metric, double bytes) {
    report_value(&bench->report, item, metric, "MB", LESS_IS_BETTER, bytes / 1e6);
}

static Status measure_translation(Bench *bench, const Files *files) {
    char *argv[] = {bench->options.program, "translate", "--quiet",     "--model", (char *)files->path[MODEL],
                    "--mini-batch",         "64",        "--beam-size", "5",       NULL};
    ChildFacts facts;
    TRY(child_run(argv, files->path[LINES], files->path[MESSAGES], &facts));
    report_megabytes(bench, "translation, beam 5, 64 together", "peak", facts.peak_memory);
    return STATUS_OK;
}

static Status measure_training(Bench *bench, const Files *files) {
    char *updates = bench->options.quick ? "train.max_updates=4" : "train.max_updates=40";
    char *argv[] = {bench->options.program,
                    "train",
                    "--quiet",
                    "--overwrite",
                    "--config",
                    (char *)files->path[CONFIG],
                    "--run",
                    (char *)files->path[RUN],
                    "--set",
                    updates,
                    "--set",
                    "train.valid_limit=64",
                    NULL};
    ChildFacts facts;
    TRY(save_config(bench, files->path[CONFIG]));
    TRY(child_run(argv, "/dev/null", files->path[MESSAGES], &facts));
    report_megabytes(bench, "training", "peak", facts.peak_memory);
    return STATUS_OK;
}

static double file_bytes(const char *path) {
    StrBuf content = {0};
    double bytes = file_read(path, 0, &content) == STATUS_OK ? (double)content.length : 0;
    strbuf_free(&content);
    return bytes;
}

Status bench_memory(Bench *bench) {
    Files files;
    TRY(save_model(bench, &files));
    log_progress("memory");
    bench->report.section = "memory";
    TRY(measure_translation(bench, &files));
    if (bench->train.count) TRY(measure_training(bench, &files));
    log_progress_end();
    report_megabytes(bench, "model file", "size", file_bytes(files.path[MODEL]));
    report_megabytes(bench, "program file", "size", file_bytes(bench->options.program));
    return report_show(&bench->report, "Memory of the program, and files", NULL);
}
