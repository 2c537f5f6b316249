/* cmd_completion.c - attn-mt completion: scripts that complete this command line in bash, zsh and fish.
 *
 * What they know comes from where --help comes from: each command is asked for its help, and the usage text
 * and the tables of options that it would print are turned into a piece of the script instead.
 */
#include <ctype.h>
#include <string.h>
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"

typedef struct {
    StrBuf *out;
    const Command *command;
} Writer;

typedef struct {
    const char *name, *begin, *end;
    void (*first)(const Command *commands, StrBuf *out); /* completes the command itself */
    void (*command)(const Writer *writer, const char *usage, const OptionTable *tables);
} Shell;

/* ---- what there is to complete ---- */

typedef enum { VALUE_NONE, VALUE_CHOICE, VALUE_FOLDER, VALUE_FILE, VALUE_OTHER } ValueKind;

static ValueKind value_kind(const Option *row) {
    if (row->type == OPT_BOOL) return VALUE_NONE;
    if (row->choices) return VALUE_CHOICE;
    const char *arg = row->arg ? row->arg : "";
    if (strcmp(arg, "DIR") == 0) return VALUE_FOLDER;
    return strncmp(arg, "FILE", 4) == 0 || strcmp(arg, "PREFIX") == 0 ? VALUE_FILE : VALUE_OTHER;
}

static bool is_optional(const Option *row) {
    return row->type == OPT_OPTIONAL_INT || (row->type != OPT_LIST && row->bare);
}

static bool is_on(const Option *row) { /* --no-flag is worth offering */
    return row->type == OPT_BOOL && row->fallback && strcmp(row->fallback, "true") == 0;
}

static bool ends(const Option *row) { return !row->key && !row->flag; }

#define FOR_ROWS(tables_, row_)                                                                              \
    for (const OptionTable *table_ = (tables_); table_->rows; table_++)                                      \
        for (const Option *row_ = table_->rows; !ends(row_); row_++)

/* Commands that read a configuration say so in their usage: both options are the parser's own. */
static bool takes_config(const char *usage) { return strstr(usage, "--set KEY=VALUE") != NULL; }

/* "gru|lstm" as "gru lstm", and what a switch can be set to. */
static void add_choices(const Option *row, StrBuf *out) {
    const char *choices = row->type == OPT_BOOL ? "true|false" : row->choices;
    for (; *choices; choices++) strbuf_add_char(out, *choices == '|' ? ' ' : *choices);
}

static bool has_set_choices(const Option *row) { return row->key && (row->choices || row->type == OPT_BOOL); }

/* The words that may follow the command, such as "positions": lower-case words of its usage lines. */
static void add_words(const Writer *writer, const char *usage) {
    StrBuf start = {0};
    strbuf_format(&start, "attn-mt %s ", writer->command->name);
    for (const char *at = strstr(usage, strbuf_text(&start)); at; at = strstr(at, strbuf_text(&start))) {
        at += start.length;
        size_t length = 0;
        while (islower((unsigned char)at[length])) length++;
        if (length > 0) strbuf_format(writer->out, " %.*s", (int)length, at);
    }
    if (strcmp(writer->command->name, "help") == 0)
        for (const Command *c = COMMANDS; c->name; c++) strbuf_format(writer->out, " %s", c->name);
    strbuf_free(&start);
}

/* `text` with a backslash before each of `special`; inside the single quotes of a shell. */
static void add_escaped(const char *text, const char *special, const char *quote, StrBuf *out) {
    for (; text && *text; text++) {
        if (*text == '\'') {
            strbuf_add(out, sv(quote));
            continue;
        }
        if (strchr(special, *text)) strbuf_add_char(out, '\\');
        strbuf_add_char(out, *text);
    }
}

/* ---- bash ---- */

