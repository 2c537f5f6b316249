/* completion_zsh.c - the script for zsh. */
#include "cli/completion.h"

static const char BEGIN[] = "#compdef attn-mt\n"
                            "# zsh completion of attn-mt, written by 'attn-mt completion zsh'\n"
                            "_attn-mt() {\n"
                            "    local curcontext=$curcontext state line ret=1\n"
                            "    typeset -A opt_args\n";
static const char END[] = "    esac\n"
                          "    return ret\n"
                          "}\n"
                          "if [[ $funcstack[1] == _attn-mt ]]; then\n"
                          "    _attn-mt \"$@\"\n"
                          "else\n"
                          "    compdef _attn-mt attn-mt\n"
                          "fi\n";

static void zsh_text(const char *text, StrBuf *out) { completion_add_escaped(text, "[]:\\", "'\\''", out); }

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

static void zsh_row(const OptionTable *tables, const Option *row, StrBuf *out) {
    OptionFlag flag = option_flag(tables, row);
    ValueKind kind = option_value_kind(row);
    bool repeats = row->type == OPT_LIST;
    const char *joint = kind == VALUE_NONE ? "" : row->implied_value ? "=-" : "=";
    strbuf_format(out, " \\\n            '%s", repeats ? "*" : "");
    if (row->letter && !repeats) strbuf_format(out, "(-%c --%s)", row->letter, flag.text);
    if (row->letter) strbuf_format(out, "'{-%c%s,", row->letter, kind == VALUE_NONE ? "" : "+");
    strbuf_format(out, "--%s%s%s%s[", option_is_on(row) ? "no-" : "", flag.text, joint,
                  row->letter ? "}'" : "");
    zsh_text(row->help, out);
    strbuf_add_char(out, ']');
    if (kind != VALUE_NONE)
        strbuf_format(out, "%s%s:", row->implied_value ? "::" : ":", row->arg ? row->arg : "N");
    if (kind == VALUE_FILE) strbuf_add(out, SV("_files"));
    if (kind == VALUE_FOLDER) strbuf_add(out, SV("_directories"));
    if (kind == VALUE_CHOICE) {
        strbuf_add_char(out, '(');
        completion_add_choices(row, out);
        strbuf_add_char(out, ')');
    }
    strbuf_add_char(out, '\'');
}

static void zsh_keys(const OptionTable *tables, StrBuf *out) {
    strbuf_add(out, SV("        if [[ $state == keys ]]; then\n"
                       "            if compset -P '*='; then\n"
                       "                case $IPREFIX in\n"));
    FOR_ROWS(tables, row) {
        if (!option_has_set_choices(row)) continue;
        strbuf_format(out, "                *%s=) compadd -- ", row->key);
        completion_add_choices(row, out);
        strbuf_add(out, SV(" && ret=0 ;;\n"));
    }
    strbuf_add(out, SV("                *) _files && ret=0 ;;\n                esac\n            else\n"
                       "                compadd -S = --"));
    FOR_ROWS(tables, row) {
        if (row->key) strbuf_format(out, " \\\n                    %s", row->key);
    }
    strbuf_add(out, SV(" && ret=0\n            fi\n        fi\n"));
}

static void zsh_command(const CompletionWriter *writer, const char *usage, const OptionTable *tables) {
    StrBuf *out = writer->out;
    strbuf_format(out, "    %s)\n        _arguments -s -S '--help[show the options]'", writer->command->name);
    FOR_ROWS(tables, row) {
        if (option_is_new(tables, row)) zsh_row(tables, row, out);
    }
    if (completion_takes_config(usage))
        strbuf_add(out, SV(" \\\n            '*'{-c+,--config=}'[read a JSON configuration]:FILE:_files'"
                           " \\\n            '*--set=[set one key of the configuration]:KEY=VALUE:->keys'"));
    size_t before = out->length;
    strbuf_add(out, SV(" \\\n            '1: :("));
    size_t start = out->length;
    completion_add_words(writer, usage);
    if (out->length > start)
        strbuf_add(out, SV(" )'"));
    else
        strbuf_cut(out, before);
    strbuf_add(out, SV(" \\\n            '*:file:_files' && ret=0\n"));
    if (completion_takes_config(usage)) zsh_keys(tables, out);
    strbuf_add(out, SV("        ;;\n"));
}

const Shell SHELL_ZSH = {"zsh", BEGIN, END, zsh_first, zsh_command};
