/* cmd_train.c - attn-mt train: from a configuration to a run directory with a model. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/log.h"
#include "base/mem.h"
#include "cli/check_comm.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "distributed/broadcast.h"
#include "distributed/comm.h"
#include "distributed/group.h"
#include "train/checkpoint.h"
#include "models/registry.h"
#include "train/train_plan.h"
#include "train/training_data.h"
#include "train/trainer.h"

typedef enum { DUMP_NONE, DUMP_FULL, DUMP_MINIMAL } DumpConfig;
typedef enum { DUMP_NO_PAIRS, DUMP_TRAINING, DUMP_VALIDATION } DumpPairs;

typedef struct {
    char *run, *init, *vocabulary, *languages;
    bool resume, overwrite, quiet, check_comm;
    int threads;
    int dump, dump_pairs; /* DumpConfig, DumpPairs */
} TrainCommand;

#define FIELD(type_, member) .type = OPT_##type_, OPT_FIELD(TrainCommand, member)

/* clang-format off */
static const Option COMMAND_OPTIONS[] = {
    {.flag = "run", .common = true, FIELD(STRING, run), .default_text = "run", .arg = "DIR",
     .help = "directory of the model, the log and the training state", .group = "Run"},
    {.flag = "resume", .common = true, FIELD(BOOL, resume),
     .help = "continue the run in DIR as if it had not been interrupted; the result is the same bit for "
             "bit"},
    {.flag = "init", .common = true, FIELD(STRING, init), .arg = "MODEL",
     .help = "start from the weights and vocabulary of a model (a name, a file or a run), with a fresh "
             "optimizer; with "
             "--resume the run keeps its own weights"},
    {.flag = "vocabulary", FIELD(STRING, vocabulary), .arg = "MODEL",
     .help = "use the vocabulary of a model, so that both models can form an ensemble"},
    {.flag = "languages", .common = true, FIELD(STRING, languages), .arg = "SRC-TRG",
     .help = "source and target language, such as en-de or pt-BR:en, in the order of the columns unless a "
             "header line names them"},
    {.flag = "overwrite", .common = true, FIELD(BOOL, overwrite),
     .help = "start again even if DIR contains a model, which is removed when the new run begins"},
    {.flag = "threads", .common = true, FIELD(INT, threads), .default_text = "0", .max = 1024,
     .arg = "N",
     .help = "number of threads, 0 = one per core; the result does not depend on it"},
    {.flag = "check-comm", FIELD(BOOL, check_comm),
     .help = "print which processes of mpirun or srun found each other and how fast they sum, and exit"},
    {.flag = "quiet", .common = true, .letter = 'q', FIELD(BOOL, quiet),
     .help = "print only warnings and errors"},
    {.flag = "dump-config", .common = true, FIELD(CHOICE, dump), .default_text = "none",
     .choices = "none|full|minimal",
     .implied_value = "full", .arg = "KIND",
     .help = "print the resulting configuration and exit"},
    {.flag = "dump-pairs", FIELD(CHOICE, dump_pairs), .default_text = "none", .choices = "none|train|valid",
     .implied_value = "train", .arg = "KIND",
     .help = "print the training or validation pairs (such as those held out), after a line that names "
             "their languages, and exit"},
    {0}};
/* clang-format on */

static volatile sig_atomic_t stop_signal; /* received by this process, or by another rank */

static long long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* The first signal asks to save and stop; a later one ends the program at once. Those within half a second
 * are one: timeout(1) sends its signal to the program and then to its group. Only signals to this process
 * count: a launcher sends its signal to all ranks, and another rank may report it before it arrives here. */
static void on_signal(int number) {
    static volatile sig_atomic_t received;
    static _Atomic long long first;
    if (received) {
        if (milliseconds() - first < 500) return;
        signal(number, SIG_DFL);
        raise(number);
    }
    first = milliseconds();
    received = 1;
    if (!stop_signal) stop_signal = number;
}

static void catch_signals(void) {
    struct sigaction hangup;
    bool hangup_ignored = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN; /* nohup */
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL); /* batch systems send it before the time limit */
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

static const CommandText TEXT = {
    .usage = "Usage: attn-mt train [FILE]... [--config FILE] [--set KEY=VALUE]... [OPTION]...\n"
             "\n"
             "Trains a translation model on the sentence pairs of FILE and writes it to\n"
             "DIR/best.safetensors. FILE is a table with TABs, CSV, TMX, XLIFF, PO or JSON\n"
             "lines, or a pattern: train.{} means train.en and train.de.\n"
             "Without a configuration, model size and training length follow from the data.\n",
    .details = "Without FILE, data.train of the configuration names the pairs. If data.valid is\n"
               "empty, some pairs are held out for validation.\n"
               "\n"
               "DIR also receives last.safetensors, the state for --resume, train.jsonl (a line\n"
               "per validation) and curve.svg. Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 save\n"
               "everything and stop.\n"
               "\n"
               "Each key of the configuration has a flag: the last part of the key, with hyphens\n"
               "(train.max_updates: --max-updates). If several keys end alike, the flag is the\n"
               "last two parts (--encoder-layers). --set KEY=VALUE does the same as the flag,\n"
               "except that it replaces a list. The last setting of a key wins.\n",
    .examples = "Examples:\n"
                "  attn-mt train mine.tsv --languages en-de --run runs/mine\n"
                "  attn-mt train mine.tsv --languages en-de --run runs/mine --resume --epochs 100\n"
                "  attn-mt train new.tsv --init runs/mine --run runs/new\n"
                "  attn-mt train --config configs/demo.json --run runs/demo\n"
                "  attn-mt train --config configs/demo.json --hidden 512 --set data.train=my.tsv\n"};

