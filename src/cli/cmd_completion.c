/* cmd_completion.c - attn-mt completion: completes the program's own command line for bash, zsh and fish.
 *
 * A shell reads a script of a few lines. The script calls `attn-mt completion line WORD...` with the words up
 * to the cursor, the last of which is to be completed, and reads an answer of lines. The first line is
 *
 *   words     the other lines are candidates, WORD TAB HELP, which begin with the last word
 *   keys      the same, but the shell adds no space after a candidate
 *   files     the shell completes the name of a file; the second line is the part of the last word that comes
 *             before this name, such as "--output="
 *   folders   the same for folders
 *   nothing   there are no candidates
 *
 * Options come from the tables that --help prints: the command is asked for its help, and command_read_help
 * catches its usage and its tables.
 */
#include <ctype.h>
#include <string.h>
#include "base/mem.h"
#include "io/options.h"
#include "cli/command_io.h"
#include "cli/commands.h"

static const char USAGE[] = "Usage: attn-mt completion bash\n"
                            "       attn-mt completion zsh\n"
                            "       attn-mt completion fish\n"
                            "\n"
                            "Prints a script with which the shell completes commands, options, their values\n"
                            "and file names. 'make install' installs all three.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  source <(attn-mt completion bash)       in ~/.bashrc\n"
                               "  source <(attn-mt completion zsh)        in ~/.zshrc, after compinit\n"
                               "  attn-mt completion fish | source        in ~/.config/fish/config.fish\n";

static const char BASH[] =
    "# bash completion of attn-mt, written by 'attn-mt completion bash'\n"
    "_attn_mt() {\n"
    "    local lines before= line=${COMP_LINE:0:COMP_POINT} word=${COMP_WORDS[COMP_CWORD]}\n"
    "    mapfile -t lines < <(\"$1\" completion line \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "    # If bash splits words at \"=\", it replaces only what comes after the last one.\n"
    "    line=${line##* }\n"
    "    [[ $COMP_WORDBREAKS != *=* || $line != *=* ]] || before=${line%=*}=\n"
    "    [[ $word != = ]] || word=\n"
    "    COMPREPLY=()\n"
    "    case ${lines[0]} in\n"
    "    words | keys)\n"
    "        [[ ${lines[0]} != keys ]] || compopt -o nospace 2>/dev/null\n"
    "        lines=(\"${lines[@]:1}\")\n"
    "        lines=(\"${lines[@]%%$'\\t'*}\")\n"
    "        COMPREPLY=(\"${lines[@]#\"$before\"}\")\n"
    "        ;;\n"
    "    files) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    folders) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
    "    esac\n"
    "    [[ ${lines[0]} != f* ]] || compopt -o filenames 2>/dev/null\n"
    "}\n"
    "complete -F _attn_mt attn-mt\n";

static const char ZSH[] =
    "#compdef attn-mt\n"
    "# zsh completion of attn-mt, written by 'attn-mt completion zsh'\n"
    "_attn-mt() {\n"
    "    local -a lines candidates\n"
    "    lines=(\"${(@f)$($words[1] completion line \"${(@Q)words[2,CURRENT-1]}\" \"$PREFIX\" "
    "2>/dev/null)}\")\n"
    "    candidates=(${lines[2,-1]/$'\\t'/:})\n"
    "    case $lines[1] in\n"
    "    words) _describe attn-mt candidates ;;\n"
    "    keys) _describe attn-mt candidates -S '' ;;\n"
    "    files) compset -P \"${(b)lines[2]}\"; _files ;;\n"
    "    folders) compset -P \"${(b)lines[2]}\"; _files -/ ;;\n"
    "    esac\n"
    "}\n"
    "if [[ $funcstack[1] == _attn-mt ]]; then\n"
    "    _attn-mt \"$@\"\n"
    "else\n"
    "    compdef _attn-mt attn-mt\n"
    "fi\n";

static const char FISH[] =
    "# fish completion of attn-mt, written by 'attn-mt completion fish'\n"
    "function __attn_mt_complete\n"
    "    set -l word (commandline -ct)\n"
    "    set -l words (commandline -opc) \"$word\"\n"
    "    set -l lines ($words[1] completion line $words[2..-1] 2>/dev/null)\n"
    "    set -l path (string sub -s (math 1 + (string length -- \"$lines[2]\")) -- \"$word\")\n"
    "    switch \"$lines[1]\"\n"
    "        case words keys\n"
    "            string join \\n -- $lines[2..-1]\n"
    "        case files\n"
    "            string join \\n -- \"$lines[2]\"(__fish_complete_path \"$path\")\n"
    "        case folders\n"
    "            string join \\n -- \"$lines[2]\"(__fish_complete_directories \"$path\" '')\n"
    "    end\n"
    "end\n"
    "complete -c attn-mt -f -a '(__attn_mt_complete)'\n";

static const struct { const char *name, *script; } SHELLS[] = {{"bash", BASH}, {"zsh", ZSH}, {"fish", FISH}};

