/* bpe.c - learning, applying, reading and writing merges.
 *
 * Three independent references: files made by subword-nmt (tests/golden/bpe), a learner and an applier here
 * that count everything again at every step, and, where Multi30k is at hand, checksums of subword-nmt's
 * results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "base/rng.h"
#include "io/sha256.h"
#include "tokenizer/bpe_learn.h"
#include "tokenizer/pretokenize.h"
#include "unit/text_fixture.h"

/* ---- the format of subword-nmt: "ham@@ ster ." ---- */

typedef struct {
    Bpe *bpe;
    StrBuf out;
    bool inside; /* a piece of this word was written */
} Shower;

static void show_piece(void *context, StrView piece) {
    Shower *shower = context;
    if (shower->inside) strbuf_add(&shower->out, SV("@@ "));
    if (sv_ends(piece, SV(BPE_WORD_END))) piece.length -= 4;
    strbuf_add(&shower->out, piece);
    shower->inside = true;
}

static void show_word(void *context, StrView word) {
    Shower *shower = context;
    if (shower->out.length > 0 && shower->out.data[shower->out.length - 1] != '\n')
        strbuf_add_char(&shower->out, ' ');
    shower->inside = false;
    bpe_apply(shower->bpe, word, show_piece, shower);
}

static void show_lines(Shower *shower, StrView text) {
    StrView line, rest = text;
    while (sv_next(&rest, '\n', &line)) {
        if (line.length == 0 && rest.length == 0) break;
        tokenize_spaced(line, show_word, shower);
        strbuf_add_char(&shower->out, '\n');
    }
}

static void count_word(void *words, StrView word) { (*hashmap_slot(words, word, 0))++; }

static HashMap *count_words(StrView text) {
    HashMap *words = hashmap_new();
    tokenize_spaced(text, count_word, words);
    return words;
}

static void read_golden(const char *name, StrBuf *content) {
    char path[256];
    snprintf(path, sizeof path, "tests/golden/bpe/%s", name);
    assert_int_equal(file_read(path, 0, content), STATUS_OK);
    assert_true(content->length > 100);
}

/* Counts of a corpus of thousands of gigabytes. */
static void test_counts_beyond_32_bits(void **state) {
    (void)state;
    static const int64_t MANY[] = {1ll << 31, 1ll << 32, 1ll << 40};
    for (size_t i = 0; i < sizeof MANY / sizeof *MANY; i++) {
        StrView left, right;
        HashMap *words = hashmap_new();
        hashmap_set(words, SV("ab"), MANY[i] + 1); /* with equal counts "cd" would win */
        hashmap_set(words, SV("cd"), MANY[i]);
        hashmap_set(words, SV("ef"), 2);
        Bpe *bpe = bpe_learn(words, BPE_PREFIX, 3, 2, NULL);
        assert_int_equal(bpe_count(bpe), 3);
        bpe_merge(bpe, 0, &left, &right);
        assert_true(sv_equal(left, SV("a")) && sv_equal(right, SV("b")));
        bpe_merge(bpe, 2, &left, &right);
        assert_true(sv_equal(left, SV("e")));
        bpe_free(bpe);
        hashmap_free(words);
    }
}

static void test_learns_like_subword_nmt(void **state) {
    (void)state;
    StrBuf text = {0}, expected = {0}, got = {0};
    read_golden("text.txt", &text);
    read_golden("codes.txt", &expected);
    HashMap *words = count_words(strbuf_view(&text));
    Bpe *bpe = bpe_learn(words, BPE_SUFFIX, 150, 2, NULL); /* stops before 150: no pair occurs twice */
    bpe_write(bpe, &got);
    assert_string_equal(strbuf_text(&got), strbuf_text(&expected));
    bpe_free(bpe);

    bpe = bpe_learn(words, BPE_SUFFIX, 20, 2, NULL);
    assert_int_equal(bpe_count(bpe), 20);
    strbuf_clear(&got);
    bpe_write(bpe, &got);
    assert_true(sv_starts(strbuf_view(&expected), strbuf_view(&got)));
    bpe_free(bpe);
    hashmap_free(words);
    strbuf_free(&text);
    strbuf_free(&expected);
    strbuf_free(&got);
}

