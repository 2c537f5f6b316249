/* reserved_tokens.c - pairs with tokens for their placeholders, and back; tokens in vocabularies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tokenizer/bpe.h"
#include "tokenizer/reserved_tokens.h"
#include "tokenizer/tokenizer.h"
#include "unit/learn.h"

/* Outputs NULL: the pair gets no tokens. */
typedef struct {
    const char *source, *target, *source_out, *target_out;
} Case;

#define K0 "\U0010FF00"
#define K1 "\U0010FF01"
#define K2 "\U0010FF02"

static const Case CASES[] = {
    {"open %s", "%s offen", "open " K0, K0 " offen"},
    {"{0} of {1}", "von {1} {0}", K0 " of " K1, "von " K1 " " K0},
    {"<b>%d</b>!", "!<b>%d</b>", K0 K1 K2 "!", "!" K0 K1 K2},
    {"{x} {y} {x}", "{y}, {x}{x}", K0 " " K1 " " K2, K1 ", " K0 K2}, /* the n-th is the n-th */
    {"%s %s", "%s: %s", K0 " " K1, K0 ": " K1},
    {"open", "offen", NULL, NULL},
    {"open %s", "offen", NULL, NULL},
    {"open", "offen %s", NULL, NULL},
    {"%d of %s", "%s %d", NULL, NULL}, /* arguments in another order */
    {"{0} " K0, "{0} " K0, NULL, NULL},
    {"{0}", "{0} " K0, NULL, NULL},
    {"{a}{b}{c}{d}{e}{f}{g}{h}{i}", "{a}{b}{c}{d}{e}{f}{g}{h}{i}", NULL, NULL},
};

static void test_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const Case *c = &CASES[i];
        StrBuf source = {0}, target = {0}, back = {0};
        bool replaced = reserved_replace_pair(sv(c->source), sv(c->target), &source, &target);
        assert_int_equal(replaced, c->source_out != NULL);
        assert_string_equal(strbuf_text(&source), c->source_out ? c->source_out : "");
        assert_string_equal(strbuf_text(&target), c->target_out ? c->target_out : "");
        PlaceholderList list = {0};
        placeholders_find(sv(c->source), &list);
        if (replaced) {
            assert_true(reserved_restore(strbuf_view(&target), &list, &back));
            assert_string_equal(strbuf_text(&back), c->target);
        }
        placeholders_free(&list);
        strbuf_free(&source);
        strbuf_free(&target);
        strbuf_free(&back);
    }
}

static void test_no_placeholder_for_a_token(void **state) {
    (void)state;
    PlaceholderList list = {0};
    StrBuf back = {0};
    placeholders_find(SV("%s"), &list);
    assert_false(reserved_restore(SV("a " K1), &list, &back));
    placeholders_free(&list);
    strbuf_free(&back);
}

/* Each is one token wherever it stands. */
static void check_vocab(BpeMarker marker) {
    TextOptions options = {.tokenizer = TOKENIZER_BPE,
                           .bpe_marker = (int)marker,
                           .bpe_merges = 30,
                           .min_count = 1,
                           .reserved = true};
    Tokenizer *tokenizer, *without;
    StrView text = SV("open 'a' (b) file, open 'a' (b) file");
    assert_int_equal(learn_tokenizer(&tokenizer, &options, text), STATUS_OK);
    assert_true(reserved_in_vocab(tokenizer_vocab(tokenizer)));
    static const char *const TEXTS[] = {K0, "open " K0, "'" K1 "'", "(" K2 "), " K0 K1, "a" K0 "b"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        IdList ids = {0};
        StrBuf back = {0};
        tokenizer_encode(tokenizer, sv(TEXTS[i]), &ids);
        for (size_t t = 0; t < ids.count; t++) assert_int_not_equal(ids.ids[t], VOCAB_UNK);
        tokenizer_decode(tokenizer, ids.ids, ids.count, &back);
        assert_string_equal(strbuf_text(&back), TEXTS[i]);
        id_list_free(&ids);
        strbuf_free(&back);
    }
    options.reserved = false;
    assert_int_equal(learn_tokenizer(&without, &options, text), STATUS_OK);
    assert_false(reserved_in_vocab(tokenizer_vocab(without)));
    tokenizer_free(tokenizer);
    tokenizer_free(without);
}

static void test_vocab(void **state) {
    (void)state;
    check_vocab(BPE_PREFIX);
    check_vocab(BPE_SUFFIX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_no_placeholder_for_a_token),
        cmocka_unit_test(test_vocab),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
