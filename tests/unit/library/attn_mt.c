/* attn_mt.c - the public library: results, errors as values, memory that runs out, many threads. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/mem_scope.h"
#include "base/strview.h"
#include "base/utf8.h"
#include "translate/translator.h"
#include "library/attn_mt.h"
#include "models/modelfile.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"

enum { WORDS = 40, TEXTS = 20, THREADS = 4, ROUNDS = 5 };

static char folder[] = "/tmp/attn-mt-library.XXXXXX", path[64];
static StrBuf buffers[TEXTS];
static const char *texts[TEXTS];
static Translation expected[TEXTS];

/* A model file, texts, and their translations by the translator. */
static int group_begin(void **state) {
    (void)state;
    StrView lines[TEXTS];
    Seq2Seq *model = tiny_model_new(WORDS, 5);
    DecodeOptions decode = seq2seq_config(model)->decode;
    TranslatorOptions options = {.search = {.decode = decode, .n_best = 1, .attention = true}, .quiet = true};
    Workers *workers = workers_new(1);
    Translator *translator;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, "{}", path), STATUS_OK);
    for (int i = 0; i < TEXTS; i++) {
        tiny_model_sentence(WORDS, i, i % 7, &buffers[i]); /* the first one is empty */
        texts[i] = strbuf_text(&buffers[i]);
        lines[i] = sv(texts[i]);
    }
    assert_int_equal(translator_new(&translator, (const Seq2Seq *const *)&model, 1, &options, workers), 0);
    translator_run(translator, lines, NULL, TEXTS, 1, expected);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
    return 0;
}

static int group_end(void **state) {
    (void)state;
    for (int i = 0; i < TEXTS; i++) {
        strbuf_free(&buffers[i]);
        translation_free(&expected[i]);
    }
    unlink(path);
    rmdir(folder);
    return 0;
}

static attn_mt_model *opened(void) {
    attn_mt_model *model;
    attn_mt_error error;
    const char *name = path;
    if (attn_mt_open(&model, &name, 1, ATTN_MT_FLOAT32, &error) != ATTN_MT_OK) fail_msg("%s", error.message);
    return model;
}

/* Is the result the translator's? */
static bool is_expected(const attn_mt_result *result) {
    for (int i = 0; i < TEXTS; i++) {
        const attn_mt_candidate *best = attn_mt_candidate_at(result, i, 0);
        const TranslationItem *item = &expected[i].items[0];
        if (!best || strcmp(best->text, strbuf_text(&item->text)) != 0) return false;
        for (int kind = 0; kind < PROBLEM_KINDS; kind++)
            if ((best->problems >> kind & 1) != item->problems[kind]) return false;
        if (best->log_p != item->score || best->score != item->normalized || best->tokens != item->steps)
            return false;
        size_t bytes = (size_t)item->steps * sizeof(float);
        if (bytes > 0 && memcmp(best->token_log_p, item->token_scores, bytes) != 0) return false;
    }
    return !attn_mt_candidate_at(result, TEXTS, 0) && !attn_mt_candidate_at(result, 0, 1) &&
           !attn_mt_candidate_at(result, -1, 0);
}

static void test_translate(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *result;
    attn_mt_error error = {.status = ATTN_MT_DATA};
    assert_int_equal(attn_mt_translate(model, texts, TEXTS, NULL, &result, &error), ATTN_MT_OK);
    assert_int_equal(error.status, ATTN_MT_OK);
    attn_mt_close(model); /* a result is valid without its model */
    assert_true(is_expected(result));
    assert_null(attn_mt_attention(result, 1, 0));
    attn_mt_release(result);
    attn_mt_release(NULL);
    attn_mt_close(NULL);
}

typedef struct {
    const attn_mt_model *model;
    int calls;
    double fraction;
} Progress;

/* A nested call, and the progress of the outer call. */
static void watch(void *context, double fraction) {
    Progress *progress = context;
    attn_mt_result *result;
    assert_int_equal(attn_mt_translate(progress->model, &texts[1], 1, NULL, &result, NULL), ATTN_MT_OK);
    assert_string_equal(attn_mt_candidate_at(result, 0, 0)->text, strbuf_text(&expected[1].items[0].text));
    attn_mt_release(result);
    assert_true(fraction > progress->fraction);
    progress->fraction = fraction;
    progress->calls++;
}