static void check_golden_pieces(Bpe *bpe, const char *text_name, const char *pieces_name) {
    StrBuf text = {0}, expected = {0};
    read_golden(text_name, &text);
    read_golden(pieces_name, &expected);
    Shower shower = {.bpe = bpe};
    show_lines(&shower, strbuf_view(&text));
    assert_string_equal(strbuf_text(&shower.out), strbuf_text(&expected));
    strbuf_free(&shower.out);
    strbuf_free(&text);
    strbuf_free(&expected);
}

static void test_applies_like_subword_nmt(void **state) {
    (void)state;
    StrBuf codes = {0};
    read_golden("codes.txt", &codes);
    Bpe *bpe;
    assert_int_equal(bpe_read(&bpe, strbuf_view(&codes), "codes.txt", BPE_PREFIX), STATUS_OK);
    assert_int_equal(bpe_marker(bpe), BPE_SUFFIX);
    check_golden_pieces(bpe, "text.txt", "pieces.txt");
    check_golden_pieces(bpe, "unseen.txt", "unseen.pieces.txt");
    bpe_free(bpe);
    strbuf_free(&codes);
}

/* ---- a slow and simple applier and learner ---- */

enum { SLOW_UNITS = 64 };

typedef struct {
    StrView part[SLOW_UNITS]; /* neighbours in one string, so merging is lengthening */
    int count;
} SlowWord;

static SlowWord slow_split(BpeMarker marker, StrView word) {
    SlowWord slow = {.count = 0};
    for (size_t at = 0; at < word.length; at += slow.part[slow.count - 1].length) {
        assert_true(slow.count < SLOW_UNITS);
        slow.part[slow.count++] = (StrView){word.data + at, bpe_unit(marker, word, at)};
    }
    return slow;
}

static void slow_merge(SlowWord *word, StrView left, StrView right) {
    int kept = 0;
    for (int i = 0; i < word->count; kept++) {
        bool here =
            i + 1 < word->count && sv_equal(word->part[i], left) && sv_equal(word->part[i + 1], right);
        word->part[kept] = word->part[i];
        if (here) word->part[kept].length += right.length;
        i += here ? 2 : 1;
    }
    word->count = kept;
}

static void slow_apply(const Bpe *bpe, SlowWord *word) {
    for (;;) {
        size_t best = bpe_count(bpe);
        StrView left, right;
        for (int i = 0; i + 1 < word->count; i++)
            for (size_t rank = 0; rank < best; rank++) {
                bpe_merge(bpe, rank, &left, &right);
                if (sv_equal(word->part[i], left) && sv_equal(word->part[i + 1], right)) best = rank;
            }
        if (best == bpe_count(bpe)) return;
        bpe_merge(bpe, best, &left, &right);
        slow_merge(word, left, right);
    }
}

typedef struct {
    StrView left, right;
    int count;
} SlowPair;

static bool better(SlowPair a, SlowPair b) {
    if (a.count != b.count) return a.count > b.count;
    int order = sv_compare(a.left, b.left);
    return order != 0 ? order > 0 : sv_compare(a.right, b.right) > 0;
}

static SlowPair slow_best(const SlowWord *words, const int *weights, size_t count) {
    HashMap *index = hashmap_new();
    SlowPair *pairs = NULL, best = {.count = 0};
    size_t capacity = 0;
    StrBuf key = {0};
    for (size_t w = 0; w < count; w++)
        for (int i = 0; i + 1 < words[w].count; i++) {
            SlowPair pair = {words[w].part[i], words[w].part[i + 1], 0};
            strbuf_clear(&key);
            strbuf_format(&key, "%.*s %.*s", SV_ARG(pair.left), SV_ARG(pair.right));
            size_t known = hashmap_count(index);
            int at = (int)*hashmap_slot(index, strbuf_view(&key), (int)known);
            if ((size_t)at == known) {
                MEM_GROW(pairs, capacity, known + 1);
                pairs[at] = pair;
            }
            pairs[at].count += weights[w];
        }
    for (size_t i = 0; i < hashmap_count(index); i++)
        if (better(pairs[i], best)) best = pairs[i];
    hashmap_free(index);
    mem_free(pairs);
    strbuf_free(&key);
    return best;
}

