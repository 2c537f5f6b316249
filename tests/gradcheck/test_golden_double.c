/* test_golden_double.c - PyTorch's values in double precision, to all digits of the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "golden/golden_cases.h"
#include "kern/kern.h"

int main(void) {
    const struct CMUnitTest tests[] = {GOLDEN_CASES};
    kern_select();
    return cmocka_run_group_tests_name("golden values, double precision", tests, NULL, NULL);
}