#define FOR_ROWS(tables_, row_)                                                                              \
    for (const OptionTable *table_ = (tables_); table_->rows; table_++)                                      \
        for (const Option *row_ = table_->rows; !option_row_ends(row_); row_++)

typedef struct {
    const StrList *words; /* the words up to the cursor, without "attn-mt" */
    StrBuf *out;
} Line;

static StrView last_word(const Line *line) { return sv(line->words->items[line->words->count - 1]); }

static StrView skip(StrView text, size_t count) { return (StrView){text.data + count, text.length - count}; }

/* Up to and with the first "="; empty if there is none. */
static StrView through_equals(StrView text) {
    const char *equals = text.length ? memchr(text.data, '=', text.length) : NULL;
    return equals ? (StrView){text.data, (size_t)(equals + 1 - text.data)} : (StrView){text.data, 0};
}

/* Adds the candidate `before` + `word` if it begins with the last word. */
static void offer(const Line *line, StrView before, StrView word, const char *help) {
    StrBuf candidate = {0};
    strbuf_format(&candidate, "%.*s%.*s", SV_ARG(before), SV_ARG(word));
    if (sv_starts(strbuf_view(&candidate), last_word(line)))
        strbuf_format(line->out, "%s\t%s\n", strbuf_text(&candidate), help ? help : "");
    strbuf_free(&candidate);
}

static void offer_files(const Line *line, const char *kind, StrView before) {
    strbuf_format(line->out, "%s\n%.*s\n", kind, SV_ARG(before));
}

static void offer_commands(const Line *line) {
    strbuf_add(line->out, SV("words\n"));
    for (const Command *c = COMMANDS; c->name; c++) offer(line, SV(""), sv(c->name), c->help);
}

static void offer_choices(const Line *line, StrView before, const Option *row) {
    StrView rest = row->type == OPT_BOOL ? SV("true|false") : sv(row->choices), choice;
    strbuf_add(line->out, SV("words\n"));
    while (sv_next(&rest, '|', &choice)) offer(line, before, choice, "");
}

/* The value of an option; `before` is the part of the last word that comes before the value. */
static void offer_value(const Line *line, StrView before, const Option *row) {
    const char *arg = row->arg ? row->arg : "";
    if (row->choices)
        offer_choices(line, before, row);
    else if (strcmp(arg, "DIR") == 0)
        offer_files(line, "folders", before);
    else if (strncmp(arg, "FILE", 4) == 0 || strcmp(arg, "MODEL") == 0 || strcmp(arg, "PREFIX") == 0)
        offer_files(line, "files", before);
    else
        strbuf_add(line->out, SV("nothing\n"));
}

/* The argument of --set, KEY=VALUE, which follows `before` in the last word. */
static void offer_setting(const Line *line, StrView before, const OptionTable *tables) {
    StrView word = last_word(line), key = through_equals(skip(word, before.length));
    if (key.length > 0) {
        void *field;
        const Option *row = option_by_key(tables, (StrView){key.data, key.length - 1}, &field);
        StrView before_value = {word.data, before.length + key.length};
        if (row && (row->choices || row->type == OPT_BOOL))
            offer_choices(line, before_value, row);
        else
            offer_files(line, "files", before_value);
        return;
    }
    strbuf_add(line->out, SV("keys\n"));
    FOR_ROWS(tables, row) {
        if (!row->key) continue;
        StrBuf text = {0};
        strbuf_format(&text, "%s=", row->key);
        offer(line, before, strbuf_view(&text), row->help);
        strbuf_free(&text);
    }
}

/* No earlier row has the same flag: several tables of `demo` may have one. */
static bool is_first(const OptionTable *tables, const Option *row) {
    OptionFlag flag = option_flag(tables, row);
    FOR_ROWS(tables, earlier) {
        if (earlier == row) return true;
        if (strcmp(option_flag(tables, earlier).text, flag.text) == 0) return false;
    }
    return true;
}

static void offer_flags(const Line *line, const OptionTable *tables, bool takes_config) {
    strbuf_add(line->out, SV("words\n"));
    offer(line, SV("--"), SV("help"), "show the options");
    if (takes_config) {
        offer(line, SV("--"), SV("config"), "read a JSON configuration");
        offer(line, SV("--"), SV("set"), "set one key of the configuration");
    }
    FOR_ROWS(tables, row) {
        if (is_first(tables, row))
            offer(line, option_is_on(row) ? SV("--no-") : SV("--"), sv(option_flag(tables, row).text),
                  row->help);
    }
}

/* The words that may follow the command, such as "positions": lower-case words of its usage lines. False if
 * there are none. */
static bool offer_usage_words(const Line *line, const char *usage) {
    StrBuf command = {0};
    size_t length_before = line->out->length;
    bool any = false;
    strbuf_add(line->out, SV("words\n"));
    strbuf_format(&command, "attn-mt %s ", line->words->items[0]);
    for (const char *at = strstr(usage, strbuf_text(&command)); at; at = strstr(at, strbuf_text(&command))) {
        size_t length = 0;
        at += command.length;
        while (islower((unsigned char)at[length])) length++;
        if (length > 0) offer(line, SV(""), (StrView){at, length}, "");
        any = any || length > 0;
    }
    if (!any) strbuf_cut(line->out, length_before);
    strbuf_free(&command);
    return any;
}

