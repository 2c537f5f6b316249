/* completion_fish.c - the script for fish. */
#include "cli/completion.h"

#include "base/mem.h"

static const char BEGIN[] = "# fish completion of attn-mt, written by 'attn-mt completion fish'\n"
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

static void fish_text(const char *text, StrBuf *out) { completion_add_escaped(text, "\\", "\\'", out); }

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

static void fish_begin_line(const CompletionWriter *writer) {
    strbuf_format(writer->out, "complete -c attn-mt -n '__attn_mt_command %s'", writer->command->name);
}

static void fish_row(const CompletionWriter *writer, const OptionTable *tables, const Option *row) {
    StrBuf *out = writer->out;
    fish_begin_line(writer);
    if (row->letter) strbuf_format(out, " -s %c", row->letter);
    strbuf_format(out, " -l %s%s", option_is_on(row) ? "no-" : "", option_flag(tables, row).text);
    ValueKind kind = option_value_kind(row);
    if (kind == VALUE_FILE) strbuf_add(out, row->implied_value ? SV(" -F") : SV(" -r -F"));
    if (kind == VALUE_FOLDER) strbuf_add(out, SV(" -x -a '(__fish_complete_directories)'"));
    if (kind == VALUE_OTHER && !row->implied_value) strbuf_add(out, SV(" -x"));
    if (kind == VALUE_CHOICE) {
        strbuf_add(out, row->implied_value ? SV(" -f -a '") : SV(" -x -a '"));
        completion_add_choices(row, out);
        strbuf_add_char(out, '\'');
    }
    strbuf_add(out, SV(" -d '"));
    fish_text(row->help, out);
    strbuf_add(out, SV("'\n"));
}

static void fish_keys(const CompletionWriter *writer, const OptionTable *tables) {
    StrBuf *out = writer->out;
    fish_begin_line(writer);
    strbuf_add(out, SV(" -s c -l config -r -F -d 'read a JSON configuration'\n"));
    FOR_ROWS(tables, row) {
        if (!row->key) continue;
        fish_begin_line(writer);
        strbuf_format(out, " -l set -x -a '%s=' -d '", row->key);
        fish_text(row->help, out);
        strbuf_add(out, SV("'\n"));
        if (!option_has_set_choices(row)) continue;
        strbuf_format(out,
                      "complete -c attn-mt -n '__attn_mt_command %s; and __attn_mt_sets %s' -l set -x -a '",
                      writer->command->name, row->key);
        size_t start = out->length;
        completion_add_choices(row, out);
        char *choices = mem_strdup(out->data + start);
        strbuf_cut(out, start);
        StrView rest = sv(choices), choice;
        while (sv_next(&rest, ' ', &choice)) strbuf_format(out, "%s=%.*s ", row->key, SV_ARG(choice));
        mem_free(choices);
        strbuf_add(out, SV("'\n"));
    }
}

static void fish_command(const CompletionWriter *writer, const char *usage, const OptionTable *tables) {
    fish_begin_line(writer);
    strbuf_add(writer->out, SV(" -l help -d 'show the options'\n"));
    FOR_ROWS(tables, row) {
        if (option_is_new(tables, row)) fish_row(writer, tables, row);
    }
    if (completion_takes_config(usage)) fish_keys(writer, tables);
    size_t before = writer->out->length;
    fish_begin_line(writer);
    strbuf_add(writer->out, SV(" -f -a '"));
    size_t start = writer->out->length;
    completion_add_words(writer, usage);
    if (writer->out->length > start)
        strbuf_add(writer->out, SV("'\n"));
    else
        strbuf_cut(writer->out, before);
}

const Shell SHELL_FISH = {"fish", BEGIN, "", fish_first, fish_command};
