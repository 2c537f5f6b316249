/* translator.c - lines in, lines out: splitting, joining, grouping, threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "tokenizer/line_split.h"
#include "translate/translator.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"
#include "unit/learn.h"

enum { WORDS = 40, LINES = 100 };

static const TranslatorOptions OPTIONS = {.search = {.decode = {.beam_size = 3,
                                                                .length_penalty = 1,
                                                                .max_length_factor = 2,
                                                                .max_length_extra = 5,
                                                                .max_input_length = 10,
                                                                .mini_batch = 8,
                                                                .maxi_batch = 4},
                                                     .n_best = 2,
                                                     .attention = true},
                                          .quiet = true};

/* Lines of 0 to 30 words, some with unusual white space only. */
static void lines_begin(StrBuf *buffers, StrView *lines) {
    for (int i = 0; i < LINES; i++) {
        if (i % 10 == 3)
            strbuf_add(&buffers[i], i % 20 == 3 ? SV(" \t ") : SV("\xC2\xA0\xE2\x80\xAF\xEF\xBB\xBF"));
        else
            tiny_model_sentence(WORDS, i, i % 31, &buffers[i]);
        lines[i] = strbuf_view(&buffers[i]);
    }
}

static void all_free(StrBuf *buffers, Translation *results) {
    for (int i = 0; i < LINES; i++) {
        strbuf_free(&buffers[i]);
        translation_free(&results[i]);
    }
}

static void run(const Seq2Seq *model, const TranslatorOptions *options, int threads, const StrView *lines,
                int count, Translation *out) {
    Workers *workers = workers_new(threads);
    Translator *translator;
    assert_int_equal(translator_new(&translator, &model, 1, options, workers), STATUS_OK);
    translator_run(translator, lines, NULL, count, 1, out);
    translator_free(translator);
    workers_free(workers);
}

static void assert_same_translation(const Translation *a, const Translation *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->source_length, b->source_length);
    for (int k = 0; k < a->count; k++) {
        const TranslationItem *x = &a->items[k], *y = &b->items[k];
        assert_string_equal(strbuf_text(&x->text), strbuf_text(&y->text));
        assert_int_equal(x->steps, y->steps);
        assert_memory_equal(&x->score, &y->score, sizeof x->score);
        assert_int_equal(x->attention == NULL, y->attention == NULL);
        for (int t = 0; t < x->steps && x->attention; t++) {
            AttentionRow mine = translation_attention(x, t), other = translation_attention(y, t);
            assert_true(mine.first == other.first && mine.count == other.count);
            assert_memory_equal(mine.weights, other.weights, (size_t)mine.count * sizeof *mine.weights);
        }
    }
}

/* A line's translation does not depend on threads, group sizes or other lines. */
static void test_grouping_and_threads(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 5);
    StrBuf buffers[LINES] = {0};
    StrView lines[LINES];
    Translation base[LINES] = {0};
    int texts = 0;
    lines_begin(buffers, lines);
    run(model, &OPTIONS, 1, lines, LINES, base);
    for (int variant = 0; variant < 3; variant++) {
        static const int batch[3] = {8, 1, 64}, threads[3] = {2, 3, 2};
        Translation other[LINES] = {0};
        TranslatorOptions options = OPTIONS;
        options.search.decode.mini_batch = batch[variant];
        run(model, &options, threads[variant], lines, LINES, other);
        for (int i = 0; i < LINES; i++) {
            assert_same_translation(&base[i], &other[i]);
            translation_free(&other[i]);
        }
    }
    for (int i = 0; i < LINES; i++) {
        Translation alone = {0};
        run(model, &OPTIONS, 1, &lines[i], 1, &alone);
        assert_same_translation(&base[i], &alone);
        texts += base[i].items[0].text.length > 0;
        translation_free(&alone);
    }
    assert_true(texts > LINES / 2);
    all_free(buffers, base);
    seq2seq_free(model);
}