static void test_random_texts(void **state) {
    (void)state;
    static const char *const letters[] = {"a", "b", "\xC3\xA9", "\xE4\xB8\x96", "\xF0\x9F\x98\x80"};
    for (int round = 0; round < 60; round++) {
        Rng rng = rng_new(rng_key(7, (uint64_t)round, 0, 0));
        BpeMarker marker = round % 2 ? BPE_SUFFIX : BPE_PREFIX;
        StrBuf text = {0};
        uint32_t alphabet = 1 + rng_below(&rng, 5), word_count = 1 + rng_below(&rng, 60);
        for (uint32_t w = 0; w < word_count; w++) {
            for (uint32_t length = 1 + rng_below(&rng, 12); length > 0; length--)
                strbuf_add(&text, sv(letters[rng_below(&rng, alphabet)]));
            strbuf_add_char(&text, ' ');
        }
        HashMap *words = hashmap_new();
        (marker == BPE_SUFFIX ? tokenize_spaced : tokenize_runs)(strbuf_view(&text), count_word, words);
        size_t count = hashmap_count(words);
        SlowWord *slow = mem_alloc(count, sizeof *slow);
        int *weights = mem_alloc(count, sizeof *weights);
        for (size_t w = 0; w < count; w++) {
            slow[w] = slow_split(marker, hashmap_key(words, w));
            weights[w] = (int)hashmap_value(words, w);
        }
        Bpe *bpe = bpe_learn(words, marker, 40, 2, NULL);
        for (size_t rank = 0; rank <= bpe_count(bpe); rank++) {
            SlowPair best = slow_best(slow, weights, count);
            if (rank == bpe_count(bpe)) {
                assert_true(rank == 40 || best.count < 2);
                break;
            }
            StrView left, right;
            bpe_merge(bpe, rank, &left, &right);
            if (!sv_equal(left, best.left) || !sv_equal(right, best.right))
                fail_msg("round %d, merge %zu: '%.*s %.*s', not '%.*s %.*s'", round, rank, SV_ARG(left),
                         SV_ARG(right), SV_ARG(best.left), SV_ARG(best.right));
            for (size_t w = 0; w < count; w++) slow_merge(&slow[w], best.left, best.right);
        }
        bpe_free(bpe);
        hashmap_free(words);
        mem_free(slow);
        mem_free(weights);
        strbuf_free(&text);
    }
}

typedef struct {
    const SlowWord *expected;
    int count;
} Comparer;

static void compare_piece(void *context, StrView piece) {
    Comparer *comparer = context;
    assert_true(comparer->count < comparer->expected->count);
    if (!sv_equal(piece, comparer->expected->part[comparer->count++]))
        fail_msg("piece '%.*s'", SV_ARG(piece));
}

/* Merge lists in any order, as in files: an early merge can need the result of a later one. */
static void test_random_merges(void **state) {
    (void)state;
    for (int round = 0; round < 300; round++) {
        Rng rng = rng_new(rng_key(8, (uint64_t)round, 0, 0));
        Bpe *bpe = bpe_new(BPE_SUFFIX);
        for (int i = 0; i < 12; i++) {
            char left[8] = {0}, right[8] = {0};
            for (uint32_t n = rng_below(&rng, 3) + 1; n > 0; n--) left[n - 1] = "ab"[rng_below(&rng, 2)];
            for (uint32_t n = rng_below(&rng, 3) + 1; n > 0; n--) right[n - 1] = "ab"[rng_below(&rng, 2)];
            if (rng_below(&rng, 4) == 0) strcat(right, BPE_WORD_END);
            bpe_add(bpe, sv(left), sv(right));
        }
        for (int i = 0; i < 20; i++) {
            char word[64] = {0};
            for (uint32_t n = rng_below(&rng, 20) + 1; n > 0; n--)
                word[n - 1] = "abx"[rng_below(&rng, 20) % 3];
            strcat(word, BPE_WORD_END);
            SlowWord expected = slow_split(BPE_SUFFIX, sv(word));
            slow_apply(bpe, &expected);
            Comparer comparer = {&expected, 0};
            bpe_apply(bpe, sv(word), compare_piece, &comparer);
            assert_int_equal(comparer.count, expected.count);
        }
        bpe_free(bpe);
    }
}

