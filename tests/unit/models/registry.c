/* registry.c - models by name and by languages, routes through several models, damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "io/fileio.h"
#include "models/registry.h"
#include "models/safetensors.h"
#include "unit/learn.h"
#include "unit/text_fixture.h"

static char own[4096], shared[4096];

/* A model of few parameters, more with a larger `size`. `tokens`: language tokens in its source, or "". */
static void save(const char *folder, const char *name, const char *source, const char *target,
                 const char *tokens, int size) {
    Config config;
    Tokenizer *words;
    StrBuf text = {0}, provenance = {0}, path = {0};
    config_init(&config);
    config.text.tokenizer = TOKENIZER_WORD;
    config.text.min_count = 1;
    config.model.embedding = config.model.hidden = size;
    strbuf_format(&text, "one two %s", tokens);
    assert_int_equal(learn_tokenizer(&words, &config.text, strbuf_view(&text)), STATUS_OK);
    StrView rest = sv(tokens), token;
    while (sv_next_word(&rest, &token))
        assert_int_equal(tokenizer_set_role(words, TOKENIZER_LANGUAGES, token), STATUS_OK);
    Seq2Seq *model = seq2seq_new(&config, words, words);
    params_initialize(seq2seq_params(model), 1);
    if (source)
        strbuf_format(&provenance,
                      "{\"x\": [1, {\"y\": null}], \"source_language\": \"%s\", "
                      "\"target_language\": \"%s\", \"origin\": \"Somebody\"}",
                      source, target);
    strbuf_format(&path, "%s/%s.safetensors", folder, name);
    assert_int_equal(
        modelfile_save(model, seq2seq_params(model)->data, strbuf_text(&provenance), strbuf_text(&path)),
        STATUS_OK);
    seq2seq_free(model);
    tokenizer_free(words);
    config_free(&config);
    strbuf_free(&text);
    strbuf_free(&provenance);
    strbuf_free(&path);
}

static void set_up(const char *test) {
    char name[64];
    snprintf(name, sizeof name, "%s/own", test);
    snprintf(own, sizeof own, "%s", fixture_path(name));
    snprintf(name, sizeof name, "%s/shared/attn-mt/models", test);
    snprintf(shared, sizeof shared, "%s", fixture_path(name));
    assert_int_equal(file_make_dirs(own, NULL), STATUS_OK);
    assert_int_equal(file_make_dirs(shared, NULL), STATUS_OK);
    setenv("ATTN_MT_MODELS", own, 1);
    snprintf(name, sizeof name, "%s/shared", test);
    setenv("XDG_DATA_DIRS", fixture_path(name), 1);
}

static void test_list(void **state) {
    (void)state;
    Registry registry;
    StrBuf path = {0};
    set_up("list");
    registry_open(&registry);
    assert_int_equal(registry.count, 0);
    registry_free(&registry);

    save(own, "b", "en", "fr", "", 4);
    save(own, "a model\n", "de", "en", "", 8);
    save(shared, "b", "xx", "yy", "", 4);
    save(shared, "c", NULL, NULL, "", 4);
    strbuf_format(&path, "%s/.hidden.safetensors", own);
    assert_int_equal(file_write_whole(strbuf_text(&path), SV("x")), STATUS_OK);
    registry_open(&registry);
    assert_int_equal(registry.count, 3);
    assert_int_equal(registry.damaged_count, 0);
    assert_string_equal(registry.items[0].name, "a model\n");
    assert_string_equal(registry.items[1].name, "b");
    assert_true(registry.items[1].own);
    assert_string_equal(registry.items[1].info.source, "en");
    assert_int_equal(registry.items[1].info.targets.count, 1);
    assert_string_equal(registry.items[1].info.targets.items[0], "fr");
    assert_string_equal(registry.items[1].info.program, "Somebody");
    assert_string_equal(registry.items[1].info.precision, "float32");
    assert_true(registry.items[0].info.parameters > registry.items[1].info.parameters);
    assert_string_equal(registry.items[2].name, "c");
    assert_false(registry.items[2].own);
    assert_string_equal(registry.items[2].info.source, "");
    assert_string_equal(registry.items[2].info.program, "attn-mt");
    assert_null(registry_find(&registry, "d"));
    registry_free(&registry);
    strbuf_free(&path);
}