static void test_blank_lines(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 5);
    StrBuf buffers[LINES] = {0};
    StrView lines[LINES];
    Translation out[LINES] = {0};
    int blank = 0;
    lines_begin(buffers, lines);
    run(model, &OPTIONS, 2, lines, LINES, out);
    for (int i = 0; i < LINES; i++) {
        bool is_blank = i % 10 == 3 || i % 31 == 0;
        assert_true(out[i].count >= 1);
        assert_int_equal(out[i].chunks == 0, is_blank);
        assert_int_equal(unicode_is_blank(lines[i]), is_blank);
        blank += is_blank;
        if (!is_blank) continue;
        assert_int_equal(out[i].count, 1);
        assert_true(sv_equal(strbuf_view(&out[i].items[0].text), lines[i]));
        assert_int_equal(out[i].items[0].length, 0);
    }
    assert_true(blank > 10);
    all_free(buffers, out);
    seq2seq_free(model);
}

/* The translation of a long line joins those of its chunks: text, scores, attention on the diagonal. */
static void test_long_lines(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 25);
    StrBuf line = {0};
    tiny_model_sentence(WORDS, 3, 24, &line);
    StrView whole = strbuf_view(&line);
    TextList chunks = {0};
    Translation joined = {0}, parts[3] = {0};
    line_split(seq2seq_source(model), whole, 10, &chunks);
    assert_int_equal(chunks.count, 3);
    run(model, &OPTIONS, 1, &whole, 1, &joined);
    run(model, &OPTIONS, 1, chunks.items, 3, parts);
    assert_int_equal(joined.chunks, 3);
    assert_int_equal(joined.source_length, 24);
    assert_int_equal(joined.source_words, 24);
    for (int k = 0; k < joined.count; k++) {
        const TranslationItem *item = &joined.items[k];
        StrBuf text = {0};
        double score = 0;
        int row = 0, column = 0;
        for (int p = 0; p < 3; p++) {
            const TranslationItem *part = &parts[p].items[k < parts[p].count ? k : parts[p].count - 1];
            strbuf_format(&text, "%s%s", p ? " " : "", strbuf_text(&part->text));
            score += part->score;
            for (int t = 0; t < (p < 2 ? part->length : part->steps); t++) {
                AttentionRow got = translation_attention(item, row + t),
                             want = translation_attention(part, t);
                assert_int_equal(got.first, column);
                assert_int_equal(got.count, parts[p].source_length + (p == 2));
                assert_memory_equal(got.weights, want.weights, (size_t)got.count * sizeof *got.weights);
                assert_true(item->token_scores[row + t] == part->token_scores[t]);
                if (t < part->length) assert_int_equal(item->ids[row + t], part->ids[t]);
            }
            row += part->length;
            column += parts[p].source_length;
        }
        assert_string_equal(strbuf_text(&item->text), strbuf_text(&text));
        assert_true(fabs(item->score - score) <= 1e-9);
        assert_int_equal(item->length, row);
        assert_int_equal(item->words, row);
        strbuf_free(&text);
    }
    translation_free(&joined);
    for (int p = 0; p < 3; p++) translation_free(&parts[p]);
    text_list_free(&chunks);
    strbuf_free(&line);
    seq2seq_free(model);
}

static void test_crop(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 25);
    StrBuf line = {0}, first = {0};
    Translation cropped = {0}, alone = {0};
    TranslatorOptions options = OPTIONS;
    options.crop = true;
    tiny_model_sentence(WORDS, 3, 24, &line);
    tiny_model_sentence(WORDS, 3, 10, &first);
    StrView whole = strbuf_view(&line), start = strbuf_view(&first);
    run(model, &options, 1, &whole, 1, &cropped);
    run(model, &options, 1, &start, 1, &alone);
    assert_int_equal(cropped.chunks, 1);
    assert_same_translation(&alone, &cropped);
    translation_free(&cropped);
    translation_free(&alone);
    strbuf_free(&line);
    strbuf_free(&first);
    seq2seq_free(model);
}

