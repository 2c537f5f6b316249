/* bench.c - the speed of training and translation on this machine, with a subcommand for each measurement.
 *
 * `make bench` runs `bench all`. Results are printed as tables and, with --json, written as JSON.
 */
#include "bench/bench.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "bench/child.h"
#include "kern/gemm.h"
#include "kern/kern.h"

/* ---- subcommands and options ------------------------------------------------------------------------- */

#define FIELD(member) OPT_FIELD(BenchOptions, member)

/* clang-format off */
static const Option COMMON[] = {
    {.flag = "json", .type = OPT_STRING, FIELD(json), .arg = "FILE",
     .help = "also write all numbers there", .group = "Every measurement"},
    {.flag = "quick", .type = OPT_BOOL, FIELD(quick),
     .help = "tries everything in a few seconds, measures nothing well"},
    {0}};

static const Option MODEL[] = {
    {.flag = "model", .letter = 'm', .type = OPT_STRING, FIELD(model), .arg = "FILE",
     .help = "measure with this model; nothing is trained", .group = "This measurement"},
    {.flag = "input", .letter = 'i', .type = OPT_STRING, FIELD(input), .arg = "FILE",
     .help = "lines to translate; default: the source side of the validation data"},
    {.flag = "threads", .type = OPT_INT, FIELD(threads), .default_text = "0", .max = 1024, .arg = "N",
     .help = "measure with one thread and with N; 0 = one per core"},
    {.flag = "seconds", .type = OPT_REAL, FIELD(seconds), .default_text = "100", .min = 1, .max = 1e5,
     .arg = "X", .help = "time to spend on `all`, about; each subcommand takes its share"},
    {.flag = "program", .type = OPT_STRING, FIELD(program), .arg = "FILE",
     .help = "attn-mt whose start-up and memory are measured; default: beside this program"},
    {0}};

typedef struct {
    const char *name, *help;
    Status (*run)(Bench *bench);
} Subcommand;

static Status run_all(Bench *bench);
static const Subcommand SUBCOMMANDS[] = {
    {"gemm", "products of matrices at the model's sizes", bench_gemm},
    {"ops", "each op of the tape, forward and backward", bench_ops},
    {"training", "updates from scratch", bench_training},
    {"translation", "lines translated many together", bench_translation},
    {"latency", "lines translated one at a time", bench_latency},
    {"start", "from the start of the program to its first translation", bench_start},
    {"memory", "greatest memory of training and translation; sizes of files", bench_memory},
    {"all", "all of these: the default, about two minutes", run_all},
};
/* clang-format on */
enum { SUBCOMMAND_COUNT = sizeof SUBCOMMANDS / sizeof *SUBCOMMANDS };

static Status run_all(Bench *bench) {
    for (const Subcommand *s = SUBCOMMANDS; s->run != run_all; s++) TRY(s->run(bench));
    return STATUS_OK;
}

/* Exactly this word, or NULL. */
static const Subcommand *find_subcommand(const char *word) {
    for (const Subcommand *s = SUBCOMMANDS; s < SUBCOMMANDS + SUBCOMMAND_COUNT; s++)
        if (!strcmp(s->name, word)) return s;
    return NULL;
}

