/* markup.c - markup found in texts, and put back into translations. Cases: tests/cases/markup.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "translate/markup_restore.h"
#include "translate/translator.h"
#include "unit/cases.h"
#include "unit/learn.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"

/* ---- finding ---- */

/* The text without its marks, a line end, and the marks: in brackets, ( and ) around pairs' tags, bars around
 * breaks. */
static void add_found(StrView text, StrBuf *got) {
    Markup markup = {0};
    markup_find(text, &markup);
    strbuf_format(got, "%.*s\n", SV_ARG(strbuf_view(&markup.plain)));
    for (int m = 0; m < markup.count; m++) {
        const Mark *mark = &markup.items[m];
        strbuf_format(got,
                      mark->kind == MARK_SINGLE  ? "[%.*s]"
                      : mark->kind == MARK_BREAK ? "|%.*s|"
                      : mark->kind == MARK_OPEN  ? "(%.*s"
                                                 : "%.*s)",
                      SV_ARG(mark->text));
        assert_int_equal(mark->block, mark->kind == MARK_BREAK);
        if (mark->partner < 0) continue;
        assert_true(mark->kind == MARK_OPEN || mark->kind == MARK_CLOSE);
        assert_int_equal(markup.items[mark->partner].partner, m);
    }
    markup_free(&markup);
}

static void check_found(const char *text, const char *plain, const char *expected) {
    StrBuf got = {0}, want = {0};
    add_found(sv(text), &got);
    strbuf_format(&want, "%s\n%s", plain, expected);
    assert_string_equal(strbuf_text(&got), strbuf_text(&want));
    strbuf_free(&got);
    strbuf_free(&want);
}

static void run_found(const CaseSection *section, StrView input, StrBuf *got) {
    (void)section;
    add_found(input, got);
}

static void test_cases(void **state) {
    (void)state;
    cases_run("tests/cases/markup.case", "", run_found);
}

static void repeat(StrBuf *out, const char *text, int times) {
    while (times-- > 0) strbuf_add(out, sv(text));
}

/* Tags that nothing closes, or that others of their name close, take no room from those around them. */
static void test_tags_without_end(void **state) {
    (void)state;
    check_found("<link>a</link> <source>b</source>", "a b", "(<link></link>)(<source></source>)");
    static const char *const WITHIN[] = {"a <img src=x> ", "a<br>", "<tr><td>a<td>b"};
    for (size_t i = 0; i < sizeof WITHIN / sizeof *WITHIN; i++) {
        StrBuf text = {0}, expected = {0};
        strbuf_add(&text, SV("<table translate=no>"));
        repeat(&text, WITHIN[i], 1000);
        strbuf_add(&text, SV("</table>"));
        strbuf_format(&expected, "|%s|", strbuf_text(&text));
        check_found(strbuf_text(&text), "", strbuf_text(&expected));
        strbuf_free(&text);
        strbuf_free(&expected);
    }
}

/* Tags and comments may be long, as pictures in them are; those that nothing ends take no time. */
static void test_long_tags(void **state) {
    (void)state;
    static const char *const WITHIN[][2] = {{"<a b=\"", "\">"}, {"<!--", "-->"}};
    for (size_t i = 0; i < sizeof WITHIN / sizeof *WITHIN; i++) {
        StrBuf text = {0}, expected = {0};
        strbuf_add(&text, sv(WITHIN[i][0]));
        repeat(&text, "+/ >x", 100000);
        strbuf_add(&text, sv(WITHIN[i][1]));
        strbuf_format(&expected, "[%s]", strbuf_text(&text));
        check_found(strbuf_text(&text), "", strbuf_text(&expected));
        strbuf_free(&text);
        strbuf_free(&expected);
    }
    static const char *const WITHOUT[] = {"<!--", "<!-- <a", "<a '", "<a \"<a '", "<a \"'"};
    for (size_t i = 0; i < sizeof WITHOUT / sizeof *WITHOUT; i++) {
        StrBuf text = {0};
        strbuf_add(&text, SV("<!-->"));
        repeat(&text, WITHOUT[i], 300000);
        check_found(strbuf_text(&text), strbuf_text(&text), "");
        strbuf_free(&text);
    }
}

