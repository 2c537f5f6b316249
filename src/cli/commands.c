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
    bool has_config = strstr(text->usage, "--set KEY=VALUE") != NULL;
    bool brief = kind == HELP_SHORT && options_have_short_help(tables);
    options_write_help(tables, width > 100 ? 100 : width, brief ? HELP_SHORT : HELP_ALL, &rows);
    options_add_text(sv(text->usage), width, &out);
    strbuf_add_char(&out, '\n');
    if (text->details && !brief) {
        options_add_text(sv(text->details), width, &out);
        strbuf_add_char(&out, '\n');
    }
    if (has_config) options_add_text(sv(CONFIG_OPTIONS), width, &out);
    if (has_config && !brief) strbuf_add_char(&out, '\n');
    strbuf_format(&out, "%s\n", strbuf_text(&rows));
    /* Examples stay on one line, to be copied. */
    const char *examples = strstr(text->examples, "Examples:\n");
    size_t notes = examples ? (size_t)(examples - text->examples) : strlen(text->examples);
    options_add_text((StrView){text->examples, notes}, width, &out);
    strbuf_add(&out, sv(text->examples + notes));
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
