/* commands.h - the subcommands of attn-mt. argv[0] is the command's own name. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

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
Status cmd_demo(int argc, char **argv);
Status cmd_completion(int argc, char **argv);

typedef struct {
    const char *name;
    Status (*run)(int argc, char **argv);
    const char *help;
} Command;

extern const Command COMMANDS[]; /* all of them; ends with a row without name */

#endif
