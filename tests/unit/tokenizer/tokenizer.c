/* tokenizer.c - learning, encoding and decoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "unit/text_fixture.h"
#include "unit/learn.h"

static const char *const SMALL[] = {"I'm home, I'm here.", "he is at home .",         "the cat is here",
                                    "the cats are there",  "l'homme est l\xC3\xA0 !", NULL};

static void check_token(const Tokenizer *tokenizer, int id, const char *expected) {
    StrView token = vocab_token(tokenizer_vocab(tokenizer), id);
    if (!sv_equal(token, sv(expected))) fail_msg("token %d is '%.*s', not '%s'", id, SV_ARG(token), expected);
}

static void check_round_trip(Tokenizer *tokenizer, const char *line, const char *expected) {
    StrBuf back = {0};
    fixture_round_trip(tokenizer, sv(line), &back);
    assert_string_equal(strbuf_text(&back), expected);
    strbuf_free(&back);
}

/* ---- words ---- */

static void test_words(void **state) {
    (void)state;
    TextOptions options = FIXTURE_WORD;
    options.min_count = 2;
    Tokenizer *tokenizer = fixture_learn(&options, SMALL);
    /* home 2, here 2, i'm 2, is 2, the 2, "." 2; everything else once */
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB_SPECIALS + 6);
    static const char *const expected[] = {"<pad>", "<unk>", "<s>", "</s>", ".",
                                           "here",  "home",  "i'm", "is",   "the"};
    for (int id = 0; id < 10; id++) check_token(tokenizer, id, expected[id]);
    IdList ids = fixture_encode(tokenizer, SV("  The DOG is\xE2\x80\xAFhome."));
    static const int wanted[] = {9, VOCAB_UNK, 8, 6, 4};
    assert_int_equal(ids.count, 5);
    assert_memory_equal(ids.ids, wanted, sizeof wanted);
    id_list_free(&ids);
    check_round_trip(tokenizer, "I'm here.", "i'm here .");
    check_round_trip(tokenizer, "the dog", "the <unk>");
    check_round_trip(tokenizer, "", "");
    StrBuf codes = {0};
    assert_false(tokenizer_write_codes(tokenizer, &codes));
    tokenizer_free(tokenizer);
}

static void check_difference(const char *one, const char *other, int expected) {
    const char *const lines[2][2] = {{one, NULL}, {other, NULL}};
    Tokenizer *a = fixture_learn(&FIXTURE_WORD, lines[0]), *b = fixture_learn(&FIXTURE_WORD, lines[1]);
    assert_int_equal(vocab_difference(tokenizer_vocab(a), tokenizer_vocab(b)), expected);
    assert_int_equal(vocab_difference(tokenizer_vocab(b), tokenizer_vocab(a)), expected);
    tokenizer_free(a);
    tokenizer_free(b);
}

static void test_difference(void **state) {
    (void)state;
    check_difference("a b c", "c b a", -1);
    check_difference("a b c", "a x c", VOCAB_SPECIALS + 1);
    check_difference("a b c", "a b", VOCAB_SPECIALS + 2); /* only one of them has the word */
}

static void test_max_vocab(void **state) {
    (void)state;
    TextOptions options = FIXTURE_WORD;
    options.max_vocab = VOCAB_SPECIALS + 2;
    Tokenizer *tokenizer = fixture_learn(&options, SMALL);
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB_SPECIALS + 2);
    check_token(tokenizer, 4, ".");
    check_token(tokenizer, 5, "here");
    tokenizer_free(tokenizer);
    options.max_vocab = 1000; /* more than there are */
    tokenizer = fixture_learn(&options, SMALL);
    Tokenizer *unlimited = fixture_learn(&FIXTURE_WORD, SMALL);
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), vocab_size(tokenizer_vocab(unlimited)));
    tokenizer_free(tokenizer);
    tokenizer_free(unlimited);

    options = FIXTURE_PREFIX; /* single characters are removed last */
    Tokenizer *all = fixture_learn(&options, SMALL);
    int full = vocab_size(tokenizer_vocab(all));
    options.max_vocab = full - 5;
    tokenizer = fixture_learn(&options, SMALL);
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), full - 5);
    for (int line = 0; SMALL[line]; line++) check_round_trip(tokenizer, SMALL[line], SMALL[line]);
    check_round_trip(tokenizer,
                     "mI,o!s.htr'acl\xC3\xA0"
                     "e",
                     "mI,o!s.htr'acl\xC3\xA0"
                     "e"); /* pieces were removed, but no character */
    tokenizer_free(tokenizer);
    options.max_vocab = 2; /* no crash */
    tokenizer = fixture_learn(&options, SMALL);
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB_SPECIALS);
    tokenizer_free(tokenizer);
    tokenizer_free(all);
}

