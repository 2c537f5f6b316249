/* corpus.c - pairs as ids: filters, raw text, checksum; learning both sides from files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "io/sha256.h"
#include "base/unicode.h"
#include "tokenizer/bpe.h"
#include "data/corpus.h"
#include "unit/text_fixture.h"

static const TextOptions WORD = {.tokenizer = TOKENIZER_WORD, .normalize = NORMALIZE_NFC, .min_count = 1};

static const char LINES[] = "a b\tu v w\n"
                            "a\tu\n"
                            "\tlost\n"
                            "a b c d e f\tu\n"
                            "b\tv v v v v v v\n"
                            "c c\tw w\n";

static char path[256];
static char *items[1] = {path};
static Workers *workers;
static const StrList ENTRIES = {items, 1};

static void write_lines(const char *text) { strcpy(path, fixture_write("corpus.tsv", text, strlen(text))); }

static DataOptions english_french(void) {
    return (DataOptions){.source = "en", .target = "fr", .columns = "en,fr"};
}

static void learn(const TextOptions *text, const DataOptions *data, Tokenizer **source, Tokenizer **target) {
    if (corpus_learn_tokenizers(&ENTRIES, data, text, workers, source, target) != STATUS_OK)
        fail_msg("%s", status_message());
}

/* The corpus as "a b=u v w;...", decoded from its ids. */
static void check_corpus(const Corpus *corpus, const Tokenizer *source, const Tokenizer *target,
                         const char *expected) {
    StrBuf out = {0};
    for (int pair = 0; pair < corpus->count; pair++) {
        int ids[2][20];
        Tokens from = corpus_source(corpus, pair, ids[0]), to = corpus_target(corpus, pair, ids[1]);
        tokenizer_decode(source, from.ids, (size_t)from.length, &out);
        strbuf_add_char(&out, '=');
        tokenizer_decode(target, to.ids, (size_t)to.length, &out);
        strbuf_add_char(&out, ';');
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_free(&out);
}

static void check_read(const DataOptions *options, bool filter, const char *expected, long too_long) {
    Tokenizer *source, *target;
    DataOptions everything = english_french();
    learn(&WORD, &everything, &source, &target);
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &ENTRIES, options, source, target, filter, false, workers),
                     STATUS_OK);
    check_corpus(&corpus, source, target, expected);
    assert_int_equal(corpus.too_long, too_long);
    assert_int_equal(corpus.source_text.count + corpus.target_text.count, 0);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
}

static void test_filters(void **state) {
    (void)state;
    write_lines(LINES);
    DataOptions options = english_french();
    static const char all[] = "a b=u v w;a=u;a b c d e f=u;b=v v v v v v v;c c=w w;";
    check_read(&options, true, all, 0);
    options.max_length = 6; /* either side */
    check_read(&options, true, "a b=u v w;a=u;a b c d e f=u;c c=w w;", 1);
    check_read(&options, false, all, 0);
    options.max_length = 2;
    check_read(&options, true, "a=u;c c=w w;", 3);
    options.max_length = 0;
    options.max_ratio = 6; /* either way; exactly 6 is allowed */
    check_read(&options, true, "a b=u v w;a=u;a b c d e f=u;c c=w w;", 1);
    options.max_ratio = 1.5;
    check_read(&options, true, "a b=u v w;a=u;c c=w w;", 2);
    check_read(&options, false, all, 0);
    options.max_ratio = 0;
    options.limit = 3; /* usable pairs; those too long count */
    check_read(&options, true, "a b=u v w;a=u;a b c d e f=u;", 0);
    check_read(&options, false, all, 0);
    options.max_length = 2;
    check_read(&options, true, "a=u;", 2);
}

static void test_nothing_left(void **state) {
    (void)state;
    write_lines("a b c\tu v w\n");
    DataOptions options = english_french();
    Tokenizer *source, *target;
    learn(&WORD, &options, &source, &target);
    options.max_length = 2;
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &options, source, target, true, false, workers),
                     STATUS_DATA);
    assert_string_equal(status_message(), "no sentence pair is left after filtering 1 pairs");
    assert_int_equal(corpus.count, 0);
    corpus_free(&corpus); /* valid after a failure */
    tokenizer_free(source);
    tokenizer_free(target);
}

static void test_kept_text(void **state) {
    (void)state;
    write_lines("A  b\tU\xFF\nlong long long\tx\n c\tw\xC2\xA0!\n");
    DataOptions options = english_french();
    options.max_length = 2;
    Tokenizer *source, *target;
    learn(&WORD, &options, &source, &target);
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &options, source, target, true, true, workers),
                     STATUS_OK);
    assert_int_equal(corpus.count, 2);
    assert_int_equal(corpus.source_text.count, 2);
    assert_int_equal(corpus.target_text.count, 2);
    assert_string_equal(corpus.source_text.items[0], "A  b"); /* raw, but repaired */
    assert_string_equal(corpus.target_text.items[0], "U\xEF\xBF\xBD");
    assert_string_equal(corpus.source_text.items[1], " c");
    assert_string_equal(corpus.target_text.items[1], "w\xC2\xA0!");
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
}

