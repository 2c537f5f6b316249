/* piece_trie.c - pieces are found as a plain search finds them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/rng.h"
#include "sentencepiece/piece_trie.h"

enum { PIECES = 60, TEXTS = 2000, LENGTH = 6 };

/* Of few different bytes, so that pieces begin with each other. */
static StrView random_text(Rng *rng, char *text) {
    size_t length = 1 + rng_below(rng, LENGTH);
    for (size_t i = 0; i < length; i++) text[i] = "ab\xFF"[rng_below(rng, 3)];
    return (StrView){text, length};
}

static void test_finds_like_a_plain_search(void **state) {
    (void)state;
    char bytes[PIECES][LENGTH], text_bytes[LENGTH];
    TriePiece pieces[PIECES], sorted[PIECES];
    Rng rng = rng_new(7);
    for (int i = 0; i < PIECES; i++) sorted[i] = pieces[i] = (TriePiece){random_text(&rng, bytes[i]), i};
    int twice = -2;
    PieceTrie *trie = piece_trie_new(sorted, PIECES, &twice);
    assert_in_range(twice, 1, PIECES - 1);
    assert_true(piece_trie_find(trie, pieces[twice].text) < twice);
    for (int t = 0; t < TEXTS; t++) {
        StrView text = random_text(&rng, text_bytes);
        int id = -1;
        size_t longest = 0;
        for (int i = PIECES - 1; i >= 0; i--) {
            if (sv_equal(pieces[i].text, text)) id = i;
            if (sv_starts(text, pieces[i].text) && pieces[i].text.length > longest)
                longest = pieces[i].text.length;
        }
        assert_int_equal(piece_trie_find(trie, text), id);
        assert_int_equal(piece_trie_longest(trie, text), longest);
    }
    piece_trie_free(trie);
}

static void test_no_pieces(void **state) {
    (void)state;
    int twice = -2;
    PieceTrie *trie = piece_trie_new(NULL, 0, &twice);
    assert_int_equal(twice, -1);
    assert_int_equal(piece_trie_find(trie, SV("a")), -1);
    assert_int_equal(piece_trie_longest(trie, SV("a")), 0);
    piece_trie_free(trie);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds_like_a_plain_search),
                                       cmocka_unit_test(test_no_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
