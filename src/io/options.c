/* options.c - defaults, names of options, assignments by key, and the command line. */
#include "io/options.h"

#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"

void options_defaults(const OptionTable *tables) {
    for (const OptionTable *table = tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++)
            option_default(row, option_field(table, row));
}

void options_free(const OptionTable *tables) {
    for (const OptionTable *table = tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++)
            option_release(row, option_field(table, row));
}

/* ---- names ---- */

/* Names of flags and keys in earlier releases. Old keys are still read, because model files have them. Old
 * flags are refused, and the hint has the new name. The hint uses a row only if the command has the new
 * name, because an old name can be a flag of another command. */
static const struct {
    const char *old, *now;
} RENAMED[] = {
    {"model.relative_reach", "model.max_relative_position"},
    {"after-epochs", "epochs"},
    {"after-updates", "max-updates"},
    {"disp-freq", "log-every"},
    {"early-stopping", "patience"},
    {"model-dir", "run"},
    {"pretrained-model", "init"},
    {"cpu-threads", "threads"},
    {"models", "model"},
    {"references", "reference"},
    {"quiet-translation", "quiet"},
    {"normalize", "length-penalty"},
    {"max-length", "max-input-length"},
    {"word-scores", "per-word"},
    {"tok", "tokenize"},
    {"alignment-level", "level"},
    {"level", "alignment-level"},
};
enum { RENAMED_COUNT = sizeof RENAMED / sizeof *RENAMED };

const Option *option_by_key(const OptionTable *tables, StrView key, void **field) {
    for (size_t i = 0; i < RENAMED_COUNT; i++)
        if (sv_equal(key, sv(RENAMED[i].old))) key = sv(RENAMED[i].now);
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (row->key && sv_equal(sv(row->key), key)) {
                *field = option_field(table, row);
                return row;
            }
        }
    }
    return NULL;
}

static const char *last_part(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static const char *last_two_parts(const char *key) {
    const char *at = last_part(key);
    if (at > key) at--;
    while (at > key && at[-1] != '.') at--;
    return at;
}

/* Does another key end in the same part? */
static bool shares_last_part(const OptionTable *tables, const char *key) {
    for (const OptionTable *table = tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++)
            if (row->key && strcmp(row->key, key) != 0 && strcmp(last_part(row->key), last_part(key)) == 0)
                return true;
    return false;
}

OptionFlag option_flag(const OptionTable *tables, const Option *row) {
    OptionFlag flag;
    const char *name = row->flag;
    if (row->key) name = shares_last_part(tables, row->key) ? last_two_parts(row->key) : last_part(row->key);
    snprintf(flag.text, sizeof flag.text, "%s", name);
    for (char *at = flag.text; *at; at++)
        if (*at == '_' || *at == '.') *at = '-';
    return flag;
}

typedef struct {
    const char **items;
    size_t count, capacity;
} Names;

static void names_add(Names *names, const char *name) {
    MEM_GROW(names->items, names->capacity, names->count + 1);
    names->items[names->count++] = name;
}

static const char *after_dot(const char *key) {
    const char *dot = strchr(key, '.');
    return dot ? dot + 1 : key;
}

/* A guess at the intended key: the same name in another section, or the nearest key. */
static const char *nearest_key(const OptionTable *tables, const char *key) {
    Names names = {0};
    const char *nearest = NULL;
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (!row->key) continue;
            names_add(&names, row->key);
            if (strcmp(after_dot(row->key), after_dot(key)) == 0) nearest = row->key;
        }
    }
    if (!nearest) nearest = str_nearest(key, names.items, names.count);
    for (size_t i = 0; i < names.count && !nearest; i++) {
        const char *name = after_dot(names.items[i]);
        if (str_nearest(after_dot(key), &name, 1)) nearest = names.items[i];
    }
    mem_free(names.items);
    return nearest;
}

/* A guess at the intended section, if the key's own section does not exist; else empty. */
static StrView nearest_section(const OptionTable *tables, const char *key) {
    char word[64];
    StrView rest = sv(key), section, nearest = {0};
    sv_next(&rest, '.', &section);
    snprintf(word, sizeof word, "%.*s", SV_ARG(section));
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            char name[64];
            const char *candidate = name;
            StrView own, of_row = sv(row->key ? row->key : "");
            if (!sv_next(&of_row, '.', &own)) continue;
            if (sv_equal(own, section)) return (StrView){0};
            snprintf(name, sizeof name, "%.*s", SV_ARG(own));
            if (str_nearest(word, &candidate, 1)) nearest = own;
        }
    }
    return nearest;
}

