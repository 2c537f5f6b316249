/* reference.c - see reference.h. */
#include "golden/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "io/json.h"
#include "base/mem.h"

enum { MAX_FIELDS = 128 };

struct Reference {
    Json *root;
    const Json *item;
    double *blocks[MAX_FIELDS]; /* of all fields that were asked for */
    int count;
};

#ifdef REAL_DOUBLE
const Tolerance REFERENCE_NINE_DIGITS = {6e-9, 1e-12}, REFERENCE_SIX_DIGITS = {6e-6, 1e-9};
#else
const Tolerance REFERENCE_NINE_DIGITS = {1e-5, 1e-6}, REFERENCE_SIX_DIGITS = {2e-5, 1e-6};
#endif

Reference *reference_open(const char *item, const char *name) {
    char path[256];
    StrBuf text = {0};
    Reference *reference = mem_alloc(1, sizeof *reference);
    snprintf(path, sizeof path, "tests/golden/torch/%s.json", item);
    if (file_read(path, 0, &text) != STATUS_OK ||
        json_parse(&reference->root, strbuf_view(&text), false) != STATUS_OK)
        fail_msg("%s: %s", path, status_message());
    strbuf_free(&text);
    for (const Json *c = json_first(json_get(reference->root, "cases")); c; c = json_after(c))
        if (strcmp(json_string(json_get(c, "case")), name) == 0) reference->item = c;
    if (!reference->item) fail_msg("%s has no case '%s'", path, name);
    return reference;
}

void reference_close(Reference *reference) {
    for (int i = 0; i < reference->count; i++) mem_free(reference->blocks[i]);
    json_free(reference->root);
    mem_free(reference);
}

static double *new_block(Reference *reference, size_t count) {
    assert_true(reference->count < MAX_FIELDS);
    return reference->blocks[reference->count++] = mem_alloc(count, sizeof(double));
}

Field reference_blank(Reference *reference, const char *name, int rows, int columns) {
    size_t count = (size_t)rows * (size_t)columns;
    return (Field){name, 2, {rows, columns}, count, new_block(reference, count)};
}

bool reference_has(const Reference *reference, const char *section, const char *field) {
    const Json *fields = json_get(reference->item, section);
    return fields && json_get(fields, field);
}

Field reference_field(Reference *reference, const char *section, const char *name) {
    if (!reference_has(reference, section, name)) fail_msg("no field '%s' in section '%s'", name, section);
    const Json *json = json_get(json_get(reference->item, section), name), *data = json_get(json, "data");
    Field field = {.name = name, .count = 1};
    for (const Json *size = json_first(json_get(json, "shape")); size; size = json_after(size)) {
        assert_true(field.rank < 4);
        field.shape[field.rank++] = (int)json_number(size);
        field.count *= (size_t)json_number(size);
    }
    assert_int_equal(json_count(data), field.count);
    field.data = new_block(reference, field.count);
    size_t i = 0;
    for (const Json *number = json_first(data); number; number = json_after(number))
        field.data[i++] = json_number(number);
    return field;
}

const char *reference_fault(const Field *expected, const real *actual, size_t count, Tolerance tolerance) {
    static char text[256];
    if (count != expected->count || !count) {
        snprintf(text, sizeof text, "%s: %zu numbers, expected %zu", expected->name, count, expected->count);
        return text;
    }
    for (size_t i = 0; i < count; i++) {
        double wanted = expected->data[i], error = fabs((double)actual[i] - wanted);
        if (error <= tolerance.relative * fabs(wanted) + tolerance.absolute) continue;
        snprintf(text, sizeof text, "%s[%zu] is %.12g, expected %.12g", expected->name, i, (double)actual[i],
                 wanted);
        return text;
    }
    return NULL;
}

void reference_check(const Field *expected, const real *actual, size_t count, Tolerance tolerance) {
    const char *fault = reference_fault(expected, actual, count, tolerance);
    if (fault) fail_msg("%s", fault);
}

void reference_copy(const Field *field, real *block, size_t count) {
    assert_int_equal(field->count, count);
    for (size_t i = 0; i < count; i++) block[i] = (real)field->data[i];
}

/* Number of the field that stands at [row, column] of the block. */
static double across(const Field *field, int first, int row, int column) {
    return field->data[(size_t)column * (size_t)field->shape[1] + (size_t)(first + row)];
}

static void assert_fits(const Field *field, int first, int rows, int columns) {
    assert_int_equal(field->rank, 2);
    assert_int_equal(field->shape[0], columns);
    assert_true(first >= 0 && first + rows <= field->shape[1]);
}

void reference_copy_transposed(const Field *field, int first, real *block, int rows, int columns) {
    assert_fits(field, first, rows, columns);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) *block++ = (real)across(field, first, r, c);
}

Field reference_transposed(Reference *reference, const Field *field, int first, int rows, int columns) {
    assert_fits(field, first, rows, columns);
    Field turned = reference_blank(reference, field->name, rows, columns);
    double *to = turned.data;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) *to++ = across(field, first, r, c);
    return turned;
}
