/* marked_chunks.c - random texts with placeholders of all kinds, translated by models of all kinds: each
 * translation agrees with its text, and comes out the same again.
 *
 *     marked_chunks [COUNT [MODEL]...]     COUNT texts for each search; MODELs: trained ones, too
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "kern/kern.h"
#include "layers/attention.h"
#include "models/modelfile.h"
#include "text/entities.h"
#include "tokenizer/reserved_tokens.h"
#include "postprocess/marked_chunks.h"
#include "translate/translator.h"
#include "unit/learn.h"
#include "unit/tiny_model.h"

static int text_count = 150;
static char **model_paths;
static int model_count;

/* ---- random texts ---- */

static const char *const WORDS[] = {"s1",
                                    "s2",
                                    "s13",
                                    "file",
                                    "open",
                                    "The",
                                    "I",
                                    "don't",
                                    "Datei",
                                    "\u00DCber",
                                    "d\u2019une",
                                    "na\u00EFve",
                                    "fichier",
                                    "\u0444\u0430\u0439\u043B",
                                    "\u05E7\u05D5\u05D1\u05E5",
                                    "\u0645\u0644\u0641",
                                    "\u6587\u4EF6",
                                    "\u30D5\u30A1\u30A4\u30EB",
                                    "\uD30C\uC77C",
                                    "\u0E44\u0E1F\u0E25\u0E4C",
                                    "\u092B\u093C\u093E\u0907\u0932",
                                    "12",
                                    "3.5",
                                    "50%",
                                    "e\u0301",
                                    "a\u200Bb",
                                    "%fat",
                                    "AT&T",
                                    "x<y",
                                    "<file>"};
static const char *const MARKS[] = {"%s",
                                    "%d",
                                    "%1$s",
                                    "%2$d",
                                    "%'d",
                                    "%(name)s",
                                    "%%",
                                    "%@",
                                    "%L1",
                                    "%1",
                                    "%.2f",
                                    "%<PRIu64>",
                                    "{}",
                                    "{0}",
                                    "{name}",
                                    "{0:N2}",
                                    "${x}",
                                    "#{x}",
                                    "%{x}",
                                    "{{ x }}",
                                    "<%= x %>",
                                    "{% if x %}",
                                    "$HOME",
                                    "#",
                                    "https://example.org/a?b=c",
                                    "a@example.org",
                                    "/usr/bin/x",
                                    "1.2.3",
                                    "v1.2",
                                    "\U0001F600",
                                    "\U0001F44D\U0001F3FD",
                                    "\u2713",
                                    "<br/>",
                                    "<x/>",
                                    "<img src=\"a.png\">",
                                    "&lt;",
                                    "&foo;",
                                    "<!-- x -->",
                                    "<i translate=no>a b</i>",
                                    "<a href=\"/x\">",
                                    "</q>"};
static const char *const ENTITIES[] = {"&amp;", "&#39;", "&nbsp;", "&quot;", "&eacute;", "&hellip;", "&lt; "};
static const char *const JOINTS[] = {
    " ",      " ",       " ",     " ", " ",      "",       "",       ", ",
    ". ",     "! ",      ": ",    "'", "\"",     "\u201E", "\u201C", "\u00AB\u00A0",
    "\u00BB", "(",       ")",     "-", "\u2026", "\u3002", "\uFF0C", "\u060C ",
    "/",      "_",       "=",     "[", "] ",     "\u2014", "\u00A0", "  ",
    "\t",     "\u0964 ", "\u200D"};
static const char *const BREAKS[] = {"<p>",
                                     "</p>",
                                     "<br>",
                                     "</td><td>",
                                     " <li> ",
                                     "{n, plural, one {# x} other {%s y}}",
                                     "{g, select, m {he} other {they # {x}}}"};
static const char *const TAGS[] = {"b", "i", "a", "span", "x1", "em"};
#define ONE_OF(rng, list) list[rng_below(rng, sizeof(list) / sizeof *(list))]

static void random_text(Rng *rng, StrBuf *text) {
    int open[6], depth = 0, kinds = 2 + (int)rng_below(rng, 12); /* many texts have only some kinds */
    for (int n = 1 + (int)rng_below(rng, 18); n > 0; n--) {
        int kind = (int)rng_below(rng, (uint32_t)kinds);
        if (kind < 4)
            strbuf_add(text, sv(ONE_OF(rng, WORDS)));
        else if (kind < 8)
            strbuf_add(text, sv(ONE_OF(rng, MARKS)));
        else if (kind == 8)
            strbuf_add(text, sv(ONE_OF(rng, ENTITIES)));
        else if (kind == 9)
            strbuf_add(text, sv(ONE_OF(rng, BREAKS)));
        else if (kind < 12 && depth < 6)
            strbuf_format(text, "<%s>", TAGS[open[depth++] = (int)rng_below(rng, 6)]);
        else if (depth > 0)
            strbuf_format(text, "</%s>", TAGS[open[--depth]]);
        strbuf_add(text, sv(ONE_OF(rng, JOINTS)));
    }
    while (depth > 0 && rng_below(rng, 8) > 0) strbuf_format(text, "</%s>", TAGS[open[--depth]]);
}

