/* completion.h - what a shell can complete, and the three that ask: for cmd_completion.c and completion_*.c.
 *
 * A script has a part for the commands' names and one for each command, made of the usage text and the
 * tables of options that its help would print.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "base/options.h"
#include "cli/commands.h"

typedef struct {
    StrBuf *out;
    const Command *command;
} CompletionWriter;

typedef struct {
    const char *name, *begin, *end;
    void (*first)(const Command *commands, StrBuf *out); /* completes the command itself */
    void (*command)(const CompletionWriter *writer, const char *usage, const OptionTable *tables);
} Shell;

extern const Shell SHELL_BASH, SHELL_ZSH, SHELL_FISH;

#define FOR_ROWS(tables_, row_)                                                                              \
    for (const OptionTable *table_ = (tables_); table_->rows; table_++)                                      \
        for (const Option *row_ = table_->rows; row_->key || row_->flag; row_++)

typedef enum { VALUE_NONE, VALUE_CHOICE, VALUE_FOLDER, VALUE_FILE, VALUE_OTHER } ValueKind;

ValueKind option_value_kind(const Option *row);
/* No row before it has its flag: the tables of a command may be of several works (demo). */
bool option_is_new(const OptionTable *tables, const Option *row);
bool option_has_set_choices(const Option *row); /* as a key of --set */
/* "gru|lstm" as "gru lstm", and what a switch can be set to. */
void completion_add_choices(const Option *row, StrBuf *out);
/* Commands that read a configuration say so in their usage: both options are the parser's own. */
bool completion_takes_config(const char *usage);
/* The words that may follow the command, such as "positions": lower-case words of its usage lines. */
void completion_add_words(const CompletionWriter *writer, const char *usage);
/* `text` with a backslash before each of `special`; inside the single quotes of a shell. */
void completion_add_escaped(const char *text, const char *special, const char *quote, StrBuf *out);

#endif