Status option_fail_unknown_key(const OptionTable *tables, StrView key) {
    char *word = mem_strndup(key.data, key.length);
    const char *nearest = nearest_key(tables, word);
    Status status = status_fail(STATUS_USAGE, "unknown key '%s'", word);
    StrView section = nearest_section(tables, word);
    if (nearest)
        status_hint(status, "did you mean '%s'?", nearest);
    else if (section.length)
        status_hint(status, "did you mean the section '%.*s'?", SV_ARG(section));
    mem_free(word);
    return status;
}

static Status set_by_key(const OptionTable *tables, StrView key, StrView value, UserOptions *user_options) {
    void *field;
    const Option *row = option_by_key(tables, key, &field);
    if (!row) return option_fail_unknown_key(tables, key);
    char name[128];
    snprintf(name, sizeof name, "key '%s'", row->key);
    TRY(option_from_text(row, field, value, false, name));
    user_options_add(user_options, row);
    return STATUS_OK;
}

Status options_set(const OptionTable *tables, StrView key, StrView value) {
    return set_by_key(tables, key, value, NULL);
}

/* ---- the command line ---- */

typedef struct {
    const OptionTable *tables;
    int argc, next;
    char **argv;
    bool config;
    UserOptions *flags;        /* rows set by flags; the first flag of a list replaces its default */
    UserOptions *user_options; /* rows set by flags, --set and configurations; or NULL */
} Parser;

/* The parts of an argument such as --beam-size=5. */
typedef struct {
    char name_in_messages[96]; /* "option '--beam-size'" */
    StrView name;
    char letter; /* or 0 */
    bool has_value, negated;
    StrView value;
} Flag;

static bool row_matches(const OptionTable *tables, const Option *row, const Flag *flag) {
    if (flag->letter) return row->letter == flag->letter;
    OptionFlag own = option_flag(tables, row);
    return sv_equal(sv(own.text), flag->name) || (row->alias && sv_equal(sv(row->alias), flag->name));
}

static const Option *find_flag(const OptionTable *tables, const Flag *flag, void **field) {
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (row_matches(tables, row, flag)) {
                *field = option_field(table, row);
                return row;
            }
        }
    }
    return NULL;
}

/* A guess at the intended flag, or NULL: the new name of an old flag, the flag of a key, the flag of a key
 * that ends in this word, or the nearest flag. */
static const char *nearest_flag(const StrList *flags, const OptionTable *tables, const char *word,
                                OptionFlag *of_key) {
    for (size_t i = 0; i < RENAMED_COUNT; i++)
        if (strcmp(RENAMED[i].old, word) == 0)
            for (size_t j = 0; j < flags->count; j++)
                if (strcmp(flags->items[j], RENAMED[i].now) == 0) return RENAMED[i].now;
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (!row->key || (strcmp(row->key, word) != 0 && strcmp(last_part(row->key), word) != 0))
                continue;
            *of_key = option_flag(tables, row);
            return of_key->text;
        }
    }
    const char *nearest = str_nearest(word, (const char *const *)flags->items, flags->count);
    if (!nearest && strncmp(word, "no-", 3) == 0)
        nearest = str_nearest(word + 3, (const char *const *)flags->items, flags->count);
    return nearest;
}

static Status fail_unknown_flag(const Parser *parser, const Flag *flag) {
    Status status = status_fail(STATUS_USAGE, "unknown %s", flag->name_in_messages);
    if (flag->letter) return status;
    StrList flags = {0};
    strlist_add(&flags, SV("help"));
    if (parser->config) strlist_add(&flags, SV("config")), strlist_add(&flags, SV("set"));
    for (const OptionTable *table = parser->tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            strlist_add(&flags, sv(option_flag(parser->tables, row).text));
            if (row->alias) strlist_add(&flags, sv(row->alias));
        }
    OptionFlag of_key;
    char *word = mem_strndup(flag->name.data, flag->name.length);
    const char *nearest = nearest_flag(&flags, parser->tables, word, &of_key);
    if (nearest)
        status_hint(status, "did you mean '--%s'?", nearest);
    else
        status_hint(status, "--help lists the options");
    mem_free(word);
    strlist_free(&flags);
    return status;
}

/* The value is after '=', or it is the next argument. A next argument that looks like an option is not taken
 * as the value: the user forgot the value. */
static Status take_value(Parser *parser, Flag *flag) {
    if (flag->has_value) return STATUS_OK;
    const char *next = parser->next < parser->argc ? parser->argv[parser->next] : NULL;
    bool dashed = next && next[0] == '-' && next[1] && !strchr("0123456789.", next[1]);
    if (!next || dashed) {
        Status status = status_fail(STATUS_USAGE, "%s needs a value", flag->name_in_messages);
        if (dashed && !flag->letter)
            status_hint(status, "write --%.*s=%s if that is the value", SV_ARG(flag->name), next);
        return status;
    }
    parser->next++;
    flag->value = sv(next);
    flag->has_value = true;
    return STATUS_OK;
}