static void test_longest_word(void **state) {
    (void)state;
    char text[VOCAB_TOKEN_BYTES + 2];
    memset(text, 'x', sizeof text - 1);
    for (int more = 0; more < 2; more++) {
        text[VOCAB_TOKEN_BYTES + more] = '\0';
        const char *const lines[] = {text, "a", NULL};
        Tokenizer *tokenizer = fixture_learn(&FIXTURE_WORD, lines);
        assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB_SPECIALS + 2 - more);
        tokenizer_free(tokenizer);
        text[VOCAB_TOKEN_BYTES] = 'x';
    }
}

/* Text never encodes to the ids of special tokens. */
static void test_special_spellings(void **state) {
    (void)state;
    static const char *const lines[] = {"<s> <unk> </s> <pad>", "x<pad>y x</s>y",
                                        "<pad>a <pad>b <s>c </s>d <unk>e", NULL};
    static const TextOptions *const kinds[] = {&FIXTURE_WORD, &FIXTURE_PREFIX, &FIXTURE_SUFFIX};
    for (int kind = 0; kind < 3; kind++) {
        Tokenizer *tokenizer = fixture_learn(kinds[kind], lines);
        for (int line = 0; lines[line]; line++) {
            IdList ids = fixture_encode(tokenizer, sv(lines[line]));
            for (size_t i = 0; i < ids.count; i++) {
                assert_true(ids.ids[i] >= VOCAB_SPECIALS || (ids.ids[i] == VOCAB_UNK && kind == 0));
            }
            id_list_free(&ids);
            if (kind > 0) check_round_trip(tokenizer, lines[line], lines[line]);
        }
        tokenizer_free(tokenizer);
    }
}

static void test_learning_fails(void **state) {
    (void)state;
    static const TextOptions *const kinds[] = {&FIXTURE_WORD, &FIXTURE_PREFIX, &FIXTURE_SUFFIX};
    for (int kind = 0; kind < 3; kind++) {
        Tokenizer *tokenizer = NULL;
        assert_int_equal(learn_tokenizer(&tokenizer, kinds[kind], SV("")), STATUS_DATA);
        assert_null(tokenizer);
        assert_string_equal(status_message(), "no text to learn a vocabulary from");
    }
    TextOptions options = FIXTURE_PREFIX;
    options.bpe_codes = "/no/such/codes";
    Tokenizer *tokenizer = NULL;
    assert_int_equal(learn_tokenizer(&tokenizer, &options, SV("")), STATUS_RUNTIME);
    char path[256];
    strcpy(path, fixture_write("bad.codes", "t h\n", 4));
    options.bpe_codes = path;
    assert_int_equal(learn_tokenizer(&tokenizer, &options, SV("")), STATUS_DATA);
    assert_null(tokenizer);
}

/* ---- pieces ---- */

static const char *const GOLDEN_TEXT = "tests/golden/bpe/text.txt";

/* The lines of a file as a NULL-terminated list in one block; release both. */
static const char **read_lines(const char *path, StrBuf *content) {
    assert_int_equal(file_read(path, 0, content), STATUS_OK);
    const char **lines = mem_alloc(content->length + 1, sizeof *lines);
    size_t count = 0;
    for (char *line = strtok(content->data, "\n"); line; line = strtok(NULL, "\n")) lines[count++] = line;
    assert_true(count > 10);
    return lines;
}

static size_t characters_of(StrView token, BpeMarker marker) {
    if (marker == BPE_SUFFIX && sv_ends(token, SV(BPE_WORD_END))) token.length -= 4;
    return utf8_count(token);
}

/* Encoding the training text again must give each token as often as the order of the vocabulary says, pieces
 * at least min_count times, and <unk> only for characters that are too rare. */