static void check_split(Tokenizer *tokenizer, const char *line, int limit, const char *expected) {
    TextList chunks = {0};
    StrBuf got = {0};
    line_split(tokenizer, sv(line), limit, &chunks);
    for (int p = 0; p < chunks.count; p++) strbuf_format(&got, "[%.*s]", SV_ARG(chunks.items[p]));
    assert_string_equal(strbuf_text(&got), expected);
    strbuf_free(&got);
    text_list_free(&chunks);
}

static void test_where_lines_are_cut(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 1);
    Tokenizer *words = seq2seq_source(model); /* , . ! ? are tokens of their own */
    check_split(words, "", 4, "");
    check_split(words, "  \t ", 4, "");
    check_split(words, " a b  c d ", 4, "[a b  c d]");
    check_split(words, "a b c d e", 4, "[a b c d][e]");
    check_split(words, "a b. c d e f", 4, "[a b.][c d e f]");
    check_split(words, "aa, b c d e f", 5, "[aa,][b c d e f]");
    check_split(words, "a. b c d e f g h, i j k l m", 12,
                "[a. b c d e f g h,][i j k l m]"); /* too early a full stop for a cut */
    check_split(words, "a b c? \xC2\xBB d e f, g", 5, "[a b c? \xC2\xBB][d e f, g]");
    check_split(words, "a (b c.) d e f g", 5, "[a (b c.)][d e f g]");
    check_split(words, "a b c.\") d e f g", 7, "[a b c.\")][d e f g]");
    check_split(words, "a....... b", 3, "[a..][...][.. b]");
    check_split(words, "a b c। d e f g", 5, "[a b c।][d e f g]");
    check_split(words, "a b c؟» d e f g", 5, "[a b c؟»][d e f g]");
    check_split(words, "a b c։ d e f g", 5, "[a b c։][d e f g]");
    check_split(words, "a b c። d፣ e f g", 6, "[a b c።][d፣ e f g]");
    check_split(words, "a b، c d e f", 5, "[a b،][c d e f]");
    seq2seq_free(model);
}

/* Lines without spaces are cut after wide marks, words are not cut. Here each character is a token, and one
 * more token begins each chunk. */
static void test_where_chinese_is_cut(void **state) {
    (void)state;
    Config config;
    Tokenizer *characters;
    config_init(&config);
    config.text.bpe_merges = 0;
    config.text.min_count = 1;
    assert_int_equal(learn_tokenizer(&characters, &config.text, SV("a b c d e 1 。 ． ， ！ ？ 「 」")),
                     STATUS_OK);
    check_split(characters, "a。b，c。d。e", 7, "[a。][b，c。][d。e]");
    check_split(characters, "a「b！」「c」d。e。", 9, "[a「b！」][「c」d。e。]");
    check_split(characters, "a b，c d e a", 8, "[a b，][c d e a]");
    check_split(characters, "a？！b c，d", 7, "[a？！][b c，d]");
    check_split(characters, "abcdea。b", 4, "[abcd][ea。][b]");
    check_split(characters, "ab．cde", 5, "[ab．][cde]");
    check_split(characters, "a1，1b。cde", 7, "[a1，1b。][cde]"); /* no sentence end within a number */
    tokenizer_free(characters);
    config_free(&config);
}

/* A very long word is cut between code points; nothing is lost, and the time is proportional to its
 * length. */
static void test_endless_word(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 1);
    StrBuf line = {0};
    enum { LETTERS = 1000000 };
    for (int i = 0; i < LETTERS; i++) strbuf_add(&line, SV("\xC3\xA9"));
    clock_t began = clock();
    TextList chunks = {0};
    size_t total = 0;
    line_split(seq2seq_source(model), strbuf_view(&line), 50, &chunks);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 20);
    for (int p = 0; p < chunks.count; p++) {
        assert_int_equal(chunks.items[p].length % 2, 0);
        total += chunks.items[p].length;
    }
    assert_int_equal(total, 2 * LETTERS);
    assert_true(chunks.count >= LETTERS / 200 && chunks.count <= LETTERS / 50);
    text_list_free(&chunks);
    strbuf_free(&line);
    seq2seq_free(model);
}