/* ---- BPE-dropout ---- */

static void add_text(void *context, StrView piece) {
    StrBuf *out = context;
    if (out->length > 0) strbuf_add_char(out, ' ');
    strbuf_add(out, piece);
}

static void dropout_joined(Bpe *bpe, const char *word, double p, uint64_t key, StrBuf *out) {
    Rng rng = rng_new(key);
    strbuf_clear(out);
    bpe_apply_dropout(bpe, sv(word), p, &rng, add_text, out);
}

/* The frequencies of the segmentations of "abc" with the merges "b c", "a bc", "a b". Dropout can skip both
 * pairs before the first merge; the remaining pairs decide. */
static void test_dropout_shares(void **state) {
    (void)state;
    Bpe *bpe = bpe_new(BPE_PREFIX);
    bpe_add(bpe, SV("b"), SV("c"));
    bpe_add(bpe, SV("a"), SV("bc"));
    bpe_add(bpe, SV("a"), SV("b"));
    const double p = 0.3;
    static const char *const CUT[] = {"abc", "a bc", "ab c", "a b c"};
    const double fraction[] = {(1 - p) * (1 - p), (1 - p) * p, p * (1 - p), p * p};
    int seen[4] = {0}, rounds = 20000;
    StrBuf out = {0};
    for (int i = 0; i < rounds; i++) {
        dropout_joined(bpe, "abc", p, rng_key(5, (uint64_t)i, 0, 0), &out);
        int cut = 0;
        while (cut < 4 && strcmp(CUT[cut], strbuf_text(&out))) cut++;
        assert_true(cut < 4);
        seen[cut]++;
    }
    for (int cut = 0; cut < 4; cut++)
        assert_true(fabs((double)seen[cut] / rounds - fraction[cut]) < 4 * sqrt(fraction[cut] / rounds));
    strbuf_free(&out);
    bpe_free(bpe);
}

/* With probability 0 it is bpe_apply, with nearly 1 nothing is merged. */
static void test_dropout_extremes(void **state) {
    (void)state;
    HashMap *words = hashmap_new();
    hashmap_set(words, SV("banana</w>"), 5);
    hashmap_set(words, SV("bandana</w>"), 4);
    Bpe *bpe = bpe_learn(words, BPE_SUFFIX, 6, 2, NULL);
    StrBuf whole = {0}, out = {0};
    bpe_apply(bpe, SV("bananananbandana</w>"), add_text, &whole);
    dropout_joined(bpe, "bananananbandana</w>", 0, 1, &out);
    assert_string_equal(strbuf_text(&out), strbuf_text(&whole));
    dropout_joined(bpe, "banana</w>", 1 - 1e-12, 1, &out);
    assert_string_equal(strbuf_text(&out), "b a n a n a</w>");
    dropout_joined(bpe, "", 0.5, 1, &out);
    assert_int_equal(out.length, 0);
    strbuf_free(&whole);
    strbuf_free(&out);
    bpe_free(bpe);
    hashmap_free(words);
}

/* ---- corners ---- */

static void apply_joined(Bpe *bpe, const char *word, const char *expected) {
    Shower shower = {.bpe = bpe};
    bpe_apply(bpe, sv(word), show_piece, &shower);
    assert_string_equal(strbuf_text(&shower.out), expected);
    strbuf_free(&shower.out);
}