static void check_vocabulary(TextOptions options, int min_count) {
    StrBuf content = {0};
    const char **lines = read_lines(GOLDEN_TEXT, &content);
    options.min_count = min_count;
    Tokenizer *tokenizer = fixture_learn(&options, lines);
    const Vocab *vocab = tokenizer_vocab(tokenizer);
    int size = vocab_size(vocab);
    int *counts = mem_alloc((size_t)size, sizeof *counts);
    IdList ids = {0};
    for (int line = 0; lines[line]; line++) tokenizer_encode(tokenizer, sv(lines[line]), &ids);
    for (size_t i = 0; i < ids.count; i++) counts[ids.ids[i]]++;
    assert_int_equal(counts[VOCAB_PAD] + counts[VOCAB_BOS] + counts[VOCAB_EOS], 0);
    assert_true(min_count == 1 ? counts[VOCAB_UNK] == 0 : counts[VOCAB_UNK] > 0);
    for (int id = VOCAB_SPECIALS; id < size; id++) {
        StrView token = vocab_token(vocab, id);
        if (characters_of(token, (BpeMarker)options.bpe_marker) > 1 && counts[id] < min_count)
            fail_msg("'%.*s' is there %d times", SV_ARG(token), counts[id]);
        if (id == VOCAB_SPECIALS) continue;
        assert_true(counts[id - 1] >= counts[id]);
        assert_true(counts[id - 1] > counts[id] || sv_compare(vocab_token(vocab, id - 1), token) < 0);
    }
    id_list_free(&ids);
    mem_free(counts);
    tokenizer_free(tokenizer);
    mem_free(lines);
    strbuf_free(&content);
}

static void test_vocabulary(void **state) {
    (void)state;
    for (int min_count = 1; min_count <= 9; min_count += 2) {
        check_vocabulary(FIXTURE_PREFIX, min_count);
        check_vocabulary(FIXTURE_SUFFIX, min_count);
    }
}

static void test_vocabulary_size(void **state) {
    (void)state;
    static const char *const lines[] = {"abab abab abab", "cd", NULL};
    TextOptions options = FIXTURE_PREFIX;
    options.bpe_merges = 2;
    options.min_count = 2;
    Tokenizer *tokenizer = fixture_learn(&options, lines);
    /* "a b" 6 times, then "ab ab" 3 times beats the marker by bytes? No: U+2581 is greater. */
    StrBuf codes = {0};
    assert_true(tokenizer_write_codes(tokenizer, &codes));
    assert_string_equal(strbuf_text(&codes), "#version: 0.2\na b\n" BPE_SPACE " ab\n");
    /* marker, a, b; "ab" and marker+"ab"; c and d are too rare */
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB_SPECIALS + 5);
    IdList ids = fixture_encode(tokenizer, SV("cab"));
    assert_int_equal(ids.count, 3);
    check_token(tokenizer, ids.ids[0], BPE_SPACE);
    assert_int_equal(ids.ids[1], VOCAB_UNK);
    check_token(tokenizer, ids.ids[2], "ab");
    id_list_free(&ids);
    strbuf_free(&codes);
    tokenizer_free(tokenizer);
}

static void test_known_round_trips(void **state) {
    (void)state;
    static const char *const lines[] = {
        "Je n'ai pas \xC2\xAB\xC2\xA0vu\xC2\xA0\xC2\xBB \xC3\xA7"
        "a\xE2\x80\xAF!",
        "l\xE2\x80\x99"
        "\xC5\x93uvre, d'o\xC3\xB9 ?",
        "\xE2\x96\x81 _ a\xE2\x96\x81"
        "b",
        "3,50 \xE2\x82\xAC (14h30) \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80",
        "q\xCC\xA3\xCC\x87 x\xCC\x81 \xCC\x81",
        "a</w> </w>b </w>",
        "--- ... ''' \xE2\x80\x99\xE2\x80\x99",
        NULL};
    static const char *const prefix_back[] = {NULL, NULL, "_ _ a_b", NULL, NULL, NULL, NULL};
    Tokenizer *prefix = fixture_learn(&FIXTURE_PREFIX, lines),
              *suffix = fixture_learn(&FIXTURE_SUFFIX, lines);
    for (int i = 0; lines[i]; i++) {
        check_round_trip(prefix, lines[i], prefix_back[i] ? prefix_back[i] : lines[i]);
        check_round_trip(suffix, lines[i], lines[i]);
    }
    check_round_trip(prefix, "  vu \t vu  ", "vu vu");
    check_round_trip(suffix, "  vu \t vu  ", "vu vu");
    check_round_trip(prefix,
                     "x\xCC\x81\xC3\xA7"
                     "c\xCC\xA7",
                     "x\xCC\x81\xC3\xA7\xC3\xA7");     /* comes back as NFC */
    check_round_trip(prefix, "vu\xFFvu", "vu<unk>vu"); /* U+FFFD was never seen */
    check_round_trip(prefix, "\xFFvu", "<unk>vu");     /* without text of the previous line */
    IdList ids = {0};
    StrList unknown = {0};
    tokenizer_encode_spelled(prefix, SV("vu\0vu"), &ids, &unknown); /* NUL would end the text of an <unk> */
    assert_int_equal(unknown.count, 1);
    assert_string_equal(unknown.items[0], "\xEF\xBF\xBD");
    id_list_free(&ids);
    strlist_free(&unknown);
    tokenizer_free(prefix);
    tokenizer_free(suffix);
}

