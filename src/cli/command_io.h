/* command_io.h - what several commands do alike: print, show help, load models and translate with them. */
#ifndef CLI_COMMAND_IO_H
#define CLI_COMMAND_IO_H

#include "base/options.h"
#include "base/progress_line.h"
#include "search/ensemble.h"
#include "translate/translator.h"
#include "text/languages.h"

/* Write to standard output and make sure that it arrived. */
Status command_print(StrView text);
/* The same for a report, in which names of files and what a model says of itself must not command a terminal:
 * changes `text` as log_sanitize does. */
Status command_print_report(StrBuf *text);
/* What --help prints around the options. `details` is only in the long form: --help all, or all there is. */
typedef struct {
    const char *usage, *examples, *details;
} CommandText;
Status command_print_help(const CommandText *text, const OptionTable *tables, HelpKind kind);
/* STATUS_USAGE if `output` is empty, or would take the place of the file, "-" for standard input, or of one
 * of them. NULLs are allowed. */
Status command_refuse_overwrite(const char *output, const char *file);
Status command_refuse_overwrites(const char *output, const StrList *files);
/* The same where `output`, a model, is made of models: it is not for a terminal either. */
Status command_refuse_overwrite_models(const char *output, const StrList *models);
/* A command of options and arguments, mostly names of files: reads them, shows help, or calls `run` with the
 * arguments and the first table's target. */
Status command_run(int argc, char **argv, const CommandText *text, const OptionTable *tables,
                   Status (*run)(const StrList *files, const void *options));
/* From now on command_print_help calls `reader` instead of printing; NULL: it prints again. */
typedef void (*HelpReader)(void *context, const char *usage, const OptionTable *tables);
void command_read_help(HelpReader reader, void *context);

/* Search options that were not given on the command line are the first model's own, up to the bounds of
 * decode_options_bound, of which it warns. */
void ensemble_apply_defaults(const Ensemble *models, const OptionsGiven *given, DecodeOptions *decode);

/* How far a command has come with the lines or pairs that it reads. The line is silent if `silent`, or if the
 * results go to the same terminal. */
ProgressLine command_progress_begin(const char *things, const char *output, bool silent);

/* Warn of lines with bytes that are no text, if there are any. */
void command_warn_repaired(long lines, long first);

#endif
