/* commands.c - see commands.h. */
#include "cli/commands.h"

#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"

static HelpReader help_reader;
static void *help_context;

void command_read_help(HelpReader reader, void *context) {
    help_reader = reader;
    help_context = context;
}

/* The name of the command: the third word of its usage, "Usage: attn-mt train". */
static StrView command_name(const char *usage) {
    StrView rest = sv(usage), word = {0};
    for (int i = 0; i < 3; i++) sv_next(&rest, ' ', &word);
    return word;
}

/* The parser's own options, of a command whose usage has them. */
static const char CONFIG_OPTIONS[] =
    "  -c, --config FILE           read a JSON configuration; may be repeated, later\n"
    "                              files win\n"
    "      --set KEY=VALUE         set one key of the configuration\n";

Status command_print_help(const CommandText *text, const OptionTable *tables, HelpKind kind) {
    if (help_reader) {
        help_reader(help_context, text->usage, tables);
        return STATUS_OK;
    }
    StrBuf rows = {0}, out = {0};
    int width = log_terminal_width(STDOUT_FILENO);
    bool brief = kind == HELP_SHORT && options_have_short_help(tables);
    options_write_help(tables, width > 100 ? 100 : width, brief ? HELP_SHORT : HELP_ALL, &rows);
    strbuf_format(&out, "%s\n", text->usage);
    if (text->details && !brief) strbuf_format(&out, "%s\n", text->details);
    if (strstr(text->usage, "--set KEY=VALUE"))
        strbuf_format(&out, "%s%s", CONFIG_OPTIONS, brief ? "" : "\n");
    strbuf_format(&out, "%s\n%s", strbuf_text(&rows), text->examples);
    if (brief)
        strbuf_format(&out, "\nattn-mt %.*s --help all lists every option\n",
                      SV_ARG(command_name(text->usage)));
    Status status = command_print(strbuf_view(&out));
    strbuf_free(&rows);
    strbuf_free(&out);
    return status;
}

Status command_run(int argc, char **argv, const CommandText *text, const OptionTable *tables,
                   Status (*run)(const StrList *files, const void *options)) {
    StrList files;
    HelpKind help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, &files, &help, NULL);
    if (status == STATUS_OK && help)
        status = command_print_help(text, tables, help);
    else if (status == STATUS_OK)
        status = run(&files, tables[0].target);
    mem_free(files.items);
    options_free(tables);
    return status;
}
