/* alignment.c - tokens merged into words, and pairs picked from weights. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "postprocess/alignment.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"

/* Three source tokens in two words, three target tokens in two words; 64ths, so that sums are exact. */
static const float WEIGHTS[4][4] = {
    {32 / 64.f, 16 / 64.f, 8 / 64.f, 8 / 64.f},
    {0, 0, 48 / 64.f, 16 / 64.f},
    {4 / 64.f, 4 / 64.f, 16 / 64.f, 40 / 64.f},
    {1 / 64.f, 2 / 64.f, 3 / 64.f, 58 / 64.f},
};

typedef struct {
    Seq2Seq *model;
    int source[3], source_word[3], ids[3], word[3];
    TranslationItem item;
    AttentionBlock block;
    Translation translation;
} Fixture;

static void fixture_begin(Fixture *f, bool ended) {
    static const int source_word[3] = {0, 0, 1}, word[3] = {0, 1, 1};
    f->model = tiny_model_new(5, 1);
    for (int i = 0; i < 3; i++) {
        f->source[i] = f->ids[i] = VOCAB_SPECIALS + i;
        f->source_word[i] = source_word[i];
        f->word[i] = word[i];
    }
    f->item =
        (TranslationItem){.ids = f->ids, .length = 3, .steps = ended ? 4 : 3, .word = f->word, .words = 2};
    f->block = (AttentionBlock){.columns = 4, .weights = WEIGHTS[0]};
    f->item.attention = &f->block;
    f->item.blocks = 1;
    f->translation = (Translation){.source = f->source,
                                   .source_length = 3,
                                   .source_word = f->source_word,
                                   .source_words = 2,
                                   .chunks = 1,
                                   .items = &f->item,
                                   .count = 1};
}

static void make(const Fixture *f, AlignmentLevel level, Alignment *alignment) {
    alignment_make(alignment, &f->translation, 0, level, seq2seq_source(f->model), seq2seq_target(f->model));
}

static void check_weights(Alignment *alignment, int rows, int columns, const float *expected) {
    assert_int_equal(alignment->rows, rows);
    assert_int_equal(alignment->columns, columns);
    const float *weights = alignment_matrix(alignment);
    for (int i = 0; i < rows * columns; i++) assert_true(weights[i] == expected[i]);
}

static void test_subwords_are_left_alone(void **state) {
    (void)state;
    Fixture f;
    Alignment alignment;
    fixture_begin(&f, true);
    make(&f, ALIGNMENT_SUBWORD, &alignment);
    check_weights(&alignment, 4, 4, WEIGHTS[0]);
    assert_int_equal(alignment.target_count, 3);
    assert_int_equal(alignment.source_count, 3);
    assert_string_equal(alignment.column_labels[1], "s1");
    assert_string_equal(alignment.column_labels[3], "</s>");
    assert_string_equal(alignment.row_labels[3], "</s>");
    alignment_free(&alignment);
    seq2seq_free(f.model);
}

/* Sums over source tokens, means over target tokens. */
static void test_words(void **state) {
    (void)state;
    static const float expected[3][3] = {
        {48 / 64.f, 8 / 64.f, 8 / 64.f}, {4 / 64.f, 32 / 64.f, 28 / 64.f}, {3 / 64.f, 3 / 64.f, 58 / 64.f}};
    for (int ended = 0; ended < 2; ended++) {
        Fixture f;
        Alignment alignment;
        fixture_begin(&f, ended);
        make(&f, ALIGNMENT_WORD, &alignment);
        check_weights(&alignment, 2 + ended, 3, expected[0]);
        assert_int_equal(alignment.target_count, 2);
        assert_int_equal(alignment.source_count, 2);
        assert_string_equal(alignment.row_labels[1], "t1 t2"); /* two words to this tokenizer */
        assert_string_equal(alignment.column_labels[0], "s0 s1");
        alignment_free(&alignment);
        seq2seq_free(f.model);
    }
}

static void check_pairs(const Alignment *alignment, double threshold, const int (*expected)[2], int count) {
    AlignmentPair *pairs;
    assert_int_equal(alignment_pairs(alignment, threshold, &pairs), count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(pairs[i].source, expected[i][0]);
        assert_int_equal(pairs[i].target, expected[i][1]);
    }
    mem_free(pairs);
}

