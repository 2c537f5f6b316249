/* commands.h - the commands of attn-mt, and the frame that all of them share: help, options, arguments.
 *
 * argv[0] of a command is its own name.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "io/options.h"
#include "base/status.h"

Status cmd_train(int argc, char **argv);
Status cmd_translate(int argc, char **argv);
Status cmd_score(int argc, char **argv);
Status cmd_bleu(int argc, char **argv);
Status cmd_heatmap(int argc, char **argv);
Status cmd_serve(int argc, char **argv);
Status cmd_inspect(int argc, char **argv);
Status cmd_average(int argc, char **argv);
Status cmd_convert(int argc, char **argv);
Status cmd_models(int argc, char **argv);
Status cmd_detect(int argc, char **argv);
Status cmd_demo(int argc, char **argv);
Status cmd_completion(int argc, char **argv);

typedef struct {
    const char *name;
    Status (*run)(int argc, char **argv);
    const char *help;
} Command;

extern const Command COMMANDS[]; /* in main.c; ends with a row without a name */

/* What --help prints around the options. `details` is only in the long form: --help all, or the only form of
 * a command without a short one. */
typedef struct {
    const char *usage, *examples, *details;
} CommandText;

/* Prints the help of a command. */
Status command_print_help(const CommandText *text, const OptionTable *tables, HelpKind kind);
/* Parses the command line, and prints the help or calls `run` with the arguments that are not options and the
 * first table's target. Releases the options. */
Status command_run(int argc, char **argv, const CommandText *text, const OptionTable *tables,
                   Status (*run)(const StrList *files, const void *options));

/* From now on command_print_help calls `reader` instead of printing; NULL ends this. */
typedef void (*HelpReader)(void *context, const char *usage, const OptionTable *tables);
void command_read_help(HelpReader reader, void *context);

#endif