static void test_greedy_tokens(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 12);
    Tokens sources[LINES];
    HypothesisList out[2][LINES] = {0};
    StrBuf buffers[LINES] = {0};
    StrView lines[LINES];
    Translation texts[LINES] = {0};
    TranslatorOptions options = OPTIONS;
    options.search.decode.beam_size = options.search.n_best = 1;
    options.search.decode.max_input_length = 1000;
    for (int i = 0; i < LINES; i++) {
        int length = 1 + i % 20;
        sources[i] = tiny_model_tokens(model, WORDS, i, length);
        tiny_model_sentence(WORDS, i, length, &buffers[i]);
        lines[i] = strbuf_view(&buffers[i]);
    }
    for (int threads = 1; threads <= 2; threads++) {
        DecodeOptions decode = options.search.decode;
        Workers *workers = workers_new(threads);
        decode.beam_size = 5; /* not used: greedy */
        translator_greedy(model, sources, LINES, &decode, workers, NULL, NULL, out[threads - 1]);
        workers_free(workers);
    }
    run(model, &options, 1, lines, LINES, texts);
    for (int i = 0; i < LINES; i++) {
        for (int run = 0; run < 2; run++) {
            const Hypothesis *found = &out[run][i].items[0];
            assert_int_equal(out[run][i].count, 1);
            assert_int_equal(found->length, texts[i].items[0].length);
            assert_memory_equal(found->ids, texts[i].items[0].ids, (size_t)found->length * sizeof(int));
            hypotheses_free(&out[run][i]);
        }
        tiny_model_forget(sources[i]);
    }
    all_free(buffers, texts);
    seq2seq_free(model);
}

/* Forced search of a translation gives its score and attention; an empty translation has a score, too. */
static void test_forced_lines(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 5);
    const Seq2Seq *models = model;
    StrBuf buffers[LINES] = {0};
    StrView lines[LINES], targets[LINES];
    Translation found[LINES] = {0}, forced[LINES] = {0};
    TranslatorOptions options = OPTIONS;
    int compared = 0;
    options.search.n_best = 1;
    options.search.decode.max_input_length = 1000;
    lines_begin(buffers, lines);
    run(model, &options, 1, lines, LINES, found);
    for (int i = 0; i < LINES; i++) targets[i] = strbuf_view(&found[i].items[0].text);
    Workers *workers = workers_new(2);
    Translator *translator;
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    translator_force(translator, lines, targets, LINES, forced);
    for (int i = 0; i < LINES; i++) {
        const TranslationItem *a = &found[i].items[0];
        if (!found[i].chunks) continue;
        assert_string_equal(strbuf_text(&a->text), strbuf_text(&forced[i].items[0].text));
        assert_int_equal(forced[i].items[0].steps, a->length + 1);
        if (a->steps == a->length) continue; /* was cut, so </s> was not scored */
        assert_same_translation(&found[i], &forced[i]);
        compared++;
    }
    assert_true(compared > 30);
    for (int i = 0; i < LINES; i++) translation_free(&forced[i]);
    StrView nothing = {"", 0};
    translator_force(translator, &lines[5], &nothing, 1, forced);
    assert_int_equal(forced[0].items[0].length, 0);
    assert_int_equal(forced[0].items[0].steps, 1);
    assert_true(forced[0].items[0].score < 0);
    translation_free(&forced[0]);
    translator_free(translator);
    workers_free(workers);
    all_free(buffers, found);
    seq2seq_free(model);
}