static void test_no_merges(void **state) {
    (void)state;
    Bpe *bpe = bpe_new(BPE_SUFFIX);
    apply_joined(bpe, "\xC3\xA9t\xC3\xA9</w>", "\xC3\xA9@@ t@@ \xC3\xA9");
    apply_joined(bpe, "a</w>", "a");
    apply_joined(bpe, "", "");
    bpe_free(bpe);
    HashMap *words = hashmap_new();
    bpe = bpe_learn(words, BPE_PREFIX, 100, 2, NULL);
    assert_int_equal(bpe_count(bpe), 0);
    bpe_free(bpe);
    hashmap_set(words, SV("abab"), 5);
    bpe = bpe_learn(words, BPE_PREFIX, 0, 2, NULL);
    assert_int_equal(bpe_count(bpe), 0);
    bpe_free(bpe);
    bpe = bpe_learn(words, BPE_PREFIX, 100, 11, NULL); /* "a b" occurs ten times */
    assert_int_equal(bpe_count(bpe), 0);
    bpe_free(bpe);
    bpe = bpe_learn(words, BPE_PREFIX, 100, 10, NULL);
    assert_int_equal(bpe_count(bpe), 1);
    bpe_free(bpe);
    hashmap_free(words);
    words = hashmap_new();
    hashmap_set(words, SV("abc"), 5);
    bpe = bpe_learn(words, BPE_PREFIX, 100, 0, NULL); /* pairs that no longer occur do not count */
    assert_int_equal(bpe_count(bpe), 2);
    bpe_free(bpe);
    hashmap_free(words);
    words = hashmap_new();
    StrBuf long_word = {0}; /* longer words are ignored */
    for (int i = 0; i < BPE_LEARN_LONGEST; i++) strbuf_add_char(&long_word, 'a');
    for (int longer = 0; longer < 2; longer++) {
        hashmap_set(words, strbuf_view(&long_word), 1);
        bpe = bpe_learn(words, BPE_PREFIX, 1, 2, NULL);
        assert_int_equal(bpe_count(bpe), !longer);
        bpe_free(bpe);
        hashmap_free(words);
        words = hashmap_new();
        strbuf_add_char(&long_word, 'a');
    }
    strbuf_free(&long_word);
    hashmap_free(words);
}

static void test_first_rank_counts(void **state) {
    (void)state;
    Bpe *bpe = bpe_new(BPE_PREFIX);
    bpe_add(bpe, SV("a"), SV("b"));
    bpe_add(bpe, SV("b"), SV("c"));
    bpe_add(bpe, SV("a"), SV("b"));
    assert_int_equal(bpe_count(bpe), 3);
    apply_joined(bpe, "abc", "ab@@ c");
    bpe_free(bpe);
    bpe = bpe_new(BPE_PREFIX); /* merges that never apply */
    bpe_add(bpe, SV("a</w>"), SV("b"));
    bpe_add(bpe, SV("a</w>"), SV("c"));
    apply_joined(bpe, "bc", "b@@ c");
    bpe_free(bpe);
}

/* The text can contain "</w>"; merges must not make a marker of it. */
static void test_spelled_marker(void **state) {
    (void)state;
    assert_false(bpe_mergeable(SV("x</w"), SV(">")));
    assert_false(bpe_mergeable(SV("<"), SV("/w>")));
    assert_false(bpe_mergeable(SV("a</w>"), SV("b")));
    assert_true(bpe_mergeable(SV("</w"), SV("></w>")));
    assert_true(bpe_mergeable(SV("a"), SV("b</w>")));
    assert_true(bpe_mergeable(SV("<"), SV("/w")));
    Bpe *bpe = bpe_new(BPE_SUFFIX);
    bpe_add(bpe, SV("<"), SV("/"));
    bpe_add(bpe, SV("</"), SV("w"));
    bpe_add(bpe, SV("</w"), SV(">"));
    apply_joined(bpe, "a</w>b</w>", "a@@ </w@@ >@@ b");
    StrBuf out = {0};
    bpe_write(bpe, &out); /* still in the list */
    assert_non_null(strstr(strbuf_text(&out), "\n</w >\n"));
    strbuf_free(&out);
    bpe_free(bpe);
    HashMap *words = hashmap_new();
    hashmap_set(words, SV("a</w>b</w>"), 100);
    bpe = bpe_learn(words, BPE_SUFFIX, 100, 2, NULL);
    for (size_t rank = 0; rank < bpe_count(bpe); rank++) { /* every learned merge is used */
        StrView left, right;
        bpe_merge(bpe, rank, &left, &right);
        assert_true(bpe_mergeable(left, right));
    }
    Shower shower = {.bpe = bpe};
    bpe_apply(bpe, SV("a</w>b</w>"), show_piece, &shower);
    assert_string_equal(strbuf_text(&shower.out), "a</w>b");
    strbuf_free(&shower.out);
    bpe_free(bpe);
    hashmap_free(words);
    words = hashmap_new();
    hashmap_set(words, SV("</w>"), 100);
    bpe = bpe_learn(words, BPE_PREFIX, 100, 2, NULL);
    apply_joined(bpe, "</w>", "</@@ w>");
    bpe_free(bpe);
    hashmap_free(words);
}

