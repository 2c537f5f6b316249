/* cmd_train.c - attn-mt train: from a configuration to a run directory with a model. */
#include <signal.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "train/trainer.h"

typedef enum { DUMP_NONE, DUMP_FULL, DUMP_MINIMAL } DumpConfig;

typedef struct {
    char *run;
    bool resume, overwrite, profile, quiet;
    int threads;
    int dump; /* DumpConfig */
} TrainCommand;

#define FIELD(type_, member) .type = OPT_##type_, OPT_FIELD(TrainCommand, member)

/* clang-format off */
static const Option COMMAND_OPTIONS[] = {
    {.flag = "run", .alias = "model-dir", FIELD(STRING, run), .fallback = "run", .arg = "DIR",
     .help = "where models, log and training state go", .group = "Run"},
    {.flag = "resume", FIELD(BOOL, resume),
     .help = "go on with the run in DIR, bit for bit as if it had not been interrupted"},
    {.flag = "overwrite", FIELD(BOOL, overwrite),
     .help = "start again even if DIR already holds a model"},
    {.flag = "threads", .alias = "cpu-threads", FIELD(INT, threads), .fallback = "0", .max = 1024,
     .arg = "N", .help = "threads; 0 = one per core; does not change the result"},
    {.flag = "profile", FIELD(BOOL, profile),
     .help = "print at the end where the time went: a table of phases; does not change the result"},
    {.flag = "quiet", .letter = 'q', FIELD(BOOL, quiet),
     .help = "only warnings and errors"},
    {.flag = "dump-config", FIELD(CHOICE, dump), .fallback = "none", .choices = "none|full|minimal",
     .bare = "full", .arg = "KIND", .help = "print the configuration as it would be used, and exit"},
    {0}};
/* clang-format on */

static volatile sig_atomic_t stop_signal;

/* The first signal asks to save and stop; a second one ends the program at once. */
static void on_signal(int number) {
    if (stop_signal) {
        signal(number, SIG_DFL);
        raise(number);
    }
    stop_signal = number;
}

static void catch_signals(void) {
    struct sigaction hangup;
    bool hangup_ignored = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN; /* nohup */
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL); /* what batch systems send before the time is up */
    if (!hangup_ignored) sigaction(SIGHUP, &action, NULL);
}

static Status dump_config(const Config *config, const OptionTable *tables, bool minimal) {
    StrBuf text = {0};
    TRY(config_check(config));
    options_write_json(tables, minimal, &text);
    Status status = command_print(strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static const char USAGE[] =
    "Usage: attn-mt train --config FILE [--run DIR] [OPTION]...\n"
    "\n"
    "Build the vocabularies, train a translation model, and leave it in DIR/best.safetensors.\n"
    "DIR also receives last.safetensors with the state to resume from, train.jsonl (a line per\n"
    "validation) and curve.svg. Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 save everything and stop.\n"
    "\n"
    "  -c, --config FILE           read a JSON configuration; several may be\n"
    "                              given, later ones win\n"
    "      --set KEY=VALUE         set one key of the configuration\n";
static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt train --config configs/demo.json --run runs/demo\n"
    "  attn-mt train --config configs/demo.json --set model.hidden=512 --set data.train=my.tsv\n";

static Status run(const TrainCommand *command, const Config *config, const OptionTable *tables,
                  const StrList *positional) {
    if (positional->count)
        return status_hint(status_fail(STATUS_USAGE, "unexpected argument '%s'", positional->items[0]),
                           "attn-mt train --config FILE; see attn-mt train --help");
    if (command->dump != DUMP_NONE) return dump_config(config, tables, command->dump == DUMP_MINIMAL);
    if (command->resume && command->overwrite)
        return status_fail(STATUS_USAGE, "--resume and --overwrite exclude each other");
    if (command->quiet) log_set_level(LOG_WARN);
    signal(SIGPIPE, SIG_IGN); /* a reader of the log that goes away does not end hours of training */
    TrainerOptions options = {.config = config,
                              .dir = command->run,
                              .resume = command->resume,
                              .overwrite = command->overwrite,
                              .profile = command->profile,
                              .threads = command->threads,
                              .ready = catch_signals,
                              .stop = &stop_signal};
    Status status = trainer_run(&options);
    if (status != STATUS_STOPPED) return status;
    log_failure();
    exit(128 + stop_signal);
}

Status cmd_train(int argc, char **argv) {
    TrainCommand command;
    Config config;
    OptionTable tables[8] = {{COMMAND_OPTIONS, &command}};
    StrList positional = {0};
    bool help = false;
    config_tables(&config, tables + 1);
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, true, &positional, &help);
    if (status == STATUS_OK)
        status =
            help ? command_print_help(USAGE, tables, EXAMPLES) : run(&command, &config, tables, &positional);
    mem_free(positional.items);
    options_free(tables);
    return status;
}