/* ---- models ---- */

/* A model without training whose vocabulary spells everything, and has reserved tokens if asked. */
static Seq2Seq *spelling_model(uint64_t seed, bool attends, bool reserved) {
    Config config;
    Tokenizer *tokenizer;
    StrBuf text = {0};
    config_init(&config);
    for (int i = 0; i < 300; i++) {
        Rng rng = rng_new(rng_key(1, (uint64_t)i, 0, 0));
        random_text(&rng, &text);
        strbuf_add_char(&text, ' ');
    }
    config.text.bpe_merges = 150;
    config.text.min_count = 1;
    config.text.joint = true;
    config.text.reserved = reserved;
    config.model.embedding = 12;
    config.model.hidden = 16;
    config.model.attention_size = 0;
    config.model.encoder_layers = 1;
    config.model.decoder_layers = 1;
    config.model.tie = TIE_NONE;
    while (!attends && !attention_is_none(config.model.attention)) config.model.attention++;
    assert_int_equal(learn_tokenizer(&tokenizer, &config.text, strbuf_view(&text)), STATUS_OK);
    Seq2Seq *model = seq2seq_new(&config, tokenizer, tokenizer);
    ParamSet *params = seq2seq_params(model);
    params_initialize(params, seed);
    for (size_t i = 0; i < params->size; i++) params->data[i] *= 3;
    param_data(params, params_find(params, "output.bias"))[VOCAB_EOS] += 3;
    params_pack_all(params);
    tokenizer_free(tokenizer);
    config_free(&config);
    strbuf_free(&text);
    return model;
}

/* ---- the check ---- */

typedef struct {
    int beam, n_best, alternatives;
    bool split, attention;
    int threads;
} Way;

static const Way WAYS[] = {{1, 1, 0, false, false, 1},
                           {4, 1, 0, true, false, 3},
                           {5, 5, 0, false, true, 2},
                           {6, 1, 2, true, false, 1},
                           {2, 2, 1, false, true, 4}};

static int compare_texts(const void *a, const void *b) {
    const Placeholder *x = a, *y = b;
    return sv_compare(x->text, y->text);
}

/* The placeholders of a line in the order of their bytes, without entities that are characters and words in
 * angle brackets. */
static void find_all(StrView text, PlaceholderList *list) {
    int count = 0, c;
    placeholders_find(text, list);
    for (int i = 0; i < list->count; i++) {
        StrView item = list->items[i].text;
        bool is_text = entity_decode(text, (size_t)(item.data - text.data), &c) > 0 || tag_is_word(item);
        if (!is_text) list->items[count++] = list->items[i];
    }
    list->count = count;
    if (count > 1) qsort(list->items, (size_t)count, sizeof *list->items, compare_texts);
}

static bool same_texts(const PlaceholderList *a, const PlaceholderList *b) {
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++) same = sv_equal(a->items[i].text, b->items[i].text);
    return same;
}

/* The next break from mark *m on, or the end of the text; cuts `before` off `rest` with the break. */
static StrView next_break(const Markup *markup, int *m, StrView *rest) {
    while (*m < markup->count && markup->items[*m].kind != MARK_BREAK) (*m)++;
    const char *end = rest->data + rest->length;
    StrView mark = *m < markup->count ? markup->items[*m].text : (StrView){end, 0};
    StrView before = {rest->data, (size_t)(mark.data - rest->data)};
    *rest = (StrView){mark.data + mark.length, (size_t)(end - mark.data) - mark.length};
    return before;
}

/* Breaks with nothing between them, because a translation is empty, are one. */
static bool same_breaks(const Markup *a, const Markup *b) {
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->count && a->items[i].kind != MARK_BREAK) i++;
        while (j < b->count && b->items[j].kind != MARK_BREAK) j++;
        if (i == a->count || j == b->count) return i == a->count && j == b->count;
        if (!sv_equal(a->items[i].text, b->items[j].text)) return false;
    }
}

static int failures;

static void fail_texts(StrView source, StrView output) {
    print_error("%.*s\n%.*s\n\n", SV_ARG(source), SV_ARG(output));
    if (++failures == 20) fail();
}

