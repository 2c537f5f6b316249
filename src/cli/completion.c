/* completion.c - what a row of an option table lets a shell offer. */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

ValueKind option_value_kind(const Option *row) {
    if (row->type == OPT_BOOL) return VALUE_NONE;
    if (row->choices) return VALUE_CHOICE;
    const char *arg = row->arg ? row->arg : "";
    if (strcmp(arg, "DIR") == 0) return VALUE_FOLDER;
    bool file = strncmp(arg, "FILE", 4) == 0 || strcmp(arg, "MODEL") == 0 || strcmp(arg, "PREFIX") == 0;
    return file ? VALUE_FILE : VALUE_OTHER;
}

bool option_is_new(const OptionTable *tables, const Option *row) {
    OptionFlag flag = option_flag(tables, row);
    FOR_ROWS(tables, before) {
        if (before == row) return true;
        if (strcmp(option_flag(tables, before).text, flag.text) == 0) return false;
    }
    return true;
}

bool completion_takes_config(const char *usage) { return strstr(usage, "--set KEY=VALUE") != NULL; }

void completion_add_choices(const Option *row, StrBuf *out) {
    const char *choices = row->type == OPT_BOOL ? "true|false" : row->choices;
    for (; *choices; choices++) strbuf_add_char(out, *choices == '|' ? ' ' : *choices);
}

bool option_has_set_choices(const Option *row) { return row->key && (row->choices || row->type == OPT_BOOL); }

void completion_add_words(const CompletionWriter *writer, const char *usage) {
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

void completion_add_escaped(const char *text, const char *special, const char *quote, StrBuf *out) {
    for (; text && *text; text++) {
        if (*text == '\'') {
            strbuf_add(out, sv(quote));
            continue;
        }
        if (strchr(special, *text)) strbuf_add_char(out, '\\');
        strbuf_add_char(out, *text);
    }
}