/* Of several items with the same text the best one stays, at its rank. */
static void test_different_candidates(void **state) {
    (void)state;
    static const char *const TEXTS[] = {"the cat", "a cat", "the cat", "cats", "a cat", "dogs"};
    enum { ALL = sizeof TEXTS / sizeof *TEXTS };
    for (int most = 1; most <= ALL; most++) {
        Translation t = {.items = mem_alloc(ALL, sizeof *t.items), .count = ALL};
        for (int i = 0; i < ALL; i++) {
            strbuf_add(&t.items[i].text, sv(TEXTS[i]));
            t.items[i].ids = mem_alloc(1, sizeof *t.items[i].ids);
            t.items[i].score = -i;
        }
        translation_keep_different(&t, most);
        static const int KEPT[] = {0, 1, 3, 5};
        assert_int_equal(t.count, most < 4 ? most : 4);
        for (int i = 0; i < t.count; i++) {
            assert_string_equal(strbuf_text(&t.items[i].text), TEXTS[KEPT[i]]);
            assert_true(t.items[i].score == -KEPT[i]);
        }
        translation_free(&t);
    }
}

/* ---- language tokens ---- */

static int first_source(const Translation *translation) {
    return translation->source_length > 0 ? translation->source[0] : -1;
}

/* Each chunk of a line begins with the token of the language that the line, the option or the model
 * chooses. */
static void test_languages(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 5);
    const StrView LINE[] = {SV("s1 s2"), SV("s39 s1 s2"), SV("  "), SV("s39"),
                            SV("s38 s1 s2 s3 s4 s5 s6 s7 s8 s9 s1 s2 s3 s4 s5 s6")};
    enum { COUNT = sizeof LINE / sizeof *LINE };
    Tokenizer *source = seq2seq_source(model);
    int one = vocab_id(tokenizer_vocab(source), SV("s38")),
        other = vocab_id(tokenizer_vocab(source), SV("s39"));
    Translation out[COUNT] = {0};
    TranslatorOptions options = OPTIONS;
    assert_int_equal(tokenizer_set_role(source, TOKENIZER_LANGUAGES, SV("s38")), STATUS_OK);
    for (int round = 0; round < 3; round++) { /* one language, two, two with a default */
        if (round == 1)
            assert_int_equal(tokenizer_set_role(source, TOKENIZER_LANGUAGES, SV("s39")), STATUS_OK);
        options.target_language = round == 2 ? (char[]){"s39"} : NULL;
        run(model, &options, 1, LINE, COUNT, out);
        assert_int_equal(out[0].source_length, round == 1 ? 2 : 3);
        assert_true((first_source(&out[0]) == one) == (round == 0));
        assert_true((first_source(&out[0]) == other) == (round == 2));
        assert_int_equal(first_source(&out[1]), round == 0 ? one : other);
        assert_int_equal(out[2].chunks, 0);
        assert_int_equal(out[3].chunks, round == 0); /* a language alone is no text */
        assert_true(out[4].chunks > 1);
        int languages = 0;
        for (int i = 0; i < out[4].source_length; i++) languages += out[4].source[i] == one;
        assert_int_equal(languages, out[4].chunks);
        for (int i = 0; i < COUNT; i++) translation_free(&out[i]);
        memset(out, 0, sizeof out);
    }
    Workers *workers = workers_new(1);
    const Seq2Seq *models = model;
    Translator *translator;
    options.target_language = (char[]){"deu"};
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "no token for the target language 'deu'"));
    workers_free(workers);
    seq2seq_free(model);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grouping_and_threads), cmocka_unit_test(test_blank_lines),
        cmocka_unit_test(test_long_lines),           cmocka_unit_test(test_crop),
        cmocka_unit_test(test_where_lines_are_cut),  cmocka_unit_test(test_where_chinese_is_cut),
        cmocka_unit_test(test_endless_word),         cmocka_unit_test(test_greedy_tokens),
        cmocka_unit_test(test_forced_lines),         cmocka_unit_test(test_languages),
        cmocka_unit_test(test_different_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