/* Has the line the same placeholders, and does each text between breaks agree? */
static void check_agrees(StrView source, StrView output) {
    Markup markup = {0}, translated = {0};
    PlaceholderList a = {0}, b = {0};
    markup_find(source, &markup);
    find_all(source, &a);
    find_all(output, &b);
    if (!same_texts(&a, &b)) fail_texts(source, output);
    markup_find(output, &translated);
    bool comparable = same_breaks(&markup, &translated);
    StrView from = {strbuf_text(&markup.repaired), markup.repaired.length};
    StrView to = {strbuf_text(&translated.repaired), translated.repaired.length};
    for (int m = 0, t = 0; comparable && m <= markup.count; m++, t++) {
        MarkedText marked = {0};
        marked_text_make(&markup, next_break(&markup, &m, &from), &marked);
        StrView target = next_break(&translated, &t, &to);
        if (!marked_text_agrees(&marked, target)) fail_texts(source, output);
        marked_text_free(&marked);
    }
    markup_free(&translated);
    placeholders_free(&a);
    placeholders_free(&b);
    markup_free(&markup);
}

static void run(const Seq2Seq *const *models, int count, const Way *way, const StrView *texts, int lines,
                int threads, Translation *out) {
    Workers *workers = workers_new(threads);
    Translator *translator;
    TranslatorOptions options = {.search = {.decode = {.beam_size = way->beam,
                                                       .length_penalty = 1,
                                                       .max_length_factor = 1.5,
                                                       .max_length_extra = 5,
                                                       .max_input_length = 40,
                                                       .mini_batch = 16,
                                                       .maxi_batch = 4},
                                            .n_best = way->n_best,
                                            .alternatives = way->alternatives,
                                            .attention = way->attention && seq2seq_has_attention(models[0])},
                                 .split = way->split,
                                 .tags = true,
                                 .quiet = true};
    assert_int_equal(translator_new(&translator, models, count, &options, workers), STATUS_OK);
    translator_run(translator, texts, NULL, lines, 1, out);
    translator_free(translator);
    workers_free(workers);
}

static void check_way(const Seq2Seq *const *models, int count, const Way *way, uint64_t seed) {
    int lines = text_count;
    StrBuf *buffers = mem_alloc((size_t)lines, sizeof *buffers);
    StrView *texts = mem_alloc((size_t)lines, sizeof *texts);
    Translation *out = mem_alloc((size_t)lines, sizeof *out),
                *again = mem_alloc((size_t)lines, sizeof *again);
    for (int i = 0; i < lines; i++) {
        Rng rng = rng_new(rng_key(2, (uint64_t)i, seed, 0));
        random_text(&rng, &buffers[i]);
        texts[i] = strbuf_view(&buffers[i]);
    }
    run(models, count, way, texts, lines, way->threads, out);
    run(models, count, way, texts, lines, 1, again);
    for (int i = 0; i < lines; i++) {
        assert_int_equal(out[i].count, again[i].count);
        for (int rank = 0; rank < out[i].count; rank++) {
            check_agrees(texts[i], strbuf_view(&out[i].items[rank].text));
            assert_string_equal(strbuf_text(&out[i].items[rank].text),
                                strbuf_text(&again[i].items[rank].text));
        }
        translation_free(&out[i]);
        translation_free(&again[i]);
        strbuf_free(&buffers[i]);
    }
    mem_free(out);
    mem_free(again);
    mem_free(texts);
    mem_free(buffers);
}

static void check_models(const Seq2Seq *const *models, int count, uint64_t seed) {
    failures = 0;
    for (size_t w = 0; w < sizeof WAYS / sizeof *WAYS; w++) check_way(models, count, &WAYS[w], 10 * seed + w);
    assert_int_equal(failures, 0);
}

static void test_spelling(void **state) {
    (void)state;
    Seq2Seq *models[2] = {spelling_model(1, true, false), spelling_model(2, true, false)};
    check_models((const Seq2Seq *const *)models, 1, 1);
    check_models((const Seq2Seq *const *)models, 2, 2); /* an ensemble */
    tiny_model_reverse(models[1]);
    check_models((const Seq2Seq *const *)models, 2, 3); /* two directions */
    check_models((const Seq2Seq *const *)models + 1, 1, 4);
    seq2seq_free(models[0]);
    seq2seq_free(models[1]);
}

static void test_without_attention(void **state) {
    (void)state;
    Seq2Seq *model = spelling_model(5, false, false);
    check_models((const Seq2Seq *const *)&model, 1, 5);
    seq2seq_free(model);
}