/* The row of "--beam-size", "-beam-size" or "-b"; NULL if there is none. */
static const Option *find_row(const OptionTable *tables, StrView option) {
    if (!sv_starts(option, SV("-"))) return NULL;
    StrView name = skip(option, sv_starts(option, SV("--")) ? 2 : 1);
    FOR_ROWS(tables, row) {
        if (sv_equal(name, sv(option_flag(tables, row).text))) return row;
        if (row->alias && sv_equal(name, sv(row->alias))) return row;
        if (name.length == 1 && row->letter == name.data[0]) return row;
    }
    return NULL;
}

static bool is_config(StrView option) {
    return sv_equal(option, SV("--config")) || sv_equal(option, SV("-c"));
}

/* A HelpReader: completes the words after the command. */
static void complete_arguments(void *context, const char *usage, const OptionTable *tables) {
    const Line *line = context;
    const size_t count = line->words->count;
    const bool takes_config = strstr(usage, "--set KEY=VALUE") != NULL;
    StrView word = last_word(line), before = sv_starts(word, SV("--")) ? through_equals(word) : SV("");
    /* The option whose value is completed, if there is one: "--option=" or the word before the last one. */
    StrView option = before.length ? (StrView){before.data, before.length - 1}
                     : count > 2   ? sv(line->words->items[count - 2])
                                   : SV("");
    const Option *row = find_row(tables, option);
    if (takes_config && sv_equal(option, SV("--set")))
        offer_setting(line, before, tables);
    else if (takes_config && is_config(option))
        offer_files(line, "files", before);
    else if (row && row->type != OPT_BOOL && (before.length > 0 || !row->implied_value))
        offer_value(line, before, row);
    else if (sv_starts(word, SV("-")))
        offer_flags(line, tables, takes_config);
    else if (count > 2 || !offer_usage_words(line, usage))
        offer_files(line, "files", SV(""));
}

static Status complete_line(const Line *line) {
    const char *first = line->words->items[0];
    if (line->words->count == 1) {
        offer_commands(line);
        offer(line, SV(""), SV("help"), "show the options of a command");
        offer(line, SV(""), SV("--help"), "list the commands");
        offer(line, SV(""), SV("--version"), "show the version");
        return STATUS_OK;
    }
    if (strcmp(first, "help") == 0) {
        offer_commands(line);
        return STATUS_OK;
    }
    Status status = STATUS_OK;
    char *arguments[] = {line->words->items[0], (char[]){"--help"}, NULL};
    command_read_help(complete_arguments, (void *)line);
    for (const Command *c = COMMANDS; c->name; c++)
        if (strcmp(c->name, first) == 0) status = c->run(2, arguments);
    command_read_help(NULL, NULL);
    return status;
}

/* Copies the words; bash splits them at "=", and here "--set", "a", "=", "b" becomes "--set", "a=b". */
static void join_words(StrList *words, int argc, char **argv) {
    bool joins = false;
    for (int i = 0; i < argc; i++) {
        bool equals = strcmp(argv[i], "=") == 0;
        if (words->count > 0 && (equals || joins)) {
            StrBuf line = {0};
            strbuf_format(&line, "%s%s", words->items[words->count - 1], argv[i]);
            mem_free(words->items[--words->count]);
            strlist_add(words, strbuf_view(&line));
            strbuf_free(&line);
        } else {
            strlist_add(words, sv(argv[i]));
        }
        joins = equals;
    }
    if (words->count == 0) strlist_add(words, SV(""));
}

static Status run_line(int argc, char **argv) {
    StrList words = {0};
    StrBuf out = {0};
    join_words(&words, argc, argv);
    Status status = complete_line(&(Line){&words, &out});
    if (status == STATUS_OK) status = command_print(strbuf_view(&out));
    strlist_free(&words);
    strbuf_free(&out);
    return status;
}

static Status run(const StrList *names, const void *options) {
    (void)options;
    if (names->count != 1) {
        status_fail(STATUS_USAGE, names->count ? "more than one shell given" : "no shell given");
        return status_hint(STATUS_USAGE, "attn-mt completion bash, zsh or fish");
    }
    for (size_t i = 0; i < sizeof SHELLS / sizeof *SHELLS; i++)
        if (strcmp(SHELLS[i].name, names->items[0]) == 0) return command_print(sv(SHELLS[i].script));
    status_fail(STATUS_USAGE, "no completion for the shell '%s'", names->items[0]);
    return status_hint(STATUS_USAGE, "attn-mt completion bash, zsh or fish");
}

Status cmd_completion(int argc, char **argv) {
    const OptionTable none[] = {{0}};
    if (argc > 1 && strcmp(argv[1], "line") == 0) return run_line(argc - 2, argv + 2);
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, none, run);
}
