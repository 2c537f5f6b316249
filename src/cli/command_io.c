/* command_io.c - see command_io.h. */
#include "cli/command_io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "base/workers.h"
#include "translate/translator.h"

Status command_print(StrView text) { return file_put("-", text); }

Status command_print_report(StrBuf *text) {
    log_sanitize(text->data, text->length);
    return command_print(strbuf_view(text));
}

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
    "  -c, --config FILE           read a JSON configuration; several may be\n"
    "                              given, later ones win\n"
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

void ensemble_apply_defaults(const Ensemble *models, const OptionsGiven *given, DecodeOptions *decode) {
    const DecodeOptions wanted = seq2seq_config(models->items[0])->decode,
                        most = decode_options_bound(seq2seq_config(models->items[0])->decode);
    options_apply_defaults(&(OptionTable){DECODE_OPTIONS, decode}, given, &most);
#define TELL(field)                                                                                          \
    if (most.field < wanted.field && !options_given(given, "decode." #field))                                \
        log_warn("the model asks for decode." #field " = %g, which only you may: %g is used",                \
                 (double)wanted.field, (double)most.field);
    DECODE_BOUNDED(TELL)
}

ProgressLine command_progress_begin(const char *things, const char *output, bool silent) {
    bool one_terminal = log_is_terminal() && strcmp(output, "-") == 0 && isatty(STDOUT_FILENO) == 1;
    ProgressLine line = progress_line_begin(things);
    line.silent = silent || one_terminal;
    return line;
}

void command_warn_repaired(long lines, long first) {
    if (lines > 0)
        log_warn(
            "bytes that are no text (invalid UTF-8 or NUL) in %ld line%s, the first is line %ld: read as "
            "U+FFFD",
            lines, lines == 1 ? "" : "s", first);
}

Status command_refuse_overwrite(const char *output, const char *file) {
    if (output && !output[0]) {
        status_fail(STATUS_USAGE, "the name of a file to write is empty");
        return status_hint(STATUS_USAGE, "is a variable of the shell not set?");
    }
    if (!output || !file || strcmp(output, "-") == 0 || file_is_stream(output)) return STATUS_OK;
    if (strcmp(file, "-") == 0) file = "/dev/stdin"; /* which the shell may have opened by name */
    if (strcmp(output, file) != 0 && !file_is_same(output, file)) return STATUS_OK;
    status_fail(STATUS_USAGE, "'%s' would take the place of another file of this command", output);
    return status_hint(STATUS_USAGE, "write to a file of another name");
}

Status command_refuse_overwrites(const char *output, const StrList *files) {
    for (size_t i = 0; i < files->count; i++) TRY(command_refuse_overwrite(output, files->items[i]));
    return STATUS_OK;
}

Status command_refuse_overwrite_models(const char *output, const StrList *models) {
    TRY(command_refuse_overwrites(output, models));
    if (!output || strcmp(output, "-") != 0 || isatty(STDOUT_FILENO) != 1) return STATUS_OK;
    status_fail(STATUS_USAGE, "a model is no text for a terminal");
    return status_hint(STATUS_USAGE, "name a file, as in --output MODEL.safetensors, or redirect the output");
}
