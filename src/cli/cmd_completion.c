/* cmd_completion.c - attn-mt completion: scripts that complete this command line in bash, zsh and fish.
 *
 * What they know comes from where --help comes from: each command is asked for its help, and the usage text
 * and the tables of options that it would print are turned into a piece of the script instead.
 */
#include <string.h>
#include "cli/command_io.h"
#include "cli/completion.h"

static const Shell *const SHELLS[] = {&SHELL_BASH, &SHELL_ZSH, &SHELL_FISH};

static const char USAGE[] = "Usage: attn-mt completion bash\n"
                            "       attn-mt completion zsh\n"
                            "       attn-mt completion fish\n"
                            "\n"
                            "Prints a script with which the shell completes commands, options, their values\n"
                            "and file names. 'make install' puts the three where the shells look for them.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  source <(attn-mt completion bash)       in ~/.bashrc\n"
                               "  source <(attn-mt completion zsh)        in ~/.zshrc, after compinit\n"
                               "  attn-mt completion fish | source        in ~/.config/fish/config.fish\n";

typedef struct {
    const Shell *shell;
    CompletionWriter writer;
} Reading;

static void read_help(void *context, const char *usage, const OptionTable *tables) {
    const Reading *reading = context;
    reading->shell->command(&reading->writer, usage, tables);
}

static Status write_script(const Shell *shell, StrBuf *out) {
    static const Command HELP = {.name = "help"};
    static const OptionTable NO_OPTIONS[] = {{0}};
    Status status = STATUS_OK;
    Reading reading = {shell, {out, NULL}};
    strbuf_add(out, sv(shell->begin));
    shell->first(COMMANDS, out);
    command_read_help(read_help, &reading);
    for (const Command *c = COMMANDS; c->name && status == STATUS_OK; c++) {
        char name[32] = {0}, *arguments[] = {name, (char[]){"--help"}, NULL};
        strncpy(name, c->name, sizeof name - 1);
        reading.writer.command = c;
        status = c->run(2, arguments);
    }
    command_read_help(NULL, NULL);
    reading.writer.command = &HELP;
    shell->command(&reading.writer, "", NO_OPTIONS);
    strbuf_add(out, sv(shell->end));
    return status;
}

static Status run(const StrList *names, const void *options) {
    StrBuf out = {0};
    (void)options;
    if (names->count != 1) {
        status_fail(STATUS_USAGE, names->count ? "more than one shell given" : "no shell given");
        return status_hint(STATUS_USAGE, "attn-mt completion bash, zsh or fish");
    }
    for (size_t i = 0; i < sizeof SHELLS / sizeof *SHELLS; i++) {
        if (strcmp(SHELLS[i]->name, names->items[0]) != 0) continue;
        Status status = write_script(SHELLS[i], &out);
        if (status == STATUS_OK) status = command_print(strbuf_view(&out));
        strbuf_free(&out);
        return status;
    }
    status_fail(STATUS_USAGE, "no completion for the shell '%s'", names->items[0]);
    return status_hint(STATUS_USAGE, "attn-mt completion bash, zsh or fish");
}

Status cmd_completion(int argc, char **argv) {
    const OptionTable none[] = {{0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, none, run);
}
