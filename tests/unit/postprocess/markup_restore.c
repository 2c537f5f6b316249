/* markup_restore.c - marks put back into translations of plain texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "postprocess/markup_restore.h"
#include "translate/translator.h"
#include "unit/learn.h"
#include "unit/tiny_model.h"

static const TranslatorOptions OPTIONS = {.search = {.decode = {.beam_size = 2,
                                                                .length_penalty = 1,
                                                                .max_length_factor = 2,
                                                                .max_length_extra = 5,
                                                                .max_input_length = 12,
                                                                .mini_batch = 8,
                                                                .maxi_batch = 4},
                                                     .n_best = 2},
                                          .tags = true,
                                          .quiet = true};

/* Put marks back where the weights are known: token i of the translation looks at source token align[i], and
 * each token of either is a word. */
static void check_restored_by(Tokenizer *source, const Tokenizer *target, const char *marked,
                              IdList translated, const int *align, const char *expected) {
    Markup markup = {0};
    MarkedText text_marked = {0};
    IdList ids = {0};
    StrBuf text = {0};
    markup_find(sv(marked), &markup);
    marked_text_make(&markup, strbuf_view(&markup.repaired), &text_marked);
    tokenizer_encode(source, strbuf_view(&text_marked.plain), &ids);
    int S = (int)ids.count, count = (int)translated.count, word[9];
    TranslationItem item = {
        .ids = translated.ids, .length = count, .steps = count, .word = word, .words = count};
    float *weights = mem_alloc((size_t)(count * (S + 1)), sizeof *weights);
    AttentionBlock block = {.columns = S + 1, .weights = weights};
    item.attention = &block;
    item.blocks = 1;
    for (int t = 0; t < count; t++) {
        word[t] = t;
        weights[t * (S + 1) + align[t]] = 1;
    }
    tokenizer_decode(target, translated.ids, translated.count, &item.text);
    Translation translation = {
        .source = ids.ids, .source_length = S, .chunks = 1, .items = &item, .count = 1};
    translation.source_word = mem_alloc((size_t)S, sizeof *translation.source_word);
    for (int s = 0; s < S; s++) translation.source_word[s] = s;
    markup_restore(&text_marked, &translation, 0, source, target, &text);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_free(&text);
    strbuf_free(&item.text);
    mem_free(weights);
    mem_free(translation.source_word);
    id_list_free(&ids);
    marked_text_free(&text_marked);
    markup_free(&markup);
}

static void check_placed(const char *source, const int *align, int count, const char *expected) {
    Seq2Seq *model = tiny_model_new(9, 1);
    int target[9];
    for (int t = 0; t < count; t++) target[t] = VOCAB_SPECIALS + t;
    check_restored_by(seq2seq_source(model), seq2seq_target(model), source,
                      (IdList){.ids = target, .count = (size_t)count}, align, expected);
    seq2seq_free(model);
}
#define PLACED(source, expected, ...)                                                                        \
    check_placed(source, (const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),      \
                 expected)

