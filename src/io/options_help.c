/* options_help.c - the table of options as text for people. */
#include "io/options.h"

#include <string.h>
#include "base/utf8.h"

/* The column of the help beside an option, and of help below its option if the first one would leave less
 * than MIN_COLUMNS columns. */
enum { HELP_COLUMN = 30, HELP_BELOW = 8, MIN_COLUMNS = 40 };

static void add_spaces(StrBuf *out, size_t count) {
    while (count-- > 0) strbuf_add_char(out, ' ');
}

/* Adds the words of `text` in columns indent .. width - 1; the indent of the first line is already there. */
static void add_wrapped(StrBuf *out, StrView text, size_t indent, size_t width) {
    size_t column = indent;
    StrView word;
    for (bool first = true; sv_next(&text, ' ', &word);) {
        size_t length = utf8_count(word);
        if (length == 0) continue;
        if (!first && column + 1 + length > width) {
            strbuf_add_char(out, '\n');
            add_spaces(out, indent);
            column = indent;
            first = true;
        }
        if (!first) strbuf_add_char(out, ' ');
        strbuf_add(out, word);
        column += length + !first;
        first = false;
    }
    strbuf_add_char(out, '\n');
}

static const char *value_name(const Option *row) {
    if (row->arg) return row->arg;
    if (row->choices) return row->choices;
    switch (row->type) {
    case OPT_INT:
    case OPT_LONG:
        return "N";
    case OPT_REAL:
        return "X";
    default:
        return "TEXT";
    }
}

/* "  -b, --beam-size N" */
static void add_usage(StrBuf *out, const OptionTable *tables, const Option *row) {
    if (row->letter)
        strbuf_format(out, "  -%c, ", row->letter);
    else
        strbuf_add(out, SV("      "));
    strbuf_format(out, "--%s%s", option_is_on(row) ? "[no-]" : "", option_flag(tables, row).text);
    if (row->implied_value)
        strbuf_format(out, "[=%s]", value_name(row));
    else if (row->type != OPT_BOOL)
        strbuf_format(out, " %s", value_name(row));
}

static bool shows_default(const Option *row) {
    return row->default_text && row->default_text[0] && strcmp(row->default_text, "false") != 0;
}

/* The help up to its first semicolon before a space. */
static StrView first_clause(const Option *row) {
    const char *help = row->help ? row->help : "", *end = strstr(help, "; ");
    return end ? (StrView){help, (size_t)(end - help)} : sv(help);
}

static void add_choices(StrBuf *help, const char *choices) {
    StrView rest = sv(choices), choice;
    for (bool first = true; sv_next(&rest, '|', &choice); first = false)
        strbuf_format(help, "%s%.*s", first ? "" : ", ", SV_ARG(choice));
}

/* What follows the help: " (text.tokenizer: bpe, word; default: bpe)" */
static void add_facts(StrBuf *help, const Option *row, HelpKind kind) {
    size_t start = help->length;
    if (kind == HELP_ALL && row->key) strbuf_format(help, "; %s", row->key);
    if (row->choices && row->arg) {
        strbuf_add(help, help->length > start ? SV(": ") : SV("; "));
        add_choices(help, row->choices);
    }
    if (row->type == OPT_LIST && kind == HELP_ALL) strbuf_add(help, SV("; may be repeated"));
    if (shows_default(row))
        strbuf_format(help, "; default: %s", row->type == OPT_BOOL ? "on" : row->default_text);
    if (help->length == start) return;
    memcpy(help->data + start, " (", 2);
    strbuf_add_char(help, ')');
}

static void add_row(StrBuf *out, const OptionTable *tables, const Option *row, HelpKind kind, size_t indent,
                    size_t width) {
    StrBuf usage = {0}, help = {0};
    add_usage(&usage, tables, row);
    strbuf_add(&help, kind == HELP_SHORT ? first_clause(row) : sv(row->help ? row->help : ""));
    add_facts(&help, row, kind);
    strbuf_add(out, strbuf_view(&usage));
    size_t used = utf8_count(strbuf_view(&usage));
    if (used + 2 > indent) {
        strbuf_add_char(out, '\n');
        used = 0;
    }
    add_spaces(out, indent - used);
    add_wrapped(out, strbuf_view(&help), indent, width);
    strbuf_free(&usage);
    strbuf_free(&help);
}

/* ---- text around the rows ---- */

static size_t leading_spaces(StrView line) {
    size_t n = 0;
    while (n < line.length && line.data[n] == ' ') n++;
    return n;
}

/* Where the lines that continue this one begin: at its second column, "Usage: " or "  name    ", else at its
 * first word. */
static size_t hanging_indent(StrView line) {
    size_t indent = leading_spaces(line);
    if (sv_starts(line, SV("Usage: "))) return strlen("Usage: ");
    for (size_t i = indent; indent > 0 && i + 1 < line.length; i++)
        if (line.data[i] == ' ' && line.data[i + 1] == ' ')
            return i + leading_spaces((StrView){line.data + i, line.length - i});
    return indent;
}

/* Is `next` the rest of a line that was full? */
static bool continues(StrView line, StrView next, size_t indent) {
    StrView rest = {next.data + leading_spaces(next), next.length - leading_spaces(next)}, word;
    return line.length > 0 && rest.length > 0 && !sv_starts(rest, SV("attn-mt ")) &&
           leading_spaces(next) == indent && sv_next(&rest, ' ', &word) &&
           utf8_count(line) + 1 + utf8_count(word) > HELP_WIDTH;
}

void options_add_text(StrView text, int width, StrBuf *out) {
    if (width >= HELP_WIDTH) {
        strbuf_add(out, text);
        return;
    }
    size_t columns = width < HELP_BELOW + MIN_COLUMNS ? HELP_BELOW + MIN_COLUMNS : (size_t)width;
    StrBuf whole = {0};
    StrView rest = text, line;
    while (rest.length > 0 && sv_next(&rest, '\n', &line)) {
        size_t hang = hanging_indent(line), first = leading_spaces(line);
        strbuf_clear(&whole);
        strbuf_add(&whole, line);
        for (StrView after = rest, next; sv_next(&after, '\n', &next) && continues(line, next, hang);
             rest = after, line = next)
            strbuf_format(&whole, " %.*s", (int)(next.length - hang), next.data + hang);
        StrView all = strbuf_view(&whole);
        size_t head = hang < all.length ? hang : all.length; /* stays as it is */
        if (hang > HELP_BELOW + HELP_BELOW) head = hang = first;
        strbuf_add(out, (StrView){all.data, head});
        add_wrapped(out, (StrView){all.data + head, all.length - head}, hang, columns);
    }
    strbuf_free(&whole);
}

bool options_have_short_help(const OptionTable *tables) {
    bool has_common = false, has_others = false;
    for (const OptionTable *table = tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++)
            *(row->common ? &has_common : &has_others) = true;
    return has_common && has_others;
}

void options_write_help(const OptionTable *tables, int width, HelpKind kind, StrBuf *out) {
    size_t indent = width < HELP_COLUMN + MIN_COLUMNS ? HELP_BELOW : HELP_COLUMN;
    size_t columns = width < HELP_BELOW + MIN_COLUMNS ? HELP_BELOW + MIN_COLUMNS : (size_t)width;
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (kind == HELP_SHORT && !row->common) continue;
            if (kind == HELP_ALL && row->group)
                strbuf_format(out, "%s%s:\n", out->length ? "\n" : "", row->group);
            add_row(out, tables, row, kind, indent, columns);
        }
    }
}