/* Random text with many unusual characters. */
static int random_character(Rng *rng) {
    static const int awkward[] = {' ',    ' ',    ' ',    '\'',   0x2019, 0xA0,   0x202F,  0x2009,  0x2581,
                                  '_',    0x301,  0x323,  0x200D, 0xFE0F, 0x3000, 0x1F600, 0x1F468, 0xFFFD,
                                  0xFEFF, '<',    '/',    'w',    '>',    '@',    '.',     ',',     0x1100,
                                  0x1161, 0x11A8, 0x2028, 0x85,   '\t',   1,      0x10FFFF};
    switch (rng_below(rng, 4)) {
    case 0:
        return awkward[rng_below(rng, sizeof awkward / sizeof *awkward)];
    case 1:
        return (int)(0xC0 + rng_below(rng, 0x240));
    case 2: {
        int c = (int)(1 + rng_below(rng, 0x2FFFF));
        return c >= 0xD800 && c < 0xE000 ? 'x' : c;
    }
    default:
        return (int)('a' + rng_below(rng, 26));
    }
}

/* The expected text: normal form, one plain space per run of white space, none at the ends. */
static void expected_line(StrView line, StrBuf *out) {
    StrBuf normal = {0};
    unicode_normalize(line, NORMALIZE_NFC, false, &normal);
    StrView text = strbuf_view(&normal);
    bool space = false;
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        if (unicode_class(c) == CHAR_SPACE) {
            space = out->length > 0;
            continue;
        }
        if (space) strbuf_add_char(out, ' ');
        space = false;
        utf8_add(out, c);
    }
    strbuf_free(&normal);
}

static void replace_visible_space(StrView line, StrBuf *out) {
    for (size_t position = 0; position < line.length;) {
        int c = utf8_next(line, &position);
        utf8_add(out, c == 0x2581 ? '_' : c);
    }
}

static void test_random_round_trips(void **state) {
    (void)state;
    enum { LINES = 200 };
    for (int round = 0; round < 12; round++) {
        Rng rng = rng_new(rng_key(11, (uint64_t)round, 0, 0));
        StrBuf raw[LINES] = {{0}}, expected[LINES] = {{0}};
        const char *lines[LINES + 2] = {0};
        for (int i = 0; i < LINES; i++) {
            for (uint32_t n = 1 + rng_below(&rng, 40); n > 0; n--) utf8_add(&raw[i], random_character(&rng));
            expected_line(strbuf_view(&raw[i]), &expected[i]);
            lines[i] = strbuf_text(&raw[i]);
        }
        lines[LINES] = "_";
        TextOptions options = round % 2 ? FIXTURE_SUFFIX : FIXTURE_PREFIX;
        options.bpe_merges = round * 40;
        Tokenizer *tokenizer = fixture_learn(&options, lines);
        StrBuf back = {0};
        for (int pass = 0; pass < 2; pass++) /* the second pass uses the cache */
            for (int i = 0; i < LINES; i++) {
                StrBuf wanted = {0};
                if (round % 2)
                    strbuf_add(&wanted, strbuf_view(&expected[i]));
                else
                    replace_visible_space(strbuf_view(&expected[i]), &wanted);
                fixture_round_trip(tokenizer, strbuf_view(&raw[i]), &back);
                if (strcmp(strbuf_text(&back), strbuf_text(&wanted)) != 0)
                    fail_msg("round %d, line %d: '%s' came back as '%s'", round, i, strbuf_text(&wanted),
                             strbuf_text(&back));
                strbuf_free(&wanted);
            }
        strbuf_free(&back);
        tokenizer_free(tokenizer);
        for (int i = 0; i < LINES; i++) strbuf_free(&raw[i]), strbuf_free(&expected[i]);
    }
}

