/* bench.c - how fast this machine trains and translates: `make bench`.
 *
 * Measures products of matrices, ops, updates, translations, start-up and memory; prints tables and writes JSON, which
 * scripts/bench-compare compares. Every part first checks that it computes the right thing.
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "child.h"
#include "measure/measure.h"
#include "measure/others.h"
#include "num/gemm.h"
#include "num/kern.h"

enum { LINES_MOST = 5000 };

#define FIELD(member) OPT_FIELD(BenchOptions, member)

/* clang-format off */
static const Option OPTIONS[] = {
    {.flag = "model", .letter = 'm', .type = OPT_STRING, FIELD(model), .arg = "FILE",
     .help = "translate with this model; nothing is trained", .group = "Benchmark"},
    {.flag = "input", .letter = 'i', .type = OPT_STRING, FIELD(input), .arg = "FILE",
     .help = "lines to translate; default: the source side of the validation data"},
    {.flag = "json", .type = OPT_STRING, FIELD(json), .arg = "FILE",
     .help = "also write all numbers there, for scripts/bench-compare"},
    {.flag = "threads", .type = OPT_INT, FIELD(threads), .fallback = "0", .max = 1024, .arg = "N",
     .help = "measure with one thread and with N; 0 = one per core"},
    {.flag = "seconds", .type = OPT_REAL, FIELD(seconds), .fallback = "100", .min = 1, .max = 100000, .arg = "X",
     .help = "time to spend, about"},
    {.flag = "program", .type = OPT_STRING, FIELD(program), .arg = "FILE",
     .help = "attn-mt whose start-up and memory are measured; default: beside this program"},
    {.flag = "only", .type = OPT_LIST, FIELD(only), .choices = "gemm|ops|training|translation|processes", .arg = "PART",
     .help = "measure only these parts; translation needs training or a model"},
    {.flag = "quick", .type = OPT_BOOL, FIELD(quick),
     .help = "tries everything in a few seconds, measures nothing well"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: bench --config FILE [OPTION]...\n"
    "       bench --model FILE --input FILE [OPTION]...\n"
    "\n"
    "Measures products of matrices, each op, training from scratch with the configuration, translation\n"
    "with the model that this gave, start-up and memory. From the project's folder: make bench.\n"
    "\n"
    "  -c, --config FILE           read a JSON configuration; several may be\n"
    "                              given, later ones win\n"
    "      --set KEY=VALUE         set one key of the configuration\n";

const char *bench_team_name(const Bench *bench, int team) {
    static char all[32];
    snprintf(all, sizeof all, "%d threads", bench->threads);
    return team ? all : "1 thread";
}

double bench_seconds(const Bench *bench, double share, int runs) {
    return bench->options->seconds * (bench->options->quick ? 0.02 : 1) * share / runs;
}

/* ---- what is measured on ---------------------------------------------------------------------------------------------------- */

static Status read_lines(Bench *bench, const char *path) {
    LineReader *reader;
    StrView line;
    bool more = true;
    size_t capacity = 0;
    TRY(line_reader_open(&reader, path));
    Status status = STATUS_OK;
    while (status == STATUS_OK && bench->input.count < LINES_MOST) {
        status = line_reader_next(reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        MEM_GROW(bench->input.items, capacity, bench->input.count + 1);
        bench->input.items[bench->input.count++] = mem_strndup(line.data, line.length);
    }
    line_reader_close(reader);
    if (status == STATUS_OK && !bench->input.count)
        status = status_fail(STATUS_DATA, "'%s' has no lines", path);
    return status;
}

static Status take_model(Bench *bench) {
    TRY(modelfile_load(&bench->model, bench->options->model, FORMAT_FLOAT32, NULL));
    bench->config = seq2seq_config(bench->model);
    bench->source = segmenter_retain(seq2seq_source(bench->model));
    bench->target = segmenter_retain(seq2seq_target(bench->model));
    bench->knows = "from a file";
    if (!bench->options->input)
        return status_hint(status_fail(STATUS_USAGE, "no lines to translate"), "name some: --input FILE");
    return read_lines(bench, bench->options->input);
}

static Status take_data(Bench *bench) {
    const Config *c = bench->config;
    if (!c->data.train.count || !c->data.valid.count)
        return status_hint(status_fail(STATUS_USAGE, "neither a configuration with data nor a model"),
                           "try --config configs/bench-bidirectional.json");
    TRY(config_check(c));
    TRY(corpus_learn_segmenters(&c->data.train, &c->data, &c->text, &bench->source, &bench->target));
    TRY(corpus_read(&bench->train, &c->data.train, &c->data, bench->source, bench->target, true, false));
    TRY(corpus_read(&bench->valid, &c->data.valid, &c->data, bench->source, bench->target, false, true));
    if (bench->options->input) return read_lines(bench, bench->options->input);
    size_t count = bench->valid.source_text.count, most = bench->options->quick ? 64 : LINES_MOST;
    bench->input.items = mem_alloc(count, sizeof *bench->input.items);
    for (size_t i = 0; i < count && i < most; i++)
        bench->input.items[bench->input.count++] = mem_strdup(bench->valid.source_text.items[i]);
    return STATUS_OK;
}

static void describe(const Bench *bench, StrBuf *facts) {
    strbuf_format(facts,
                  "\"program\": \"attn-mt %s\", \"threads\": %d, \"simd\": \"%s\", \"blas_kernel\": \"%s\", "
                  "\"quick\": %s, \"blas\": ",
                  ATTN_MT_VERSION, bench->threads, kern->name, gemm_kernel(),
                  bench->options->quick ? "true" : "false");
    json_write_string(facts, sv(gemm_library()));
    strbuf_format(facts, ", \"training_pairs\": %d, \"source_vocabulary\": %d, \"target_vocabulary\": %d",
                  bench->train.count, vocab_size(segmenter_vocab(bench->source)),
                  vocab_size(segmenter_vocab(bench->target)));
}

static Status announce(const Bench *bench) {
    const ModelOptions *m = &bench->config->model;
    StrBuf text = {0};
    strbuf_format(
        &text,
        "attn-mt %s, %d thread%s, SIMD %s, BLAS %s\n"
        "embedding %d, hidden %d, vocabularies %d and %d; %d training pairs; %zu lines to translate\n",
        ATTN_MT_VERSION, bench->threads, bench->threads == 1 ? "" : "s", kern->name, gemm_kernel(),
        m->embedding, m->hidden, vocab_size(segmenter_vocab(bench->source)),
        vocab_size(segmenter_vocab(bench->target)), bench->train.count, bench->input.count);
    Status status = measure_print(strbuf_view(&text));
    strbuf_free(&text);
    if (gemm_better_kernel())
        log_warn("OpenBLAS runs its %s kernel, this processor can do better: set OPENBLAS_CORETYPE=%s",
                 gemm_kernel(), gemm_better_kernel());
    return status;
}

/* ---- the run ---------------------------------------------------------------------------------------------------------------- */

static bool wanted(const Bench *bench, const char *part) {
    const StrList *only = &bench->options->only;
    for (size_t i = 0; i < only->count; i++)
        if (!strcmp(only->items[i], part)) return true;
    return !only->count;
}

/* Numbers of a busy machine are worth little: say how busy it was. */
static Status tell_others(Bench *bench, const OthersClock *begin) {
    double others = others_end(begin);
    if (others < 0) return STATUS_OK;
    bench_report_add_one(&bench->report, "machine", "other programs", "took", "processors", NOT_JUDGED,
                         others);
    if (others > 0.1)
        log_warn("other programs took %.1f processors meanwhile: measure again on an idle machine", others);
    return bench_report_show(&bench->report, "Machine", NULL);
}

static Status measure_parts(Bench *bench) {
    TRY(gemm_self_test(bench->threads));
    TRY(bench->options->model ? take_model(bench) : take_data(bench));
    TRY(announce(bench));
    if (wanted(bench, "gemm")) TRY(bench_gemm(bench));
    if (wanted(bench, "ops")) TRY(bench_ops(bench));
    if (wanted(bench, "training") && !bench->model) TRY(bench_training(bench));
    if (!wanted(bench, "translation") && !wanted(bench, "processes")) return STATUS_OK;
    if (!bench->model)
        return status_hint(status_fail(STATUS_USAGE, "no model to translate with"),
                           "name one: --model FILE, or measure training too");
    if (wanted(bench, "translation")) TRY(bench_translation(bench));
    return wanted(bench, "processes") ? bench_processes(bench) : STATUS_OK;
}

static Status measure(Bench *bench) {
    OthersClock begin = others_begin();
    TRY(measure_parts(bench));
    return tell_others(bench, &begin);
}

static Status write_json(const Bench *bench, OutFile *file) {
    StrBuf text = {0}, facts = {0};
    describe(bench, &facts);
    bench_report_write_json(&bench->report, strbuf_view(&facts), &text);
    Status status = file_write(file, text.data, text.length);
    strbuf_free(&facts);
    strbuf_free(&text);
    if (status == STATUS_OK) return file_commit(file);
    file_discard(file);
    return status;
}

/* Folders within are emptied first; nothing is followed out of the folder. */
static void remove_folder(const char *folder) {
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        StrBuf path = {0};
        strbuf_format(&path, "%s/%s", folder, entry->d_name);
        if (unlink(path.data)) remove_folder(path.data);
        strbuf_free(&path);
    }
    if (open) closedir(open);
    if (rmdir(folder)) log_warn("temporary files stay in '%s': %s", folder, strerror(errno));
}

static Status run(const BenchOptions *options, const Config *config) {
    Bench bench = {.options = options, .config = config};
    OutFile *json = NULL;
    if (options->json) TRY(file_create(&json, options->json)); /* a wrong name is found at once */
    const char *temporary = getenv("TMPDIR");
    if (!temporary || !*temporary) temporary = "/tmp";
    snprintf(bench.folder, sizeof bench.folder, "%s/attn-mt-bench.XXXXXX", temporary);
    if (!mkdtemp(bench.folder)) {
        file_discard(json);
        return status_fail(STATUS_RUNTIME, "cannot make a folder in '%s': %s", temporary, strerror(errno));
    }
    bench.threads = options->threads ? options->threads : workers_default_count();
    bench.one = workers_new(1);
    bench.all = workers_new(bench.threads);
    Status status = measure(&bench);
    log_progress_end();
    if (status == STATUS_OK && json)
        status = write_json(&bench, json);
    else
        file_discard(json);
    remove_folder(bench.folder);
    bench_report_free(&bench.report);
    seq2seq_free(bench.model);
    corpus_free(&bench.train);
    corpus_free(&bench.valid);
    segmenter_free(bench.source);
    segmenter_free(bench.target);
    for (size_t i = 0; i < bench.input.count; i++) mem_free(bench.input.items[i]);
    mem_free(bench.input.items);
    workers_free(bench.one);
    workers_free(bench.all);
    return status;
}

/* attn-mt lies where this program lies. */
static char *find_program(const char *self) {
    StrBuf path = {0};
    const char *slash = strrchr(self, '/');
    if (slash) strbuf_add(&path, (StrView){self, (size_t)(slash + 1 - self)});
    strbuf_add(&path, SV("attn-mt"));
    return path.data;
}

static Status print_help(const OptionTable *tables) {
    OptionTable own[] = {tables[0], {0}};
    StrBuf text = {0};
    strbuf_add(&text, SV(USAGE));
    options_write_help(own, 80, &text);
    Status status = measure_print(strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

int main(int argc, char **argv) {
    BenchOptions options = {0};
    Config config;
    OptionTable tables[8] = {{OPTIONS, &options}};
    StrList rest = {0};
    bool help = false;
    if (argc > 1 && !strcmp(argv[1], CHILD_FLAG)) return child_main(argv);
    gemm_startup(argv);
    kern_select();
    config_tables(&config, tables + 1);
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, true, &rest, &help);
    if (status == STATUS_OK && rest.count)
        status = status_fail(STATUS_USAGE, "unexpected argument '%s'", rest.items[0]);
    if (!options.program) options.program = find_program(argv[0]);
    if (status == STATUS_OK) status = help ? print_help(tables) : run(&options, &config);
    if (status != STATUS_OK) log_failure();
    mem_free(rest.items);
    options_free(tables);
    return (int)status;
}