static const char BASH_BEGIN[] =
    "# bash completion of attn-mt, written by 'attn-mt completion bash'\n"
    "_attn_mt() {\n"
    "    local IFS=$' \\t\\n' n=0 joined= word previous current command before=\n"
    "    local flags= values= kind=files nospace= words=()\n"
    "    # bash cuts words at \"=\": what belongs together is put together again.\n"
    "    for word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
    "        if [[ $n -gt 0 && ( $word == = || -n $joined ) ]]; then\n"
    "            words[n-1]=${words[n-1]}$word\n"
    "        else\n"
    "            words[n++]=$word\n"
    "        fi\n"
    "        [[ $word == = ]] && joined=1 || joined=\n"
    "    done\n"
    "    current=${words[n-1]} previous=${words[n-2]} command=${words[1]}\n"
    "    [[ $COMP_WORDBREAKS == *=* || $current != *=* ]] || before=${current%=*}=\n"
    "    if [[ $current == --*=* ]]; then\n"
    "        previous=${current%%=*}= current=${current#*=}\n"
    "    fi\n"
    "    [[ $n -gt 2 ]] || command= previous=\n"
    "    case $command in\n";

static const char BASH_END[] = "    esac\n"
                               "    COMPREPLY=()\n"
                               "    [[ $kind != files || $current != -* ]] || kind=flags\n"
                               "    if [[ $kind == keys && $current == *=* ]]; then\n"
                               "        current=${current#*=} kind=values\n"
                               "        [[ -n $values ]] || kind=paths\n"
                               "    fi\n"
                               "    case $kind in\n"
                               "    flags) COMPREPLY=($(compgen -W \"$flags\" -- \"$current\")) ;;\n"
                               "    values) COMPREPLY=($(compgen -W \"$values\" -- \"$current\")) ;;\n"
                               "    keys)\n"
                               "        COMPREPLY=($(compgen -W \"$keys\" -- \"$current\"))\n"
                               "        compopt -o nospace 2>/dev/null\n"
                               "        ;;\n"
                               "    folders | files | paths)\n"
                               "        IFS=$'\\n'\n"
                               "        [[ $kind == folders ]] && word=-d || word=-f\n"
                               "        COMPREPLY=($(compgen $word -- \"$current\"))\n"
                               "        compopt -o filenames 2>/dev/null\n"
                               "        ;;\n"
                               "    esac\n"
                               "    COMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n"
                               "}\n"
                               "complete -F _attn_mt attn-mt\n";

static void bash_first(const Command *commands, StrBuf *out) {
    strbuf_add(out, SV("    '')\n        kind=values values='help --help --version"));
    for (; commands->name; commands++) strbuf_format(out, " %s", commands->name);
    strbuf_add(out, SV("'\n        ;;\n"));
}

/* One pattern for the ways an option can be written. Values that may be left out follow "=" alone. */
static void bash_value(const Option *row, StrBuf *out) {
    static const char *const KINDS[] = {"", "values", "folders", "paths", "nothing"};
    ValueKind kind = value_kind(row);
    if (!row->flag || kind == VALUE_NONE) return;
    strbuf_format(out, "        --%s=", row->flag);
    if (row->alias) strbuf_format(out, " | --%s=", row->alias);
    if (!is_optional(row)) {
        strbuf_format(out, " | --%s", row->flag);
        if (row->alias) strbuf_format(out, " | --%s", row->alias);
        if (row->letter) strbuf_format(out, " | -%c", row->letter);
    }
    strbuf_format(out, ") kind=%s", KINDS[kind]);
    if (kind == VALUE_CHOICE) {
        strbuf_add(out, SV(" values='"));
        add_choices(row, out);
        strbuf_add_char(out, '\'');
    }
    strbuf_add(out, SV(" ;;\n"));
}

static void bash_keys(const OptionTable *tables, StrBuf *out) {
    strbuf_add(out, SV("        --config= | --config | -c) kind=paths ;;\n"
                       "        --set= | --set)\n            kind=keys keys='"));
    const char *space = "";
    FOR_ROWS(tables, row) {
        if (!row->key) continue;
        strbuf_format(out, "%s%s=", space, row->key);
        space = " ";
    }
    strbuf_add(out, SV("'\n            case $current in\n"));
    FOR_ROWS(tables, row) {
        if (!has_set_choices(row)) continue;
        strbuf_format(out, "            %s=*) values='", row->key);
        add_choices(row, out);
        strbuf_add(out, SV("' ;;\n"));
    }
    strbuf_add(out, SV("            esac\n            ;;\n"));
}

