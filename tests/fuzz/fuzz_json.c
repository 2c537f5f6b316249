/* fuzz_json.c - JSON is refused with a message, or its tree is the same after writing and reading.
 *
 * Input: one byte (odd: comments are allowed), then the text.
 */
#include <math.h>
#include "io/json.h"
#include "io/json_write.h"
#include "fuzz/scratch.h"

static void write_tree(const Json *value, StrBuf *out) {
    JsonType type = json_type(value);
    if (type == JSON_NULL) strbuf_add(out, SV("null"));
    if (type == JSON_BOOL) strbuf_add(out, json_bool(value) ? SV("true") : SV("false"));
    if (type == JSON_NUMBER) json_write_number(out, json_number(value));
    if (type == JSON_STRING) json_write_string(out, sv(json_string(value)));
    if (type != JSON_ARRAY && type != JSON_OBJECT) return;
    strbuf_add_char(out, type == JSON_ARRAY ? '[' : '{');
    size_t count = 0;
    for (const Json *child = json_first(value); child; child = json_after(child), count++) {
        if (count) strbuf_add_char(out, ',');
        if (type == JSON_OBJECT) {
            require(json_get(value, json_key(child)) == child); /* no key twice */
            json_write_string(out, sv(json_key(child)));
            strbuf_add_char(out, ':');
        }
        write_tree(child, out);
    }
    require(count == json_count(value));
    strbuf_add_char(out, type == JSON_ARRAY ? ']' : '}');
}

static void check_same(const Json *a, const Json *b) {
    require(json_type(a) == json_type(b) && json_count(a) == json_count(b));
    if (json_type(a) == JSON_NUMBER) require(isfinite(json_number(a)) && json_number(a) == json_number(b));
    if (json_type(a) == JSON_STRING) require(strcmp(json_string(a), json_string(b)) == 0);
    if (json_type(a) == JSON_BOOL) require(json_bool(a) == json_bool(b));
    const Json *x = json_first(a), *y = json_first(b);
    for (; x; x = json_after(x), y = json_after(y)) {
        if (json_type(a) == JSON_OBJECT) require(strcmp(json_key(x), json_key(y)) == 0);
        check_same(x, y);
    }
}

/* json_line finds every key of the first two levels that contains no dot. */
static void check_lines(StrView text, const Json *root) {
    int lines = 1;
    StrBuf path = {0};
    for (size_t i = 0; i < text.length; i++) lines += text.data[i] == '\n';
    for (const Json *part = json_first(root); part; part = json_after(part)) {
        if (json_type(root) != JSON_OBJECT || strchr(json_key(part), '.')) continue;
        int line = json_line(root, json_key(part));
        require(line >= 1 && line <= lines);
        for (const Json *member = json_first(part); member; member = json_after(member)) {
            if (json_type(part) != JSON_OBJECT || strchr(json_key(member), '.')) continue;
            strbuf_clear(&path);
            strbuf_format(&path, "%s.%s", json_key(part), json_key(member));
            int member_line = json_line(root, strbuf_text(&path));
            require(member_line >= line && member_line <= lines);
        }
    }
    strbuf_free(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    StrView text = {(const char *)data + 1, size - 1};
    Json *root, *again;
    if (json_parse(&root, text, data[0] & 1) != STATUS_OK) {
        require(!root && status_message()[0]);
        /* json_parse_header accepts no more than json_parse. */
        require(json_parse_header(&again, text) == STATUS_DATA);
        return 0;
    }
    StrBuf out = {0};
    write_tree(root, &out);
    require(json_parse(&again, strbuf_view(&out), false) == STATUS_OK);
    check_same(root, again);
    if (size < 4096) check_lines(text, root);
    strbuf_free(&out);
    json_free(root);
    json_free(again);
    return 0;
}
