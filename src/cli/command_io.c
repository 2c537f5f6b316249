/* command_io.c - see command_io.h. */
#include "cli/command_io.h"

#include <string.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/progress_line.h"

Status command_print(StrView text) { return file_write_whole("-", text); }

Status command_print_report(StrBuf *text) {
    log_sanitize(text->data, text->length);
    return command_print(strbuf_view(text));
}

ProgressLine command_progress_begin(const char *things, const char *output, bool silent) {
    bool one_terminal = log_is_terminal() && strcmp(output, "-") == 0 && isatty(STDOUT_FILENO) == 1;
    ProgressLine line = progress_line_begin(things);
    line.silent = silent || one_terminal;
    return line;
}

void command_warn_repaired(long lines, long first) {
    if (lines > 0)
        log_warn("%ld line%s invalid UTF-8 or NUL bytes, the first is line %ld: they are read as U+FFFD",
                 lines, lines == 1 ? " has" : "s have", first);
}

Status command_refuse_overwrite(const char *output, const char *file) {
    if (output && !output[0]) {
        status_fail(STATUS_USAGE, "the name of a file to write is empty");
        return status_hint(STATUS_USAGE, "is a shell variable empty?");
    }
    if (!output || !file || strcmp(output, "-") == 0 || file_is_stream(output)) return STATUS_OK;
    if (strcmp(file, "-") == 0) file = "/dev/stdin"; /* the shell may have opened the same file */
    if (strcmp(output, file) != 0 && !file_is_same(output, file)) return STATUS_OK;
    status_fail(STATUS_USAGE, "'%s' would overwrite another file of this command", output);
    return status_hint(STATUS_USAGE, "write to a file of another name");
}

Status command_refuse_overwrites(const char *output, const StrList *files) {
    for (size_t i = 0; i < files->count; i++) TRY(command_refuse_overwrite(output, files->items[i]));
    return STATUS_OK;
}

Status command_refuse_overwrite_models(const char *output, const StrList *models) {
    TRY(command_refuse_overwrites(output, models));
    if (!output || strcmp(output, "-") != 0 || isatty(STDOUT_FILENO) != 1) return STATUS_OK;
    status_fail(STATUS_USAGE, "a model cannot be written to a terminal");
    return status_hint(STATUS_USAGE, "name a file, as in --output MODEL.safetensors, or redirect the output");
}
