/* bleu_cases.c - one parsed file, kept until the end. */
#include "unit/bleu_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "base/fileio.h"
#include "base/mem.h"
#include "base/unicode.h"

static Json *cases;

const Json *bleu_cases(const char *kind, size_t least) {
    if (!cases) {
        StrBuf text = {0};
        if (file_read("tests/golden/bleu/cases.json", 0, &text) ||
            json_parse(&cases, strbuf_view(&text), false))
            fail_msg("%s", status_message());
        strbuf_free(&text);
    }
    const Json *list = json_get(cases, kind);
    if (!list || json_count(list) < least) fail_msg("too few cases '%s'", kind);
    return list;
}

void bleu_cases_free(void) {
    json_free(cases);
    cases = NULL;
}

static const Json *member(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    if (!value) fail_msg("a case without '%s'", key);
    return value;
}

StrView case_text(const Json *object, const char *key) { return sv(json_string(member(object, key))); }
double case_number(const Json *object, const char *key) { return json_number(member(object, key)); }
bool case_flag(const Json *object, const char *key) { return json_bool(member(object, key)); }

size_t case_texts(const Json *object, const char *key, StrView *texts, size_t most) {
    const Json *list = member(object, key);
    size_t count = 0;
    if (json_count(list) > most) fail_msg("'%s' has more than %zu texts", key, most);
    for (const Json *item = json_first(list); item; item = json_after(item))
        texts[count++] = sv(json_string(item));
    return count;
}

size_t case_numbers(const Json *object, const char *key, double *numbers, size_t most) {
    const Json *list = member(object, key);
    size_t count = 0;
    if (json_count(list) > most) fail_msg("'%s' has more than %zu numbers", key, most);
    for (const Json *item = json_first(list); item; item = json_after(item))
        numbers[count++] = json_number(item);
    return count;
}

bool case_agrees(double expected, double actual) { return fabs(expected - actual) <= 1e-9 * fabs(expected); }

StrView *case_lines(const char *name, size_t *count, StrBuf *content) {
    char path[200];
    snprintf(path, sizeof path, "tests/golden/bleu/corpus/%s", name);
    if (file_read(path, 0, content)) fail_msg("%s", status_message());
    StrView *lines = NULL, rest = strbuf_view(content), line;
    size_t capacity = 0;
    *count = 0;
    while (rest.length > 0 && sv_next(&rest, '\n', &line)) {
        MEM_GROW(lines, capacity, *count + 1);
        lines[(*count)++] = unicode_trim_end(line);
    }
    return lines;
}
