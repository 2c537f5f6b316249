/* kern_tables.c - see kern_tables.h. */
#include "kern_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"

const Kernels *const *kern_tables(void) {
    static const Kernels *tables[8];
    int count = 0;
    kern_select();
    while (kern_table(count)) {
        assert_true(count < 7);
        tables[count] = kern_table(count);
        count++;
    }
    tables[count] = NULL;
    assert_ptr_equal(tables[0], kern);
    assert_string_equal(tables[count - 1]->name, "base");
    return tables;
}

enum { GUARDS = 3 }; /* an odd number, so that `at` is not aligned */
static const real GUARD = -1234.5;

Line line_new(size_t n, uint64_t seed, double scale) {
    Line line = {.n = n, .block = mem_alloc(n + 2 * GUARDS, sizeof(real))};
    line.at = line.block + GUARDS;
    for (size_t i = 0; i < GUARDS; i++) line.block[i] = line.at[n + i] = GUARD;
    Rng rng = rng_new(rng_key(seed, n, 0, 0));
    for (size_t i = 0; i < n; i++) line.at[i] = (real)(scale * (2 * rng_uniform(&rng) - 1));
    return line;
}

Line line_copy(const Line *line) {
    Line copy = line_new(line->n, 0, 1);
    memcpy(copy.at, line->at, line->n * sizeof(real));
    return copy;
}

void line_free(Line *line) {
    for (size_t i = 0; i < GUARDS; i++) {
        assert_true(line->block[i] == GUARD);
        assert_true(line->at[line->n + i] == GUARD);
    }
    mem_free(line->block);
}

void line_check(const char *what, const Line *line, const double *expected, double tolerance) {
    for (size_t i = 0; i < line->n; i++) {
        double error = fabs((double)line->at[i] - expected[i]);
        if (!(error <= tolerance * fmax(1, fabs(expected[i]))))
            fail_msg("%s of %zu numbers: [%zu] is %.9g, expected %.9g", what, line->n, i, (double)line->at[i],
                     expected[i]);
    }
}

static const size_t LENGTHS[] = {1,  2,  3,  4,  5,  7,  8,  9,   15,  16,          17,
                                 24, 31, 32, 33, 63, 64, 65, 100, 257, KERN_LONGEST};

void kern_each(void (*test)(const Kernels *k, size_t n)) {
    for (const Kernels *const *table = kern_tables(); *table; table++)
        for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
            kern = *table;
            test(*table, LENGTHS[i]);
        }
    kern_select();
}