static bool only_prints(const TrainCommand *command) {
    return command->dump != DUMP_NONE || command->dump_pairs != DUMP_NO_PAIRS;
}

static Status print(const TrainCommand *command, const Config *config, const OptionTable *tables) {
    if (command->dump != DUMP_NONE) return dump_config(config, tables, command->dump == DUMP_MINIMAL);
    return training_data_write(&config->data, command->dump_pairs == DUMP_TRAINING, "-");
}

static Status run(const TrainerOptions *options) {
    signal(SIGPIPE, SIG_IGN); /* training continues if the reader of the log ends */
    Status status = trainer_run(options);
    if (status != STATUS_STOPPED) return status;
    log_failure();
    comm_finish();
    exit(128 + stop_signal);
}

/* Replace `auto`, so that a resumed run keeps its schedule even if its end changes. */
static void choose_schedule(TrainOptions *train) {
    if (train->schedule != SCHEDULE_AUTO) return;
    train->schedule = (int)config_schedule(train);
    if (train->schedule == SCHEDULE_LINEAR)
        log_info("rate     falls to 0 at the end of the training: train.schedule=linear%s",
                 train->max_minutes > 0 ? "; not at the end of train.max_minutes" : "");
    else
        log_info("rate     falls with the root of the updates, as the training has no known end: "
                 "train.schedule=inverse_sqrt");
}

/* Options that exclude each other, and an empty --run, as from an unset shell variable: its files would go
 * to '/'. */
static Status check_command(const TrainCommand *command) {
    if (command->resume && command->overwrite)
        return status_fail(STATUS_USAGE, "--resume and --overwrite exclude each other");
    if (command->dump != DUMP_NONE && command->dump_pairs != DUMP_NO_PAIRS)
        return status_fail(STATUS_USAGE, "--dump-config and --dump-pairs exclude each other");
    if (command->init && command->vocabulary) {
        status_fail(STATUS_USAGE, "--init and --vocabulary exclude each other");
        return status_hint(STATUS_USAGE, "--init MODEL also takes its vocabulary");
    }
    if (command->run && command->run[0]) return STATUS_OK;
    status_fail(STATUS_USAGE, "option '--run': the name of the folder is empty");
    return status_hint(STATUS_USAGE, "is a shell variable empty? --run DIR names the folder for the model");
}

/* The model of --init or --vocabulary may be a name. */
static Status plan_at_root(TrainPlan *plan, Seq2Seq **init) {
    StrBuf path = {0};
    if (!plan->init) return train_plan(plan, init);
    Status status = registry_path(plan->init, &path);
    plan->init = strbuf_text(&path);
    if (status == STATUS_OK) status = train_plan(plan, init);
    plan->init = NULL;
    strbuf_free(&path);
    return status;
}

static Status plan_and_run(const TrainCommand *command, Config *config, const OptionTable *tables,
                           const StrList *files, UserOptions *user_options) {
    TRY(check_command(command));
    if (!only_prints(command)) TRY(comm_start(&stop_signal));
    comm_timeout(config->train.comm_timeout);
    if (command->quiet) log_set_level(LOG_WARN);
    comm_set_log_prefix();
    if (command->check_comm) return check_comm(command->threads);
    TrainerOptions options = {.config = config,
                              .dir = command->run,
                              .vocabulary_only = command->vocabulary != NULL,
                              .resume = command->resume,
                              .overwrite = command->overwrite,
                              .threads = command->threads,
                              .ready = catch_signals,
                              .stop = &stop_signal};
    Seq2Seq *init = NULL;
    bool begins = !only_prints(command) && group_is_root();
    bool has_files = files->count > 0 || config->data.train.count > 0;
    TrainPlan plan = {.files = files,
                      .without_config = has_files && !user_options->configs,
                      .languages = command->languages,
                      .init = command->init ? command->init : command->vocabulary,
                      .vocabulary_only = command->vocabulary != NULL,
                      .resume = command->resume ? command->run : NULL,
                      .threads = command->threads,
                      .config = config,
                      .user_options = user_options};
    Status status = group_agree(begins ? trainer_begin(&options) : STATUS_OK);
    if (status == STATUS_OK) status = group_agree(train_plan_files(&plan));
    if (status == STATUS_OK) status = ROOT_ONLY(plan_at_root(&plan, &init));
    options.init = init;
    if (status == STATUS_OK) broadcast_config(config);
    if (status == STATUS_OK && !only_prints(command)) choose_schedule(&config->train);
    if (status == STATUS_OK) status = only_prints(command) ? print(command, config, tables) : run(&options);
    if (status != STATUS_OK && begins) checkpoint_remove_empty(command->run);
    seq2seq_free(init);
    return status;
}

Status cmd_train(int argc, char **argv) {
    TrainCommand command;
    Config config = {0};
    OptionTable tables[8] = {{COMMAND_OPTIONS, &command}};
    StrList files = {0};
    UserOptions user_options = {0};
    HelpKind help = HELP_NONE;
    config_tables(&config, tables + 1);
    options_defaults(tables);
    Status status = options_parse_config(tables, argc, argv, &files, &help, &user_options);
    if (status == STATUS_OK)
        status = help ? command_print_help(&TEXT, tables, help)
                      : plan_and_run(&command, &config, tables, &files, &user_options);
    comm_finish();
    mem_free(files.items);
    mem_free(user_options.rows);
    options_free(tables);
    return status;
}