/* Each unknown character is one <unk>. */
static void test_unknown_characters(void **state) {
    (void)state;
    static const TextOptions *const kinds[] = {&FIXTURE_PREFIX, &FIXTURE_SUFFIX};
    for (int kind = 0; kind < 2; kind++) {
        Tokenizer *tokenizer = fixture_learn(kinds[kind], SMALL);
        for (int round = 0; round < 200; round++) {
            Rng rng = rng_new(rng_key(12, (uint64_t)round, 0, 0));
            StrBuf line = {0};
            size_t unknown = 0, got = 0;
            for (int i = 0; i < 30; i++) {
                bool known = rng_below(&rng, 3) > 0;
                unknown += !known;
                utf8_add(&line,
                         known ? "aehrst ."[rng_below(&rng, 8)] : (int)(0x400 + rng_below(&rng, 0x50)));
            }
            IdList ids = fixture_encode(tokenizer, strbuf_view(&line));
            for (size_t i = 0; i < ids.count; i++) got += ids.ids[i] == VOCAB_UNK;
            assert_int_equal(got, unknown);
            id_list_free(&ids);
            strbuf_free(&line);
        }
        tokenizer_free(tokenizer);
    }
}

/* The text of each <unk> is restored, for all kinds of pieces, also from the cache. */
static void test_spelled(void **state) {
    (void)state;
    static const TextOptions *const kinds[] = {&FIXTURE_WORD, &FIXTURE_PREFIX, &FIXTURE_SUFFIX};
    for (int kind = 0; kind < 3; kind++) {
        static const char TEXT[] = "the \xD0\xB6 cat \xD1\x8F the \xD0\xB6";
        Tokenizer *tokenizer = fixture_learn(kinds[kind], SMALL);
        for (int round = 0; round < 2; round++) {
            IdList ids = {0};
            StrList unknown = {0};
            StrBuf line = {0};
            tokenizer_encode_spelled(tokenizer, SV(TEXT), &ids, &unknown);
            assert_int_equal(unknown.count, 3);
            tokenizer_decode_spelled(tokenizer, ids.ids, ids.count, &unknown, &line);
            assert_string_equal(strbuf_text(&line), TEXT);
            StrList two = {unknown.items, 2}, rest = unknown; /* views */
            strbuf_clear(&line);
            tokenizer_decode_spelled(tokenizer, ids.ids, ids.count, &two, &line);
            assert_true(sv_ends(strbuf_view(&line), SV("\xD1\x8F the <unk>")) ||
                        (kind == 2 && sv_ends(strbuf_view(&line), SV("<unk>"))));
            unknown_skip(&rest, ids.ids, (int)ids.count - 1);
            assert_int_equal(rest.count, 1);
            assert_ptr_equal(rest.items, unknown.items + 2);
            unknown_skip(&two, ids.ids, (int)ids.count); /* more than there are */
            assert_int_equal(two.count, 0);
            strlist_free(&unknown);
            strbuf_free(&line);
            id_list_free(&ids);
        }
        tokenizer_free(tokenizer);
    }
}

/* Far more words than the cache holds, long and short, twice: the same ids with and without the cache. */
static void test_cache_is_bounded(void **state) {
    (void)state;
    Tokenizer *tokenizer = fixture_learn(&FIXTURE_PREFIX, SMALL);
    IdList first = {0}, again = {0};
    for (int pass = 0; pass < 2; pass++) {
        IdList *ids = pass ? &again : &first;
        for (int i = 0; i < 120000; i++) {
            char word[160];
            int length = snprintf(word, sizeof word, "a%dt", i);
            if (i % 100 == 0) {
                memset(word + length, 'h', 120);
                length += 120;
            }
            tokenizer_encode(tokenizer, (StrView){word, (size_t)length}, ids);
        }
    }
    assert_int_equal(first.count, again.count);
    assert_memory_equal(first.ids, again.ids, first.count * sizeof *first.ids);
    id_list_free(&first);
    id_list_free(&again);
    tokenizer_free(tokenizer);
}