static void test_environment(void **state) {
    (void)state;
    StrBuf path = {0};
    unsetenv("ATTN_MT_MODELS");
    setenv("HOME", "/home/me", 1);
    setenv("XDG_DATA_HOME", "relative", 1); /* is ignored */
    assert_int_equal(registry_user_folder(&path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), "/home/me/.local/share/attn-mt/models");
    strbuf_clear(&path);
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_int_equal(registry_user_folder(&path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), "/data/attn-mt/models");
    strbuf_clear(&path);
    setenv("ATTN_MT_MODELS", "mine", 1);
    assert_int_equal(registry_user_folder(&path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), "mine");
    strbuf_clear(&path);
    unsetenv("ATTN_MT_MODELS");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_int_equal(registry_user_folder(&path), STATUS_USAGE);
    Registry registry;
    unsetenv("XDG_DATA_DIRS");
    registry_open(&registry);
    assert_true(registry.no_own);
    assert_int_equal(registry.folders.count, 2);
    assert_string_equal(registry.folders.items[1], "/usr/share/attn-mt/models");
    registry_free(&registry);
    strbuf_free(&path);
}

static void test_path(void **state) {
    (void)state;
    StrBuf path = {0}, expected = {0};
    set_up("path");
    save(own, "mine", "en", "fr", "", 4);
    save(shared, "an ODD-name.1 \xC3\xA9", "en", "fr", "", 4);
    strbuf_format(&expected, "%s/an ODD-name.1 \xC3\xA9.safetensors", shared);
    assert_int_equal(registry_path("an ODD-name.1 \xC3\xA9", &path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), strbuf_text(&expected));
    strbuf_clear(&path);
    /* Paths stay as they are, also those of no file. */
    assert_int_equal(registry_path("no/file", &path), STATUS_OK);
    assert_int_equal(registry_path("+no.safetensors", &path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), "no/file+no.safetensors");
    strbuf_clear(&path);
    assert_int_equal(registry_path("mien", &path), STATUS_USAGE);
    assert_string_equal(status_message(), "no model is called 'mien'");
    assert_string_equal(status_hint_text(), "did you mean 'mine'?");
    assert_int_equal(registry_path("", &path), STATUS_USAGE);
    /* A folder of a run is its best model; another folder is itself. */
    save(own, "best", "en", "fr", "", 4);
    strbuf_clear(&expected);
    strbuf_format(&expected, "%s/best.safetensors", own);
    assert_int_equal(registry_path(own, &path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), strbuf_text(&expected));
    strbuf_clear(&path);
    assert_int_equal(registry_path(shared, &path), STATUS_OK);
    assert_string_equal(strbuf_text(&path), shared);
    strbuf_free(&path);
    strbuf_free(&expected);
}

static void test_damaged(void **state) {
    (void)state;
    Registry registry;
    StrBuf path = {0}, content = {0};
    set_up("damaged");
    save(own, "whole", "en", "fr", "", 4);
    strbuf_format(&path, "%s/whole.safetensors", own);
    assert_int_equal(file_read(strbuf_text(&path), 0, &content), STATUS_OK);
    strbuf_clear(&path);
    strbuf_format(&path, "%s/cut.safetensors", own);
    assert_int_equal(file_write_whole(strbuf_text(&path), (StrView){content.data, content.length - 8}),
                     STATUS_OK);
    strbuf_clear(&path);
    strbuf_format(&path, "%s/text.safetensors", own);
    assert_int_equal(file_write_whole(strbuf_text(&path), SV("once upon a time")), STATUS_OK);
    strbuf_clear(&path);
    strbuf_format(&path, "%s/other.safetensors", own);
    float x[1] = {1};
    SafeTensor tensor = {"x", "F32", 1, {1}, x, sizeof x};
    assert_int_equal(safetensors_write(strbuf_text(&path), &tensor, 1, NULL, 0), STATUS_OK);
    strbuf_clear(&path);
    strbuf_format(&path, "%s/folder.safetensors", own);
    assert_int_equal(mkdir(strbuf_text(&path), 0777), 0);
    registry_open(&registry);
    assert_int_equal(registry.count, 1);
    assert_int_equal(registry.damaged_count, 4);
    static const char *const REASONS[] = {"are not inside the file", "it is a folder",
                                          "not a model of attn-mt", "looks like text"};
    for (int i = 0; i < 4; i++) assert_non_null(strstr(registry.damaged[i].reason, REASONS[i]));
    registry_free(&registry);
    strbuf_free(&path);
    strbuf_free(&content);
}

/* "fr-en en-de": the names of the models of the route. */
static void assert_route(const Registry *registry, const char *from, const char *to, int most,
                         const char *expected) {
    RegistryStep steps[REGISTRY_STEPS];
    StrBuf names = {0};
    int count = registry_route(registry, sv(from), sv(to), most, steps);
    for (int s = 0; s < count; s++)
        strbuf_format(&names, "%s%s%s%s", s ? " " : "", steps[s].model->name,
                      steps[s].chooses_target ? ">" : "", steps[s].chooses_target ? steps[s].target : "");
    assert_string_equal(strbuf_text(&names), expected);
    strbuf_free(&names);
}