/* An optional value: the next argument is the value if it is a number or one of the choices. */
static void take_optional_value(Parser *parser, const Option *row, Flag *flag) {
    if (flag->has_value) return;
    const char *next = parser->next < parser->argc ? parser->argv[parser->next] : "";
    const char *digits = row->type == OPT_INT ? "0123456789" : "0123456789.";
    bool number = row->type != OPT_CHOICE && next[0] && strspn(next, digits) == strlen(next);
    bool fits = number || (row->choices && option_choice(row->choices, sv(next)) >= 0);
    flag->value = sv(fits ? next : row->implied_value);
    if (fits) parser->next++;
}

static bool contains(const UserOptions *user_options, const Option *row) {
    for (size_t i = 0; i < user_options->count; i++)
        if (user_options->rows[i] == row) return true;
    return false;
}

static bool is_called(const char *name, const char *other) { return name && strcmp(name, other) == 0; }

bool option_is_given(const UserOptions *user_options, const char *name) {
    for (size_t i = 0; i < user_options->count; i++)
        if (is_called(user_options->rows[i]->key, name) || is_called(user_options->rows[i]->flag, name))
            return true;
    return false;
}

void user_options_add(UserOptions *user_options, const Option *row) {
    if (!user_options) return;
    MEM_GROW(user_options->rows, user_options->capacity, user_options->count + 1);
    user_options->rows[user_options->count++] = row;
}

static Status parse_set(Parser *parser, Flag *flag) {
    TRY(take_value(parser, flag));
    StrView value = flag->value, key;
    size_t length = value.length;
    sv_next(&value, '=', &key);
    if (key.length == length) {
        Status status = status_fail(STATUS_USAGE, "--set: no '=' in '%.*s'", SV_ARG(flag->value));
        return status_hint(status, "write --set section.key=value");
    }
    return set_by_key(parser->tables, key, value, parser->user_options);
}

static Status parse_config(Parser *parser, Flag *flag) {
    TRY(take_value(parser, flag));
    char *path = mem_strndup(flag->value.data, flag->value.length);
    Status status = options_read_file(parser->tables, path, parser->user_options);
    mem_free(path);
    if (parser->user_options) parser->user_options->configs++;
    return status;
}

/* --help, --help all or --help=all */
static Status parse_help(Parser *parser, const Flag *flag, HelpKind *help) {
    bool all = !flag->has_value && parser->next < parser->argc && !strcmp(parser->argv[parser->next], "all");
    parser->next += all;
    if (flag->has_value && !sv_equal(flag->value, SV("all")))
        return status_hint(status_fail(STATUS_USAGE, "--help takes no value but 'all'"),
                           "--help all lists every option");
    *help = all || flag->has_value ? HELP_ALL : HELP_SHORT;
    return STATUS_OK;
}

static Status parse_flag(Parser *parser, Flag *flag, HelpKind *help) {
    void *field = NULL;
    const Option *row = find_flag(parser->tables, flag, &field);
    if (!row && !flag->letter && sv_starts(flag->name, SV("no-"))) {
        Flag positive = *flag;
        positive.name = (StrView){flag->name.data + 3, flag->name.length - 3};
        row = find_flag(parser->tables, &positive, &field);
        if (row && row->type != OPT_BOOL) row = NULL;
        flag->negated = row != NULL;
    }
    bool named = !flag->letter;
    if (!row && ((named && sv_equal(flag->name, SV("help"))) || flag->letter == 'h'))
        return parse_help(parser, flag, help);
    if (!row && parser->config && named && sv_equal(flag->name, SV("set"))) return parse_set(parser, flag);
    if (!row && parser->config && ((named && sv_equal(flag->name, SV("config"))) || flag->letter == 'c'))
        return parse_config(parser, flag);
    if (!row) return fail_unknown_flag(parser, flag);
    if (row->type == OPT_BOOL) {
        if (flag->negated && flag->has_value)
            return status_fail(STATUS_USAGE, "%s takes no value", flag->name_in_messages);
        if (!flag->has_value) flag->value = flag->negated ? SV("false") : SV("true");
    } else if (row->implied_value) {
        take_optional_value(parser, row, flag);
    } else {
        TRY(take_value(parser, flag));
    }
    TRY(option_from_text(row, field, flag->value, contains(parser->flags, row), flag->name_in_messages));
    user_options_add(parser->flags, row);
    user_options_add(parser->user_options, row);
    while (row->type == OPT_LIST && row->choices && parser->next < parser->argc) {
        StrView next = sv(parser->argv[parser->next]);
        if (option_choice(row->choices, next) < 0) break;
        strlist_add(field, next);
        parser->next++;
    }
    return STATUS_OK;
}

