/* options_json.c - options in configuration files: an object of sections, each an object of names. */
#include "base/options.h"

#include <stdio.h>
#include <string.h>
#include "base/fileio.h"
#include "base/options_value.h"

enum { CONFIG_LIMIT = 1 << 20 };

static Status read_member(const OptionTable *tables, const Json *member, const char *section) {
    StrBuf key = {0};
    strbuf_format(&key, "%s%s%s", section ? section : "", section ? "." : "", json_key(member));
    void *field;
    const Option *row = option_by_key(tables, strbuf_view(&key), &field);
    Status status;
    if (row) {
        char name[160];
        snprintf(name, sizeof name, "key '%.140s'", strbuf_text(&key));
        status = option_from_json(row, field, member, name);
    } else {
        status = option_unknown_key(tables, strbuf_view(&key));
    }
    strbuf_free(&key);
    return status;
}

/* `section` and `name` say where reading stopped. */
static Status read_sections(const OptionTable *tables, const Json *object, const char **section,
                            const char **name) {
    *section = *name = NULL;
    if (json_type(object) != JSON_OBJECT)
        return status_fail(STATUS_USAGE, "a configuration must be an object of sections");
    for (const Json *part = json_first(object); part; part = json_after(part)) {
        *section = NULL;
        *name = json_key(part);
        if (json_type(part) != JSON_OBJECT) {
            TRY(read_member(tables, part, NULL));
            continue;
        }
        for (const Json *member = json_first(part); member; member = json_after(member)) {
            *section = json_key(part);
            *name = json_key(member);
            TRY(read_member(tables, member, *section));
        }
    }
    return STATUS_OK;
}

Status options_read_json(const OptionTable *tables, const Json *object) {
    const char *section, *name;
    return read_sections(tables, object, &section, &name);
}

Status options_read_file(const OptionTable *tables, const char *path) {
    StrBuf text = {0};
    Json *root = NULL;
    Status status = file_read(path, CONFIG_LIMIT, &text);
    if (status == STATUS_OK) {
        status = json_parse(&root, strbuf_view(&text), true);
        if (status != STATUS_OK) {
            status = status_context(STATUS_USAGE, "config '%s'", path);
        } else {
            const char *section, *name;
            status = read_sections(tables, root, &section, &name);
            int line = status != STATUS_OK && name ? json_line(strbuf_view(&text), section, name) : 0;
            if (line > 0)
                status_context(status, "config '%s' line %d", path, line);
            else if (status != STATUS_OK)
                status_context(status, "config '%s'", path);
        }
    }
    json_free(root);
    strbuf_free(&text);
    return status;
}

static StrView section_of(const Option *row) {
    const char *dot = strchr(row->key, '.');
    return dot ? (StrView){row->key, (size_t)(dot - row->key)} : (StrView){row->key, 0};
}

/* Is there an earlier row of the same section, so that the section has been written? */
static bool section_done(const OptionTable *tables, const Option *until) {
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (row == until) return false;
            if (row->key && sv_equal(section_of(row), section_of(until))) return true;
        }
    }
    return false;
}

/* The members of one section; returns how many. With `out` NULL they are only counted. */
static int write_section(const OptionTable *tables, StrView section, bool minimal, StrBuf *out) {
    int count = 0;
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            const void *field = option_field(table, row);
            if (!row->key || !sv_equal(section_of(row), section)) continue;
            if (minimal && option_is_default(row, field)) continue;
            if (out) {
                const char *name = section.length ? row->key + section.length + 1 : row->key;
                strbuf_add(out, count ? SV(",\n") : SV("\n"));
                strbuf_add(out, section.length ? SV("    ") : SV("  "));
                json_write_string(out, sv(name));
                strbuf_add(out, SV(": "));
                option_to_json(row, field, out);
            }
            count++;
        }
    }
    return count;
}

void options_write_json(const OptionTable *tables, bool minimal, StrBuf *out) {
    strbuf_add_char(out, '{');
    bool first = write_section(tables, (StrView){"", 0}, minimal, out) == 0;
    for (const OptionTable *table = tables; table->rows; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (!row->key) continue;
            StrView section = section_of(row);
            if (section.length == 0 || section_done(tables, row)) continue;
            if (write_section(tables, section, minimal, NULL) == 0) continue;
            strbuf_add(out, first ? SV("\n  ") : SV(",\n  "));
            json_write_string(out, section);
            strbuf_add(out, SV(": {"));
            write_section(tables, section, minimal, out);
            strbuf_add(out, SV("\n  }"));
            first = false;
        }
    }
    strbuf_add(out, SV("\n}\n"));
}
