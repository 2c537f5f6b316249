/* bench_processes.c - the program itself as its users run it: start-up, and greatest memory of training and translation. */
#include <stdio.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "bench.h"
#include "child.h"

enum { STARTS = 11, LOADS = 7, ARGUMENTS = 16 };

typedef struct {
    char model[1100], lines[1100], line[1100], config[1100], run[1100], messages[1100];
} Files;

static void name_files(const Bench *bench, Files *f) {
    snprintf(f->model, sizeof f->model, "%s/model.safetensors", bench->folder);
    snprintf(f->lines, sizeof f->lines, "%s/lines.txt", bench->folder);
    snprintf(f->line, sizeof f->line, "%s/line.txt", bench->folder);
    snprintf(f->config, sizeof f->config, "%s/config.json", bench->folder);
    snprintf(f->run, sizeof f->run, "%s/run", bench->folder);
    snprintf(f->messages, sizeof f->messages, "%s/messages.txt", bench->folder);
}

static Status save_lines(const Bench *bench, const char *path, size_t count) {
    StrBuf text = {0};
    for (size_t i = 0; i < count && i < bench->input.count; i++) {
        strbuf_add(&text, sv(bench->input.items[i]));
        strbuf_add_char(&text, '\n');
    }
    Status status = file_put(path, strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status save_config(const Bench *bench, const char *path) {
    Config config = *bench->config; /* shares its strings: only read here */
    OptionTable tables[6];
    StrBuf text = {0};
    config_tables(&config, tables);
    options_write_json(tables, false, &text);
    Status status = file_put(path, strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status measure_loading(Bench *bench, const Files *files) {
    Sample milliseconds = {0};
    for (int i = 0; i < LOADS; i++) {
        Seq2Seq *model;
        double begin = clock_seconds();
        TRY(modelfile_load(&model, files->model, FORMAT_FLOAT32, NULL));
        sample_add(&milliseconds, 1e3 * (clock_seconds() - begin));
        seq2seq_free(model);
    }
    bench_report_add(&bench->report, "start", "loading the model", "time", "ms", LESS_IS_BETTER,
                     &milliseconds);
    return STATUS_OK;
}

static Status measure_start(Bench *bench, const Files *files) {
    char *program = bench->options->program;
    char *argv[ARGUMENTS] = {program, "translate", "--quiet", "--model", (char *)files->model, NULL};
    Sample milliseconds = {0};
    for (int i = 0; i < STARTS; i++) {
        ChildFacts facts;
        TRY(child_run(argv, files->line, files->messages, &facts));
        sample_add(&milliseconds, 1e3 * facts.first_line);
    }
    bench_report_add(&bench->report, "start", "process to first translation", "time", "ms", LESS_IS_BETTER,
                     &milliseconds);
    return STATUS_OK;
}

static Status measure_translation_memory(Bench *bench, const Files *files) {
    char *argv[ARGUMENTS] = {
        bench->options->program, "translate", "--quiet",     "--model", (char *)files->model,
        "--mini-batch",          "64",        "--beam-size", "5",       NULL};
    ChildFacts facts;
    TRY(child_run(argv, files->lines, files->messages, &facts));
    bench_report_add_one(&bench->report, "memory", "translation, beam 5, 64 together", "peak", "MB",
                         LESS_IS_BETTER, facts.peak_memory / 1e6);
    return STATUS_OK;
}

static Status measure_training_memory(Bench *bench, const Files *files) {
    char *updates = bench->options->quick ? "train.max_updates=4" : "train.max_updates=40";
    char *argv[ARGUMENTS] = {bench->options->program,
                             "train",
                             "--quiet",
                             "--overwrite",
                             "--config",
                             (char *)files->config,
                             "--run",
                             (char *)files->run,
                             "--set",
                             updates,
                             "--set",
                             "train.valid_limit=64",
                             NULL};
    ChildFacts facts;
    TRY(child_run(argv, "/dev/null", files->messages, &facts));
    bench_report_add_one(&bench->report, "memory", "training", "peak", "MB", LESS_IS_BETTER,
                         facts.peak_memory / 1e6);
    return STATUS_OK;
}

static double file_bytes(const char *path) {
    StrBuf content = {0};
    double bytes = file_read(path, 0, &content) == STATUS_OK ? (double)content.length : 0;
    strbuf_free(&content);
    return bytes;
}

Status bench_processes(Bench *bench) {
    Files files;
    name_files(bench, &files);
    const real *weights = seq2seq_params(bench->model)->data;
    TRY(modelfile_save(bench->model, weights, "{}", files.model));
    TRY(save_lines(bench, files.lines, bench->input.count));
    TRY(save_lines(bench, files.line, 1));
    log_progress("start-up");
    TRY(measure_loading(bench, &files));
    TRY(measure_start(bench, &files));
    log_progress_end();
    TRY(bench_report_show(&bench->report, "Start", "files in the system's cache"));
    log_progress("memory");
    TRY(measure_translation_memory(bench, &files));
    if (bench->train.count) {
        TRY(save_config(bench, files.config));
        TRY(measure_training_memory(bench, &files));
    }
    log_progress_end();
    bench_report_add_one(&bench->report, "memory", "model file", "size", "MB", LESS_IS_BETTER,
                         file_bytes(files.model) / 1e6);
    bench_report_add_one(&bench->report, "memory", "program file", "size", "MB", LESS_IS_BETTER,
                         file_bytes(bench->options->program) / 1e6);
    return bench_report_show(&bench->report, "Memory of the program, and files", NULL);
}
