/* json_lines.c - see json_lines.h. */
#include "formats/json_lines.h"

#include "base/unicode.h"
#include "io/json.h"

Status json_lines_open(void **state, LineReader *bytes) {
    *state = bytes; /* the caller's: there is nothing to close */
    return STATUS_OK;
}

static void json_lines_close(void *state) { (void)state; }

static Status fail_line(const LineReader *lines, const char *problem) {
    status_fail(STATUS_DATA, "'%.700s', line %ld: %s", line_reader_path(lines), line_reader_number(lines),
                problem);
    return status_hint(STATUS_DATA, "each line is an object such as {\"en\": \"Go!\", \"de\": \"Los!\"}");
}

static void add_members(const Json *object, Unit *unit) {
    enum { LONGEST_KEY = 64 };
    for (const Json *member = json_first(object); member; member = json_after(member)) {
        StrView key = sv(json_key(member));
        if (json_type(member) != JSON_STRING) continue;
        if (sv_equal(key, SV("context"))) strbuf_add(&unit->context, sv(json_string(member)));
        Variant *variant = key.length < LONGEST_KEY ? unit_add(unit, key) : NULL;
        if (variant) strbuf_add(&variant->text, sv(json_string(member)));
    }
}

static Status json_lines_next(void *state, Unit *unit, bool *more) {
    static const JsonLimits LIMITS = {.depth = 32, .values = 4096};
    LineReader *lines = state;
    StrView line;
    Json *root;
    do TRY(line_reader_next(lines, &line, more));
    while (*more && unicode_is_blank(line));
    if (!*more) return STATUS_OK;
    if (line.length > UNIT_MOST_BYTES) return fail_line(lines, "a unit of more than 4 MB");
    if (json_parse_within(&root, line, LIMITS) != STATUS_OK)
        return status_context(STATUS_DATA, "'%.600s', line %ld", line_reader_path(lines),
                              line_reader_number(lines));
    if (json_type(root) != JSON_OBJECT) {
        json_free(root);
        return fail_line(lines, "not a JSON object");
    }
    const Json *inner = json_get(root, "translation");
    unit_clear(unit, line_reader_number(lines));
    add_members(json_type(inner) == JSON_OBJECT ? inner : root, unit);
    json_free(root);
    return STATUS_OK;
}

const UnitFormat JSON_LINES_FORMAT = {json_lines_next, json_lines_close};