static void read_hash(const DataOptions *options, bool filter, char hex[65]) {
    Tokenizer *source, *target;
    learn(&WORD, options, &source, &target);
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &ENTRIES, options, source, target, filter, false, workers),
                     STATUS_OK);
    strcpy(hex, corpus.sha256);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
}

/* The checksum is that of "source TAB target LF" of the usable pairs: the same for other spellings of the
 * same data. */
static void test_checksum(void **state) {
    (void)state;
    static const char plain[] = "a\tu\nb\tv\n";
    char expected[65], got[65];
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, plain, strlen(plain));
    sha256_end(&hash, expected);
    DataOptions options = english_french();
    static const char *const same[] = {plain, "a\tu\r\n\nb\tv",
                                       "\xEF\xBB\xBF"
                                       "a\tu\tCC0\nb\tv\tCC0\n"};
    for (int i = 0; i < 3; i++) {
        write_lines(same[i]);
        read_hash(&options, true, got);
        assert_string_equal(got, expected);
    }
    options.limit = 2;
    write_lines("a\tu\nb\tv\nc\tw\n");
    read_hash(&options, true, got);
    assert_string_equal(got, expected);
    options.limit = 0;
    read_hash(&options, true, got);
    assert_string_not_equal(got, expected);
    write_lines("b\tv\na\tu\n");
    read_hash(&options, true, got);
    assert_string_not_equal(got, expected);
}

/* ---- learning ---- */

static void check_size(const Tokenizer *tokenizer, int tokens) {
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB_SPECIALS + tokens);
}

static void test_separate(void **state) {
    (void)state;
    write_lines("a b\tu\na c\tu v\n");
    DataOptions options = english_french();
    Tokenizer *source, *target;
    learn(&WORD, &options, &source, &target);
    assert_ptr_not_equal(source, target);
    check_size(source, 3);
    check_size(target, 2);
    tokenizer_free(source);
    tokenizer_free(target);
    options.source = "fr", options.target = "en";
    learn(&WORD, &options, &source, &target);
    check_size(source, 2);
    check_size(target, 3);
    tokenizer_free(source);
    tokenizer_free(target);
    options.limit = 1;
    learn(&WORD, &options, &source, &target);
    check_size(source, 1);
    check_size(target, 2);
    tokenizer_free(source);
    tokenizer_free(target);
}

static void test_joint(void **state) {
    (void)state;
    write_lines("x x\ty\nz\tx y\n");
    DataOptions options = english_french();
    TextOptions text = WORD;
    text.joint = true;
    Tokenizer *source, *target;
    learn(&text, &options, &source, &target);
    assert_ptr_equal(source, target);
    check_size(source, 3);
    static const char *const order[] = {"x", "y", "z"}; /* 3, 2 and 1 times, both sides together */
    for (int i = 0; i < 3; i++)
        assert_true(sv_equal(vocab_token(tokenizer_vocab(source), VOCAB_SPECIALS + i), sv(order[i])));
    tokenizer_free(source);
    tokenizer_free(target);
    options.limit = 1;
    learn(&text, &options, &source, &target);
    check_size(source, 2);
    tokenizer_free(source);
    tokenizer_free(target);
}

static void test_joint_merges(void **state) {
    (void)state;
    write_lines("ab\tcd\nef\tcd\n");
    DataOptions options = english_french();
    TextOptions text = {.tokenizer = TOKENIZER_BPE,
                        .normalize = NORMALIZE_NFC,
                        .bpe_marker = BPE_SUFFIX,
                        .bpe_merges = 1,
                        .min_count = 1};
    Tokenizer *source, *target;
    StrBuf codes = {0};
    learn(&text, &options, &source, &target); /* the source alone has no pair twice */
    tokenizer_write_codes(source, &codes);
    assert_string_equal(strbuf_text(&codes), "#version: 0.2\n");
    tokenizer_free(source);
    tokenizer_free(target);
    text.joint = true;
    learn(&text, &options, &source, &target);
    strbuf_clear(&codes);
    tokenizer_write_codes(source, &codes);
    assert_string_equal(strbuf_text(&codes), "#version: 0.2\nc d</w>\n");
    tokenizer_free(source);
    tokenizer_free(target);
    strbuf_free(&codes);
}

