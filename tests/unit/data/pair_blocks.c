/* pair_blocks.c - several rounds of blocks: the same result for any number of threads, in the order of the
 * text, with bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/unicode.h"
#include "data/corpus.h"
#include "data/pair_blocks.h"
#include "unit/text_fixture.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

enum { PAIRS = PAIR_SLOTS * PAIR_BLOCK + 77, WORDS = 7 }; /* every slot is used again */

static char path[256];
static char *items[1] = {path};
static const StrList ENTRIES = {items, 1};

/* Words of two to four syllables, most of them common. */
static void write_word(FILE *file, Rng *rng) {
    static const char *const SYLLABLES[] = {"ba", "ru", "tin", "\xC3\xA9l", "mo", "ska", "ve", "lor",
                                            "an", "du", "kel", "pi",        "no", "sha", "ti", "gar"};
    uint32_t kind = rng_below(rng, 64), word = kind < 40 ? rng_below(rng, 50) : rng_below(rng, 1 << 16);
    for (uint32_t i = 0; i < 2 || word > 0; i++, word /= 16) fputs(SYLLABLES[word % 16], file);
}

static void write_pairs(const char *name, int count) {
    strcpy(path, fixture_path(name));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    Rng rng = rng_new(7);
    for (int i = 0; i < count; i++) {
        for (int side = 0; side < 2; side++) {
            for (uint32_t words = 1 + rng_below(&rng, WORDS); words; words--) {
                write_word(file, &rng);
                fputc(words > 1 ? ' ' : side ? '\n' : '\t', file);
            }
        }
        if (i % 5000 == 4321) fputs("one side\t\n", file);
        if (i % 7000 == 6543) fputs("bad \xFF\tbytes\r\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

static DataOptions data_options(void) {
    return (DataOptions){
        .source = (char *)"en", .target = (char *)"fr", .columns = (char *)"en,fr", .max_length = 40};
}

static TextOptions text_options(bool joint) {
    return (TextOptions){.tokenizer = TOKENIZER_BPE,
                         .normalize = NORMALIZE_NFC,
                         .bpe_merges = 500,
                         .joint = joint,
                         .min_count = 2};
}

typedef struct {
    StrBuf tokenizers;
    Corpus corpus;
} Result;

static Result read_with(int threads, bool joint, const DataOptions *data) {
    Result result = {0};
    Workers *workers = workers_new(threads);
    TextOptions text = text_options(joint);
    Tokenizer *source, *target;
    if (corpus_learn_tokenizers(&ENTRIES, data, &text, workers, &source, &target) != STATUS_OK ||
        corpus_read(&result.corpus, &ENTRIES, data, source, target, true, false, workers) != STATUS_OK)
        fail_msg("%s", status_message());
    tokenizer_write_json(source, &result.tokenizers);
    tokenizer_write_json(target, &result.tokenizers);
    tokenizer_free(source);
    tokenizer_free(target);
    workers_free(workers);
    return result;
}

static void result_free(Result *result) {
    strbuf_free(&result->tokenizers);
    corpus_free(&result->corpus);
}

static void check_side(const CorpusSide *a, const CorpusSide *b, int count) {
    assert_memory_equal(a->start, b->start, ((size_t)count + 1) * sizeof *a->start);
    assert_memory_equal(a->ids, b->ids, a->start[count] * sizeof(uint16_t));
}

static void check_same(const Result *a, const Result *b) {
    assert_string_equal(strbuf_text(&a->tokenizers), strbuf_text(&b->tokenizers));
    assert_int_equal(a->corpus.count, b->corpus.count);
    assert_int_equal(a->corpus.too_long, b->corpus.too_long);
    assert_string_equal(a->corpus.sha256, b->corpus.sha256);
    assert_string_equal(strbuf_text(&a->corpus.report), strbuf_text(&b->corpus.report));
    check_side(&a->corpus.source, &b->corpus.source, a->corpus.count);
    check_side(&a->corpus.target, &b->corpus.target, a->corpus.count);
}

static void test_threads(void **state) {
    (void)state;
    DataOptions data = data_options();
    for (int joint = 0; joint < 2; joint++) {
        Result one = read_with(1, joint, &data);
        assert_in_range(one.corpus.count, PAIRS - PAIRS / 20, PAIRS + PAIRS / 7000 + 1);
        for (int threads = 2; threads < 8; threads += joint ? 3 : 8) {
            Result many = read_with(threads, joint, &data);
            check_same(&one, &many);
            result_free(&many);
        }
        result_free(&one);
    }
}

/* Line by line with the plain functions. */
static void test_order(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options(true);
    Workers *workers = workers_new(3);
    Tokenizer *source, *target;
    Corpus corpus;
    PairReader *reader;
    assert_int_equal(corpus_learn_tokenizers(&ENTRIES, &data, &text, workers, &source, &target), STATUS_OK);
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &data, source, target, false, false, workers), STATUS_OK);
    assert_int_equal(pair_reader_open(&reader, &ENTRIES, &data), STATUS_OK);
    IdList ids = {0};
    int room[PAIR_MAX_BYTES / 1024];
    for (int pair = 0;; pair++) {
        StrView lines[2];
        bool more;
        assert_int_equal(pair_reader_next(reader, &lines[0], &lines[1], &more), STATUS_OK);
        if (!more) {
            assert_int_equal(pair, corpus.count);
            break;
        }
        for (int side = 0; side < 2; side++) {
            Tokens found = side ? corpus_target(&corpus, pair, room) : corpus_source(&corpus, pair, room);
            ids.count = 0;
            tokenizer_encode(source, lines[side], &ids);
            assert_int_equal(found.length, ids.count);
            assert_memory_equal(found.ids, ids.ids, ids.count * sizeof *ids.ids);
        }
    }
    id_list_free(&ids);
    pair_reader_close(reader);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
    workers_free(workers);
}

/* Limits inside a block, at its end and after it. */
static void test_limits(void **state) {
    (void)state;
    DataOptions data = data_options();
    static const int LIMITS[] = {1, PAIR_BLOCK - 1, PAIR_BLOCK, PAIR_BLOCK + 1, 50000};
    data.max_length = 0;
    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
        data.limit = LIMITS[i];
        Result one = read_with(1, true, &data), many = read_with(4, true, &data);
        assert_int_equal(one.corpus.count, LIMITS[i]);
        check_same(&one, &many);
        result_free(&one);
        result_free(&many);
    }
}