static Status print_help(const OptionTable *tables) {
    StrBuf text = {0};
    strbuf_add(&text, SV("Usage: bench [SUBCOMMAND]... [OPTION]...\n\nSubcommands:\n"));
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        strbuf_format(&text, "  %-12s %s\n", SUBCOMMANDS[i].name, SUBCOMMANDS[i].help);
    strbuf_add(&text, SV("\nThe model, and what it is trained on:\n"
                         "  -c, --config FILE           read a JSON configuration; several may be\n"
                         "                              given, later ones win\n"
                         "      --set KEY=VALUE         set one key of the configuration\n"));
    options_write_help(tables, 80, HELP_ALL, &text);
    Status status = report_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

/* ---- shared by the subcommands ----------------------------------------------------------------------- */

int bench_teams(const Bench *bench) { return bench->threads > 1 ? TEAMS : 1; }

const char *bench_team_name(const Bench *bench, int team, char buffer[32]) {
    snprintf(buffer, 32, team ? "%d threads" : "1 thread", bench->threads);
    return buffer;
}

double bench_seconds(const Bench *bench, double fraction, int runs) {
    return bench->options.seconds * (bench->options.quick ? 0.02 : 1) * fraction / runs;
}

/* ---- the run ----------------------------------------------------------------------------------------- */

static Status write_json(Bench *bench) {
    StrBuf text = {0}, facts = {0};
    strbuf_format(&facts,
                  "\"program\": \"attn-mt %s\", \"threads\": %d, \"simd\": \"%s\", \"blas_kernel\": \"%s\", "
                  "\"quick\": %s, \"blas\": ",
                  ATTN_MT_VERSION, bench->threads, kern->name, gemm_kernel(),
                  bench->options.quick ? "true" : "false");
    json_write_string(&facts, sv(gemm_library()));
    strbuf_add(&facts, strbuf_view(&bench->facts));
    report_write_json(&bench->report, strbuf_view(&facts), &text);
    Status status = report_finish(bench->json, strbuf_view(&text));
    bench->json = NULL;
    strbuf_free(&facts);
    strbuf_free(&text);
    return status;
}

/* Measurements on a busy machine are unreliable: the output has the load. */
static Status tell_others(Bench *bench, const OthersClock *begin) {
    double others = others_end(begin);
    if (others < 0) return STATUS_OK;
    if (others > 0.1)
        log_warn("other programs took %.1f processors meanwhile: measure again on an idle machine", others);
    bench->report.section = "machine";
    report_value(&bench->report, "other programs", "took", "processors", NOT_JUDGED, others);
    return report_show(&bench->report, "Machine", NULL);
}

static Status measure_list(Bench *bench, const Subcommand *const *list, int count) {
    OthersClock begin = others_begin();
    Status status = STATUS_OK;
    for (int i = 0; i < count && status == STATUS_OK; i++) status = list[i]->run(bench);
    log_progress_end();
    if (status == STATUS_OK) status = tell_others(bench, &begin);
    return status == STATUS_OK && bench->json ? write_json(bench) : status;
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static Status run(Bench *bench, const Subcommand *const *list, int count) {
    const BenchOptions *o = &bench->options;
    const char *temporary = getenv("TMPDIR");
    if (!temporary || !*temporary) temporary = "/tmp";
    if (o->json) TRY(file_create(&bench->json, o->json));
    snprintf(bench->folder, sizeof bench->folder, "%s/attn-mt-bench.XXXXXX", temporary);
    if (!mkdtemp(bench->folder))
        return status_fail(STATUS_RUNTIME, "cannot make a folder in '%s': %s", temporary, strerror(errno));
    bench->threads = o->threads > 0 ? o->threads : workers_default_count();
    Status status = measure_list(bench, list, count);
    nftw(bench->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

/* The subcommands in argv[1] and the following words; `all` if there is none. Returns their number. */
static int choose(int argc, char **argv, const Subcommand **list) {
    int words = 0;
    list[0] = find_subcommand("all");
    for (; words + 1 < argc && words < SUBCOMMAND_COUNT; words++) {
        const Subcommand *next = find_subcommand(argv[words + 1]);
        if (!next) break;
        list[words] = next;
    }
    return words;
}

/* attn-mt is in the folder of this program. */
static char *find_program(const char *self) {
    StrBuf path = {0};
    const char *slash = strrchr(self, '/');
    strbuf_format(&path, "%.*sattn-mt", slash ? (int)(slash + 1 - self) : 0, self);
    return path.data;
}

static Status parse_and_run(Bench *bench, int argc, char **argv, OptionTable *tables) {
    const Subcommand *list[SUBCOMMAND_COUNT];
    StrList rest = {0};
    HelpKind help = HELP_NONE;
    int words = choose(argc, argv, list);
    const OptionTable shown[] = {{MODEL, &bench->options}, {COMMON, &bench->options}, {0}};
    memcpy(tables, shown, sizeof shown);
    config_tables(&bench->own, tables + 2);
    options_defaults(tables);
    Status status = options_parse_config(tables, argc - words, argv + words, &rest, &help, NULL);
    if (status == STATUS_OK && rest.count)
        status = status_hint(status_fail(STATUS_USAGE, "unexpected argument '%s'", rest.items[0]),
                             "bench --help lists the subcommands");
    mem_free(rest.items);
    TRY(status);
    if (help) return print_help(shown);
    if (!bench->options.program) bench->options.program = find_program(argv[0]);
    return run(bench, list, words ? words : 1);
}

int main(int argc, char **argv) {
    Bench bench = {0};
    OptionTable tables[9] = {{0}};
    if (argc > 1 && !strcmp(argv[1], CHILD_FLAG)) return child_main(argv);
    gemm_startup();
    Status status = kern_select();
    if (status == STATUS_OK) status = parse_and_run(&bench, argc, argv, tables);
    if (status != STATUS_OK) log_failure();
    file_discard(bench.json);
    bench_release(&bench);
    options_free(tables);
    return (int)status;
}