static void bash_command(const Writer *writer, const char *usage, const OptionTable *tables) {
    StrBuf *out = writer->out;
    strbuf_format(out, "    %s)\n        values='", writer->command->name);
    add_words(writer, usage);
    strbuf_add(out, SV("'\n        [[ $n -ne 3 || -z $values || $current == -* ]] || kind=values\n"
                       "        flags='--help"));
    if (takes_config(usage)) strbuf_add(out, SV(" --config --set"));
    FOR_ROWS(tables, row) {
        if (row->flag) strbuf_format(out, " --%s%s", is_on(row) ? "no-" : "", row->flag);
    }
    strbuf_add(out, SV("'\n        case $previous in\n"));
    FOR_ROWS(tables, row) bash_value(row, out);
    if (takes_config(usage)) bash_keys(tables, out);
    strbuf_add(out, SV("        esac\n        ;;\n"));
}

/* ---- zsh ---- */

static const char ZSH_BEGIN[] = "#compdef attn-mt\n"
                                "# zsh completion of attn-mt, written by 'attn-mt completion zsh'\n"
                                "_attn-mt() {\n"
                                "    local curcontext=$curcontext state line ret=1\n"
                                "    typeset -A opt_args\n";
static const char ZSH_END[] = "    esac\n"
                              "    return ret\n"
                              "}\n"
                              "if [[ $funcstack[1] == _attn-mt ]]; then\n"
                              "    _attn-mt \"$@\"\n"
                              "else\n"
                              "    compdef _attn-mt attn-mt\n"
                              "fi\n";

static void zsh_text(const char *text, StrBuf *out) { add_escaped(text, "[]:\\", "'\\''", out); }

static void zsh_first(const Command *commands, StrBuf *out) {
    strbuf_add(out, SV("    if (( CURRENT == 2 )); then\n        local -a commands=(\n"));
    for (; commands->name; commands++) {
        strbuf_format(out, "            '%s:", commands->name);
        zsh_text(commands->help, out);
        strbuf_add(out, SV("'\n"));
    }
    strbuf_add(out, SV("            'help:show the options of a command'\n        )\n"
                       "        _describe command commands\n"
                       "        [[ $PREFIX != -* ]] || compadd -- --help --version\n"
                       "        return\n    fi\n"
                       "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n"));
}

static void zsh_row(const Option *row, StrBuf *out) {
    ValueKind kind = value_kind(row);
    if (!row->flag) return;
    bool repeats = row->type == OPT_LIST;
    const char *joint = kind == VALUE_NONE ? "" : is_optional(row) ? "=-" : "=";
    strbuf_format(out, " \\\n            '%s", repeats ? "*" : "");
    if (row->letter && !repeats) strbuf_format(out, "(-%c --%s)", row->letter, row->flag);
    if (row->letter) strbuf_format(out, "'{-%c%s,", row->letter, kind == VALUE_NONE ? "" : "+");
    strbuf_format(out, "--%s%s%s%s[", is_on(row) ? "no-" : "", row->flag, joint, row->letter ? "}'" : "");
    zsh_text(row->help, out);
    strbuf_add_char(out, ']');
    if (kind != VALUE_NONE)
        strbuf_format(out, "%s%s:", is_optional(row) ? "::" : ":", row->arg ? row->arg : "N");
    if (kind == VALUE_FILE) strbuf_add(out, SV("_files"));
    if (kind == VALUE_FOLDER) strbuf_add(out, SV("_directories"));
    if (kind == VALUE_CHOICE) {
        strbuf_add_char(out, '(');
        add_choices(row, out);
        strbuf_add_char(out, ')');
    }
    strbuf_add_char(out, '\'');
}

static void zsh_keys(const OptionTable *tables, StrBuf *out) {
    strbuf_add(out, SV("        if [[ $state == keys ]]; then\n"
                       "            if compset -P '*='; then\n"
                       "                case $IPREFIX in\n"));
    FOR_ROWS(tables, row) {
        if (!has_set_choices(row)) continue;
        strbuf_format(out, "                *%s=) compadd -- ", row->key);
        add_choices(row, out);
        strbuf_add(out, SV(" && ret=0 ;;\n"));
    }
    strbuf_add(out, SV("                *) _files && ret=0 ;;\n                esac\n            else\n"
                       "                compadd -S = --"));
    FOR_ROWS(tables, row) {
        if (row->key) strbuf_format(out, " \\\n                    %s", row->key);
    }
    strbuf_add(out, SV(" && ret=0\n            fi\n        fi\n"));
}