/* A mark with `most` times `c` in its middle is one, with one more it is text. */
static void check_longest(const char *before, char c, int most, const char *after) {
    const char middle[] = {c, '\0'};
    for (int more = 0; more < 2; more++) {
        StrBuf text = {0}, expected = {0};
        strbuf_add(&text, sv(before));
        repeat(&text, middle, most + more);
        strbuf_add(&text, sv(after));
        if (!more) strbuf_format(&expected, "[%s]", strbuf_text(&text));
        check_found(strbuf_text(&text), more ? strbuf_text(&text) : "", strbuf_text(&expected));
        strbuf_free(&text);
        strbuf_free(&expected);
    }
}

static void test_limits(void **state) {
    (void)state;
    check_longest("&", 'n', 63, ";");
    check_longest("{", 'n', 63, "}");
    check_longest("%(", 'n', 63, ")d");
    check_longest("%", '1', 12, "d");
    StrBuf text = {0}, expected = {0};
    repeat(&text, "<b>", 66);
    repeat(&text, "</b>", 66);
    repeat(&expected, "[<b>]", 2);
    repeat(&expected, "(<b>", 64);
    repeat(&expected, "</b>)", 64);
    repeat(&expected, "[</b>]", 2);
    check_found(strbuf_text(&text), "", strbuf_text(&expected));
    strbuf_free(&text);
    strbuf_free(&expected);
}

/* ---- putting back ---- */

static const TranslatorOptions OPTIONS = {.search = {.decode = {.beam_size = 2,
                                                                .length_penalty = 1,
                                                                .max_length_factor = 2,
                                                                .max_length_extra = 5,
                                                                .max_input_length = 12,
                                                                .mini_batch = 8,
                                                                .maxi_batch = 4},
                                                     .n_best = 2,
                                                     .attention = true},
                                          .quiet = true};

/* Words with random marks, no two alike, numbered from *name; most tags of pairs match, some do not. */
static void random_text(Rng *rng, int *name, StrBuf *text) {
    int open[8], depth = 0;
    for (int n = (int)rng_below(rng, 30); n > 0; n--) {
        if (rng_below(rng, 3) > 0) strbuf_add_char(text, ' ');
        uint32_t kind = rng_below(rng, 10);
        if (kind < 5)
            strbuf_format(text, "s%u", rng_below(rng, 40));
        else if (kind == 5)
            strbuf_format(text, "{%d}", (*name)++);
        else if (kind == 6 && rng_below(rng, 3) == 0)
            strbuf_format(text, rng_below(rng, 2) ? "</z%d>" : "<z%d>", (*name)++);
        else if (kind < 8 && depth < 8)
            strbuf_format(text, "<x%d>", open[depth++] = (*name)++);
        else if (depth > 0)
            strbuf_format(text, "</x%d>", open[--depth]);
    }
    while (depth > 0 && rng_below(rng, 4) > 0) strbuf_format(text, "</x%d>", open[--depth]);
}

/* Every mark of `from` is in `to` once, and pairs enclose each other as they must; `to` has no other. */
static void check_marks(const Markup *from, const Markup *to) {
    int stack[100], depth = 0;
    assert_int_equal(from->count, to->count);
    for (int m = 0; m < to->count; m++) {
        int found = -1;
        for (int i = 0; i < from->count; i++) {
            if (!sv_equal(from->items[i].text, to->items[m].text)) continue;
            assert_int_equal(found, -1);
            found = i;
        }
        assert_true(found >= 0);
        const Mark *mark = &from->items[found];
        if (mark->kind == MARK_OPEN) stack[depth++] = mark->partner;
        if (mark->kind == MARK_CLOSE) {
            assert_true(depth > 0);
            assert_int_equal(stack[--depth], found);
        }
    }
    assert_int_equal(depth, 0);
}

static void without_spaces(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] != ' ') strbuf_add_char(out, text.data[i]);
}

