/* languages.c - names of languages and their codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "text/languages.h"

static void test_languages(void **state) {
    (void)state;
    static const char *const SAME[][2] = {{"en", "EN"},
                                          {"English", "en"},
                                          {" ENGLISH ", "english"},
                                          {"src", "source"},
                                          {"tgt", "trg"},
                                          {"xx", "XX"},
                                          {"eng", "en"},
                                          {"en-US", "English"},
                                          {"zh_Hans", "cmn"},
                                          {"ZH", "zh"},
                                          {"en-NZ", " en "},
                                          {" xx", "xx "},
                                          {"zho_Hans", "zh-CN"},
                                          {"zho_Hant", "zt"},
                                          {"zt", "zh_TW"},
                                          {"eng_Latn", "en"},
                                          {"eng_Latn", "en-GB"},
                                          {"arb_Arab", "ar"},
                                          {"iw", "he"},
                                          {"in", "ind_Latn"},
                                          {"pb", "pt_BR"},
                                          {"pb", "por"},
                                          {"ger", "deu"},
                                          {"de_DE.UTF-8", "de-DE"},
                                          {"sr@latin", "srp_Latn"},
                                          {"Chinese (Simplified)", "zho_Hans"},
                                          {"Portuguese (Brazil)", "pb"},
                                          {"ast_Latn", "Asturian"},
                                          {"zh-yue", "yue_Hant"},
                                          {"es-419", "es"},
                                          {"de-1996", "de"},
                                          {"ca@valencia", "ca-valencia"}};
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        assert_true(language_names_match(sv(SAME[i][0]), sv(SAME[i][1])));
    assert_false(language_names_match(SV("en"), SV("fr")));
    assert_false(language_names_match(SV("pt-BR"), SV("pt-PT")));
    static const char *const DIFFERENT[][2] = {{"zho_Hans", "zh-TW"},    {"zt", "zh-CN"},     {"pb", "pt-PT"},
                                               {"sr@latin", "srp_Cyrl"}, {"nb", "nn"},        {"ary", "ar"},
                                               {"es-419", "es-ES"},      {"zh-yue", "zh-CN"}, {"Zt", "zh"}};
    for (size_t i = 0; i < sizeof DIFFERENT / sizeof *DIFFERENT; i++)
        assert_false(language_names_match(sv(DIFFERENT[i][0]), sv(DIFFERENT[i][1])));
    assert_int_equal(language_code(SV("en-1")).length, 0);
    assert_int_equal(language_code(SV("go-on")).length, 0);
    assert_int_equal(language_code(SV("en-U")).length, 0); /* too short for a region, too long for a script */
    assert_int_equal(language_code(SV("zh-Latin")).length, 0);
    StrView from, to;
    assert_int_equal(languages_split("pt-BR:en", &from, &to), STATUS_OK);
    assert_true(sv_equal(from, SV("pt-BR")) && sv_equal(to, SV("en")));
    assert_int_equal(languages_split("pt-BR-en", &from, &to), STATUS_USAGE);
    static const char *const NOT_TWO[] = {"en:fr:de", "", "en", "-en", "en-", ":", "en-English"};
    for (size_t i = 0; i < sizeof NOT_TWO / sizeof *NOT_TWO; i++)
        assert_int_equal(languages_split(NOT_TWO[i], &from, &to), STATUS_USAGE);
    assert_false(language_names_match(SV("hello"), SV("world"))); /* neither is a language */
    assert_true(sv_equal(language_name(SV("en")), SV("english")));
    assert_true(sv_equal(language_name(SV("xx")), SV("xx"))); /* a code without a name */
    Language language;
    assert_true(language_read(SV("zh_tw"), &language));
    assert_string_equal(language.script, "Hant");
    assert_string_equal(language.region, "TW");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