/* `text` is "name=value", after the dashes. */
static Flag long_flag(const char *text, const char *dashes) {
    Flag flag = {.value = sv(text)};
    flag.has_value = strchr(text, '=') != NULL;
    sv_next(&flag.value, '=', &flag.name);
    snprintf(flag.name_in_messages, sizeof flag.name_in_messages, "option '%s%.*s'", dashes,
             SV_ARG(flag.name));
    return flag;
}

/* "-tok intl" as other tools write it, "-b 5", "-b5", or letters of switches in one word: "-qv". */
static Status parse_short(Parser *parser, const char *letters, HelpKind *help) {
    void *field;
    Flag flag = long_flag(letters, "-");
    if (flag.name.length > 1 && find_flag(parser->tables, &flag, &field))
        return parse_flag(parser, &flag, help);
    while (*letters) {
        flag = (Flag){.letter = *letters++};
        snprintf(flag.name_in_messages, sizeof flag.name_in_messages, "option '-%c'", flag.letter);
        const Option *row = find_flag(parser->tables, &flag, &field);
        bool takes_value = row ? row->type != OPT_BOOL : parser->config && flag.letter == 'c';
        if (takes_value && *letters) {
            flag.has_value = true;
            flag.value = sv(letters + (*letters == '='));
            letters = "";
        }
        TRY(parse_flag(parser, &flag, help));
    }
    return STATUS_OK;
}

/* An option without any effect would surprise the user. */
static Status check_needs(const Parser *parser) {
    for (size_t i = 0; i < parser->flags->count; i++) {
        const Option *row = parser->flags->rows[i];
        StrView rest = sv(row->needs ? row->needs : ""), name;
        bool met = !row->needs;
        while (!met && sv_next(&rest, '|', &name))
            for (size_t j = 0; j < parser->flags->count && !met; j++)
                met = sv_equal(sv(option_flag(parser->tables, parser->flags->rows[j]).text), name);
        if (met) continue;
        void *field;
        Flag first = {0};
        rest = sv(row->needs);
        sv_next(&rest, '|', &first.name);
        const Option *other = find_flag(parser->tables, &first, &field);
        OptionFlag flag = option_flag(parser->tables, row);
        status_fail(STATUS_USAGE, "option '--%s' does nothing without '--%.*s'", flag.text,
                    SV_ARG(first.name));
        return status_hint(STATUS_USAGE, "add --%.*s%s%s, or leave --%s out", SV_ARG(first.name),
                           other->arg && !other->implied_value ? " " : "",
                           other->arg && !other->implied_value ? other->arg : "", flag.text);
    }
    return STATUS_OK;
}

static Status parse(Parser parser, StrList *positional, HelpKind *help) {
    UserOptions flags = {0};
    int argc = parser.argc;
    bool only_positional = false;
    Status status = STATUS_OK;
    parser.flags = &flags;
    *help = HELP_NONE;
    *positional = (StrList){.items = mem_alloc((size_t)argc + 1, sizeof(char *))};
    while (parser.next < argc && status == STATUS_OK) {
        char *argument = parser.argv[parser.next++];
        if (only_positional || argument[0] != '-' || !argument[1]) {
            positional->items[positional->count++] = argument;
        } else if (argument[1] != '-') {
            status = parse_short(&parser, argument + 1, help);
        } else if (argument[2]) {
            Flag flag = long_flag(argument + 2, "--");
            status = parse_flag(&parser, &flag, help);
        } else {
            only_positional = true;
        }
    }
    if (status == STATUS_OK && !*help) status = check_needs(&parser);
    mem_free(flags.rows);
    return status;
}

Status options_parse(const OptionTable *tables, int argc, char **argv, StrList *positional, HelpKind *help,
                     UserOptions *user_options) {
    return parse((Parser){tables, argc, 1, argv, false, NULL, user_options}, positional, help);
}

Status options_parse_config(const OptionTable *tables, int argc, char **argv, StrList *positional,
                            HelpKind *help, UserOptions *user_options) {
    return parse((Parser){tables, argc, 1, argv, true, NULL, user_options}, positional, help);
}

void options_apply_defaults(const OptionTable *table, const UserOptions *user_options, const void *from) {
    const OptionTable other = {table->rows, (void *)from};
    for (const Option *row = table->rows; !option_row_ends(row); row++)
        if (!contains(user_options, row))
            option_copy(row, option_field(table, row), option_field(&other, row));
}
