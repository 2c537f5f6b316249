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
 * Names     an option has one name. The flag of a row with a key is the last part of the key, with hyphens:
 *           decode.beam_size is --beam-size. If keys of several rows of a command end in the same part, their
 *           flags are the last two parts: model.encoder.layers is --encoder-layers. A row without a key names
 *           its flag.
 * Lists     each --flag adds its value, the first one replacing the default. In every text (flag, --set,
 *           default_text) commas separate items and "\," is a comma. With `choices` each item must be one of
 *           them, and following arguments that are choices belong to the list too: -m bleu chrf.
 * Optional  A row with an `implied_value` has an optional value: --flag alone means `implied_value`. The next
 *           argument is the flag's value only if it is a number or one of the choices.
 * Needs     a flag whose row `needs` others is refused where none of them is given.
 * Dashes    long names may have one dash (-tok intl) and letters may be joined (-b5, -qv).
 *
 * Owner   strings and lists stored into the struct are heap copies; options_free releases them.
 * Fails   STATUS_USAGE with the nearest known name where one is near
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/json.h"
#include "base/status.h"
#include "base/strview.h"

typedef enum {
    OPT_BOOL,   /* bool */
    OPT_INT,    /* int */
    OPT_LONG,   /* long long */
    OPT_REAL,   /* double */
    OPT_STRING, /* char * (NULL when default_text is NULL) */
    OPT_CHOICE, /* int: index into `choices` */
    OPT_LIST,   /* StrList */
} OptionType;

typedef struct {
    const char *key;   /* "section.name" in configurations; NULL: command line only */
    const char *flag;  /* long flag without dashes of a row without a key */
    const char *alias; /* another accepted long flag: sacreBLEU's abbreviations; or NULL */
    char letter;       /* short flag or 0 */
    bool common;       /* the short --help shows it, too */
    OptionType type;
    size_t offset;             /* of the field in the struct of the table */
    const char *default_text;  /* default as text; NULL = zero / NULL / empty list */
    double min, max;           /* inclusive range of numbers; min == max: any */
    const char *choices;       /* "gru|lstm" for OPT_CHOICE */
    const char *implied_value; /* value of --flag alone; NULL: the flag needs a value, as all lists do */
    const char *needs; /* "a|b": means something only where the flag of one of these is given too; or NULL */
    const char *arg;   /* name of the value in --help */
    const char *help;  /* one line, lower case, no full stop */
    const char *group; /* heading in --help from this row on, or NULL to stay under the last one */
} Option;

#define OPT_FIELD(type_, member_) .offset = offsetof(type_, member_)

/* Tables with the structs they fill; ends with a row whose `rows` is NULL. */
typedef struct {
    const Option *rows; /* ends with a row without key and flag */
    void *target;
} OptionTable;

/* Which help the command line asks for: --help, or --help all. */
typedef enum { HELP_NONE, HELP_SHORT, HELP_ALL } HelpKind;

/* The rows that a command line gave, or that its configurations set. A zeroed one is empty; release `rows`
 * with mem_free. */
typedef struct {
    const Option **rows;
    size_t count, capacity;
    int configs; /* files that were read */
} UserOptions;

void options_defaults(const OptionTable *tables);
void options_free(const OptionTable *tables);

/* Parse argv[1..]; what is not an option is collected into `positional` (argv's strings, not copied; free
 * the items array). "--" ends the options; "-" is positional. Recognises --help/-h, and "all" behind it. The
 * rows that were given are added to `given`, which may be NULL. */
Status options_parse(const OptionTable *tables, int argc, char **argv, StrList *positional, HelpKind *help,
                     UserOptions *given);
/* The same with --set KEY=VALUE and --config FILE, in order: later wins. The rows that they set are given. */
Status options_parse_config(const OptionTable *tables, int argc, char **argv, StrList *positional,
                            HelpKind *help, UserOptions *given);
/* `name`: the option's key, "decode.beam_size", or the flag of one without a key. */
bool option_is_given(const UserOptions *given, const char *name);
/* Give every option of the table that was not given its value in `from`, a struct like the table's own. Rows
 * of strings and lists are not for this. */
void options_apply_defaults(const OptionTable *table, const UserOptions *given, const void *from);

/* Set one option from text, by configuration key. */
Status options_set(const OptionTable *tables, StrView key, StrView value);
/* Read a JSON object of sections, {"model": {"hidden": 256}}: unknown keys are errors. */
Status options_read_json(const OptionTable *tables, const Json *object);
/* A file of that, with comments; the rows that it sets are added to `given`, which may be NULL. */
Status options_read_file(const OptionTable *tables, const char *path, UserOptions *given);
/* Write every keyed option as a JSON object of sections; `minimal` leaves out what equals its default. */
void options_write_json(const OptionTable *tables, bool minimal, StrBuf *out);
/* Is there a short form of the help: are there rows that it leaves out, and rows that it shows? */
bool options_have_short_help(const OptionTable *tables);
/* The rows as --help text, wrapped at `width`, but not below 48 columns. The short form has the common rows
 * alone, without headings and keys, and of their help what stands before the first semicolon. */
void options_write_help(const OptionTable *tables, int width, HelpKind kind, StrBuf *out);

#endif