/* The pieces of a pair as a text. */
static void show_pair(const Corpus *corpus, int pair, const Tokenizer *source, const Tokenizer *target,
                      StrBuf *out) {
    int ids[2][100];
    Tokens sides[] = {corpus_source(corpus, pair, ids[0]), corpus_target(corpus, pair, ids[1])};
    const Tokenizer *tokenizers[] = {source, target};
    strbuf_clear(out);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < sides[side].length; i++) {
            tokenizer_label(tokenizers[side], sides[side].ids[i], out);
            strbuf_add_char(out, '|');
        }
        strbuf_add_char(out, '\t');
    }
}

static void test_retokenize(void **state) {
    (void)state;
    write_lines("abcdefgh abcdefgh\tmnopqrst\nabcdefgh\tmnopqrst mnopqrst\nabcdefgh\tmnopqrst\n");
    DataOptions options = english_french();
    TextOptions text = {.tokenizer = TOKENIZER_BPE,
                        .normalize = NORMALIZE_NFC,
                        .bpe_merges = 40,
                        .all_pieces = true,
                        .min_count = 1};
    Tokenizer *source, *target;
    learn(&text, &options, &source, &target);
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &options, source, target, true, true, workers),
                     STATUS_OK);
    StrBuf now = {0}, again = {0}, line = {0};
    int other_epochs = 0, other_pairs = 0;
    RetokenizeOptions how = {.source_rate = 0.5, .target_rate = 0.5};
    for (int epoch = 0; epoch < 20; epoch++) {
        corpus_retokenize(&corpus, source, target, &how, 7, epoch, workers);
        show_pair(&corpus, 2, source, target, &again);
        for (int i = 0; i < 3; i++) { /* the text does not change */
            int ids[100];
            Tokens tokens = corpus_target(&corpus, i, ids);
            strbuf_clear(&line);
            tokenizer_decode(target, tokens.ids, (size_t)tokens.length, &line);
            assert_string_equal(strbuf_text(&line), corpus.target_text.items[i]);
        }
        corpus_retokenize(&corpus, source, target, &how, 7, epoch + 1, workers);
        show_pair(&corpus, 2, source, target, &now);
        other_epochs += strcmp(strbuf_text(&now), strbuf_text(&again)) != 0;
        int ids[2][100];
        Tokens a = corpus_source(&corpus, 1, ids[0]), b = corpus_source(&corpus, 2, ids[1]);
        other_pairs += a.length != b.length || memcmp(a.ids, b.ids, (size_t)a.length * sizeof *a.ids) != 0;
        corpus_retokenize(&corpus, source, target, &how, 7, epoch, workers); /* from any previous state */
        show_pair(&corpus, 2, source, target, &now);
        assert_string_equal(strbuf_text(&now), strbuf_text(&again));
    }
    assert_true(other_epochs > 10 && other_pairs > 10);
    assert_int_equal(corpus.count, 3);
    strbuf_free(&now);
    strbuf_free(&again);
    strbuf_free(&line);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
}

/* The placeholders of half of the pairs are reserved tokens: on both sides, by seed, epoch and pair alone. */
static void test_reserved(void **state) {
    (void)state;
    enum { PAIRS = 400 };
    StrBuf lines = {0}, decoded[2] = {0};
    for (int i = 0; i < PAIRS; i++) strbuf_add(&lines, SV("a %s '{0}' b\tu '{0}' %s v\n"));
    write_lines(strbuf_text(&lines));
    DataOptions options = english_french();
    TextOptions text = {.tokenizer = TOKENIZER_BPE, .bpe_merges = 40, .min_count = 1, .reserved = true};
    Tokenizer *source, *target;
    learn(&text, &options, &source, &target);
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &options, source, target, true, true, workers),
                     STATUS_OK);
    bool before[PAIRS];
    int replaced = 0, other_epoch = 0;
    Workers *one = workers_new(1);
    RetokenizeOptions how = {.reserved = true};
    for (int turn = 0; turn < 3; turn++) { /* epochs 0, 1 and 1 again */
        corpus_retokenize(&corpus, source, target, &how, 7, turn > 0, turn == 2 ? one : workers);
        for (int i = 0; i < PAIRS; i++) {
            int ids[2][100];
            Tokens from = corpus_source(&corpus, i, ids[0]), to = corpus_target(&corpus, i, ids[1]);
            for (int side = 0; side < 2; side++) strbuf_clear(&decoded[side]);
            tokenizer_decode(source, from.ids, (size_t)from.length, &decoded[0]);
            tokenizer_decode(target, to.ids, (size_t)to.length, &decoded[1]);
            bool is_reserved = !strstr(strbuf_text(&decoded[0]), "%s");
            assert_string_equal(strbuf_text(&decoded[0]),
                                is_reserved ? "a \U0010FF00 '\U0010FF01' b" : "a %s '{0}' b");
            assert_string_equal(strbuf_text(&decoded[1]),
                                is_reserved ? "u '\U0010FF01' \U0010FF00 v" : "u '{0}' %s v");
            if (turn == 1) other_epoch += is_reserved != before[i];
            if (turn == 2) assert_true(is_reserved == before[i]);
            before[i] = is_reserved;
            replaced += is_reserved;
        }
    }
    assert_in_range(replaced, 3 * PAIRS / 2 - 100, 3 * PAIRS / 2 + 100);
    assert_in_range(other_epoch, PAIRS / 4, 3 * PAIRS / 4);
    workers_free(one);
    for (int side = 0; side < 2; side++) strbuf_free(&decoded[side]);
    strbuf_free(&lines);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
}

