/* command_io.h - input and output of the commands: prints results, keeps input files from being overwritten,
 * and reports progress and repaired input.
 */
#ifndef CLI_COMMAND_IO_H
#define CLI_COMMAND_IO_H

#include "base/progress_line.h"
#include "base/status.h"
#include "base/strview.h"

/* Writes to standard output, and fails if not everything was written. */
Status command_print(StrView text);
/* The same for a report: names of files and metadata of models in it must not control a terminal, so `text`
 * goes through log_sanitize first, which changes it. */
Status command_print_report(StrBuf *text);

/* STATUS_USAGE if the name `output` is empty, or if writing it would overwrite the input `file`, "-" for
 * standard input. Either may be NULL. */
Status command_refuse_overwrite(const char *output, const char *file);
Status command_refuse_overwrites(const char *output, const StrList *files);
/* The same for a command that makes the model `output` from `models`; it also refuses to write the model to a
 * terminal. */
Status command_refuse_overwrite_models(const char *output, const StrList *models);

/* Starts the progress line of a command that reads lines or pairs (`things`) and writes to `output`. The line
 * is silent if `silent`, or if the results go to the same terminal. */
ProgressLine command_progress_begin(const char *things, const char *output, bool silent);

/* Warns of `lines` lines whose invalid bytes were replaced, unless there are none; `first` is the number of
 * the first one. */
void command_warn_repaired(long lines, long first);

#endif
