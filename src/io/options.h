/* options.h - one table row per option: configuration key, command-line flag, type, default, range, help.
 *
 * A command owns one or more tables whose rows point into plain structs. The same rows parse the command line
 * (--flag VALUE, --flag=VALUE, -f VALUE, --no-flag for booleans, --set key=value), read the JSON
 * configuration, print --help and --dump-config, and write the metadata of a model file.
 *
 *     static const Option DECODE_OPTIONS[] = {
 *         {.key = "decode.beam_size", .letter = 'b', .type = OPT_INT,
 *          OPT_FIELD(DecodeOptions, beam_size), .default_text = "5", .min = 1, .max = 1000, .arg = "N",
 *          .help = "hypotheses kept per sentence; 1 = greedy"},
 *         {0}};
 *
 * Names     An option has one name. The flag of a row with a key is the last part of the key, with hyphens:
 *           decode.beam_size is --beam-size. If several keys of a command end in the same part, their flags
 *           are the last two parts: model.encoder.layers is --encoder-layers. A row without a key names its
 *           flag.
 * Lists     Each --flag adds its value; the first one replaces the default. In every text (flag, --set,
 *           default_text) commas separate items, and "\," is a comma. With `choices` each item must be one of
 *           them, and following arguments that are choices belong to the list too: -m bleu chrf.
 * Optional  A row with an `implied_value` has an optional value: --flag alone means `implied_value`. The next
 *           argument is the flag's value only if it is a number or one of the choices.
 * Needs     A row can need others: its flag is refused unless the flag of one of them is on the command line.
 * Dashes    Long names may have one dash (-tok intl), and letters may be joined (-b5, -qv).
 *
 * Owner   strings and lists in the struct are heap copies; options_free releases them
 * Fails   STATUS_USAGE; the hint has the nearest known name, if there is one
 */
#ifndef IO_OPTIONS_H
#define IO_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include "io/json.h"
#include "base/status.h"
#include "base/strview.h"

typedef enum {
    OPT_BOOL,   /* bool */
    OPT_INT,    /* int */
    OPT_LONG,   /* long long */
    OPT_REAL,   /* double */
    OPT_STRING, /* char * (NULL if default_text is NULL) */
    OPT_CHOICE, /* int: index into `choices` */
    OPT_LIST,   /* StrList */
} OptionType;

typedef struct {
    const char *key;   /* "section.name" in configurations; NULL: command line only */
    const char *flag;  /* of a row without a key: the long flag, without dashes */
    const char *alias; /* another long flag, an abbreviation of sacreBLEU's; or NULL */
    char letter;       /* short flag, or 0 */
    bool common;       /* the short --help has it too */
    OptionType type;
    size_t offset;             /* of the field in the struct of the table */
    const char *default_text;  /* default as text; NULL = zero / NULL / empty list */
    double min, max;           /* inclusive range of numbers; min == max: any */
    const char *choices;       /* "gru|lstm": of OPT_CHOICE, and of a list whose items are choices */
    const char *implied_value; /* value of --flag alone; NULL: the flag needs a value, as all lists do */
    const char *needs; /* "a|b": the flag has no effect without --a or --b, and is refused then; or NULL */
    const char *arg;   /* name of the value in --help */
    const char *help;  /* one line, lower case, no full stop */
    const char *group; /* heading in --help from this row on; NULL: the row stays under the last heading */
} Option;

#define OPT_FIELD(type_, member_) .offset = offsetof(type_, member_)

/* Tables with the structs that they fill; the last one has `rows` NULL. */
typedef struct {
    const Option *rows; /* ends with a row without key and flag */
    void *target;
} OptionTable;

/* ---- all options of a command ---- */

/* Which help the command line asks for: --help, or --help all. */
typedef enum { HELP_NONE, HELP_SHORT, HELP_ALL } HelpKind;

/* The rows that the user set, on the command line or in configuration files. A zeroed one is empty; release
 * `rows` with mem_free. */
typedef struct {
    const Option **rows;
    size_t count, capacity;
    int configs; /* number of configuration files */
} UserOptions;