static void test_split_undoes(void **state) {
    (void)state;
    Bpe *bpe = bpe_new(BPE_SUFFIX);
    bpe_add(bpe, SV("t"), SV("h"));
    bpe_add(bpe, SV("th"), SV("e</w>"));
    bpe_add(bpe, SV("h"), SV("e</w>"));
    bpe_add(bpe, SV("t"), SV("he</w>")); /* makes the same symbol as the second merge: the first one counts */
    StrView left, right;
    assert_true(bpe_split(bpe, SV("the</w>"), &left, &right));
    assert_true(sv_equal(left, SV("th")) && sv_equal(right, SV("e</w>")));
    assert_false(bpe_split(bpe, SV("t"), &left, &right));
    assert_false(bpe_split(bpe, SV("xyz"), &left, &right));
    bpe_free(bpe);
}

typedef struct {
    const char *at;
    size_t count;
} Coverage;

static void cover(void *context, StrView piece) {
    Coverage *coverage = context;
    assert_ptr_equal(piece.data, coverage->at);
    assert_true(piece.length > 0 && piece.length <= BPE_SYMBOL_BYTES);
    coverage->at += piece.length;
    coverage->count++;
}

/* A megabyte without a space: no quadratic time, and no symbol grows without limit. */
static void test_endless_word(void **state) {
    (void)state;
    size_t length = 1 << 20;
    char *word = mem_alloc(length, 1);
    memset(word, 'a', length);
    HashMap *words = hashmap_new();
    hashmap_set(words, (StrView){word, length}, 3); /* too long for learning */
    hashmap_set(words, SV("aaaaaaaaaaaaaaaa"), 3);
    Bpe *bpe = bpe_learn(words, BPE_PREFIX, 100, 2, NULL);
    assert_int_equal(bpe_count(bpe), 4);
    for (size_t n = 16; n <= 1024; n *= 2) /* the last one would make a symbol of 2048 bytes */
        bpe_add(bpe, (StrView){word, n}, (StrView){word, n});
    Coverage coverage = {.at = word};
    bpe_apply(bpe, (StrView){word, length}, cover, &coverage);
    assert_ptr_equal(coverage.at, word + length);
    assert_int_equal(coverage.count, length / 1024);
    bpe_free(bpe);
    hashmap_free(words);
    mem_free(word);
}

/* ---- files ---- */

static void check_codes(const FixtureCase *block) {
    Bpe *bpe = NULL;
    Status status = bpe_read(&bpe, block->line[0], "codes", BPE_PREFIX);
    if (sv_equal(block->line[1], SV("ok"))) {
        if (status != STATUS_OK) fail_msg("line %d: %s", block->number, status_message());
        StrBuf out = {0};
        bpe_write(bpe, &out);
        if (!sv_equal(strbuf_view(&out), block->line[2]))
            fail_msg("line %d: %s", block->number, strbuf_text(&out));
        strbuf_free(&out);
        bpe_free(bpe);
        return;
    }
    assert_int_equal(status, STATUS_DATA);
    assert_null(bpe);
    char part[256];
    snprintf(part, sizeof part, "%.*s", SV_ARG(block->line[1]));
    if (!strstr(status_message(), part)) fail_msg("line %d: %s", block->number, status_message());
}