static void test_places(void **state) {
    (void)state;
    /* The textbook case, and words that change their order. The vocabulary's words are in byte order. */
    PLACED("s0 <b>s1</b> s2", "t0 <b>t1</b> t2", 0, 1, 2);
    PLACED("s0 <b>s1</b> s2", "t0 t1 <b>t2</b>", 0, 2, 1);
    PLACED("<u>s0 <b>s1 s2</b></u>", "<u><b>t0 t1</b> t2</u>", 2, 1, 0);
    PLACED("<b>s0</b> <i>s1</i>", "<i>t0</i> <b>t1</b>", 1, 0);
    /* Torn apart: the longest run; vanished: beside its neighbour. */
    PLACED("<b>s0 s1 s2</b> <i>s3</i>", "t0 <i>t1</i> <b>t2 t3</b>", 0, 3, 1, 2);
    PLACED("<b>s0 s1</b> <i>s2</i>", "<b>t0</b> <i>t1</i> t2", 0, 2, 1); /* of equal ones the first */
    PLACED("s0 <b>s1</b> s2", "t0 <b></b>t1", 0, 2);
    PLACED("s0 <b>s1 {0}</b> s2", "t0 <b>{0}</b> t1", 0, 2);
    /* Singles and their white space. */
    PLACED("s0 {0} s1", "t0 {0} t1", 0, 1);
    PLACED("{0} s0 s1", "{0} t0 t1", 0, 1);
    PLACED("s0 s1 {0}", "t0 t1 {0}", 1, 0);
    PLACED("s0<x/>s1", "t0<x/>t1", 0, 1);
    PLACED("s0 {0}{1}, {2}", "t0 {0}{1} t1 {2}", 0, 1);
    PLACED("<b>{0}</b> s0", "<b>{0}</b> t0", 0);
    PLACED("s0<x>s1</b>", "t0<x>t1</b>", 0, 1);
    /* Two that take the next argument keep their order. */
    PLACED("s0 %s s1 %d s2", "t0 %s t1 %d t2", 2, 1, 0);
    PLACED("s0 {0} s1 {1} s2", "t0 t1 {0} t2 {1}", 2, 0, 1);
    /* Within a word. */
    PLACED("s<b>0</b> s1", "<b>t0</b> t1", 0, 1);
}

/* Parts of a word are cut into more tokens than the word, or into others. */
static void test_parts_of_words(void **state) {
    (void)state;
    static const char *const MARKED[][2] = {
        {"<b>hom</b>e is .", "is <b>home</b> ."}, {"h<b>om</b>e is .", "is <b>home</b> ."},
        {"hom<b>e</b> is .", "is <b>home</b> ."}, {"home <b>i</b>s .", "<b>is</b> home ."},
        {"<b>home i</b>s .", "<b>is home</b> ."}, {"hom<b></b>e is .", "is home <b></b>."}};
    Config config;
    Tokenizer *pieces;
    IdList translated = {0};
    config_init(&config);
    config.text.bpe_merges = 100;
    config.text.min_count = 1;
    assert_int_equal(learn_tokenizer(&pieces, &config.text, SV("home home is is . .")), STATUS_OK);
    tokenizer_encode(pieces, SV("is home ."), &translated);
    assert_int_equal(translated.count, 3);
    for (size_t i = 0; i < sizeof MARKED / sizeof *MARKED; i++)
        check_restored_by(pieces, pieces, MARKED[i][0], translated, (const int[]){1, 0, 2}, MARKED[i][1]);
    id_list_free(&translated);
    tokenizer_free(pieces);
    config_free(&config);
}

/* Thousands of marks in one word take time in proportion to them; all are put back. */
static void test_words_of_marks(void **state) {
    (void)state;
    enum { PAIRS = 4000, TEXT_WORDS = 8 };
    Seq2Seq *model = tiny_model_new(9, 1);
    const Seq2Seq *models = model;
    Workers *workers = workers_new(1);
    Translator *translator;
    StrBuf text = {0}, out = {0};
    for (int w = 0; w < TEXT_WORDS; w++) {
        for (int i = 0; i < PAIRS; i++) strbuf_add(&text, SV("<b>s</b>"));
        strbuf_add_char(&text, ' ');
    }
    assert_int_equal(translator_new(&translator, &models, 1, &OPTIONS, workers), STATUS_OK);
    clock_t began = clock();
    StrView view = strbuf_view(&text);
    Translation translation;
    translator_run(translator, &view, NULL, 1, 1, &translation);
    strbuf_add(&out, strbuf_view(&translation.items[0].text));
    translation_free(&translation);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 20);
    Markup markup = {0};
    markup_find(strbuf_view(&out), &markup);
    assert_int_equal(markup.count, 2 * PAIRS * TEXT_WORDS);
    markup_free(&markup);
    strbuf_free(&text);
    strbuf_free(&out);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_parts_of_words),
        cmocka_unit_test(test_words_of_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
