/* shortlist.c - likely translations: against Model 1 in plain loops, written, read, and refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "data/shortlist.h"
#include "tokenizer/vocab.h"

enum { SOURCES = 14, TARGETS = 17, PAIRS = 60, LONGEST = 7 };

static size_t source_start[PAIRS + 1], target_start[PAIRS + 1];
static uint16_t source_ids[PAIRS * LONGEST], target_ids[PAIRS * LONGEST];
static const Corpus CORPUS = {
    .count = PAIRS, .source = {source_start, source_ids, false}, .target = {target_start, target_ids, false}};

/* Source word s translates to target word s; sometimes another word is inserted. */
static void make_corpus(void) {
    Rng rng = rng_new(3);
    for (int i = 0; i < PAIRS; i++) {
        size_t s = source_start[i], t = target_start[i];
        for (uint32_t words = 1 + rng_below(&rng, LONGEST - 2); words; words--) {
            uint16_t word = (uint16_t)(VOCAB_SPECIALS + rng_below(&rng, SOURCES - VOCAB_SPECIALS));
            source_ids[s++] = word;
            target_ids[t++] = word;
        }
        if (i % 3 == 0) target_ids[t++] = TARGETS - 1;
        if (i % 9 == 1) target_ids[t++] = VOCAB_UNK;
        source_start[i + 1] = s;
        target_start[i + 1] = t;
    }
}

/* p[source][target]; the last source token is the empty word. */
typedef double Table[SOURCES + 1][TARGETS];

static void plain_model1(Table p) {
    for (int s = 0; s <= SOURCES; s++)
        for (int t = 0; t < TARGETS; t++) p[s][t] = 1;
    for (int iteration = 0; iteration < 5; iteration++) {
        static Table counts;
        memset(counts, 0, sizeof counts);
        for (int i = 0; i < PAIRS; i++)
            for (size_t t = target_start[i]; t < target_start[i + 1]; t++) {
                double sum = p[SOURCES][target_ids[t]];
                for (size_t s = source_start[i]; s < source_start[i + 1]; s++)
                    sum += p[source_ids[s]][target_ids[t]];
                for (size_t s = source_start[i]; s < source_start[i + 1]; s++)
                    counts[source_ids[s]][target_ids[t]] += p[source_ids[s]][target_ids[t]] / sum;
                counts[SOURCES][target_ids[t]] += p[SOURCES][target_ids[t]] / sum;
            }
        for (int s = 0; s <= SOURCES; s++) {
            double sum = 0;
            for (int t = 0; t < TARGETS; t++) sum += counts[s][t];
            for (int t = 0; t < TARGETS; t++) p[s][t] = sum > 0 ? counts[s][t] / sum : 0;
        }
    }
}

static void test_is_model1(void **state) {
    (void)state;
    static Table p;
    make_corpus();
    plain_model1(p);
    Shortlist *shortlist = shortlist_learn(&CORPUS, SOURCES, TARGETS, 5);
    for (int s = 0; s < SOURCES; s++) {
        size_t first = shortlist->start[1 + s], end = shortlist->start[2 + s];
        assert_true(s < VOCAB_SPECIALS ? end == first : end - first >= 1 && end - first <= 5);
        if (s >= VOCAB_SPECIALS) assert_int_equal(shortlist->ids[first], s);
        for (size_t i = first; i < end; i++) {
            int better = 0;
            assert_in_range(shortlist->ids[i], VOCAB_SPECIALS, TARGETS - 1);
            assert_true(p[s][shortlist->ids[i]] > 0.0099);
            for (int t = VOCAB_SPECIALS; t < TARGETS; t++)
                better += p[s][t] > p[s][shortlist->ids[i]] * 1.0001;
            assert_true(better <= (int)(i - first));
        }
    }
    int counts[TARGETS] = {0};
    for (size_t t = 0; t < target_start[PAIRS]; t++) counts[target_ids[t]]++;
    assert_int_equal(shortlist->start[1], TARGETS - VOCAB_SPECIALS - 2); /* two tokens never occur */
    for (size_t i = 1; i < shortlist->start[1]; i++)
        assert_true(counts[shortlist->ids[i - 1]] >= counts[shortlist->ids[i]]);
    shortlist_free(shortlist);
}

static void test_round_trip(void **state) {
    (void)state;
    make_corpus();
    for (int size = TARGETS; size <= 70000; size += 70000 - TARGETS) { /* numbers of 2 and of 4 bytes */
        StrBuf lengths = {0}, ids = {0};
        Shortlist *shortlist = shortlist_learn(&CORPUS, SOURCES, TARGETS, 100), *read;
        shortlist->target_size = size;
        shortlist_write(shortlist, &lengths, &ids);
        int width = size > 65536 ? 4 : 2;
        assert_int_equal(lengths.length, (SOURCES + 1) * width);
        assert_int_equal(shortlist_read(&read, strbuf_view(&lengths), strbuf_view(&ids), SOURCES, size),
                         STATUS_OK);
        assert_memory_equal(shortlist->start, read->start, (SOURCES + 2) * sizeof *read->start);
        assert_memory_equal(shortlist->ids, read->ids, read->start[SOURCES + 1] * sizeof *read->ids);
        strbuf_free(&lengths);
        strbuf_free(&ids);
        shortlist_free(shortlist);
        shortlist_free(read);
    }
}

