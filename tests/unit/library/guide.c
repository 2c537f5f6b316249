/* guide.c - the public library: glossaries, translation memories, confidence, tokens, models by name, pivots,
 * detection. The models of unit/copy_model.h translate word for word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "kern/kern.h"
#include "library/attn_mt.h"
#include "models/modelfile.h"
#include "unit/copy_model.h"

static char folder[] = "/tmp/attn-mt-guide.XXXXXX", path[64], german[64], terms[64], pairs[64];
static attn_mt_model *model;

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void save_model(const char *file, const char *languages, CopyModelOptions options) {
    Seq2Seq *copy = copy_model_new(&options);
    assert_int_equal(modelfile_save(copy, seq2seq_params(copy)->data, languages, file), STATUS_OK);
    seq2seq_free(copy);
}

static int group_begin(void **state) {
    (void)state;
    const char *name = path;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/copy.safetensors", folder);
    snprintf(german, sizeof german, "%s/german.safetensors", folder);
    snprintf(terms, sizeof terms, "%s/terms.tsv", folder);
    snprintf(pairs, sizeof pairs, "%s/pairs.tsv", folder);
    save_model(path, "{\"source_language\": \"en\", \"target_language\": \"fr\"}",
               (CopyModelOptions){.words = "the sleeps . loup",
                                  .translations = "dog=chien cat=chat",
                                  .synonyms = "dog=toutou"});
    save_model(german, "{\"source_language\": \"fr\", \"target_language\": \"de\"}",
               (CopyModelOptions){.words = "the sleeps .", .translations = "chien=Hund chat=Katze"});
    write_file(terms, "dog\tloup\ndog\ttoutou\n"); /* the second one would be a warning */
    write_file(pairs, "the cat sleeps .\tun chat dort .\n");
    assert_int_equal(attn_mt_open(&model, &name, 1, ATTN_MT_FLOAT32, NULL), ATTN_MT_OK);
    return 0;
}

static int group_end(void **state) {
    (void)state;
    attn_mt_close(model);
    unlink(path);
    unlink(german);
    unlink(terms);
    unlink(pairs);
    rmdir(folder);
    return 0;
}

static attn_mt_result *translate(const char *text, const attn_mt_guide *guide) {
    attn_mt_options options = {.guide = guide};
    attn_mt_result *result;
    attn_mt_error error;
    if (attn_mt_translate(model, &text, 1, &options, &result, &error) != ATTN_MT_OK)
        fail_msg("%s", error.message);
    return result;
}

static void assert_translation(const char *text, const attn_mt_guide *guide, const char *expected) {
    attn_mt_result *result = translate(text, guide);
    assert_string_equal(attn_mt_candidate_at(result, 0, 0)->text, expected);
    attn_mt_release(result);
}