static void test_codes_from_file(void **state) {
    (void)state;
    StrBuf content = {0}, codes = {0}, written = {0};
    const char **lines = read_lines(GOLDEN_TEXT, &content);
    TextOptions options = FIXTURE_PREFIX; /* the file's marker wins */
    options.bpe_codes = "tests/golden/bpe/codes.txt";
    Tokenizer *tokenizer = fixture_learn(&options, lines);
    assert_int_equal(file_read(options.bpe_codes, 0, &codes), STATUS_OK);
    assert_true(tokenizer_write_codes(tokenizer, &written));
    assert_string_equal(strbuf_text(&written), strbuf_text(&codes));
    IdList ids = fixture_encode(tokenizer, SV("the ferry"));
    static const char *const expected[] = {"the</w>", "f", "er", "ry</w>"};
    assert_int_equal(ids.count, 4);
    for (int i = 0; i < 4; i++) check_token(tokenizer, ids.ids[i], expected[i]);
    id_list_free(&ids);
    tokenizer_free(tokenizer);
    options.bpe_codes = (char *)""; /* no file: the merges are learned */
    tokenizer = fixture_learn(&options, lines);
    strbuf_clear(&written);
    assert_true(tokenizer_write_codes(tokenizer, &written));
    assert_false(sv_equal(strbuf_view(&written), strbuf_view(&codes)));
    tokenizer_free(tokenizer);
    mem_free(lines);
    strbuf_free(&content);
    strbuf_free(&codes);
    strbuf_free(&written);
}

/* A list can contain a merge with the end of a word that never applies. */
static void test_codes_of_a_marker(void **state) {
    (void)state;
    static const char CODES[] = "#version: 0.2\nx< /w>\na a</w>\n";
    static const char *const lines[] = {"aa aa", "x", NULL};
    char path[256];
    strcpy(path, fixture_write("marker.codes", CODES, sizeof CODES - 1));
    TextOptions options = FIXTURE_SUFFIX;
    options.bpe_codes = path;
    options.min_count = 2;
    Tokenizer *tokenizer = fixture_learn(&options, lines);
    assert_int_equal(vocab_id(tokenizer_vocab(tokenizer), SV("x</w>")), VOCAB_UNK);
    assert_true(vocab_id(tokenizer_vocab(tokenizer), SV("aa</w>")) != VOCAB_UNK);
    tokenizer_free(tokenizer);
}

/* ---- decoding and pictures ---- */

static int id_of(const Tokenizer *tokenizer, const char *token) {
    int id = vocab_id(tokenizer_vocab(tokenizer), sv(token));
    assert_true(id != VOCAB_UNK);
    return id;
}

static void check_decode(const Tokenizer *tokenizer, const int *ids, size_t count, const char *expected) {
    StrBuf line = {0};
    strbuf_add(&line, SV("> ")); /* the line is appended to what is there, spaces included */
    tokenizer_decode(tokenizer, ids, count, &line);
    assert_string_equal(strbuf_text(&line) + 2, expected);
    strbuf_free(&line);
}

static void test_decode(void **state) {
    (void)state;
    static const char *const lines[] = {"a b", NULL};
    TextOptions options = FIXTURE_PREFIX;
    options.bpe_merges = 0;
    Tokenizer *tokenizer = fixture_learn(&options, lines);
    int space = id_of(tokenizer, BPE_SPACE), a = id_of(tokenizer, "a"), b = id_of(tokenizer, "b");
    /* Possible outputs of a model: no marker at the start, markers in a row or at the end, special tokens. */
    check_decode(tokenizer, (int[]){a, b}, 2, "ab");
    check_decode(tokenizer, (int[]){space, a, space, space, b, space}, 6, "a b");
    check_decode(tokenizer, (int[]){VOCAB_BOS, a, VOCAB_PAD, b, VOCAB_EOS, a}, 6, "ab");
    check_decode(tokenizer, (int[]){space, VOCAB_UNK, space, a}, 4, "<unk> a");
    check_decode(tokenizer, (int[]){space, space}, 2, "");
    check_decode(tokenizer, (int[]){VOCAB_EOS}, 1, "");
    check_decode(tokenizer, NULL, 0, "");
    tokenizer_free(tokenizer);

    options = FIXTURE_SUFFIX;
    options.bpe_merges = 0;
    tokenizer = fixture_learn(&options, lines);
    int end = id_of(tokenizer, "a</w>");
    a = id_of(tokenizer, "a");
    check_decode(tokenizer, (int[]){a, end, end, a}, 4, "aa a a");
    check_decode(tokenizer, (int[]){end, VOCAB_EOS, end}, 3, "a");
    tokenizer_free(tokenizer);

    tokenizer = fixture_learn(&FIXTURE_WORD, lines);
    a = id_of(tokenizer, "a"), b = id_of(tokenizer, "b");
    check_decode(tokenizer, (int[]){VOCAB_BOS, a, VOCAB_UNK, b, VOCAB_EOS, b}, 6, "a <unk> b");
    tokenizer_free(tokenizer);
}