void options_defaults(const OptionTable *tables);
void options_free(const OptionTable *tables);

/* Parses argv[1..]. Arguments that are no options go into `positional` (argv's strings, not copied; free the
 * items array). "--" ends the options; "-" is positional. Recognises --help and -h, and "all" after them. The
 * rows that the user sets are added to `user_options`, which may be NULL. */
Status options_parse(const OptionTable *tables, int argc, char **argv, StrList *positional, HelpKind *help,
                     UserOptions *user_options);
/* The same with --set KEY=VALUE and --config FILE, in order: the last one wins. */
Status options_parse_config(const OptionTable *tables, int argc, char **argv, StrList *positional,
                            HelpKind *help, UserOptions *user_options);
/* `name`: the option's key, "decode.beam_size", or the flag of a row without a key. */
bool option_is_given(const UserOptions *user_options, const char *name);
/* Copies the values of `from`, a struct of the table's own type, for every option that the user did not set.
 * The table has no strings and no lists. */
void options_apply_defaults(const OptionTable *table, const UserOptions *user_options, const void *from);

/* Sets one option from text, by configuration key. */
Status options_set(const OptionTable *tables, StrView key, StrView value);
/* Reads a JSON object of sections, {"model": {"hidden": 256}}. Unknown keys are errors. */
Status options_read_json(const OptionTable *tables, const Json *object);
/* Reads such an object, with comments, from a file. The rows that it sets are added to `user_options`, which
 * may be NULL. */
Status options_read_file(const OptionTable *tables, const char *path, UserOptions *user_options);
/* Writes every option with a key as a JSON object of sections; `minimal` omits those at their default. */
void options_write_json(const OptionTable *tables, bool minimal, StrBuf *out);
/* Is there a short form of the help? The tables then have common rows and others. */
bool options_have_short_help(const OptionTable *tables);
/* Writes the rows as --help text, wrapped at `width`, but not below 48 columns. HELP_SHORT has the common
 * rows only, without headings and keys, and each help only up to its first semicolon before a space. */
void options_write_help(const OptionTable *tables, int width, HelpKind kind, StrBuf *out);
/* Adds text that is written for HELP_WIDTH columns; if `width` is less, its lines are wrapped at `width`, but
 * not below 48 columns. */
enum { HELP_WIDTH = 80 };
void options_add_text(StrView text, int width, StrBuf *out);

/* ---- one option ----
 *
 * `field` is the option's field in the table's struct. `name` is what messages call the option: "option
 * '--beam-size'", "key 'decode.beam_size'". */

bool option_row_ends(const Option *row); /* the row that ends a table */
bool option_is_on(const Option *row);    /* a boolean that is true by default: --no-flag turns it off */
void *option_field(const OptionTable *table, const Option *row);
/* The row with this key, which may be the key of an earlier release, and its field; NULL if there is none. */
const Option *option_by_key(const OptionTable *tables, StrView key, void **field);
/* STATUS_USAGE, with a hint at the key or section that was meant. */
Status option_fail_unknown_key(const OptionTable *tables, StrView key);
/* Adds a row; a NULL `user_options` is ignored. */
void user_options_add(UserOptions *user_options, const Option *row);

/* The long flag of a row, without dashes. */
typedef struct {
    char text[64];
} OptionFlag;
OptionFlag option_flag(const OptionTable *tables, const Option *row);

/* Stores `text` into `field`. `append`: a list keeps its items. */
Status option_from_text(const Option *row, void *field, StrView text, bool append, const char *name);
Status option_from_json(const Option *row, void *field, const Json *value, const char *name);
void option_default(const Option *row, void *field);
void option_copy(const Option *row, void *field, const void *from); /* of numbers and choices */
void option_release(const Option *row, void *field);
void option_to_json(const Option *row, const void *field, StrBuf *out);
bool option_is_default(const Option *row, const void *field);

int option_choice(const char *choices, StrView text);       /* index of `text` in "a|b|c", or -1 */
StrView option_choice_name(const char *choices, int index); /* "?" if there is no such index */

#endif
