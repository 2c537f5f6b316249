/* options_json.c - configuration files: an object of sections; a section has options and sections. */
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "io/json_write.h"
#include "io/options.h"

enum { CONFIG_LIMIT = 1 << 20 };

/* The member of the object `path` that contains the row: for "model" and the row "model.decoder.style" it is
 * "decoder". Empty if the row is not in that object. */
static StrView member_of(const Option *row, StrView path) {
    StrView rest = sv(row->key ? row->key : ""), name;
    if (path.length) {
        if (!sv_starts(rest, path) || rest.data[path.length] != '.') return (StrView){rest.data, 0};
        rest = (StrView){rest.data + path.length + 1, rest.length - path.length - 1};
    }
    sv_next(&rest, '.', &name);
    return name;
}

/* Is there a key in the section `path`? */
static bool is_section(const OptionTable *tables, StrView path) {
    for (const OptionTable *table = tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++)
            if (member_of(row, path).length) return true;
    return false;
}

/* `path` is the key of the object; on failure it becomes the key of the member where reading stopped. */
static Status read_object(const OptionTable *tables, const Json *object, StrBuf *path,
                          UserOptions *user_options) {
    size_t length = path->length;
    if (json_type(object) != JSON_OBJECT)
        return status_fail(STATUS_USAGE, "a configuration must be an object of sections");
    for (const Json *member = json_first(object); member; member = json_after(member)) {
        strbuf_cut(path, length);
        strbuf_format(path, "%s%s", length ? "." : "", json_key(member));
        void *field;
        const Option *row = option_by_key(tables, strbuf_view(path), &field);
        bool section = !row && is_section(tables, strbuf_view(path));
        if (!row && json_type(member) == JSON_OBJECT && (section || json_first(member))) {
            TRY(read_object(tables, member, path, user_options));
            continue;
        }
        if (section) {
            status_fail(STATUS_USAGE, "section '%s' must be an object", strbuf_text(path));
            return status_hint(STATUS_USAGE, "write \"%s\": {\"NAME\": VALUE, ...}", json_key(member));
        }
        if (!row) return option_fail_unknown_key(tables, strbuf_view(path));
        char name[160];
        snprintf(name, sizeof name, "key '%.140s'", strbuf_text(path));
        TRY(option_from_json(row, field, member, name));
        user_options_add(user_options, row);
    }
    strbuf_cut(path, length);
    return STATUS_OK;
}

Status options_read_json(const OptionTable *tables, const Json *object) {
    StrBuf path = {0};
    Status status = read_object(tables, object, &path, NULL);
    strbuf_free(&path);
    return status;
}

Status options_read_file(const OptionTable *tables, const char *path, UserOptions *user_options) {
    StrBuf text = {0};
    Json *root = NULL;
    Status status = file_read(path, CONFIG_LIMIT, &text);
    if (status == STATUS_OK) status = file_check_text(path, strbuf_view(&text));
    if (status == STATUS_OK) {
        status = json_parse(&root, strbuf_view(&text), true);
        if (status != STATUS_OK) {
            status = status_context(STATUS_USAGE, "config '%s'", path);
        } else {
            StrBuf key = {0};
            status = read_object(tables, root, &key, user_options);
            int line = status != STATUS_OK && key.length ? json_line(root, strbuf_text(&key)) : 0;
            strbuf_free(&key);
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

/* Has the object of this member been written already? It has if a row before `until` is of the same member.
 * `until` is one of the tables' rows. */
static bool member_done(const OptionTable *tables, const Option *until, StrView path) {
    StrView name = member_of(until, path);
    for (const OptionTable *table = tables;; table++) {
        for (const Option *row = table->rows; !option_row_ends(row); row++) {
            if (row == until) return false;
            if (sv_equal(member_of(row, path), name)) return true;
        }
    }
}

static int write_object(const OptionTable *tables, StrView path, bool minimal, int depth, StrBuf *out);

/* `before`: number of members written before this one. Returns whether there is anything to write. */
static bool write_member(const OptionTable *tables, const OptionTable *table, const Option *row, StrView path,
                         bool minimal, int depth, int before, StrBuf *out) {
    StrView name = member_of(row, path), key = {row->key, (size_t)(name.data - row->key) + name.length};
    bool leaf = key.length == strlen(row->key);
    const void *field = option_field(table, row);
    if (leaf ? minimal && option_is_default(row, field)
             : member_done(tables, row, path) || !write_object(tables, key, minimal, depth, NULL))
        return false;
    if (!out) return true;
    strbuf_format(out, "%s\n%*s", before ? "," : "", 2 * depth, "");
    json_write_string(out, name);
    strbuf_add(out, leaf ? SV(": ") : SV(": {"));
    if (leaf)
        option_to_json(row, field, out);
    else
        write_object(tables, key, minimal, depth + 1, out);
    if (!leaf) strbuf_format(out, "\n%*s}", 2 * depth, "");
    return true;
}

/* Writes the members of one object and returns their number. With `out` NULL it only counts them. */
static int write_object(const OptionTable *tables, StrView path, bool minimal, int depth, StrBuf *out) {
    int count = 0;
    for (const OptionTable *table = tables; table->rows; table++)
        for (const Option *row = table->rows; !option_row_ends(row); row++)
            if (member_of(row, path).length)
                count += write_member(tables, table, row, path, minimal, depth, count, out);
    return count;
}

void options_write_json(const OptionTable *tables, bool minimal, StrBuf *out) {
    strbuf_add_char(out, '{');
    write_object(tables, (StrView){"", 0}, minimal, 1, out);
    strbuf_add(out, SV("\n}\n"));
}