static void test_glossary(void **state) {
    (void)state;
    attn_mt_glossary *glossary;
    attn_mt_error error;
    const char *name = terms, *missing = "/nowhere";
    /* The library prints nothing, not even the warning about the second line. */
    int errors = dup(STDERR_FILENO);
    FILE *caught = tmpfile();
    assert_true(errors >= 0 && caught && dup2(fileno(caught), STDERR_FILENO) >= 0);
    attn_mt_status status = attn_mt_glossary_open(&glossary, model, &name, 1, &error);
    assert_true(dup2(errors, STDERR_FILENO) >= 0);
    close(errors);
    assert_int_equal(status, ATTN_MT_OK);
    assert_int_equal(lseek(fileno(caught), 0, SEEK_END), 0);
    fclose(caught);
    attn_mt_guide guide = {.size = sizeof guide, .glossary = glossary};
    assert_translation("the dog sleeps .", NULL, "the chien sleeps .");
    assert_translation("the dog sleeps .", &guide, "the loup sleeps .");
    assert_translation("the cat sleeps .", &guide, "the chat sleeps .");
    attn_mt_model *other;
    attn_mt_result *result;
    attn_mt_options options = {.guide = &guide};
    const char *file = path, *text = "the dog";
    assert_int_equal(attn_mt_open(&other, &file, 1, ATTN_MT_FLOAT32, NULL), ATTN_MT_OK);
    assert_int_equal(attn_mt_translate(other, &text, 1, &options, &result, &error), ATTN_MT_USAGE);
    assert_non_null(strstr(error.message, "another model"));
    attn_mt_close(other);
    attn_mt_glossary_close(glossary);
    attn_mt_glossary_close(NULL);
    assert_int_equal(attn_mt_glossary_open(&glossary, model, &missing, 1, &error), ATTN_MT_SYSTEM);
    assert_null(glossary);
    assert_int_equal(attn_mt_glossary_open(&glossary, model, &name, 0, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_glossary_open(&glossary, NULL, &name, 1, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_glossary_open(NULL, model, &name, 1, &error), ATTN_MT_USAGE);
}

static void test_memory(void **state) {
    (void)state;
    attn_mt_memory *memory;
    attn_mt_error error;
    const char *name = pairs, *missing = "/nowhere";
    assert_int_equal(attn_mt_memory_open(&memory, model, &name, 1, ATTN_MT_NO_ACCELERATOR, &error),
                     ATTN_MT_OK);
    attn_mt_guide guide = {.size = sizeof guide, .memory = memory, .confidence = 1};
    assert_translation("the cat sleeps .", NULL, "the chat sleeps .");
    attn_mt_result *same = translate("the cat sleeps .", &guide),
                   *similar = translate("the cat sleeps !", &guide);
    attn_mt_result *other = translate("dog", &guide);
    attn_mt_memory_close(memory); /* results are valid without it */
    attn_mt_memory_close(NULL);
    assert_string_equal(attn_mt_candidate_at(same, 0, 0)->text, "un chat dort .");
    assert_true(attn_mt_match_at(same, 0)->similarity == 1 && attn_mt_match_at(same, 0)->used);
    assert_null(attn_mt_confidence_at(same, 0, 0));
    assert_string_equal(attn_mt_candidate_at(similar, 0, 0)->text, "the chat sleeps !");
    const attn_mt_match *match = attn_mt_match_at(similar, 0);
    assert_string_equal(match->source, "the cat sleeps .");
    assert_string_equal(match->target, "un chat dort .");
    assert_true(match->similarity == 1 - 1.0 / 16 && !match->used);
    assert_null(attn_mt_match_at(other, 0));
    assert_null(attn_mt_match_at(other, 1));
    assert_null(attn_mt_match_at(NULL, 0));
    attn_mt_release(same);
    attn_mt_release(similar);
    attn_mt_release(other);
    assert_int_equal(attn_mt_memory_open(&memory, model, &missing, 1, 0, &error), ATTN_MT_SYSTEM);
    assert_null(memory);
    assert_int_equal(attn_mt_memory_open(&memory, model, &name, 1, 9, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_memory_open(&memory, NULL, &name, 1, 0, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_memory_open(NULL, model, &name, 1, 0, &error), ATTN_MT_USAGE);
}

static void test_confidence_and_tokens(void **state) {
    (void)state;
    attn_mt_guide guide = {.size = sizeof guide, .confidence = 1};
    attn_mt_result *result = translate("the dog .", &guide), *plain = translate("the dog .", NULL);
    const attn_mt_confidence *found = attn_mt_confidence_at(result, 0, 0);
    const attn_mt_candidate *best = attn_mt_candidate_at(result, 0, 0);
    assert_int_equal(found->words, 3);
    assert_string_equal(found->labels[1], "chien");
    assert_false(found->calibrated);
    assert_true(found->confidence > 0.9 && found->confidence < 1);
    for (int w = 0; w < 3; w++)
        assert_true(found->word_confidences[w] > 0.9 && found->word_confidences[w] < 1);
    const char *const *tokens = attn_mt_tokens_at(plain, 0, 0);
    assert_non_null(strstr(tokens[1], "chien"));
    assert_string_equal(tokens[best->tokens - 1], "</s>");
    assert_null(attn_mt_confidence_at(plain, 0, 0));
    assert_null(attn_mt_confidence_at(NULL, 0, 0));
    assert_null(attn_mt_tokens_at(result, 0, 1));
    assert_null(attn_mt_tokens_at(NULL, 0, 0));
    attn_mt_release(result);
    attn_mt_release(plain);
}

static void assert_refused(const attn_mt_guide *guide, const char *part) {
    attn_mt_options options = {.guide = guide};
    attn_mt_result *result;
    attn_mt_error error;
    const char *text = "the dog";
    assert_int_equal(attn_mt_translate(model, &text, 1, &options, &result, &error), ATTN_MT_USAGE);
    if (!strstr(error.message, part)) fail_msg("'%s' does not say '%s'", error.message, part);
    assert_int_equal(attn_mt_score(model, &text, &text, 1, &options, &result, NULL), ATTN_MT_OK);
    attn_mt_release(result);
}

/* Programs of earlier and later versions; the options of programs that are linked today keep their places. */
static void test_versions_of_the_guide(void **state) {
    (void)state;
    struct {
        attn_mt_guide guide;
        int later;
    } longer = {.guide = {.size = sizeof longer, .confidence = 1}};
    assert_translation("the dog", &longer.guide, "the chien");
    longer.later = 1;
    assert_refused(&longer.guide, "later version");
    assert_refused(&(attn_mt_guide){0}, "size");
    assert_refused(&(attn_mt_guide){.size = sizeof longer.guide, .memory_threshold = 0.1},
                   "memory_threshold");
    assert_refused(&(attn_mt_guide){.size = sizeof longer.guide, .target_language = "fra"}, "no tokens");
    attn_mt_guide shorter = {.size = offsetof(attn_mt_guide, confidence), .confidence = 1};
    attn_mt_result *result = translate("the dog", &shorter);
    assert_null(attn_mt_confidence_at(result, 0, 0)); /* is beyond its size */
    attn_mt_release(result);
    if (sizeof(void *) == 8) {
        assert_int_equal(offsetof(attn_mt_options, progress), 56);
        assert_int_equal(sizeof(attn_mt_options), 72);
    }
}

static void assert_opens(const char *name) {
    attn_mt_model *found;
    attn_mt_error error;
    if (attn_mt_open_name(&found, name, ATTN_MT_FLOAT32, &error) != ATTN_MT_OK) fail_msg("%s", error.message);
    assert_string_equal(attn_mt_source_language(found), "en");
    assert_string_equal(attn_mt_target_language(found), "fr");
    attn_mt_close(found);
}

static void assert_unknown(const char *name, const char *part) {
    attn_mt_model *found = model;
    attn_mt_error error;
    assert_int_equal(attn_mt_open_name(&found, name, ATTN_MT_FLOAT32, &error), ATTN_MT_USAGE);
    assert_null(found);
    if (!strstr(error.message, part)) fail_msg("'%s' does not say '%s'", error.message, part);
}

static void test_names(void **state) {
    (void)state;
    setenv("ATTN_MT_MODELS", folder, 1);
    setenv("XDG_DATA_DIRS", "/nowhere", 1);
    assert_opens(path);
    assert_opens("copy");
    assert_opens("en-fr");
    assert_opens("English:French");
    assert_unknown("fr-en", "these languages");
    assert_unknown("cpoy", "cpoy");
    assert_unknown(NULL, "name is NULL");
    assert_int_equal(attn_mt_open_name(NULL, "copy", ATTN_MT_FLOAT32, NULL), ATTN_MT_USAGE);
    unsetenv("ATTN_MT_MODELS");
}

static void test_pivot(void **state) {
    (void)state;
    attn_mt_model *both;
    attn_mt_result *result;
    attn_mt_error error;
    const char *texts[] = {"the dog sleeps .", "the <b>cat</b> sleeps ."}, *files[] = {terms};
    attn_mt_options options = {.n_best = 2, .attention = ATTN_MT_WORDS, .markup = 1};
    setenv("ATTN_MT_MODELS", folder, 1);
    setenv("XDG_DATA_DIRS", "/nowhere", 1);
    if (attn_mt_open_name(&both, "en-de", ATTN_MT_FLOAT32, &error) != ATTN_MT_OK)
        fail_msg("%s", error.message);
    assert_string_equal(attn_mt_source_language(both), "en");
    assert_string_equal(attn_mt_target_language(both), "de");
    assert_int_equal(attn_mt_translate(both, texts, 2, &options, &result, &error), ATTN_MT_OK);
    assert_string_equal(attn_mt_candidate_at(result, 0, 0)->text, "the Hund sleeps .");
    assert_string_equal(attn_mt_pivot_at(result, 0), "the chien sleeps .");
    assert_string_equal(attn_mt_candidate_at(result, 1, 0)->text, "the <b>Katze</b> sleeps .");
    assert_string_equal(attn_mt_attention(result, 0, 0)->column_labels[1], "chien");
    assert_null(attn_mt_pivot_at(result, 2));
    attn_mt_release(result);
    attn_mt_glossary *glossary;
    assert_int_equal(attn_mt_glossary_open(&glossary, both, files, 1, &error), ATTN_MT_USAGE);
    assert_non_null(strstr(error.message, "both languages"));
    attn_mt_memory *memory;
    assert_int_equal(attn_mt_memory_open(&memory, both, files, 1, 0, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_score(both, texts, texts, 2, NULL, &result, &error), ATTN_MT_USAGE);
    const char *memories[] = {pairs};
    assert_int_equal(attn_mt_memory_open(&memory, model, memories, 1, 0, &error), ATTN_MT_OK);
    attn_mt_options remembered = {.guide = &(attn_mt_guide){.size = sizeof(attn_mt_guide), .memory = memory}};
    assert_int_equal(attn_mt_translate(both, texts, 2, &remembered, &result, &error), ATTN_MT_USAGE);
    attn_mt_memory_close(memory);
    attn_mt_close(both);
    result = translate("the dog", NULL);
    assert_null(attn_mt_pivot_at(result, 0)); /* one model has both languages */
    attn_mt_release(result);
    unsetenv("ATTN_MT_MODELS");
}

static void test_detection(void **state) {
    (void)state;
    const char *languages[] = {"fr", "German", "eng"}, *text = "Where did you put the keys of the house?";
    attn_mt_detector *detector;
    attn_mt_detection ranked[3];
    attn_mt_error error;
    assert_int_equal(attn_mt_detector_open(&detector, languages, 0, &error), ATTN_MT_USAGE);
    assert_null(detector);
    assert_int_equal(attn_mt_detector_open(NULL, languages, 3, &error), ATTN_MT_USAGE);
    attn_mt_status status = attn_mt_detector_open(&detector, languages, 3, &error);
    if (status == ATTN_MT_USAGE && strstr(error.message, "libexttextcat")) {
        print_message("skipped: %s\n", error.message);
        skip();
    }
    assert_int_equal(status, ATTN_MT_OK);
    assert_int_equal(attn_mt_detect(detector, text, ranked, &error), ATTN_MT_OK);
    assert_string_equal(ranked[0].language, "eng");
    assert_true(ranked[0].confidence > 0.9 && ranked[0].confidence > ranked[1].confidence);
    assert_int_equal(attn_mt_detect(detector, "12", ranked, &error), ATTN_MT_OK);
    assert_string_equal(ranked[0].language, "fr"); /* no letters: their order */
    assert_true(ranked[0].confidence == 0);
    assert_int_equal(attn_mt_detect(detector, NULL, ranked, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_detect(NULL, text, ranked, &error), ATTN_MT_USAGE);
    attn_mt_detector_close(detector);
    attn_mt_detector_close(NULL);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glossary),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_confidence_and_tokens),
        cmocka_unit_test(test_versions_of_the_guide),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pivot),
        cmocka_unit_test(test_detection),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