static void check_words(const Tokenizer *tokenizer, const int *ids, size_t count, const int *expected,
                        int words) {
    int word[16];
    assert_int_equal(tokenizer_words(tokenizer, ids, count, word), words);
    assert_memory_equal(word, expected, count * sizeof *word);
}

static void test_merging_into_words(void **state) {
    (void)state;
    static const char *const lines[] = {"a b", NULL};
    TextOptions options = FIXTURE_PREFIX;
    options.bpe_merges = 0;
    Tokenizer *tokenizer = fixture_learn(&options, lines);
    int space = id_of(tokenizer, BPE_SPACE), a = id_of(tokenizer, "a"), b = id_of(tokenizer, "b");
    check_words(tokenizer, (int[]){space, a, b, space, a, VOCAB_UNK, VOCAB_EOS}, 7,
                (int[]){0, 0, 0, 1, 1, 1, 2}, 3);
    check_words(tokenizer, (int[]){a, space, b}, 3, (int[]){0, 1, 1}, 2);
    check_words(tokenizer, (int[]){a, VOCAB_PAD, b, VOCAB_BOS, a, VOCAB_EOS, b}, 7,
                (int[]){0, 1, 2, 3, 4, 5, 6}, 7);
    check_words(tokenizer, NULL, 0, NULL, 0);
    tokenizer_free(tokenizer);

    options = FIXTURE_SUFFIX;
    options.bpe_merges = 0;
    tokenizer = fixture_learn(&options, lines);
    int end = id_of(tokenizer, "a</w>");
    a = id_of(tokenizer, "a");
    check_words(tokenizer, (int[]){a, a, end, end, a, end, VOCAB_EOS}, 7, (int[]){0, 0, 0, 1, 2, 2, 3}, 4);
    check_words(tokenizer, (int[]){VOCAB_BOS, a, end, VOCAB_UNK, VOCAB_EOS}, 5, (int[]){0, 1, 1, 2, 3}, 4);
    tokenizer_free(tokenizer);

    tokenizer = fixture_learn(&FIXTURE_WORD, lines);
    a = id_of(tokenizer, "a");
    check_words(tokenizer, (int[]){a, a, VOCAB_UNK, VOCAB_EOS}, 4, (int[]){0, 1, 2, 3}, 4);
    check_words(tokenizer, (int[]){VOCAB_PAD, a, VOCAB_PAD}, 3, (int[]){0, 1, 2}, 3);
    tokenizer_free(tokenizer);
}

static void check_label(const Tokenizer *tokenizer, const char *token, const char *expected) {
    StrBuf label = {0};
    tokenizer_label(tokenizer, id_of(tokenizer, token), &label);
    assert_string_equal(strbuf_text(&label), expected);
    strbuf_free(&label);
}

static void test_labels(void **state) {
    (void)state;
    static const char *const lines[] = {"the the the \xC3\xA9\xE2\x80\xAF! \x01\xC2\x80", NULL};
    Tokenizer *tokenizer = fixture_learn(&FIXTURE_PREFIX, lines);
    check_label(tokenizer, BPE_SPACE "the", BPE_SPACE "the");
    check_label(tokenizer, "\xE2\x80\xAF", "\xE2\x80\xAF"); /* pictures make it visible: viz/label.h */
    check_label(tokenizer, "\x01", "\xEF\xBF\xBD"); /* pictures are text files: no control characters */
    check_label(tokenizer, "\xC2\x80", "\xEF\xBF\xBD");
    check_label(tokenizer, "</s>", "</s>");
    tokenizer_free(tokenizer);
    tokenizer = fixture_learn(&FIXTURE_SUFFIX, lines);
    check_label(tokenizer, "the</w>", "the</w>");
    check_label(tokenizer, "t", "t");
    check_label(tokenizer, "</s>", "</s>");
    tokenizer_free(tokenizer);
}

/* ---- JSON ---- */

/* Valid JSON that is refused because of its contents. */
/* ---- roles ---- */

static void assert_ids(Tokenizer *tokenizer, const char *line, const int *ids, size_t count) {
    IdList found = fixture_encode(tokenizer, sv(line));
    assert_int_equal(found.count, count);
    assert_memory_equal(found.ids, ids, count * sizeof *ids);
    id_list_free(&found);
}