static void zsh_command(const Writer *writer, const char *usage, const OptionTable *tables) {
    StrBuf *out = writer->out;
    strbuf_format(out, "    %s)\n        _arguments -s -S '--help[show the options]'", writer->command->name);
    FOR_ROWS(tables, row) zsh_row(row, out);
    if (takes_config(usage))
        strbuf_add(out, SV(" \\\n            '*'{-c+,--config=}'[read a JSON configuration]:FILE:_files'"
                           " \\\n            '*--set=[set one key of the configuration]:KEY=VALUE:->keys'"));
    size_t before = out->length;
    strbuf_add(out, SV(" \\\n            '1: :("));
    size_t start = out->length;
    add_words(writer, usage);
    if (out->length > start)
        strbuf_add(out, SV(" )'"));
    else
        strbuf_cut(out, before);
    strbuf_add(out, SV(" \\\n            '*:file:_files' && ret=0\n"));
    if (takes_config(usage)) zsh_keys(tables, out);
    strbuf_add(out, SV("        ;;\n"));
}

/* ---- fish ---- */

static const char FISH_BEGIN[] = "# fish completion of attn-mt, written by 'attn-mt completion fish'\n"
                                 "function __attn_mt_command\n"
                                 "    set -l words (commandline -opc)\n"
                                 "    test (count $words) -ge 2; and test \"$words[2]\" = \"$argv[1]\"\n"
                                 "end\n"
                                 "function __attn_mt_sets\n"
                                 "    string match -q -- \"*$argv[1]=*\" (commandline -ct)\n"
                                 "end\n"
                                 "function __attn_mt_no_command\n"
                                 "    test (count (commandline -opc)) -eq 1\n"
                                 "end\n";

static void fish_text(const char *text, StrBuf *out) { add_escaped(text, "\\", "\\'", out); }

static void fish_first(const Command *commands, StrBuf *out) {
    strbuf_add(out, SV("complete -c attn-mt -n __attn_mt_no_command -f -l help -d 'list the commands'\n"
                       "complete -c attn-mt -n __attn_mt_no_command -f -l version -d 'show the version'\n"
                       "complete -c attn-mt -n __attn_mt_no_command -f -a help "
                       "-d 'show the options of a command'\n"));
    for (; commands->name; commands++) {
        strbuf_format(out, "complete -c attn-mt -n __attn_mt_no_command -f -a %s -d '", commands->name);
        fish_text(commands->help, out);
        strbuf_add(out, SV("'\n"));
    }
}

static void fish_begin_line(const Writer *writer) {
    strbuf_format(writer->out, "complete -c attn-mt -n '__attn_mt_command %s'", writer->command->name);
}

static void fish_row(const Writer *writer, const Option *row) {
    StrBuf *out = writer->out;
    if (!row->flag) return;
    fish_begin_line(writer);
    if (row->letter) strbuf_format(out, " -s %c", row->letter);
    strbuf_format(out, " -l %s%s", is_on(row) ? "no-" : "", row->flag);
    ValueKind kind = value_kind(row);
    if (kind == VALUE_FILE) strbuf_add(out, is_optional(row) ? SV(" -F") : SV(" -r -F"));
    if (kind == VALUE_FOLDER) strbuf_add(out, SV(" -x -a '(__fish_complete_directories)'"));
    if (kind == VALUE_OTHER && !is_optional(row)) strbuf_add(out, SV(" -x"));
    if (kind == VALUE_CHOICE) {
        strbuf_add(out, is_optional(row) ? SV(" -f -a '") : SV(" -x -a '"));
        add_choices(row, out);
        strbuf_add_char(out, '\'');
    }
    strbuf_add(out, SV(" -d '"));
    fish_text(row->help, out);
    strbuf_add(out, SV("'\n"));
}

static void fish_keys(const Writer *writer, const OptionTable *tables) {
    StrBuf *out = writer->out;
    fish_begin_line(writer);
    strbuf_add(out, SV(" -s c -l config -r -F -d 'read a JSON configuration'\n"));
    FOR_ROWS(tables, row) {
        if (!row->key) continue;
        fish_begin_line(writer);
        strbuf_format(out, " -l set -x -a '%s=' -d '", row->key);
        fish_text(row->help, out);
        strbuf_add(out, SV("'\n"));
        if (!has_set_choices(row)) continue;
        strbuf_format(out,
                      "complete -c attn-mt -n '__attn_mt_command %s; and __attn_mt_sets %s' -l set -x -a '",
                      writer->command->name, row->key);
        size_t start = out->length;
        add_choices(row, out);
        char *choices = mem_strdup(out->data + start);
        strbuf_cut(out, start);
        StrView rest = sv(choices), choice;
        while (sv_next(&rest, ' ', &choice)) strbuf_format(out, "%s=%.*s ", row->key, SV_ARG(choice));
        mem_free(choices);
        strbuf_add(out, SV("'\n"));
    }
}