static void test_codes(void **state) {
    (void)state;
    fixture_cases("tests/cases/bpe_codes.case", check_codes);
    Bpe *bpe;
    assert_int_equal(bpe_read(&bpe, (StrView){NULL, 0}, "nothing", BPE_PREFIX), STATUS_DATA);
    bpe = bpe_new(BPE_PREFIX);
    assert_int_equal(bpe_add_line(bpe, (StrView){NULL, 0}, "nothing", 2), STATUS_DATA);
    bpe_free(bpe);
}

static void check_marker(const char *merges, BpeMarker fallback, BpeMarker expected) {
    StrBuf codes = {0};
    strbuf_format(&codes, "#version: 0.2\n%s", merges);
    Bpe *bpe;
    assert_int_equal(bpe_read(&bpe, strbuf_view(&codes), "codes", fallback), STATUS_OK);
    assert_int_equal(bpe_marker(bpe), expected);
    bpe_free(bpe);
    strbuf_free(&codes);
}

static void test_marker_is_found(void **state) {
    (void)state;
    check_marker("t h\nth e</w>\n", BPE_PREFIX, BPE_SUFFIX);
    check_marker(BPE_SPACE " t\n", BPE_SUFFIX, BPE_PREFIX);
    check_marker(BPE_SPACE " t\na b</w>\n" BPE_SPACE " u\n", BPE_PREFIX, BPE_SUFFIX);
    check_marker("t h\r\n", BPE_PREFIX, BPE_PREFIX);
    check_marker("t h\n", BPE_SUFFIX, BPE_SUFFIX);
    check_marker("t h\n", BPE_PREFIX, BPE_PREFIX);
}

/* ---- a real corpus, if available ---- */

static void digest(StrView text, char hex[65]) {
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, text.data, text.length);
    sha256_end(&hash, hex);
}

/* Expected: subword-nmt 0.3.8, learn-bpe -s 8000 and apply-bpe, on the English file followed by the French
 * one, blanks at line ends removed. */
static void test_multi30k(void **state) {
    (void)state;
    static const char *const files[] = {"data/multi30k/tok/train.lc.norm.tok.en.gz",
                                        "data/multi30k/tok/train.lc.norm.tok.fr.gz"};
    if (!file_exists(files[0]) || !file_exists(files[1])) {
        print_message("skipped: %s is not there (scripts/get-data multi30k)\n", files[0]);
        skip();
    }
    StrBuf text = {0}, codes = {0};
    for (int i = 0; i < 2; i++) {
        StrBuf content = {0};
        assert_int_equal(file_read(files[i], 0, &content), STATUS_OK);
        strbuf_add(&text, strbuf_view(&content));
        strbuf_free(&content);
    }
    char hex[65];
    digest(strbuf_view(&text), hex);
    assert_string_equal(hex, "13a27fc71411665a96364d7ba83753eb67fd70b8d1598c8fa9f48459580f27e5");
    HashMap *words = count_words(strbuf_view(&text));
    Bpe *bpe = bpe_learn(words, BPE_SUFFIX, 8000, 2, NULL);
    bpe_write(bpe, &codes);
    digest(strbuf_view(&codes), hex);
    assert_string_equal(hex, "485905d72624e628c1f6a9c78ea9a635f7d56e80d1fd24b4e127f8a41f5ca4c1");
    Shower shower = {.bpe = bpe};
    show_lines(&shower, strbuf_view(&text));
    digest(strbuf_view(&shower.out), hex);
    assert_string_equal(hex, "90c6e28364eb0f077d2eab693c5940aa100f3eaab8177c485716daebe18960e3");
    strbuf_free(&shower.out);
    bpe_free(bpe);
    hashmap_free(words);
    strbuf_free(&codes);
    strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_beyond_32_bits),
        cmocka_unit_test(test_learns_like_subword_nmt),
        cmocka_unit_test(test_applies_like_subword_nmt),
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_random_merges),
        cmocka_unit_test(test_dropout_shares),
        cmocka_unit_test(test_dropout_extremes),
        cmocka_unit_test(test_no_merges),
        cmocka_unit_test(test_first_rank_counts),
        cmocka_unit_test(test_spelled_marker),
        cmocka_unit_test(test_split_undoes),
        cmocka_unit_test(test_endless_word),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_marker_is_found),
        cmocka_unit_test(test_multi30k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
