/* copies.c - the model of copy_model.h does what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "kern/kern.h"
#include "translate/translator.h"
#include "unit/copy_model.h"

/* Item `rank` of the translation with a beam of 5. */
static void check(const CopyModelOptions *model_options, const char *line, const char *prefix, int rank,
                  const char *expected) {
    Seq2Seq *model = copy_model_new(model_options);
    const Seq2Seq *models = model;
    TranslatorOptions options = {.search = {.decode = seq2seq_config(model)->decode, .attention = true},
                                 .quiet = true};
    options.search.decode.beam_size = options.search.n_best = 5;
    Workers *workers = workers_new(1);
    Translator *translator;
    Translation out = {0};
    StrView text = sv(line);
    LineConstraints constraints = {.prefix = sv(prefix)};
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    translator_run(translator, &text, &constraints, 1, 1, &out);
    assert_true(rank < out.count);
    assert_string_equal(strbuf_text(&out.items[rank].text), expected);
    translation_free(&out);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
}

static void test_copies(void **state) {
    (void)state;
    CopyModelOptions words = {.words = "the dog sleeps"};
    check(&words, "the dog sleeps .", "", 0, "the dog sleeps .");
    check(&words, "aabbaa %s %s, {0}! hello </b>", "", 0, "aabbaa %s %s, {0}! hello </b>");
}

static void test_translates(void **state) {
    (void)state;
    CopyModelOptions words = {.translations = "dog=chien sleeps=dort", .synonyms = "dog=toutou"};
    check(&words, "a dog sleeps , a dog", "", 0, "a chien dort , a chien");
    check(&words, "a dog sleeps", "x toutou ", 0, "x toutou dort");
}

static void test_mistakes(void **state) {
    (void)state;
    CopyModelOptions second = {.words = "the dog", .mistake = COPY_SECOND, .placeholder = "{0}"};
    check(&second, "the {0} dog", "", 0, "the dog");
    check(&second, "the {0} dog", "", 1, "the {0} dog");
    CopyModelOptions never = second;
    never.mistake = COPY_NEVER;
    check(&never, "the {0} dog", "", 0, "the dog");
    check(&never, "the {0} dog", "the {", 0, "the {0} dog");
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_translates),
                                       cmocka_unit_test(test_mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