static void test_marks(void **state) {
    (void)state;
    Shortlist *shortlist;
    bool marked[9];
    assert_int_equal(shortlist_read_text(&shortlist, SV("4 5 6;;;;;7 8;8 4;"), 6, 9), STATUS_OK);
    const int ids[] = {5, 4}, none[] = {0};
    for (int best = 0; best < 4; best++) {
        memset(marked, 0, sizeof marked);
        shortlist_mark(shortlist, best, (Tokens){ids, 2}, marked);
        assert_false(marked[0] || marked[1] || marked[2] || marked[3]);
        assert_int_equal(marked[4], best > 0);
        assert_int_equal(marked[5], best > 1);
        assert_int_equal(marked[6], best > 2);
        assert_int_equal(marked[7], best > 0);
        assert_int_equal(marked[8], best > 0);
    }
    memset(marked, 0, sizeof marked);
    shortlist_mark(shortlist, 1, (Tokens){none, 0}, marked);
    assert_true(marked[4] && !marked[7] && !marked[8]);
    shortlist_free(shortlist);
}

static StrView numbers(const uint16_t *from, size_t count) {
    return (StrView){(const char *)from, count * sizeof *from};
}

static void test_refused_numbers(void **state) {
    (void)state;
    static const struct {
        uint16_t lengths[4], ids[8];
        size_t lists, tokens;
        const char *reason;
    } BAD[] = {{{2, 1}, {4, 5, 6}, 2, 3, "2 lists for 2 source tokens"},
               {{2, 1, 0, 0}, {4, 5, 6}, 4, 3, "4 lists for 2 source tokens"},
               {{2, 1001, 0}, {4, 5, 6}, 3, 3, "list 1 has more than 1000 tokens"},
               {{2, 1, 1}, {4, 5, 6}, 3, 3, "3 tokens for lists of 4"},
               {{2, 0, 0}, {4, 5, 0, 0, 0, 0}, 3, 6, "6 tokens for lists of 2"},
               {{2, 0, 0}, {4, 5, 0, 4}, 3, 4, "number 3 is in no list"},
               {{2, 0, 1}, {4, 5, 9}, 3, 3, "number 2 is no target token from 4 to 8"},
               {{2, 0, 1}, {3, 5, 6}, 3, 3, "number 0 is no target token from 4 to 8"}};
    Shortlist *shortlist;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        StrView lengths = numbers(BAD[i].lengths, BAD[i].lists), ids = numbers(BAD[i].ids, BAD[i].tokens);
        shortlist = (void *)1;
        assert_int_equal(shortlist_read(&shortlist, lengths, ids, 2, 9), STATUS_DATA);
        assert_null(shortlist);
        if (!strstr(status_message(), BAD[i].reason)) fail_msg("%zu: %s", i, status_message());
    }
    const uint16_t good[] = {2, 0, 1}, tokens[] = {4, 5, 8, 0, 0};
    assert_int_equal(shortlist_read(&shortlist, numbers(good, 3), numbers(tokens, 5), 2, 9), STATUS_OK);
    assert_int_equal(shortlist->ids[2], 8);
    shortlist_free(shortlist);
    StrView odd = {(const char *)good, 5};
    assert_int_equal(shortlist_read(&shortlist, odd, numbers(tokens, 5), 2, 9), STATUS_DATA);
    odd.data = (const char *)tokens;
    assert_int_equal(shortlist_read(&shortlist, numbers(good, 3), odd, 2, 9), STATUS_DATA);
}

static void test_refused_text(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } BAD[] = {{"", "0 lists for 6 source tokens"},
               {"4 5 6;;;;;7 8;", "6 lists for 6"},
               {"4 5 6;;;;;7 8;8 4;;", "text after the last list"},
               {"4 5 6;;;;;7 8;8 4; ", "text after the last list"},
               {"4 5 6;;;;;7 8;8 4", "no number at byte"},
               {"4 5 6;;;;;7 8;8 9;", "is no target token from 4 to 8"},
               {"4 5 6;;;;;7 8;8 3;", "is no target token from 4 to 8"},
               {"4 5 6;;;;;7 8;8 99999999999999999999999999;", "is no target token"},
               {"4 5 6;;;;;7 8;8 -4;", "no number at byte"},
               {"4 5 6;;;;;7  8;8 4;", "no number at byte"},
               {"4 5 6;;;;; 7 8;8 4;", "no number at byte"},
               {"4 5 6;;;;;7 8 ;8 4;", "no number at byte"},
               {"4,5 6;;;;;7 8;8 4;", "neither a space nor a ';'"},
               {"4 5 6;;;;;x;8 4;", "no number at byte"}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Shortlist *shortlist = (void *)1;
        assert_int_equal(shortlist_read_text(&shortlist, sv(BAD[i].text), 6, 9), STATUS_DATA);
        assert_null(shortlist);
        if (!strstr(status_message(), BAD[i].reason)) fail_msg("'%s': %s", BAD[i].text, status_message());
    }
    StrBuf text = {0};
    Shortlist *shortlist;
    for (int i = 0; i < SHORTLIST_MAX; i++) strbuf_add(&text, i ? SV(" 4") : SV("4"));
    strbuf_add(&text, SV(" 4;"));
    assert_int_equal(shortlist_read_text(&shortlist, strbuf_view(&text), 6, 9), STATUS_DATA);
    assert_non_null(strstr(status_message(), "list 0 has more than 1000 tokens"));
    strbuf_free(&text);
}

/* A pair with an empty side, which filters would drop, and a corpus without pairs. */
static void test_nothing(void **state) {
    (void)state;
    size_t start[] = {0, 0};
    uint16_t ids[] = {5};
    Corpus corpus = {.count = 1, .source = {start, ids, false}, .target = {start, ids, false}};
    for (; corpus.count >= 0; corpus.count--) {
        Shortlist *shortlist = shortlist_learn(&corpus, SOURCES, TARGETS, 5);
        assert_int_equal(shortlist->start[SOURCES + 1], 0);
        shortlist_free(shortlist);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_model1),    cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_marks),        cmocka_unit_test(test_refused_numbers),
        cmocka_unit_test(test_refused_text), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
