/* json_lines.c - see json_lines.h. */
#include "cli/json_lines.h"

#include <string.h>
#include "base/json.h"

static const char *const WRITTEN[] = {"translation",   "score",        "normalized_score", "tokens",
                                      "source_tokens", "token_scores", "alignment",        "attention",
                                      "n_best",        "error"};

Status json_line_text(StrView line, StrBuf *text) {
    Json *root;
    Status status = STATUS_OK;
    TRY(json_parse(&root, line, false));
    const Json *value = json_type(root) == JSON_OBJECT ? json_get(root, "text") : NULL;
    if (!value)
        status = status_fail(STATUS_DATA, "no \"text\" in it");
    else if (json_type(value) != JSON_STRING)
        status = status_fail(STATUS_DATA, "\"text\" is not a string");
    else
        strbuf_add(text, sv(json_string(value)));
    json_free(root);
    return status;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* End of the string that begins at `at`, which is valid. */
static size_t string_end(StrView text, size_t at) {
    for (at++; at < text.length && text.data[at] != '"'; at++) at += text.data[at] == '\\';
    return at + 1;
}

/* End of the member that begins at `at`: the comma or brace behind it. */
static size_t member_end(StrView text, size_t at) {
    for (int depth = 0; at < text.length;) {
        char c = text.data[at];
        if (c == '"') {
            at = string_end(text, at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}')) break;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at++;
    }
    return at;
}

static bool is_written(const char *key) {
    for (size_t i = 0; i < sizeof WRITTEN / sizeof *WRITTEN; i++)
        if (strcmp(WRITTEN[i], key) == 0) return true;
    return false;
}

void json_line_members(StrView line, StrBuf *out) {
    Json *root;
    if (json_parse(&root, line, false) != STATUS_OK) return;
    size_t at = 0;
    while (line.data[at] != '{') at++;
    /* The tree and the text have the same members in the same order: the one gives the name, the other the bytes. */
    for (const Json *member = json_first(root); member; member = json_after(member)) {
        at++;
        while (is_space(line.data[at])) at++;
        size_t end = member_end(line, at), last = end;
        while (is_space(line.data[last - 1])) last--;
        if (!is_written(json_key(member))) {
            strbuf_add(out, (StrView){line.data + at, last - at});
            strbuf_add(out, SV(", "));
        }
        at = end;
    }
    json_free(root);
}
