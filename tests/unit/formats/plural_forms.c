/* plural_forms.c - the number of forms and the form for n = 1, of fields as catalogues have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/mem.h"
#include "formats/plural_forms.h"

static void test_parse(void **state) {
    (void)state;
    static const struct {
        const char *field;
        int count, singular;
    } CASES[] = {
        {"nplurals=2; plural=(n != 1);", 2, 0},
        {"nplurals=2; plural=n>1;", 2, 0},
        {"nplurals=1; plural=0;", 1, 0},
        {" nplurals = 2 ; plural = n == 1 ? 1 : 0", 2, 1},
        {"nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : "
         "2);",
         3, 0},
        {"nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0);", 4, 1},
        {"nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;",
         6, 1},
        {"Language: sl\nPlural-Forms: nplurals=3; plural=n+1\nX: y;", 3, 2}, /* in a whole header */
        {"nplurals=3; plural=!(n-1) * 2 / 1 % 3;", 3, 2},
        {"nplurals=2; plural=n<1 || 1;", 2, 1},
        {"", 0, 0},
        {"nplurals=INTEGER; plural=EXPRESSION;", 0, 0},
        {"nplurals=7; plural=n;", 0, 0},
        {"nplurals=2; plural=n/0;", 2, 0},
        {"nplurals=2; plural=1 1;", 2, 0},
        {"nplurals=2; plural=(1;", 2, 0},
        {"nplurals=2; plural=5;", 2, 0},
        {"nplurals=2; plural=99999999999999999999;", 2, 0},
        {"nplurals=2;", 2, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        PluralForms forms = plural_forms_parse(sv(CASES[i].field));
        if (forms.count != CASES[i].count || forms.singular != CASES[i].singular)
            fail_msg("%s: %d forms, %d is the singular", CASES[i].field, forms.count, forms.singular);
    }
}

static void test_depth(void **state) {
    (void)state;
    StrBuf field = {0};
    strbuf_add(&field, SV("nplurals=2; plural="));
    for (int i = 0; i < 100000; i++) strbuf_add_char(&field, '(');
    assert_int_equal(plural_forms_parse(strbuf_view(&field)).singular, 0);
    strbuf_free(&field);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