static void test_learning_fails(void **state) {
    (void)state;
    DataOptions options = english_french();
    Tokenizer *source = NULL, *target = NULL;
    write_lines("no tab\n");
    assert_int_equal(corpus_learn_tokenizers(&ENTRIES, &options, &WORD, workers, &source, &target),
                     STATUS_DATA);
    assert_null(source);
    assert_null(target);
    StrList none = {NULL, 0};
    assert_int_equal(corpus_learn_tokenizers(&none, &options, &WORD, workers, &source, &target),
                     STATUS_USAGE);
    Corpus corpus;
    assert_int_equal(corpus_read(&corpus, &none, &options, NULL, NULL, true, false, workers), STATUS_USAGE);
    assert_int_equal(corpus.count, 0);
}

/* Merges from a file that is not there; and from a pipe, which has them for the first of two vocabularies. */
static void test_codes_fail(void **state) {
    (void)state;
    static const char CODES[] = "#version: 0.2\na b\n";
    DataOptions options = english_french();
    TextOptions text = {.tokenizer = TOKENIZER_BPE, .min_count = 1, .bpe_codes = (char *)"/no/such/codes"};
    Tokenizer *source, *target;
    write_lines(LINES);
    assert_int_equal(corpus_learn_tokenizers(&ENTRIES, &options, &text, workers, &source, &target),
                     STATUS_RUNTIME);
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], CODES, sizeof CODES - 1), sizeof CODES - 1);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    text.bpe_codes = name;
    assert_int_equal(corpus_learn_tokenizers(&ENTRIES, &options, &text, workers, &source, &target),
                     STATUS_DATA);
    if (!strstr(status_message(), name)) fail_msg("%s", status_message());
    assert_true(source == NULL && target == NULL);
    close(ends[0]);
}

static void test_parts(void **state) {
    (void)state;
    DataOptions options = english_french();
    assert_int_equal(corpus_split(&options, true), PAIRS_ALL);
    options.held_out = 0.1;
    assert_int_equal(corpus_split(&options, true), PAIRS_NOT_HELD_OUT);
    assert_int_equal(corpus_split(&options, false), PAIRS_HELD_OUT);
    options.valid = ENTRIES; /* then none need be held out */
    assert_int_equal(corpus_split(&options, true), PAIRS_ALL);
    assert_int_equal(corpus_split(&options, false), PAIRS_ALL);
}

/* Few pairs with more text than one block. */
static void test_long_pairs(void **state) {
    (void)state;
    enum { PAIRS = 4, BYTES = 600000 };
    DataOptions options = english_french();
    Tokenizer *source, *target;
    Corpus corpus;
    StrBuf lines = {0};
    for (int pair = 0; pair < PAIRS; pair++) {
        for (int i = 0; i < BYTES / 2; i++) strbuf_add(&lines, SV("a "));
        strbuf_format(&lines, "\tb%d\n", pair);
    }
    write_lines(strbuf_text(&lines));
    learn(&WORD, &options, &source, &target);
    assert_int_equal(corpus_read(&corpus, &ENTRIES, &options, source, target, true, false, workers),
                     STATUS_OK);
    assert_int_equal(corpus.count, PAIRS);
    for (int pair = 0; pair < PAIRS; pair++) {
        int room;
        StrBuf out = {0};
        Tokens b = corpus_target(&corpus, pair, &room);
        tokenizer_decode(target, b.ids, (size_t)b.length, &out);
        assert_true(out.data[0] == 'b' && out.data[1] == '0' + pair);
        strbuf_free(&out);
    }
    strbuf_free(&lines);
    corpus_free(&corpus);
    tokenizer_free(source);
    tokenizer_free(target);
}

int main(void) {
    log_set_level(LOG_QUIET);
    workers = workers_new(2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),      cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_kept_text),    cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_separate),     cmocka_unit_test(test_joint),
        cmocka_unit_test(test_joint_merges), cmocka_unit_test(test_learning_fails),
        cmocka_unit_test(test_codes_fail),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_long_pairs),   cmocka_unit_test(test_retokenize),
        cmocka_unit_test(test_reserved),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    workers_free(workers);
    return failed;
}
