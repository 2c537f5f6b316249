/* golden_positions.c - rows of the sinusoidal encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "golden/golden_cases.h"
#include "golden/reference.h"
#include "layers/positions.h"

void golden_positional_encoding(void **state) {
    (void)state;
    enum { SIZE = 32, MAX_ROWS = 8 };
    real out[MAX_ROWS * SIZE];
    Reference *reference = reference_open("positional_encoding", "d32");
    Field rows = reference_field(reference, "in", "rows"),
          expected = reference_field(reference, "out", "out");
    assert_true(rows.count > 0 && rows.count <= MAX_ROWS);
    for (size_t r = 0; r < rows.count; r++) positions_sinusoidal((int)rows.data[r], 1, SIZE, out + r * SIZE);
    reference_check(&expected, out, rows.count * SIZE, REFERENCE_NINE_DIGITS);
    reference_close(reference);
}
