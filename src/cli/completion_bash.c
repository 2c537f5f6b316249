/* completion_bash.c - the script for bash. */
#include "cli/completion.h"

static const char BEGIN[] = "# bash completion of attn-mt, written by 'attn-mt completion bash'\n"
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

static const char END[] = "    esac\n"
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
static void bash_value(const OptionTable *tables, const Option *row, StrBuf *out) {
    static const char *const KINDS[] = {"", "values", "folders", "paths", "nothing"};
    ValueKind kind = option_value_kind(row);
    if (kind == VALUE_NONE) return;
    OptionFlag flag = option_flag(tables, row);
    strbuf_format(out, "        --%s=", flag.text);
    if (row->alias) strbuf_format(out, " | --%s=", row->alias);
    if (!row->implied_value) {
        strbuf_format(out, " | --%s", flag.text);
        if (row->alias) strbuf_format(out, " | --%s", row->alias);
        if (row->letter) strbuf_format(out, " | -%c", row->letter);
    }
    strbuf_format(out, ") kind=%s", KINDS[kind]);
    if (kind == VALUE_CHOICE) {
        strbuf_add(out, SV(" values='"));
        completion_add_choices(row, out);
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
        if (!option_has_set_choices(row)) continue;
        strbuf_format(out, "            %s=*) values='", row->key);
        completion_add_choices(row, out);
        strbuf_add(out, SV("' ;;\n"));
    }
    strbuf_add(out, SV("            esac\n            ;;\n"));
}

static void bash_command(const CompletionWriter *writer, const char *usage, const OptionTable *tables) {
    StrBuf *out = writer->out;
    strbuf_format(out, "    %s)\n        values='", writer->command->name);
    completion_add_words(writer, usage);
    strbuf_add(out, SV("'\n        [[ $n -ne 3 || -z $values || $current == -* ]] || kind=values\n"
                       "        flags='--help"));
    if (completion_takes_config(usage)) strbuf_add(out, SV(" --config --set"));
    FOR_ROWS(tables, row) {
        if (option_is_new(tables, row))
            strbuf_format(out, " --%s%s", option_is_on(row) ? "no-" : "", option_flag(tables, row).text);
    }
    strbuf_add(out, SV("'\n        case $previous in\n"));
    FOR_ROWS(tables, row) {
        if (option_is_new(tables, row)) bash_value(tables, row, out);
    }
    if (completion_takes_config(usage)) bash_keys(tables, out);
    strbuf_add(out, SV("        esac\n        ;;\n"));
}

const Shell SHELL_BASH = {"bash", BEGIN, END, bash_first, bash_command};