/* The first unreadable file ends the reading. */
static void test_failure(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options(true);
    Workers *workers = workers_new(3);
    Tokenizer *source, *target;
    char damaged[256];
    strcpy(damaged, fixture_write("damaged.gz", "\x1F\x8B\x08garbage that is no gzip", 27));
    char *both[] = {path, damaged};
    StrList entries = {both, 2};
    assert_int_equal(corpus_learn_tokenizers(&entries, &data, &text, workers, &source, &target), STATUS_DATA);
    assert_non_null(strstr(status_message(), "damaged.gz"));
    assert_null(source);
    workers_free(workers);
}

/* More tokens than 16 bits can represent. */
static void test_wide_ids(void **state) {
    (void)state;
    enum { COUNT = 70000 };
    char usual[256];
    strcpy(usual, path);
    strcpy(path, fixture_path("wide.tsv"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < COUNT; i++) fprintf(file, "w%d\tw%d same\n", i, COUNT - 1 - i);
    assert_int_equal(fclose(file), 0);
    DataOptions data = data_options();
    TextOptions text = {
        .tokenizer = TOKENIZER_WORD, .normalize = NORMALIZE_NFC, .min_count = 1, .joint = true};
    Workers *workers = workers_new(2);
    Tokenizer *source, *target;
    Corpus corpus;
    StrBuf line = {0};
    assert_int_equal(corpus_learn_tokenizers(&ENTRIES, &data, &text, workers, &source, &target), STATUS_OK);
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &data, source, target, true, false, workers), STATUS_OK);
    assert_true(corpus.source.wide && corpus.target.wide);
    for (int i = 0; i < COUNT; i += 997) {
        int room[4];
        char expected[64];
        Tokens from = corpus_source(&corpus, i, room);
        strbuf_clear(&line);
        tokenizer_decode(source, from.ids, (size_t)from.length, &line);
        Tokens to = corpus_target(&corpus, i, room);
        strbuf_add_char(&line, '=');
        tokenizer_decode(source, to.ids, (size_t)to.length, &line);
        snprintf(expected, sizeof expected, "w%d=w%d same", i, COUNT - 1 - i);
        assert_string_equal(strbuf_text(&line), expected);
    }
    strbuf_free(&line);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
    workers_free(workers);
    strcpy(path, usual);
}

/* Peak memory in bytes of a process that learns from and reads `path`. */
static double peak_memory(void) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        DataOptions data = data_options();
        Result result = read_with(2, true, &data);
        _exit(result.corpus.count > 0 ? 0 : 1);
    }
    int status;
    struct rusage usage;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 1024.0 * (double)usage.ru_maxrss;
}

/* Memory is proportional to the text, and at most the ids, one copy of the text and the blocks of the
 * threads. */
static void test_memory(void **state) {
    (void)state;
#ifdef SANITIZED
    skip();
#endif
    write_pairs("less.tsv", PAIRS);
    double text = (double)file_size(path), less = peak_memory();
    write_pairs("more.tsv", 3 * PAIRS);
    double more = peak_memory();
    print_message("[   PEAK   ] %.0f MB, %.0f MB; text of %.0f and %.0f MB\n", less / 1e6, more / 1e6,
                  text / 1e6, (double)file_size(path) / 1e6);
    assert_true(more - less < 2.5 * ((double)file_size(path) - text));
}

int main(void) {
    log_set_level(LOG_QUIET);
    write_pairs("large.tsv", PAIRS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads), cmocka_unit_test(test_order),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_wide_ids), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