static void check_restored(const Seq2Seq *model, const Markup *markup, const Translation *translation) {
    for (int rank = 0; rank < translation->count; rank++) {
        StrBuf text = {0}, words[2] = {0};
        Markup again = {0};
        markup_restore(markup, translation, rank, seq2seq_source(model), seq2seq_target(model), &text);
        markup_find(strbuf_view(&text), &again);
        check_marks(markup, &again);
        without_spaces(strbuf_view(&translation->items[rank].text), &words[0]);
        without_spaces(strbuf_view(&again.plain), &words[1]);
        assert_string_equal(strbuf_text(&words[0]), strbuf_text(&words[1]));
        markup_free(&again);
        strbuf_free(&text);
        strbuf_free(&words[0]);
        strbuf_free(&words[1]);
    }
}

static void test_any_text(void **state) {
    (void)state;
    enum { TEXTS = 1500 };
    Seq2Seq *model = tiny_model_new(40, 5);
    const Seq2Seq *models = model;
    Workers *workers = workers_new(1);
    Translator *translator;
    long marks = 0;
    for (int split = 0; split < 2; split++) {
        TranslatorOptions options = OPTIONS;
        options.split = split;
        assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
        Markup *markups = mem_alloc(TEXTS, sizeof *markups);
        StrView *plain = mem_alloc(TEXTS, sizeof *plain);
        Translation *out = mem_alloc(TEXTS, sizeof *out);
        for (int i = 0; i < TEXTS; i++) {
            Rng rng = rng_new(rng_key(3, (uint64_t)i, (uint64_t)split, 0));
            StrBuf text = {0};
            random_text(&rng, &(int){0}, &text);
            markup_find(strbuf_view(&text), &markups[i]);
            plain[i] = strbuf_view(&markups[i].plain);
            marks += markups[i].count;
            strbuf_free(&text);
        }
        translator_run(translator, plain, NULL, TEXTS, 1, out);
        for (int i = 0; i < TEXTS; i++) {
            check_restored(model, &markups[i], &out[i]);
            translation_free(&out[i]);
            markup_free(&markups[i]);
        }
        mem_free(markups);
        mem_free(plain);
        mem_free(out);
        translator_free(translator);
    }
    assert_true(marks > 10000);
    workers_free(workers);
    seq2seq_free(model);
}

static void restore_plain(Translator *translator, const Seq2Seq *model, StrView text, StrBuf *out) {
    Markup markup = {0};
    Translation translation;
    StrView plain;
    markups_take(&text, 1, &markup, &plain);
    translator_run(translator, &plain, NULL, 1, 1, &translation);
    markups_restore(&markup, 1, model, &translation);
    strbuf_add(out, strbuf_view(&translation.items[0].text));
    translation_free(&translation);
}

/* With breaks: what stands between them is translated as it would be by itself. */
static void test_between_breaks(void **state) {
    (void)state;
    enum { TEXTS = 300 };
    static const char *const breaks[] = {"<p>", "</p>\n", " <br/> ", "</td><td>", "\n\n<li>{a} "};
    Seq2Seq *model = tiny_model_new(40, 3);
    const Seq2Seq *models = model;
    TranslatorOptions options = OPTIONS;
    Workers *workers = workers_new(1);
    Translator *translator;
    int found = 0;
    options.split = options.wrapped = true;
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    for (int i = 0; i < TEXTS; i++) {
        Rng rng = rng_new(rng_key(5, (uint64_t)i, 0, 0));
        StrBuf text = {0}, got = {0}, want = {0};
        Markup markup = {0};
        int name = 0;
        for (int n = (int)rng_below(&rng, 5); n >= 0; n--) {
            random_text(&rng, &name, &text);
            strbuf_add(&text, sv(breaks[rng_below(&rng, sizeof breaks / sizeof *breaks)]));
            if (rng_below(&rng, 3) == 0) strbuf_add(&text, SV("s1 .\ns2"));
        }
        restore_plain(translator, model, strbuf_view(&text), &got);
        markup_find(strbuf_view(&text), &markup);
        const char *start = strbuf_text(&markup.repaired), *end = start + markup.repaired.length;
        for (int m = 0; m < markup.count; m++) {
            StrView mark = markup.items[m].text;
            if (markup.items[m].kind != MARK_BREAK) continue;
            restore_plain(translator, model, (StrView){start, (size_t)(mark.data - start)}, &want);
            strbuf_add(&want, mark);
            start = mark.data + mark.length;
            found++;
        }
        restore_plain(translator, model, (StrView){start, (size_t)(end - start)}, &want);
        assert_string_equal(strbuf_text(&got), strbuf_text(&want));
        markup_free(&markup);
        strbuf_free(&text);
        strbuf_free(&got);
        strbuf_free(&want);
    }
    assert_true(found > TEXTS);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
}