static void test_progress(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *result;
    Progress progress = {.model = model};
    attn_mt_options options = {.batch_size = 4, .progress = watch, .progress_context = &progress};
    assert_int_equal(attn_mt_translate(model, texts, TEXTS, &options, &result, NULL), ATTN_MT_OK);
    assert_in_range(progress.calls, 2, TEXTS);
    assert_true(progress.fraction == 1);
    for (int i = 0; i < TEXTS; i++)
        assert_string_equal(attn_mt_candidate_at(result, i, 0)->text,
                            strbuf_text(&expected[i].items[0].text));
    attn_mt_release(result);
    attn_mt_close(model);
}

static void test_n_best_and_attention(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *result;
    attn_mt_options options = {.n_best = 30, .attention = ATTN_MT_SUBWORDS}; /* wider than the model's beam */
    assert_int_equal(attn_mt_translate(model, texts, TEXTS, &options, &result, NULL), ATTN_MT_OK);
    const attn_mt_candidate *first = attn_mt_candidate_at(result, 3, 0);
    const attn_mt_candidate *second = attn_mt_candidate_at(result, 3, 1);
    assert_true(first->score >= second->score);
    const attn_mt_matrix *matrix = attn_mt_attention(result, 3, 1);
    assert_int_equal(matrix->columns, 3 + 1);
    assert_int_equal(matrix->rows, second->tokens);
    assert_string_equal(matrix->column_labels[3], "</s>");
    for (int t = 0; t < matrix->rows; t++) {
        double sum = 0;
        for (int s = 0; s < matrix->columns; s++) sum += (double)matrix->weights[t * matrix->columns + s];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    assert_null(attn_mt_attention(result, 0, 0)); /* nothing to translate */
    attn_mt_release(result);
    attn_mt_close(model);
}

static void test_score(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *result;
    const char *found[TEXTS];
    for (int i = 0; i < TEXTS; i++) found[i] = strbuf_text(&expected[i].items[0].text);
    found[0] = "t1"; /* of the empty text: impossible */
    assert_int_equal(attn_mt_score(model, texts, found, TEXTS, NULL, &result, NULL), ATTN_MT_OK);
    assert_true(isinf(attn_mt_candidate_at(result, 0, 0)->log_p));
    for (int i = 1; i < TEXTS; i++) {
        const TranslationItem *item = &expected[i].items[0];
        if (expected[i].chunks == 0 || item->steps == item->length) continue; /* was cut, without </s> */
        assert_true(fabs(attn_mt_candidate_at(result, i, 0)->log_p - item->score) < 1e-4);
    }
    attn_mt_release(result);
    const char *nothing[] = {"\u3000", "\u200b"}, *blank[] = {"\u00a0", ""};
    assert_int_equal(attn_mt_score(model, nothing, blank, 2, NULL, &result, NULL), ATTN_MT_OK);
    for (int i = 0; i < 2; i++) assert_true(attn_mt_candidate_at(result, i, 0)->log_p == 0);
    attn_mt_release(result);
    attn_mt_close(model);
}

static void test_split_and_markup(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *plain, *marked;
    const char *one = "s1 s2 s3", *paragraph = "s1 s2 s3\n\ns1 s2 s3", *tags = "<b>s1 s2 s3</b>";
    attn_mt_options options = {.split = 1};
    assert_int_equal(attn_mt_translate(model, &one, 1, &options, &plain, NULL), ATTN_MT_OK);
    const char *text = attn_mt_candidate_at(plain, 0, 0)->text;
    assert_int_equal(attn_mt_translate(model, &paragraph, 1, &options, &marked, NULL), ATTN_MT_OK);
    const char *twice = attn_mt_candidate_at(marked, 0, 0)->text;
    assert_int_equal(strlen(twice), 2 * strlen(text) + 2);
    assert_memory_equal(twice + strlen(text), "\n\n", 2);
    attn_mt_release(marked);
    options.markup = 1;
    assert_int_equal(attn_mt_translate(model, &tags, 1, &options, &marked, NULL), ATTN_MT_OK);
    assert_non_null(strstr(attn_mt_candidate_at(marked, 0, 0)->text, "<b>"));
    assert_non_null(strstr(attn_mt_candidate_at(marked, 0, 0)->text, "</b>"));
    attn_mt_release(marked);
    /* In markup, line ends are spaces; block elements end sentences. */
    const char *wrapped = "s1\ns2\ns3<br>s1 s2\ns3";
    assert_int_equal(attn_mt_translate(model, &wrapped, 1, &options, &marked, NULL), ATTN_MT_OK);
    twice = attn_mt_candidate_at(marked, 0, 0)->text;
    assert_int_equal(strlen(twice), 2 * strlen(text) + 4);
    assert_memory_equal(twice, text, strlen(text));
    assert_memory_equal(twice + strlen(text), "<br>", 4);
    assert_string_equal(twice + strlen(text) + 4, text);
    attn_mt_release(marked);
    attn_mt_release(plain);
    attn_mt_close(model);
}

/* log_p of a paragraph counts the </s> of each sentence; the tokens contain only the last </s>. */
static void test_split_scores(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *result;
    attn_mt_options options = {.split = 1};
    int compared = 0;
    for (int i = 0; i < TEXTS; i++) {
        const TranslationItem *one = &expected[i].items[0];
        StrBuf twice = {0};
        if (expected[i].chunks != 1 || one->steps == one->length) continue; /* was cut, without </s> */
        strbuf_format(&twice, "%s\n%s", texts[i], texts[i]);
        const char *paragraph = strbuf_text(&twice);
        assert_int_equal(attn_mt_translate(model, &paragraph, 1, &options, &result, NULL), ATTN_MT_OK);
        const attn_mt_candidate *both = attn_mt_candidate_at(result, 0, 0);
        double sum = 0, end = (double)one->token_scores[one->steps - 1];
        for (int t = 0; t < both->tokens; t++) sum += (double)both->token_log_p[t];
        assert_int_equal(both->tokens, 2 * one->steps - 1);
        assert_true(fabs(both->log_p - 2 * one->score) < 1e-4);
        assert_true(fabs(both->log_p - (sum + end)) < 1e-4);
        compared++;
        attn_mt_release(result);
        strbuf_free(&twice);
    }
    assert_true(compared > 0);
    attn_mt_close(model);
}

/* Save the model again with this provenance: are these its languages? NULL: there are none. */
static void assert_languages(const char *provenance, const char *source, const char *target) {
    char file[80];
    const char *name = file;
    attn_mt_model *model;
    Seq2Seq *tiny = tiny_model_new(WORDS, 5);
    snprintf(file, sizeof file, "%s/languages.safetensors", folder);
    assert_int_equal(modelfile_save(tiny, seq2seq_params(tiny)->data, provenance, file), STATUS_OK);
    seq2seq_free(tiny);
    assert_int_equal(attn_mt_open(&model, &name, 1, ATTN_MT_FLOAT32, NULL), ATTN_MT_OK);
    assert_in_range(attn_mt_model_bytes(model), 1000, 10000000);
    if (source) {
        assert_string_equal(attn_mt_source_language(model), source);
        assert_string_equal(attn_mt_target_language(model), target);
    } else {
        assert_null(attn_mt_source_language(model));
        assert_null(attn_mt_target_language(model));
    }
    attn_mt_close(model);
    unlink(file);
}

static void test_languages(void **state) {
    (void)state;
    assert_languages("{\"source_language\": \"de\", \"target_language\": \"en\"}", "de", "en");
    assert_languages("{\"source_language\": \"de\", \"target_language\": \"\"}", NULL, NULL);
    assert_languages("{\"source_language\": \"de\"}", NULL, NULL);
    assert_languages("{\"source_language\": \"de\", \"target_language\": 3}", NULL, NULL);
    assert_languages("{}", NULL, NULL);
    assert_languages("", NULL, NULL);
    assert_languages("no JSON", NULL, NULL);
}

static void assert_fails(const attn_mt_model *model, attn_mt_options options, const char *part) {
    attn_mt_result *result = (attn_mt_result *)folder;
    attn_mt_error error;
    assert_int_equal(attn_mt_translate(model, texts, TEXTS, &options, &result, &error), ATTN_MT_USAGE);
    assert_null(result);
    assert_int_equal(error.status, ATTN_MT_USAGE);
    if (!strstr(error.message, part)) fail_msg("'%s' does not say '%s'", error.message, part);
    assert_int_equal(attn_mt_translate(model, texts, TEXTS, &options, &result, NULL), ATTN_MT_USAGE);
}

static void test_errors(void **state) {
    (void)state;
    attn_mt_model *model = opened(), *none = model;
    attn_mt_result *result;
    attn_mt_error error;
    const char *missing = "/nowhere/model", *not_a_model = "/dev/null";
    assert_int_equal(attn_mt_open(&none, &missing, 1, ATTN_MT_FLOAT32, &error), ATTN_MT_SYSTEM);
    assert_null(none);
    assert_non_null(strstr(error.message, missing));
    assert_int_equal(attn_mt_open(&none, &not_a_model, 1, ATTN_MT_FLOAT32, &error), ATTN_MT_DATA);
    assert_int_equal(attn_mt_open(&none, &missing, 0, ATTN_MT_FLOAT32, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_open(&none, &missing, 1, (attn_mt_precision)7, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_open(&none, &missing, 1, ATTN_MT_FLOAT32, NULL), ATTN_MT_SYSTEM);
    assert_fails(model, (attn_mt_options){.beam_size = 1001}, "beam_size");
    assert_fails(model, (attn_mt_options){.n_best = -1}, "n_best");
    assert_fails(model, (attn_mt_options){.n_best = 3, .beam_size = 2}, "n_best");
    assert_fails(model, (attn_mt_options){.batch_size = -1}, "batch_size");
    assert_fails(model, (attn_mt_options){.attention = 3}, "attention");
    assert_fails(model, (attn_mt_options){.shortlist = 1001}, "shortlist");
    assert_fails(model, (attn_mt_options){.shortlist = 1}, "has no list");
    assert_fails(model, (attn_mt_options){.accelerator = 4}, "accelerator");
    assert_fails(model, (attn_mt_options){.reserved[1] = 1}, "reserved[1]");
    assert_int_equal(attn_mt_translate(model, texts, -1, NULL, &result, &error), ATTN_MT_USAGE);
    assert_int_equal(attn_mt_translate(model, NULL, 0, NULL, &result, &error), ATTN_MT_OK);
    assert_null(attn_mt_candidate_at(result, 0, 0));
    attn_mt_release(result);
    attn_mt_close(model);
}

/* Scores are the same with options that mean nothing to them, even with ones that no search may have. */
static void test_options_of_score(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *plain, *scored;
    attn_mt_error error;
    const char *found = strbuf_text(&expected[3].items[0].text);
    attn_mt_options options = {.attention = ATTN_MT_SUBWORDS};
    assert_int_equal(attn_mt_score(model, &texts[3], &found, 1, &options, &plain, NULL), ATTN_MT_OK);
    attn_mt_options others[] = {{.beam_size = 5000}, {.beam_size = 7, .n_best = 9},
                                {.n_best = -1},      {.shortlist = 1},
                                {.shortlist = 5000}, {.split = 1, .markup = 1}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        others[i].attention = ATTN_MT_SUBWORDS;
        assert_int_equal(attn_mt_score(model, &texts[3], &found, 1, &others[i], &scored, NULL), ATTN_MT_OK);
        const attn_mt_candidate *wanted = attn_mt_candidate_at(plain, 0, 0);
        const attn_mt_candidate *candidate = attn_mt_candidate_at(scored, 0, 0);
        assert_true(candidate->log_p == wanted->log_p && candidate->score == wanted->score);
        assert_int_equal(attn_mt_attention(scored, 0, 0)->rows, attn_mt_attention(plain, 0, 0)->rows);
        assert_null(attn_mt_candidate_at(scored, 0, 1));
        attn_mt_release(scored);
    }
    attn_mt_release(plain);
    options = (attn_mt_options){.batch_size = -1};
    assert_int_equal(attn_mt_score(model, &texts[3], &found, 1, &options, &plain, &error), ATTN_MT_USAGE);
    assert_non_null(strstr(error.message, "batch_size"));
    options = (attn_mt_options){.attention = 3};
    assert_int_equal(attn_mt_score(model, &texts[3], &found, 1, &options, &plain, &error), ATTN_MT_USAGE);
    options = (attn_mt_options){.memory_limit = 1};
    assert_int_equal(attn_mt_score(model, &texts[3], &found, 1, &options, &plain, &error), ATTN_MT_MEMORY);
    options = (attn_mt_options){.reserved[0] = 1};
    assert_int_equal(attn_mt_score(model, &texts[3], &found, 1, &options, &plain, &error), ATTN_MT_USAGE);
    attn_mt_close(model);
}

/* The call fails, and the message names the NULL argument. */
static void assert_is_null(attn_mt_status status, attn_mt_error *error, const char *what) {
    char message[64];
    snprintf(message, sizeof message, "%s is NULL", what);
    assert_int_equal(status, ATTN_MT_USAGE);
    assert_int_equal(error->status, ATTN_MT_USAGE);
    assert_string_equal(error->message, message);
    *error = (attn_mt_error){ATTN_MT_OK, "", ""};
}

static void test_null(void **state) {
    (void)state;
    attn_mt_model *model = opened(), *none = model;
    attn_mt_result *result = (attn_mt_result *)folder;
    attn_mt_error error;
    const char *paths[] = {path, NULL}, *gap[] = {texts[1], NULL}, *const *absent = NULL;
    assert_is_null(attn_mt_open(NULL, paths, 1, ATTN_MT_FLOAT32, &error), &error, "model");
    assert_int_equal(attn_mt_open(NULL, paths, 1, ATTN_MT_FLOAT32, NULL), ATTN_MT_USAGE);
    assert_is_null(attn_mt_open(&none, absent, 1, ATTN_MT_FLOAT32, &error), &error, "paths");
    assert_null(none);
    assert_is_null(attn_mt_open(&none, paths, 2, ATTN_MT_FLOAT32, &error), &error, "paths[1]");
    assert_int_equal(attn_mt_open(&none, absent, 0, ATTN_MT_FLOAT32, &error), ATTN_MT_USAGE);
    assert_is_null(attn_mt_translate(NULL, texts, 1, NULL, &result, &error), &error, "model");
    assert_null(result);
    assert_is_null(attn_mt_translate(model, absent, 1, NULL, &result, &error), &error, "texts");
    assert_is_null(attn_mt_translate(model, gap, 2, NULL, &result, &error), &error, "texts[1]");
    assert_is_null(attn_mt_translate(model, texts, 1, NULL, NULL, &error), &error, "result");
    assert_int_equal(attn_mt_translate(model, texts, 1, NULL, NULL, NULL), ATTN_MT_USAGE);
    result = (attn_mt_result *)folder;
    assert_is_null(attn_mt_score(model, texts, absent, 1, NULL, &result, &error), &error, "translations");
    assert_null(result);
    assert_is_null(attn_mt_score(model, texts, gap, 2, NULL, &result, &error), &error, "translations[1]");
    assert_is_null(attn_mt_score(model, absent, texts, 1, NULL, &result, &error), &error, "texts");
    assert_is_null(attn_mt_score(NULL, texts, texts, 1, NULL, &result, &error), &error, "model");
    assert_is_null(attn_mt_score(model, texts, texts, 1, NULL, NULL, &error), &error, "result");
    assert_int_equal(attn_mt_score(model, absent, absent, 0, NULL, &result, &error), ATTN_MT_OK);
    attn_mt_release(result);
    assert_null(attn_mt_source_language(NULL));
    assert_null(attn_mt_target_language(NULL));
    assert_int_equal(attn_mt_model_bytes(NULL), 0);
    assert_null(attn_mt_candidate_at(NULL, 0, 0));
    assert_null(attn_mt_attention(NULL, 0, 0));
    attn_mt_close(model);
}

/* Opening a file of this name fails with a message of one line that contains `part`. */
static void assert_names(const char *name, const char *part) {
    attn_mt_model *none;
    attn_mt_error error;
    assert_int_equal(attn_mt_open(&none, &name, 1, ATTN_MT_FLOAT32, &error), ATTN_MT_SYSTEM);
    if (!strstr(error.message, part)) fail_msg("'%s' does not say '%s'", error.message, part);
    assert_true(utf8_valid(sv(error.message)) && utf8_valid(sv(error.hint)));
    for (const char *at = error.message; *at; at++) assert_true((unsigned char)*at >= 0x20 && *at != 0x7F);
}

/* A message is one line of UTF-8, whatever the names of files are. */
static void test_messages(void **state) {
    (void)state;
    enum { LONG = 3000 };
    char name[LONG + 1];
    assert_names("/nowhere/a\nb\xFF.s", "'/nowhere/a?b\xEF\xBF\xBD.s'");
    assert_names("/nowhere/\r\t\x1B\x7F.s", "/????.s");
    assert_names("/nowhere/\xC2\x85\xE2\x80\xA8\xE2\x80\xA9.s", "/???.s"); /* ends of lines of Unicode */
    assert_names("/nowhere/\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80.s",
                 "/\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80.s");
    for (int shift = 0; shift < 4; shift++) { /* cut inside a character, then longer by its repair */
        memset(name, 'a', sizeof name);
        memcpy(name, "/nowhere/", 9);
        for (int i = 9 + shift; i + 4 <= LONG; i += 4) memcpy(name + i, "\xF0\x9F\x98\x80", 4);
        name[LONG] = '\0';
        assert_names(name, "/nowhere/");
        memset(name + 9 + shift, 0xFF, LONG - 9 - (size_t)shift);
        assert_names(name, "/nowhere/");
    }
}

/* If memory runs out at any point, the call returns an error without leaks, and the next call works. */
static void test_memory(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    attn_mt_result *result;
    attn_mt_error error;
    int failed = 0;
    attn_mt_status status = ATTN_MT_MEMORY;
    for (size_t limit = 100; status != ATTN_MT_OK; limit += limit / 16) {
        attn_mt_options options = {.memory_limit = limit, .attention = ATTN_MT_WORDS, .markup = 1};
        status = attn_mt_translate(model, texts, TEXTS, &options, &result, &error);
        if (status == ATTN_MT_OK) break;
        assert_int_equal(status, ATTN_MT_MEMORY);
        assert_int_equal(error.status, ATTN_MT_MEMORY);
        assert_null(result);
        failed++;
    }
    assert_in_range(failed, 50, 500);
    attn_mt_release(result);
    assert_int_equal(attn_mt_translate(model, texts, TEXTS, NULL, &result, &error), ATTN_MT_OK);
    assert_true(is_expected(result));
    attn_mt_release(result);
    attn_mt_close(model);
}

static void load(void *context) {
    Seq2Seq **model = context;
    assert_int_equal(modelfile_load(model, path, WEIGHT_FLOAT32, true, NULL), STATUS_OK);
    seq2seq_free(*model);
}

/* The same for loading, with an open file. */
static void test_memory_of_loading(void **state) {
    (void)state;
    Seq2Seq *model;
    int failed = 0, free_fd = dup(0);
    close(free_fd);
    for (size_t limit = 100;; limit += limit / 16, failed++) {
        MemScope *scope = mem_scope_new(limit);
        bool enough = mem_scope_run(scope, load, &model);
        mem_scope_free(scope);
        int fd = dup(0);
        close(fd);
        assert_int_equal(fd, free_fd); /* the lowest free descriptor: no file is left open */
        if (enough) break;
    }
    assert_in_range(failed, 50, 500);
}

typedef struct {
    const attn_mt_model *model;
    int failures;
} Client;

static void *translate_often(void *context) {
    Client *client = context;
    for (int round = 0; round < ROUNDS; round++) {
        attn_mt_options options = {.memory_limit = round == 1 ? 20000 : 0};
        attn_mt_result *result;
        attn_mt_error error;
        attn_mt_status status = attn_mt_translate(client->model, texts, TEXTS, &options, &result, &error);
        if (round == 1)
            client->failures += status != ATTN_MT_MEMORY;
        else
            client->failures += status != ATTN_MT_OK || !is_expected(result);
        attn_mt_release(result);
    }
    return NULL;
}

/* One model, many threads; another thread opens and closes models meanwhile. */
static void test_threads(void **state) {
    (void)state;
    attn_mt_model *model = opened();
    pthread_t threads[THREADS];
    Client clients[THREADS];
    for (int i = 0; i < THREADS; i++) {
        clients[i] = (Client){model, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, translate_often, &clients[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) attn_mt_close(opened());
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(clients[i].failures, 0);
    }
    attn_mt_close(model);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_translate),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_n_best_and_attention),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_split_and_markup),
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_of_loading),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_split_scores),
        cmocka_unit_test(test_options_of_score),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
