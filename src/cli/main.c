/* main.c - the table of commands, the general help, and signals and descriptors of every command. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "kern/gemm.h"
#include "kern/kern.h"

const Command COMMANDS[] = {
    {"train", cmd_train, "train a model from sentence pairs"},
    {"translate", cmd_translate, "translate lines of text, or a document"},
    {"serve", cmd_serve, "translate over HTTP, with the interface of LibreTranslate"},
    {"score", cmd_score, "score given translations"},
    {"bleu", cmd_bleu, "compute BLEU, chrF and TER, as sacreBLEU does"},
    {"heatmap", cmd_heatmap, "draw the attention between source and translation"},
    {"inspect", cmd_inspect, "describe a model file, or sentence pairs"},
    {"average", cmd_average, "average the weights of several models"},
    {"convert", cmd_convert, "make a model smaller, or read one of another program"},
    {"models", cmd_models, "list, add and remove models by name"},
    {"detect", cmd_detect, "detect the language of each line"},
    {"demo", cmd_demo, "textbook examples of attention and positional encodings"},
    {"completion", cmd_completion, "print a completion script for bash, zsh or fish"},
    {0},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS - 1 };

static const Command *find_command(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(COMMANDS[i].name, name) == 0) return &COMMANDS[i];
    return NULL;
}

static Status fail_unknown_command(const char *name) {
    const char *names[COMMAND_COUNT + 2] = {"help", "version"};
    for (int i = 0; i < COMMAND_COUNT; i++) names[i + 2] = COMMANDS[i].name;
    const char *nearest = str_nearest(name, names, COMMAND_COUNT + 2);
    status_fail(STATUS_USAGE, "unknown command '%s'", name);
    if (nearest) return status_hint(STATUS_USAGE, "did you mean 'attn-mt %s'?", nearest);
    return status_hint(STATUS_USAGE, "attn-mt --help lists the commands");
}

static Status fail_no_command(void) {
    status_fail(STATUS_USAGE, "no command given");
    return status_hint(STATUS_USAGE, "attn-mt --help lists the commands");
}

static Status print_help(void) {
    StrBuf text = {0}, out = {0};
    strbuf_add(&text, SV("Usage: attn-mt COMMAND [OPTION...] [ARGUMENT...]\n"
                         "\n"
                         "Trains and runs attention translation models on CPUs.\n"
                         "\n"
                         "Commands:\n"));
    for (int i = 0; i < COMMAND_COUNT; i++)
        strbuf_format(&text, "  %-12s%s\n", COMMANDS[i].name, COMMANDS[i].help);
    strbuf_add(&text, SV("\n"
                         "attn-mt COMMAND --help shows the options of a command. attn-mt --version shows\n"
                         "the compiler, the BLAS library and the processor features that are used.\n"
                         "\n"
                         "Exit status: 0 success, 1 system error, 2 wrong usage or configuration,\n"
                         "3 bad data or model file, 4 training diverged, 6 another process of the run was\n"
                         "lost, 128+N stopped by signal N.\n"));
    options_add_text(strbuf_view(&text), log_terminal_width(STDOUT_FILENO), &out);
    Status status = command_print(strbuf_view(&out));
    strbuf_free(&text);
    strbuf_free(&out);
    return status;
}

static Status print_version(void) {
    StrBuf out = {0};
    strbuf_format(&out, "attn-mt %s\n", ATTN_MT_VERSION);
    strbuf_format(&out, "compiler  %s\n",
#if defined(__clang__)
                  "clang " __clang_version__
#elif defined(__GNUC__)
                  "gcc " __VERSION__
#else
                  "unknown"
#endif
    );
    strbuf_format(&out, "blas      %s\nkernel    %s\nsimd      %s\n", gemm_library(), gemm_kernel(),
                  kern->name);
    Status status = command_print(strbuf_view(&out));
    strbuf_free(&out);
    return status;
}

/* "help COMMAND [all]" is "COMMAND --help [all]". "help" and "version" are explained in the general help. */
static Status help_command(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0) return print_help();
    const Command *command = find_command(argv[1]);
    if (!command) return fail_unknown_command(argv[1]);
    char *arguments[] = {argv[1], (char[]){"--help"}, argc > 2 ? argv[2] : NULL, NULL};
    return command->run(argc > 2 ? 3 : 2, arguments);
}

/* Handles a first argument that is not a command. */
static Status answer(int argc, char **argv) {
    if (argc < 2) return fail_no_command();
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_help();
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0)
        return print_version();
    if (strcmp(name, "help") == 0) return help_command(argc - 1, argv + 1);
    if (name[0] != '-') return fail_unknown_command(name);
    static const char *const OWN[] = {"--help", "--version"};
    const char *nearest = str_nearest(name, OWN, 2);
    if (nearest)
        return status_hint(status_fail(STATUS_USAGE, "unknown option '%s'", name), "did you mean '%s'?",
                           nearest);
    status_fail(STATUS_USAGE, "option '%s' comes before the command", name);
    return status_hint(STATUS_USAGE, "attn-mt COMMAND [OPTION...]; attn-mt --help lists the commands");
}

static void on_exhausted(size_t bytes) {
    char text[128];
    int length = snprintf(text, sizeof text, "attn-mt: out of memory: cannot get %zu bytes more\n", bytes);
    file_discard_all();
    if (write(STDERR_FILENO, text, (size_t)length) < 0) _exit(STATUS_RUNTIME);
    _exit(STATUS_RUNTIME);
}

/* Removes temporary files, then ends by the same signal, without a message: SIGPIPE is normal in a pipeline.
 * Training replaces the handlers of the signals that it survives. */
static void on_fatal_signal(int number) {
    file_discard_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void) {
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction action = {.sa_handler = on_fatal_signal}, old;
        sigemptyset(&action.sa_mask);
        /* nohup and background jobs of shells ignore some signals on purpose, but an ignored SIGPIPE is
         * an accident. */
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN && fatal[i] != SIGPIPE)
            continue;
        sigaction(fatal[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* at the limit of a file's size the write fails with an error */
}

/* Otherwise the next file that is opened would get a closed descriptor 0, 1 or 2. */
static void fill_standard_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) != -1) continue;
        int opened = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* reading or writing it fails */
        if (opened != fd && opened >= 0) close(opened);
    }
}

int main(int argc, char **argv) {
    fill_standard_descriptors();
    gemm_startup();
    Status status = kern_select();
    mem_on_exhausted(on_exhausted);
    catch_signals();
    atexit(file_discard_all); /* libgettextpo ends the program where it gets no memory */
    const Command *command = argc > 1 ? find_command(argv[1]) : NULL;
    if (status == STATUS_OK) status = command ? command->run(argc - 1, argv + 1) : answer(argc, argv);
    if (status == STATUS_OK) return 0;
    log_failure();
    return (int)status;
}