/* Words with tags that enclose each other, no two alike, and breaks everywhere. */
static void random_nested(Rng *rng, StrBuf *text) {
    int open[8], depth = 0, name = 0;
    for (int n = (int)rng_below(rng, 30); n > 0; n--) {
        uint32_t kind = rng_below(rng, 10);
        if (kind < 5)
            strbuf_format(text, " s%u", rng_below(rng, 40));
        else if (kind == 5)
            strbuf_format(text, "<br id=\"%d\">", name++);
        else if (kind < 8 && depth < 8)
            strbuf_format(text, "<x%d>", open[depth++] = name++);
        else if (depth > 0)
            strbuf_format(text, "</x%d>", open[--depth]);
    }
    while (depth > 0) strbuf_format(text, "</x%d>", open[--depth]);
}

/* Let every token of the translation look at one of the source, or at its end. */
static void look_at_random(Rng *rng, Translation *translation) {
    for (int rank = 0; rank < translation->count; rank++)
        for (int t = 0; t < translation->items[rank].steps; t++) {
            AttentionRow row = translation_attention(&translation->items[rank], t);
            float *weights = (float *)row.weights;
            for (int s = 0; s < row.count; s++) weights[s] = 0;
            weights[rng_below(rng, (uint32_t)row.count)] = 1;
        }
}

/* Cut the next tag off `rest`, with the text before it in `before`; an empty one: there is none. */
static StrView next_tag(StrView *rest, StrView *before) {
    size_t start = 0, end = 0;
    while (start < rest->length && rest->data[start] != '<') start++;
    for (end = start; end < rest->length && rest->data[end++] != '>';)
        ;
    StrView tag = {rest->data + start, end - start};
    *before = (StrView){rest->data, start};
    *rest = (StrView){rest->data + end, rest->length - end};
    return tag;
}

/* The words of text with tags, which part none, and breaks, which do. */
static void words_of(StrView text, StrBuf *words) {
    StrBuf plain = {0};
    StrView before, word;
    while (text.length > 0) {
        StrView tag = next_tag(&text, &before);
        strbuf_add(&plain, before);
        if (sv_starts(tag, SV("<br"))) strbuf_add_char(&plain, ' ');
    }
    for (StrView rest = strbuf_view(&plain); sv_next_word(&rest, &word);)
        strbuf_format(words, "%.*s ", SV_ARG(word));
    strbuf_free(&plain);
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part)) != NULL) count++, text++;
    return count;
}

/* Each tag of `from` is in `to` once, those of `to` are nested, and words are those of the translation. */
static void check_nested(const StrBuf *from, const StrBuf *to, const StrBuf *translated) {
    int open[64], depth = 0, name;
    StrView rest = strbuf_view(to), before;
    while (rest.length > 0) {
        StrView tag = next_tag(&rest, &before);
        if (sscanf(tag.data, "<x%d>", &name) == 1)
            open[depth++] = name;
        else if (sscanf(tag.data, "</x%d>", &name) == 1)
            assert_int_equal(depth > 0 ? open[--depth] : -1, name);
    }
    assert_int_equal(depth, 0);
    assert_int_equal(count_of(strbuf_text(from), "<"), count_of(strbuf_text(to), "<"));
    for (rest = strbuf_view(from); rest.length > 0;) {
        StrBuf tag = {0};
        strbuf_add(&tag, next_tag(&rest, &before));
        if (tag.length > 0) assert_int_equal(count_of(strbuf_text(to), strbuf_text(&tag)), 1);
        strbuf_free(&tag);
    }
    StrBuf words[2] = {0};
    words_of(strbuf_view(to), &words[0]);
    words_of(strbuf_view(translated), &words[1]);
    assert_string_equal(strbuf_text(&words[0]), strbuf_text(&words[1]));
    strbuf_free(&words[0]);
    strbuf_free(&words[1]);
}