static void fish_command(const Writer *writer, const char *usage, const OptionTable *tables) {
    fish_begin_line(writer);
    strbuf_add(writer->out, SV(" -l help -d 'show the options'\n"));
    FOR_ROWS(tables, row) fish_row(writer, row);
    if (takes_config(usage)) fish_keys(writer, tables);
    size_t before = writer->out->length;
    fish_begin_line(writer);
    strbuf_add(writer->out, SV(" -f -a '"));
    size_t start = writer->out->length;
    add_words(writer, usage);
    if (writer->out->length > start)
        strbuf_add(writer->out, SV("'\n"));
    else
        strbuf_cut(writer->out, before);
}

/* ---- the command ---- */

static const Shell SHELLS[] = {{"bash", BASH_BEGIN, BASH_END, bash_first, bash_command},
                               {"zsh", ZSH_BEGIN, ZSH_END, zsh_first, zsh_command},
                               {"fish", FISH_BEGIN, "", fish_first, fish_command}};

static const char USAGE[] =
    "Usage: attn-mt completion bash\n"
    "       attn-mt completion zsh\n"
    "       attn-mt completion fish\n"
    "\n"
    "Prints a script with which the shell completes commands, options, their values and file names.\n"
    "'make install' puts the three where the shells look for them.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  source <(attn-mt completion bash)       in ~/.bashrc\n"
                               "  source <(attn-mt completion zsh)        in ~/.zshrc, after compinit\n"
                               "  attn-mt completion fish | source        in ~/.config/fish/config.fish\n";

typedef struct {
    const Shell *shell;
    Writer writer;
} Reading;

static void read_help(void *context, const char *usage, const OptionTable *tables) {
    const Reading *reading = context;
    reading->shell->command(&reading->writer, usage, tables);
}

static Status write_script(const Shell *shell, StrBuf *out) {
    static const Command HELP = {.name = "help"};
    static const OptionTable NO_OPTIONS[] = {{0}};
    Status status = STATUS_OK;
    Reading reading = {shell, {out, NULL}};
    strbuf_add(out, sv(shell->begin));
    shell->first(COMMANDS, out);
    command_read_help(read_help, &reading);
    for (const Command *c = COMMANDS; c->name && status == STATUS_OK; c++) {
        char name[32] = {0}, *arguments[] = {name, (char[]){"--help"}, NULL};
        strncpy(name, c->name, sizeof name - 1);
        reading.writer.command = c;
        status = c->run(2, arguments);
    }
    command_read_help(NULL, NULL);
    reading.writer.command = &HELP;
    shell->command(&reading.writer, "", NO_OPTIONS);
    strbuf_add(out, sv(shell->end));
    return status;
}

static Status completion(const StrList *names) {
    StrBuf out = {0};
    if (names->count != 1) {
        status_fail(STATUS_USAGE, names->count ? "more than one shell given" : "no shell given");
        return status_hint(STATUS_USAGE, "attn-mt completion bash, zsh or fish");
    }
    for (size_t i = 0; i < sizeof SHELLS / sizeof *SHELLS; i++) {
        if (strcmp(SHELLS[i].name, names->items[0]) != 0) continue;
        Status status = write_script(&SHELLS[i], &out);
        if (status == STATUS_OK) status = command_print(strbuf_view(&out));
        strbuf_free(&out);
        return status;
    }
    status_fail(STATUS_USAGE, "no completion for the shell '%s'", names->items[0]);
    return status_hint(STATUS_USAGE, "attn-mt completion bash, zsh or fish");
}

Status cmd_completion(int argc, char **argv) {
    const OptionTable tables[] = {{0}};
    StrList names;
    bool help;
    Status status = options_parse(tables, argc, argv, false, &names, &help);
    if (status == STATUS_OK) status = help ? command_print_help(USAGE, tables, EXAMPLES) : completion(&names);
    mem_free(names.items);
    return status;
}