static void test_routes(void **state) {
    (void)state;
    Registry registry;
    set_up("routes");
    registry_open(&registry);
    assert_route(&registry, "en", "de", 4, "");
    registry_free(&registry);
    save(own, "en-de", "en", "de", "", 4);
    save(own, "en-de large", "en", "de", "", 8);
    save(own, "fr-en", "fr", "en", "", 4);
    save(own, "fr-es", "fr", "es", "", 16);
    save(own, "es-de", "es", "de", "", 16);
    save(own, "de-it", "de", "it", "", 4);
    save(own, "it-pt", "it", "pt_BR", "", 4);
    save(own, "pt-cs", "pt_BR", "cs", "", 4);
    save(own, "many", "en", "ROMANCE", ">>ron<< >>cat<<", 4);
    save(own, "unknown", NULL, NULL, "", 4);
    registry_open(&registry);
    /* Names in any spelling; the larger of two models. */
    assert_route(&registry, "English", "deu", 1, "en-de large");
    assert_route(&registry, "de", "en", 4, "");
    /* Through English, though other models are larger; --no-pivot. */
    assert_route(&registry, "fr", "de", 4, "fr-en en-de large");
    assert_route(&registry, "fr", "de", 1, "");
    /* The shortest way, of at most four models. */
    assert_route(&registry, "fr", "es", 4, "fr-es");
    assert_route(&registry, "es", "pt", 4, "es-de de-it it-pt");
    assert_route(&registry, "fr", "pt-BR", 4, "fr-en en-de large de-it it-pt");
    assert_route(&registry, "fr", "cs", 4, "");
    assert_route(&registry, "it", "pt-PT", 4, "");
    /* Models of several target languages. */
    assert_route(&registry, "en", "ca", 4, "many>cat");
    assert_route(&registry, "fr", "ro", 4, "fr-en many>ron");
    assert_route(&registry, "en", "ROMANCE", 4, "");
    registry_free(&registry);
}

static void test_relabel(void **state) {
    (void)state;
    Registry registry;
    StrBuf from = {0}, to = {0};
    Seq2Seq *a, *b;
    StrBuf provenance = {0};
    set_up("relabel");
    save(own, "a", "en", "fr", "", 4);
    strbuf_format(&from, "%s/a.safetensors", own);
    strbuf_format(&to, "%s/b.safetensors", own);
    assert_int_equal(modelfile_copy(strbuf_text(&from), SV("nb"), SV("sv"), strbuf_text(&to)), STATUS_OK);
    registry_open(&registry);
    assert_route(&registry, "nb", "sv", 1, "b");
    registry_free(&registry);
    assert_int_equal(modelfile_load_exact(&a, strbuf_text(&from), NULL), STATUS_OK);
    assert_int_equal(modelfile_load_exact(&b, strbuf_text(&to), &provenance), STATUS_OK);
    assert_memory_equal(seq2seq_params(a)->data, seq2seq_params(b)->data,
                        seq2seq_params(a)->size * sizeof(real));
    assert_string_equal(strbuf_text(&provenance),
                        "{\"x\": [1, {\"y\": null}], \"origin\": \"Somebody\", "
                        "\"source_language\": \"nb\", \"target_language\": \"sv\"}");
    seq2seq_free(a);
    seq2seq_free(b);
    strbuf_free(&provenance);
    strbuf_free(&from);
    strbuf_free(&to);
}

/* A registry may be read by many threads, and opened by many. */
static void *use_registry(void *shared_registry) {
    Registry mine;
    StrBuf path = {0};
    for (int i = 0; i < 20; i++) {
        RegistryStep steps[REGISTRY_STEPS];
        registry_open(&mine);
        if (mine.count != 2 || registry_route(shared_registry, SV("fr"), SV("de"), 4, steps) != 2) abort();
        if (registry_path("en-de", &path) != STATUS_OK || registry_path("en-df", &path) == STATUS_OK) abort();
        registry_free(&mine);
    }
    strbuf_free(&path);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    Registry registry;
    set_up("threads");
    save(own, "en-de", "en", "de", "", 4);
    save(own, "fr-en", "fr", "en", "", 4);
    registry_open(&registry);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, use_registry, &registry), 0);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    registry_free(&registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),    cmocka_unit_test(test_environment), cmocka_unit_test(test_path),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_routes),      cmocka_unit_test(test_relabel),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