static void check_text_nested(Translator *translator, const Seq2Seq *model, Rng *rng) {
    Markup markup = {0};
    StrBuf text = {0};
    StrView plain, view;
    Translation translation;
    random_nested(rng, &text);
    view = strbuf_view(&text);
    markups_take(&view, 1, &markup, &plain);
    translator_run(translator, &plain, NULL, 1, 1, &translation);
    look_at_random(rng, &translation);
    for (int rank = 0; translation.chunks > 0 && rank < translation.count; rank++) {
        StrBuf got = {0};
        markup_restore(&markup, &translation, rank, seq2seq_source(model), seq2seq_target(model), &got);
        check_nested(&text, &got, &translation.items[rank].text);
        strbuf_free(&got);
    }
    translation_free(&translation);
    markup_free(&markup);
    strbuf_free(&text);
}

/* What was nested stays so, whatever breaks stand between the tags and whatever the words look at. */
static void test_nested(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(40, 5);
    const Seq2Seq *models = model;
    Workers *workers = workers_new(1);
    for (int split = 0; split < 2; split++) {
        Translator *translator;
        TranslatorOptions options = OPTIONS;
        options.split = split;
        assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
        for (int i = 0; i < 1000; i++) {
            Rng rng = rng_new(rng_key(7, (uint64_t)i, (uint64_t)split, 0));
            check_text_nested(translator, model, &rng);
        }
        translator_free(translator);
    }
    workers_free(workers);
    seq2seq_free(model);
}

/* Put marks back where the weights are known: token i of the translation looks at source token align[i], and
 * each token of either is a word. */
static void check_restored_by(Tokenizer *source, const Tokenizer *target, const char *marked,
                              IdList translated, const int *align, const char *expected) {
    Markup markup = {0};
    IdList ids = {0};
    StrBuf text = {0};
    markup_find(sv(marked), &markup);
    tokenizer_encode(source, strbuf_view(&markup.plain), &ids);
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
    markup_restore(&markup, &translation, 0, source, target, &text);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_free(&text);
    strbuf_free(&item.text);
    mem_free(weights);
    mem_free(translation.source_word);
    id_list_free(&ids);
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
    /* Breaks of what was translated as one sentence. */
    PLACED("<p>s0 <b>s1</b></p> <p>s2</p>", "<p><b>t0</b> t1</p> <p>t2</p>", 1, 0, 2);
    PLACED("s0<br>s1<br> s2", "t0 t1<br><br> t2", 0, 0, 2);
    PLACED("s0 {0} s1<br>s2", "{0} t0 t1<br>t2", 1, 2, 0);
    PLACED("<p>s0</p><p>s1</p>", "<p></p><p>t0</p>", 1);
    /* A pair around a break: each tag goes where it parts most words as it did. */
    PLACED("<i><b>s0<br>s1 s2</b> s3</i> s4", "<i><b>t0<br>t1 t2 t3</b></i> t4", 0, 3, 2, 1, 4);
    PLACED("s0 <b>s1<br>s2 s3</b> s4", "t0 <b>t1<br>t2</b> t3 t4", 0, 1, 2, 4, 4);
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
    restore_plain(translator, model, strbuf_view(&text), &out);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 2);
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
        cmocka_unit_test(test_cases),          cmocka_unit_test(test_tags_without_end),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_long_tags),
        cmocka_unit_test(test_any_text),       cmocka_unit_test(test_between_breaks),
        cmocka_unit_test(test_places),         cmocka_unit_test(test_nested),
        cmocka_unit_test(test_parts_of_words), cmocka_unit_test(test_words_of_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
