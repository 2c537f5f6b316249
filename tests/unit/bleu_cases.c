/* bleu_cases.c - parses the file of cases once. */
#include "unit/bleu_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
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

int bleu_cases_free(void **state) {
    (void)state;
    json_free(cases);
    cases = NULL;
    return 0;
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

int case_choice(StrView text, const char *choices) {
    StrView rest = sv(choices), name;
    for (int i = 0; sv_next(&rest, '|', &name); i++)
        if (sv_equal(name, text)) return i;
    fail_msg("'%.*s' is not one of %s", SV_ARG(text), choices);
    return -1;
}

void case_count(ConfiguredMetric metric, StrView hypothesis, const StrView *references, size_t count,
                double *row) {
    const StrView *columns[8];
    assert_true(count <= 8);
    for (size_t r = 0; r < count; r++) columns[r] = &references[r];
    Statistics statistics = statistics_count(metric, &hypothesis, 1, columns, count);
    memcpy(row, statistics.rows, (size_t)statistics.width * sizeof *row);
    statistics_free(&statistics);
}

void case_segment_agrees(ConfiguredMetric metric, const Json *c, int number) {
    StrView references[4], hypothesis = case_text(c, "hypothesis");
    size_t count = case_texts(c, "references", references, 4);
    double expected[METRIC_MAX_WIDTH], row[METRIC_MAX_WIDTH];
    int width = metric.metric->width(metric.options);
    assert_int_equal(case_numbers(c, "row", expected, METRIC_MAX_WIDTH), width);
    case_count(metric, hypothesis, references, count, row);
    for (int i = 0; i < width; i++)
        if (row[i] != expected[i]) fail_msg("case %d, column %d: %g, not %g", number, i, row[i], expected[i]);
    double score = metric.metric->score(metric.options, row);
    if (!case_agrees(case_number(c, "score"), score)) fail_msg("case %d: score %.17g", number, score);
}

void case_counts_alike(ConfiguredMetric metric, const char *kind, size_t least) {
    enum { REFERENCES = 4 };
    const Json *list = bleu_cases(kind, least);
    size_t count = json_count(list), i = 0;
    StrView *hypotheses = mem_alloc(count, sizeof *hypotheses), *columns[REFERENCES];
    for (int r = 0; r < REFERENCES; r++) columns[r] = mem_alloc(count, sizeof **columns);
    for (const Json *c = json_first(list); c; c = json_after(c), i++) {
        StrView references[REFERENCES] = {{NULL, 0}};
        hypotheses[i] = case_text(c, "hypothesis");
        case_texts(c, "references", references, REFERENCES);
        for (int r = 0; r < REFERENCES; r++) columns[r][i] = references[r];
    }
    Statistics together =
        statistics_count(metric, hypotheses, count, (const StrView *const *)columns, REFERENCES);
    size_t width = (size_t)together.width;
    for (i = 0; i < count; i++) {
        StrView references[REFERENCES];
        double row[METRIC_MAX_WIDTH];
        for (int r = 0; r < REFERENCES; r++) references[r] = columns[r][i];
        case_count(metric, hypotheses[i], references, REFERENCES, row);
        assert_memory_equal(row, together.rows + i * width, width * sizeof *row);
    }
    statistics_free(&together);
    mem_free(hypotheses);
    for (int r = 0; r < REFERENCES; r++) mem_free(columns[r]);
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