/* The model writes reserved tokens often: their bias is high. */
static void test_reserved(void **state) {
    (void)state;
    Seq2Seq *models[2] = {spelling_model(11, true, true), spelling_model(12, true, true)};
    const Vocab *vocab = tokenizer_vocab(seq2seq_target(models[0]));
    for (int m = 0; m < 2; m++) {
        ParamSet *params = seq2seq_params(models[m]);
        float *bias = param_data(params, params_find(params, "output.bias"));
        StrBuf token = {0};
        for (int k = 0; k < RESERVED_TOKENS; k++) {
            strbuf_clear(&token);
            reserved_add(k, &token);
            bias[vocab_id(vocab, strbuf_view(&token))] += (float)(3 - k);
        }
        params_pack_all(params);
        strbuf_free(&token);
    }
    check_models((const Seq2Seq *const *)models, 1, 11);
    check_models((const Seq2Seq *const *)models, 2, 12);
    seq2seq_free(models[0]);
    seq2seq_free(models[1]);
}

/* Can a hypothesis of this text be taken, and what is its output? */
static void check_take(MarkedChunk *chunk, const Seq2Seq *model, const char *text, const char *output) {
    IdList ids = {0};
    HypothesisList list = {.items = mem_alloc(1, sizeof *list.items), .count = 1};
    tokenizer_encode(seq2seq_target(model), sv(text), &ids);
    list.items[0] = (Hypothesis){.ids = ids.ids, .length = (int)ids.count};
    assert_int_equal(marked_chunk_take(chunk, &list, 1, seq2seq_target(model), NULL), output != NULL);
    if (output) assert_string_equal(strbuf_text(&chunk->outputs[0]), output);
    hypotheses_free(&list);
}

/* A model with reserved tokens reads these, if all models have them. */
static void test_reads_reserved(void **state) {
    (void)state;
    Seq2Seq *models[2] = {spelling_model(13, true, true), spelling_model(14, true, false)};
    Markup markup = {0};
    MarkedText text = {0};
    MarkedChunk chunk;
    markup_find(SV("open %s <b>x"), &markup);
    marked_text_make(&markup, strbuf_view(&markup.repaired), &text);
    marked_chunk_make(&chunk, text, (const Seq2Seq *const *)models, 1);
    assert_string_equal(marked_chunk_text(&chunk).data, "open \U0010FF00 \U0010FF01x");
    check_take(&chunk, models[0], "\U0010FF00 open", NULL);
    check_take(&chunk, models[0], "\U0010FF00 \U0010FF00 \U0010FF01 open", NULL);
    check_take(&chunk, models[0], "\U0010FF00 \U0010FF01 \U0010FF02 open", NULL);
    check_take(&chunk, models[0], "\U0010FF01x \U0010FF00 open", "<b>x %s open");
    marked_chunk_leave_reserved(&chunk);
    assert_string_equal(marked_chunk_text(&chunk).data, "open %s <b>x");
    marked_chunk_free(&chunk);
    text = (MarkedText){0};
    marked_text_make(&markup, strbuf_view(&markup.repaired), &text);
    marked_chunk_make(&chunk, text, (const Seq2Seq *const *)models, 2); /* the second one has none */
    assert_string_equal(marked_chunk_text(&chunk).data, "open %s <b>x");
    marked_chunk_free(&chunk);
    markup_free(&markup);
    seq2seq_free(models[0]);
    seq2seq_free(models[1]);
}

/* Models of words know no placeholder. */
static void test_words(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(40, 5), *both = tiny_model_both_ways(40, 6);
    check_models((const Seq2Seq *const *)&model, 1, 6);
    check_models((const Seq2Seq *const *)&both, 1, 7);
    seq2seq_free(model);
    seq2seq_free(both);
}

static void test_trained(void **state) {
    (void)state;
    for (int m = 0; m < model_count; m++) {
        Seq2Seq *model;
        assert_int_equal(modelfile_load(&model, model_paths[m], WEIGHT_FLOAT32, true, NULL), STATUS_OK);
        check_models((const Seq2Seq *const *)&model, 1, 8 + (uint64_t)m);
        seq2seq_free(model);
    }
}

int main(int argc, char **argv) {
    kern_select();
    if (argc > 1) text_count = atoi(argv[1]);
    model_paths = argv + 2;
    model_count = argc > 2 ? argc - 2 : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling), cmocka_unit_test(test_without_attention),
        cmocka_unit_test(test_reserved), cmocka_unit_test(test_reads_reserved),
        cmocka_unit_test(test_words),    cmocka_unit_test(test_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