static void test_pairs(void **state) {
    (void)state;
    static const int best[3][2] = {{0, 0}, {2, 1}, {2, 2}}, over[5][2] = {{0, 0}, {1, 0}, {2, 1}, {2, 2}};
    Fixture f;
    Alignment alignment;
    fixture_begin(&f, true);
    make(&f, ALIGNMENT_SUBWORD, &alignment);
    check_pairs(&alignment, 0, best, 3); /* </s> has the greatest weight of the last row, but is no word */
    check_pairs(&alignment, 0.25, over, 4);
    check_pairs(&alignment, 0.9, NULL, 0);
    alignment_free(&alignment);
    seq2seq_free(f.model);
}

/* By source, then by target; the first of equal weights is the best. */
static void test_order_of_pairs(void **state) {
    (void)state;
    static float weights[] = {0.25f, 0.75f, 0, 0.5f, 0.5f, 0};
    static const int best[2][2] = {{0, 1}, {1, 0}}, over[3][2] = {{0, 1}, {1, 0}, {1, 1}};
    AttentionBlock block = {.columns = 3, .weights = weights};
    Alignment alignment = {
        .rows = 2, .columns = 3, .target_count = 2, .source_count = 2, .attention = &block, .blocks = 1};
    check_pairs(&alignment, 0, best, 2);
    check_pairs(&alignment, 0.5, over, 3);
}

/* A line of three chunks, the second one without translation: one block for each; only the matrix has zeros
 * outside the blocks. */
static void test_blocks(void **state) {
    (void)state;
    static const float first[2][2] = {{16 / 64.f, 8 / 64.f}, {4 / 64.f, 4 / 64.f}};
    static const float last[2][2] = {{8 / 64.f, 48 / 64.f}, {2 / 64.f, 62 / 64.f}};
    static const float expected[3][4] = {
        {16 / 64.f, 0, 0, 0}, {0, 0, 8 / 64.f, 48 / 64.f}, {0, 0, 2 / 64.f, 62 / 64.f}};
    static const int best[2][2] = {{0, 0}, {2, 1}};
    int source[4] = {4, 5, 6, 7}, source_word[4] = {0, 0, 1, 2}, ids[3] = {4, 5, 6}, word[3] = {0, 0, 1};
    AttentionBlock blocks[3] = {{0, 0, 2, first[0]}, {2, 2, 1, NULL}, {2, 3, 2, last[0]}};
    TranslationItem item = {
        .ids = ids, .length = 3, .steps = 4, .word = word, .words = 2, .attention = blocks, .blocks = 3};
    Fixture f;
    Alignment alignment;
    fixture_begin(&f, true);
    f.translation = (Translation){.source = source,
                                  .source_length = 4,
                                  .source_word = source_word,
                                  .source_words = 3,
                                  .chunks = 3,
                                  .items = &item,
                                  .count = 1};
    make(&f, ALIGNMENT_WORD, &alignment);
    assert_int_equal(alignment.blocks, 3);
    check_pairs(&alignment, 0, best, 2);
    check_pairs(&alignment, 0.25, best, 1);
    check_weights(&alignment, 3, 4, expected[0]);
    check_pairs(&alignment, 0.1, best, 2);
    check_weights(&alignment, 3, 4, expected[0]);
    alignment_free(&alignment);
    seq2seq_free(f.model);
}

/* Self-attention of a truncated translation without </s>; the source has </s>, the inputs begin with <s>. */
static void test_self(void **state) {
    (void)state;
    static const float expected[2][3] = {{32 / 64.f, 16 / 64.f, 16 / 64.f}, {2 / 64.f, 2 / 64.f, 60 / 64.f}};
    Fixture f;
    Alignment alignment;
    fixture_begin(&f, false);
    alignment_make_self(&alignment, &f.translation, WEIGHTS[0], ALIGNMENT_SOURCE, ALIGNMENT_SUBWORD,
                        seq2seq_source(f.model));
    check_weights(&alignment, 4, 4, WEIGHTS[0]);
    assert_int_equal(alignment.target_count, 3);
    assert_int_equal(alignment.source_count, 3);
    assert_string_equal(alignment.row_labels[3], "</s>");
    alignment_free(&alignment);
    alignment_make_self(&alignment, &f.translation, WEIGHTS[0], ALIGNMENT_INPUTS, ALIGNMENT_WORD,
                        seq2seq_target(f.model));
    check_weights(&alignment, 2, 3, expected[0]);
    assert_int_equal(alignment.target_count, 2);
    assert_string_equal(alignment.column_labels[0], "<s>");
    assert_string_equal(alignment.column_labels[2], "t1 t2");
    assert_string_equal(alignment.row_labels[1], "t1 t2");
    alignment_free(&alignment);
    seq2seq_free(f.model);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_subwords_are_left_alone),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_order_of_pairs),
                                       cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_self)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