/* A language token comes first if the line begins with its text; elsewhere that is ordinary text. */
static void test_languages(void **state) {
    (void)state;
    static const char JSON[] =
        "{\"tokenizer\":\"word\",\"normalize\":\"nfc\",\"lowercase\":true,"
        "\"vocab\":[\"a\",\">>FRA<<\",\">>deu<<\"],\"languages\":[\">>FRA<<\",\">>deu<<\"],"
        "\"banned\":[\">>deu<<\"]}";
    Tokenizer *tokenizer;
    StrBuf text = {0};
    assert_int_equal(tokenizer_read_json(&tokenizer, sv(JSON)), STATUS_OK);
    tokenizer_write_json(tokenizer, &text);
    assert_string_equal(strbuf_text(&text), JSON);
    Tokenizer *view = tokenizer_view(tokenizer);
    for (int i = 0; i < 2; i++) {
        Tokenizer *one = i == 0 ? tokenizer : view;
        assert_ids(one, ">>FRA<< a", (int[]){5, 4}, 2);
        assert_ids(one, ">>FRA<<a", (int[]){5, 4}, 2);
        assert_ids(one, ">>FRA<<", (int[]){5}, 1);
        assert_ids(one, " >>FRA<< a", (int[]){VOCAB_UNK, 4}, 2); /* in lower case it is another word */
        assert_ids(one, ">>fra<< a", (int[]){VOCAB_UNK, 4}, 2);
        assert_int_equal(tokenizer_language(one, SV("FRA")), 5);
        assert_int_equal(tokenizer_language(one, SV(">>deu<<")), 6);
        assert_int_equal(tokenizer_language(one, SV("a")), -1);
        assert_int_equal(tokenizer_leading_language(one, SV("a >>FRA<<")), -1);
        assert_int_equal(tokenizer_role(one, TOKENIZER_LANGUAGES)->count, 2);
        assert_int_equal(tokenizer_role(one, TOKENIZER_BANNED)->count, 1);
    }
    tokenizer_free(view);
    tokenizer_free(tokenizer);
    strbuf_free(&text);
}

static void test_sharing(void **state) {
    (void)state;
    Tokenizer *tokenizer = fixture_learn(&FIXTURE_PREFIX, SMALL);
    Tokenizer *other = tokenizer_retain(tokenizer);
    assert_ptr_equal(other, tokenizer);
    tokenizer_free(tokenizer);
    check_round_trip(other, "the cat", "the cat");
    tokenizer_free(other);
    static const char *const lines[] = {"\xC3\xA9t\xC3\xA9", NULL};
    tokenizer = fixture_learn(&FIXTURE_WORD, lines); /* the view has the same normal form */
    Tokenizer *view = tokenizer_view(tokenizer);
    check_round_trip(view, "E\xCC\x81te\xCC\x81", "\xC3\xA9t\xC3\xA9");
    tokenizer_free(view);
    tokenizer_free(tokenizer);
    tokenizer_free(NULL);
}

/* More words than the cache holds: each word is split as before. */
static void words_are_forgotten_in_time(void **state) {
    (void)state;
    Tokenizer *tokenizer = fixture_learn(&FIXTURE_PREFIX, SMALL);
    IdList first = {0}, again = {0};
    for (int turn = 0; turn < 2; turn++)
        for (int word = 0; word < 15000; word++) {
            char text[96];
            memset(text, 'q', sizeof text - 1);
            text[sizeof text - 1] = '\0';
            for (int digit = 0; digit < 14; digit++) text[digit] = word >> digit & 1 ? 'h' : 't';
            tokenizer_encode(tokenizer, sv(text), turn ? &again : &first);
        }
    assert_true(first.count > 1000000 && first.count == again.count);
    assert_memory_equal(first.ids, again.ids, (size_t)first.count * sizeof *first.ids);
    id_list_free(&first);
    id_list_free(&again);
    tokenizer_free(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_forgotten_in_time),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_max_vocab),
        cmocka_unit_test(test_longest_word),
        cmocka_unit_test(test_special_spellings),
        cmocka_unit_test(test_learning_fails),
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_vocabulary_size),
        cmocka_unit_test(test_known_round_trips),
        cmocka_unit_test(test_random_round_trips),
        cmocka_unit_test(test_unknown_characters),
        cmocka_unit_test(test_spelled),
        cmocka_unit_test(test_cache_is_bounded),
        cmocka_unit_test(test_codes_from_file),
        cmocka_unit_test(test_codes_of_a_marker),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_merging_into_words),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_sharing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
