/* constraints.c - translations that begin with given words, or must contain some. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/rng.h"
#include "search/search.h"
#include "translate/translator.h"
#include "kern/kern.h"
#include "tokenizer/bpe.h"
#include "unit/tiny_model.h"
#include "text/whole_words.h"
#include "unit/text_fixture.h"

enum { WORDS = 40, SENTENCES = 32 };

static const SearchOptions OPTIONS = {
    .decode = {.beam_size = 1, .length_penalty = 1, .max_length_factor = 2, .max_length_extra = 12},
    .n_best = 1,
    .attention = true};

typedef struct {
    Seq2Seq *model;
    Scorer *scorer;
    Tokens sources[SENTENCES];
    Constraints constraints[SENTENCES];
    HypothesisList found[SENTENCES];
} Fixture;

static void fixture_begin(Fixture *fixture, uint64_t seed) {
    *fixture = (Fixture){.model = tiny_model_new(WORDS, seed)};
    fixture->scorer = scorer_new((const Seq2Seq *const *)&fixture->model, 1, false);
    for (int i = 0; i < SENTENCES; i++)
        fixture->sources[i] = tiny_model_tokens(fixture->model, WORDS, i, 1 + i * 7 % 13);
}

static void found_free(Fixture *fixture) {
    for (int i = 0; i < SENTENCES; i++) hypotheses_free(&fixture->found[i]);
}

static void fixture_end(Fixture *fixture) {
    found_free(fixture);
    for (int i = 0; i < SENTENCES; i++) {
        constraints_free(&fixture->constraints[i]);
        tiny_model_forget(fixture->sources[i]);
    }
    scorer_free(fixture->scorer);
    seq2seq_free(fixture->model);
}

static void search(Fixture *fixture, const SearchOptions *options) {
    (options->decode.beam_size > 1 ? beam_search : greedy_search)(
        fixture->scorer, fixture->sources, fixture->constraints, SENTENCES, options, fixture->found);
}

/* Random words, each with a space after it. */
static void add_words(StrBuf *text, Rng *rng, int count) {
    for (int i = 0; i < count; i++) strbuf_format(text, "t%u ", (unsigned)rng_below(rng, WORDS));
}

/* Following each best hypothesis that ended gives its score again. */
static void check_scores(Fixture *fixture) {
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *found = &fixture->found[i].items[0];
        Tokens target = {found->ids, found->length};
        HypothesisList forced;
        forced_search(fixture->scorer, &fixture->sources[i], 1, &(ForcedTargets){&target, 1, NULL}, &OPTIONS,
                      &forced);
        for (int t = 0; t < found->steps; t++)
            assert_true(found->token_scores[t] == forced.items[0].token_scores[t]);
        if (found->steps > found->length) assert_true(fabs(found->score - forced.items[0].score) < 1e-9);
        hypotheses_free(&forced);
    }
}

/* Empty constraints change nothing. */
static void test_no_constraints(void **state) {
    (void)state;
    Fixture fixture;
    fixture_begin(&fixture, 5);
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchOptions options = OPTIONS;
        HypothesisList plain[SENTENCES];
        options.decode.beam_size = options.n_best = beam;
        search(&fixture, &options);
        (beam > 1 ? beam_search : greedy_search)(fixture.scorer, fixture.sources, NULL, SENTENCES, &options,
                                                 plain);
        for (int i = 0; i < SENTENCES; i++) {
            assert_int_equal(plain[i].count, fixture.found[i].count);
            for (int k = 0; k < plain[i].count; k++) {
                const Hypothesis *a = &plain[i].items[k], *b = &fixture.found[i].items[k];
                assert_int_equal(a->steps, b->steps);
                assert_memory_equal(a->ids, b->ids, (size_t)a->length * sizeof *a->ids);
                assert_true(a->score == b->score);
            }
            hypotheses_free(&plain[i]);
        }
        found_free(&fixture);
    }
    fixture_end(&fixture);
}

/* The translation begins with the prefix and continues with the model's best tokens, also if the prefix is
 * longer than the maximal length. */
static void test_prefix(void **state) {
    (void)state;
    Fixture fixture;
    Rng rng = rng_new(2);
    int longer = 0, differ = 0;
    fixture_begin(&fixture, 25);
    for (int i = 0; i < SENTENCES; i++) {
        StrBuf text = {0};
        add_words(&text, &rng, i == 9 ? 60 : i % 5);
        constraints_add_prefix(&fixture.constraints[i], seq2seq_target(fixture.model), strbuf_view(&text),
                               NULL);
        assert_int_equal(fixture.constraints[i].prefix.count, i == 9 ? 60 : i % 5);
        strbuf_free(&text);
    }
    for (int beam = 1; beam <= 3; beam += 2) {
        SearchOptions options = OPTIONS;
        options.decode.beam_size = options.n_best = beam;
        search(&fixture, &options);
        for (int i = 0; i < SENTENCES; i++) {
            const IdList *prefix = &fixture.constraints[i].prefix;
            for (int k = 0; k < fixture.found[i].count; k++) {
                const Hypothesis *found = &fixture.found[i].items[k];
                assert_true(found->length >= (int)prefix->count);
                if (prefix->count > 0)
                    assert_memory_equal(found->ids, prefix->ids, prefix->count * sizeof(int));
            }
            longer += fixture.found[i].items[0].length > (int)prefix->count;
            differ += fixture.found[i].count > 1;
        }
        check_scores(&fixture);
        found_free(&fixture);
    }
    assert_true(longer > SENTENCES / 2 && differ > SENTENCES / 2);
    fixture_end(&fixture);
}

/* Without a space at its end, the prefix's last word may be completed: "t1" to t1, t10, ... t19. */
static void test_open_prefix(void **state) {
    (void)state;
    Fixture fixture;
    int completed = 0;
    fixture_begin(&fixture, 7);
    const Vocab *vocab = tokenizer_vocab(seq2seq_target(fixture.model));
    for (int i = 0; i < SENTENCES; i++)
        constraints_add_prefix(&fixture.constraints[i], seq2seq_target(fixture.model),
                               i % 2 ? SV("t5 t1") : SV("t5 t1 "), NULL);
    for (int beam = 1; beam <= 3; beam += 2) {
        SearchOptions options = OPTIONS;
        options.decode.beam_size = options.n_best = beam;
        search(&fixture, &options);
        for (int i = 0; i < SENTENCES; i++) {
            const Hypothesis *found = &fixture.found[i].items[0];
            assert_true(found->length >= 2);
            assert_true(sv_equal(vocab_token(vocab, found->ids[0]), SV("t5")));
            bool same = sv_equal(vocab_token(vocab, found->ids[1]), SV("t1"));
            assert_true(sv_starts(vocab_token(vocab, found->ids[1]), SV("t1")));
            assert_true(same || i % 2);
            completed += !same;
        }
        check_scores(&fixture);
        found_free(&fixture);
    }
    assert_true(completed > 0);
    fixture_end(&fixture);
}

/* Words of subwords: "chat" is [c hat], but "cha" is [c h a]. */
static Tokenizer *learn_subwords(BpeMarker marker) {
    static const char *const LINES[] = {"chat at go <", NULL};
    static const char PREFIX[] = "#version: 0.2\n" BPE_SPACE " c\na t\nh at\n";
    static const char SUFFIX[] = "#version: 0.2\na t</w>\nh at</w>\n";
    const char *codes = marker == BPE_PREFIX ? PREFIX : SUFFIX;
    TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1};
    options.bpe_codes = (char *)fixture_write("pieces.codes", codes, strlen(codes));
    return fixture_learn(&options, LINES);
}

/* The marked tokens, by length, then in the order of the vocabulary. */
static void check_marked(const Constraints *constraints, const bool *marked, const char *expected) {
    const Vocab *vocab = tokenizer_vocab(constraints->target);
    StrBuf text = {0};
    for (size_t length = 1; length < 16; length++)
        for (int v = 0; v < vocab_size(vocab); v++) {
            StrView token = vocab_token(vocab, v);
            if (marked[v] && token.length == length) strbuf_format(&text, " %.*s", SV_ARG(token));
        }
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_free(&text);
}

/* For each step: " =" and the forced token, or all allowed tokens, or NULL if all are allowed. The test
 * chooses the tokens of the prefix. */
static void check_prefix(Tokenizer *tokenizer, const char *prefix, bool known, const char *const *steps,
                         const char *expected_marks) {
    Constraints constraints = {0};
    ConstraintState at = {0};
    StrList unknown = {0};
    int given[CONSTRAINTS_MAX];
    assert_int_equal(constraints_add_prefix(&constraints, tokenizer, sv(prefix), &unknown), known);
    assert_int_equal(unknown.count, !known);
    for (size_t i = 0;; i++) {
        RowChoice choice = constraints_choice(&constraints, &at, 3, given);
        if (!steps[i]) {
            assert_true(choice.top == 3 && !choice.allowed && choice.extra_count == 0);
            break;
        }
        if (steps[i][1] == '=') {
            StrView token = vocab_token(tokenizer_vocab(tokenizer), choice.extra[0]);
            assert_true(choice.top == 0 && choice.extra_count == 1 && !choice.allowed);
            assert_true(sv_equal(token, sv(steps[i] + 2)));
        } else {
            assert_true(choice.top == 3 && choice.extra_count == 0);
            check_marked(&constraints, choice.allowed, steps[i]);
        }
        at = constraints_advance(&constraints, at,
                                 i < constraints.prefix.count ? constraints.prefix.ids[i] : VOCAB_UNK, NULL);
    }
    bool *marked = mem_alloc((size_t)vocab_size(tokenizer_vocab(tokenizer)), sizeof *marked);
    constraints_mark_tokens(&constraints, marked);
    check_marked(&constraints, marked, expected_marks);
    mem_free(marked);
    strlist_free(&unknown);
    constraints_free(&constraints);
}

#define STEPS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The allowed tokens at each step of a prefix of subwords, and the tokens that a shortlist must have for
 * it. */
static void test_prefix_of_subwords(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn_subwords(BPE_PREFIX);
    check_prefix(tokenizer, "", true, STEPS(NULL), "");
    check_prefix(tokenizer, " ", true, STEPS(NULL), "");
    check_prefix(tokenizer, " cha", true, STEPS(" " BPE_SPACE "c", " h hat", " a at"),
                 " a h at hat " BPE_SPACE "c");
    check_prefix(tokenizer, "go c", true, STEPS(" =" BPE_SPACE, " =g", " =o", " " BPE_SPACE "c"),
                 " g o " BPE_SPACE " " BPE_SPACE "c");
    check_prefix(tokenizer, "<", true, STEPS(" " BPE_SPACE, " <"), " < " BPE_SPACE); /* not <unk> */
    check_prefix(tokenizer, "g ", true,
                 STEPS(" =" BPE_SPACE, " =g", " <s> " BPE_SPACE " </s> " BPE_SPACE "c"), " g " BPE_SPACE);
    check_prefix(tokenizer, "xa", false, STEPS(" =" BPE_SPACE, " =<unk>", " =a"), " a " BPE_SPACE " <unk>");
    tokenizer_free(tokenizer);
    tokenizer = learn_subwords(BPE_SUFFIX);
    check_prefix(tokenizer, "cha", true, STEPS(" c", " h hat</w>", " a a</w> at</w>"),
                 " c a h a</w> at</w> hat</w>");
    static const char ALL[] =
        " c g < a h o t <s> </s> <unk> <</w> o</w> a</w> c</w> g</w> h</w> t</w> at</w> hat</w>";
    check_prefix(tokenizer, "c ", true, STEPS(" =c</w>", ALL), " c</w>");
    check_prefix(tokenizer, "x ", false, STEPS(" =<unk>", ALL), " <unk>"); /* though it has no </w> */
    tokenizer_free(tokenizer);
}

/* A hypothesis that diverged stays so, also if a later token is the prefix's. */
static void test_left_prefix(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn_subwords(BPE_PREFIX);
    Constraints constraints = {0};
    ConstraintState at = {0};
    assert_true(constraints_add_prefix(&constraints, tokenizer, SV("choo"), NULL));
    assert_int_equal(constraints.open, 4);
    for (int t = 0; t < 3; t++)
        at = constraints_advance(&constraints, at, constraints.prefix.ids[t == 1 ? 3 : t], NULL);
    assert_null(constraints_choice(&constraints, &at, 1, NULL).allowed);
    constraints_free(&constraints);
    tokenizer_free(tokenizer);
}

static bool has_tokens(const Hypothesis *found, const IdList *ids) {
    for (int at = 0; at + (int)ids->count <= found->length; at++)
        if (memcmp(found->ids + at, ids->ids, ids->count * sizeof(int)) == 0) return true;
    return false;
}

static bool same_tokens(const Hypothesis *a, const Hypothesis *b) {
    return a->steps == b->steps && a->length == b->length &&
           (a->length == 0 || memcmp(a->ids, b->ids, (size_t)a->length * sizeof *a->ids) == 0);
}

/* Phrases of one to three tokens, some with the same beginning, with a prefix too: all are met, and no
 * translation occurs twice. */
static void test_constraints(void **state) {
    (void)state;
    Fixture fixture;
    Rng rng = rng_new(3);
    int ended = 0, ranked = 0;
    fixture_begin(&fixture, 31);
    Tokenizer *target = seq2seq_target(fixture.model);
    for (int i = 0; i < SENTENCES; i++) {
        for (int c = 0; c < i % 4; c++) {
            StrBuf text = {0};
            if (i % 8 == 7) strbuf_add(&text, SV("t3 "));
            add_words(&text, &rng, 1 + (i + c) % 3);
            assert_true(constraints_add_phrase(&fixture.constraints[i], target, strbuf_view(&text)));
            strbuf_free(&text);
        }
        if (i % 3 == 0) constraints_add_prefix(&fixture.constraints[i], target, SV("t2 t4 "), NULL);
    }
    assert_false(constraints_add_phrase(&fixture.constraints[0], target, SV("never-seen")));
    for (int beam = 2; beam <= 10; beam += 4) {
        SearchOptions options = OPTIONS;
        options.decode.beam_size = options.n_best = beam;
        search(&fixture, &options);
        for (int i = 0; i < SENTENCES; i++) {
            const Constraints *constraints = &fixture.constraints[i];
            for (int k = 0; k < fixture.found[i].count; k++) {
                const Hypothesis *found = &fixture.found[i].items[k];
                ended += found->steps > found->length;
                for (int other = 0; other < k; other++)
                    assert_false(same_tokens(found, &fixture.found[i].items[other]));
                if (found->steps == found->length && k > 0) continue; /* cut at the maximal length */
                for (int c = 0; c < constraints->phrase_count; c++)
                    assert_true(has_tokens(found, &constraints->phrases[c].ids));
                if (k == 0 || constraints->phrase_count == 0) continue;
                /* By log p: longer ones that are less probable do not win. */
                assert_true(found[-1].score >= found->score);
                ranked += found[-1].normalized < found->normalized;
            }
        }
        check_scores(&fixture);
        found_free(&fixture);
    }
    assert_true(ended > SENTENCES && ranked > 0);
    fixture_end(&fixture);
}

/* Translations too short for all phrases have as many of their tokens as fit. */
static void test_constraints_without_room(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = OPTIONS;
    fixture_begin(&fixture, 31);
    for (int i = 0; i < SENTENCES; i++)
        constraints_add_phrase(&fixture.constraints[i], seq2seq_target(fixture.model),
                               SV("t1 t2 t3 t4 t5 t6"));
    options.decode.beam_size = 5;
    options.decode.max_length_factor = 0;
    options.decode.max_length_extra = 4;
    search(&fixture, &options);
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *found = &fixture.found[i].items[0];
        assert_int_equal(found->steps, 4);
        assert_memory_equal(found->ids, fixture.constraints[i].phrases[0].ids.ids, 4 * sizeof(int));
    }
    fixture_end(&fixture);
}

/* At each step of a given translation the first alternative is greedy search's token, with its score. */
static void test_alternatives(void **state) {
    (void)state;
    enum { N = 3 };
    Fixture fixture;
    SearchOptions options = OPTIONS;
    fixture_begin(&fixture, 11);
    search(&fixture, &options);
    options.alternatives = N;
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *found = &fixture.found[i].items[0];
        Tokens target = {found->ids, found->length};
        HypothesisList forced;
        assert_null(found->alternatives);
        forced_search(fixture.scorer, &fixture.sources[i], 1, &(ForcedTargets){&target, 1, NULL}, &options,
                      &forced);
        for (int t = 0; t < found->steps; t++) {
            const ScoredToken *best = forced.items[0].alternatives + (size_t)t * N;
            assert_int_equal(best[0].token, t < found->length ? found->ids[t] : VOCAB_EOS);
            assert_true((float)best[0].log_p == found->token_scores[t]);
            assert_true(best[0].log_p >= best[1].log_p && best[1].log_p >= best[2].log_p);
            assert_true(best[1].token >= 0 && best[1].token != best[0].token);
        }
        hypotheses_free(&forced);
    }
    fixture_end(&fixture);
}

/* The number of phrase tokens that a hypothesis of these tokens has. Both lists end with 0. */
static int bank_after(const Tokenizer *target, const int phrases[2][4], const int *tokens) {
    Constraints constraints = {.target = target, .phrase_count = 2};
    ConstraintState at = {0};
    constraints.phrases = mem_alloc(2, sizeof *constraints.phrases);
    for (int c = 0; c < 2; c++)
        for (const int *id = phrases[c]; *id; id++) id_list_add(&constraints.phrases[c].ids, *id);
    for (; *tokens; tokens++) at = constraints_advance(&constraints, at, *tokens, NULL);
    int bank = constraints_bank(&constraints, &at);
    constraints_free(&constraints);
    return bank;
}

/* A match that breaks off may contain the beginning of a phrase. */
static void test_begun_again(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 7);
    const Tokenizer *target = seq2seq_target(model);
    assert_int_equal(bank_after(target, (const int[2][4]){{7, 7, 9}, {5}}, (const int[]){7, 7, 7, 9, 0}), 3);
    assert_int_equal(bank_after(target, (const int[2][4]){{7, 8, 9}, {8, 5}}, (const int[]){7, 8, 5, 0}), 2);
    assert_int_equal(bank_after(target, (const int[2][4]){{7, 8, 9}, {8, 5}}, (const int[]){7, 8, 6, 5, 0}),
                     0);
    seq2seq_free(model);
}

/* The common beginning of two phrases is followed for both; the first phrase that is complete is met. */
static void test_begun_alike(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 7);
    Constraints constraints = {0};
    int given[CONSTRAINTS_MAX];
    assert_true(constraints_add_phrase(&constraints, seq2seq_target(model), SV("t7 t8")));
    assert_true(constraints_add_phrase(&constraints, seq2seq_target(model), SV("t7")));
    const int *ids = constraints.phrases[0].ids.ids;
    ConstraintState at = constraints_advance(&constraints, (ConstraintState){0}, ids[0], NULL);
    RowChoice choice = constraints_choice(&constraints, &at, 5, given);
    assert_int_equal(choice.top, 5);
    assert_int_equal(choice.extra_count, 1);
    assert_int_equal(choice.extra[0], ids[1]);
    at = constraints_advance(&constraints, at, ids[1], NULL);
    assert_int_equal(constraints_bank(&constraints, &at), 2);
    choice = constraints_choice(&constraints, &at, 5, given);
    assert_int_equal(choice.extra_count, 1); /* the other one is not met */
    assert_int_equal(choice.extra[0], ids[0]);
    constraints_free(&constraints);
    seq2seq_free(model);
}

/* CONSTRAINTS_MAX phrases are distinguished. One more, or a phrase without tokens, is refused and changes
 * nothing. */
static void test_most_constraints(void **state) {
    (void)state;
    enum { MANY = CONSTRAINTS_MAX };
    Seq2Seq *model = tiny_model_new(2 * MANY, 7);
    Tokenizer *target = seq2seq_target(model);
    Constraints constraints = {0};
    ConstraintState at = {0};
    assert_false(constraints_add_phrase(&constraints, target, SV(" ")));
    assert_false(constraints_add_phrase(&constraints, target, SV("t1 never-seen")));
    for (int c = 0; c < MANY; c++) {
        char word[16];
        snprintf(word, sizeof word, "t%d", c);
        assert_int_equal(constraints.phrase_count, c);
        assert_true(constraints_add_phrase(&constraints, target, sv(word)));
    }
    assert_false(constraints_add_phrase(&constraints, target, SV("t99")));
    for (int c = 0; c < MANY; c++) {
        assert_false(constraints_all_met(&constraints, &at));
        assert_int_equal(constraints_bank(&constraints, &at), c);
        at = constraints_advance(&constraints, at, constraints.phrases[c].ids.ids[0], NULL);
    }
    assert_true(constraints_all_met(&constraints, &at));
    assert_int_equal(constraints_bank_count(&constraints), MANY + 1);
    constraints_free(&constraints);
    seq2seq_free(model);
}

static int only_id(Tokenizer *tokenizer, const char *word) {
    IdList ids = {0};
    tokenizer_encode(tokenizer, sv(word), &ids);
    assert_int_equal(ids.count, 1);
    int id = ids.ids[0];
    id_list_free(&ids);
    return id;
}

/* A term's attention score is that of its first token, and is taken back if the term is not completed. */
static void test_attention_score(void **state) {
    (void)state;
    static const real HERE[] = {0.1f, 0.3f, 0.1f, 0.4f, 0.1f}, NOWHERE[] = {1, 0, 0, 0, 0};
    Seq2Seq *model = tiny_model_new(WORDS, 7);
    Tokenizer *source = seq2seq_source(model), *target = seq2seq_target(model);
    int ids[] = {only_id(source, "s1"), only_id(source, "s2"), only_id(source, "s3"), only_id(source, "s2")};
    int first = only_id(target, "t5"), second = only_id(target, "t6"), other = only_id(target, "t9");
    Constraints constraints = {0};
    ConstraintState at = {0};
    assert_true(constraints_add_term(&constraints, target, SV("t9"), source, SV("s4"), (Tokens){ids, 4}));
    assert_false(constraints_has_terms(&constraints)); /* s4 is not there */
    assert_true(constraints_add_term(&constraints, target, SV("t5 t6"), source, SV("s2"), (Tokens){ids, 4}));
    assert_true(constraints_has_terms(&constraints));
    at = constraints_advance(&constraints, at, other, HERE);
    assert_true(at.attention_score == 0);
    at = constraints_advance(&constraints, at, first, HERE);
    assert_true(fabs(at.attention_score - 2 * log(0.7)) < 1e-6 && at.pending_score == at.attention_score);
    at = constraints_advance(&constraints, at, other, HERE); /* not the second */
    assert_true(fabs(at.attention_score) < 1e-12);
    at = constraints_advance(&constraints, at, first, NOWHERE);
    at = constraints_advance(&constraints, at, second, HERE);
    assert_true(constraints_all_met(&constraints, &at));
    assert_true(fabs(at.attention_score - 2 * log(1e-9)) <
                1e-6); /* of the first token alone, and never infinite */
    double met = at.attention_score;
    assert_true(at.pending_score == met); /* until the next token does not lengthen the word */
    at = constraints_advance(&constraints, at, first, HERE); /* a second time has no score */
    assert_true(at.attention_score == met && at.pending_score == 0);
    constraints_free(&constraints);

    /* Occurrences that overlap: each source token counts once. */
    int again[] = {ids[0], ids[1], ids[1], ids[1]};
    at = (ConstraintState){0};
    assert_true(
        constraints_add_term(&constraints, target, SV("t5"), source, SV("s2 s2"), (Tokens){again, 4}));
    assert_int_equal(constraints.phrases[0].source_positions.count, 3);
    at = constraints_advance(&constraints, at, first, HERE);
    assert_true(fabs(at.attention_score - 2 * log(0.8)) < 1e-6);
    constraints_free(&constraints);

    /* A term of two words that occurs once. If it begins twice in a row, each score is taken back once. */
    at = (ConstraintState){0};
    assert_true(
        constraints_add_term(&constraints, target, SV("t5 t5 t6"), source, SV("s3 s2"), (Tokens){ids, 4}));
    at = constraints_advance(&constraints, at, first, HERE);
    assert_true(fabs(at.attention_score - 2 * log(0.5)) < 1e-6);
    at = constraints_advance(&constraints, at, first, HERE);
    at = constraints_advance(&constraints, at, other, HERE);
    assert_true(fabs(at.attention_score) < 1e-12);
    constraints_free(&constraints);
    seq2seq_free(model);
}

/* After the tokens of a text. */
static ConstraintState follow_text(const Constraints *constraints, Tokenizer *target, const char *text) {
    IdList ids = fixture_encode(target, sv(text));
    ConstraintState at = {0};
    for (size_t t = 0; t < ids.count; t++) {
        at = constraints_advance(constraints, at, ids.ids[t], NULL);
        assert_in_range(constraints_bank(constraints, &at), 0, constraints_bank_count(constraints) - 1);
    }
    id_list_free(&ids);
    return at;
}

/* Letters after a met phrase make another word of it, other characters do not. */
static void test_longer_word(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool met;
    } CASES[] = {{"chat", true},  {"chats", false}, {"chat7", false},    {"chat\xCC\x81", false},
                 {"chat.", true}, {"chat.s", true}, {"chats chat", true}};
    static const char *const LINES[] = {"chats chat7 chat. chat\xCC\x81", NULL};
    TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1, .bpe_merges = 0};
    Tokenizer *target = fixture_learn(&options, LINES);
    Constraints constraints = {0};
    assert_true(constraints_add_phrase(&constraints, target, SV("chat")));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ConstraintState at = follow_text(&constraints, target, CASES[i].text);
        if (constraints_all_met(&constraints, &at) != CASES[i].met) fail_msg("%s", CASES[i].text);
    }
    constraints_free(&constraints);
    tokenizer_free(target);
}

/* A met word that becomes longer is unmet and loses its attention score; other phrases stay met. */
static void test_only_the_longer_word(void **state) {
    (void)state;
    static const char *const LINES[] = {"chats mot", NULL};
    static const real HERE[] = {0.25f, 0.25f};
    TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1};
    Tokenizer *tokenizer = fixture_learn(&options, LINES);
    IdList sentence = fixture_encode(tokenizer, SV("m")), text = fixture_encode(tokenizer, SV("mot chats"));
    Constraints constraints = {0};
    ConstraintState at = {0};
    Tokens source = {sentence.ids, (int)sentence.count};
    assert_true(constraints_add_phrase(&constraints, tokenizer, SV("mot")));
    assert_true(constraints_add_term(&constraints, tokenizer, SV("chat"), tokenizer, SV("m"), source));
    for (size_t t = 0; t + 1 < text.count; t++) at = constraints_advance(&constraints, at, text.ids[t], HERE);
    assert_true(constraints_all_met(&constraints, &at));
    assert_int_equal(constraints_bank(&constraints, &at), constraints_bank_count(&constraints) - 1);
    assert_true(fabs(at.attention_score - 2 * log(0.5)) < 1e-6);
    at = constraints_advance(&constraints, at, text.ids[text.count - 1], (const real[]){0, 0});
    assert_int_equal(constraints_bank(&constraints, &at), constraints.phrases[0].ids.count);
    assert_true(at.attention_score == 0);
    id_list_free(&sentence);
    id_list_free(&text);
    constraints_free(&constraints);
    tokenizer_free(tokenizer);
}

/* A term may follow a mark without a space, but not letters. The source has it beside marks or not. */
static void test_after_mark(void **state) {
    (void)state;
    static const struct {
        const char *source, *text;
        bool met;
    } CASES[] = {{"(gato)", "(chat)", true},   {"(gato)", "chat", true},   {"(gato)", "( chat)", true},
                 {"(gato)", "(chats)", false}, {"(gato)", "schat", false}, {"a-gato", "s-chat", true},
                 {"gato", "(chat)", true}};
    static const char *const LINES[] = {"(chats) schat s-chat (gatos) a-gato", NULL};
    static const real EVEN[] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1};
    Tokenizer *tokenizer = fixture_learn(&options, LINES);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IdList sentence = fixture_encode(tokenizer, sv(CASES[i].source)),
               text = fixture_encode(tokenizer, sv(CASES[i].text));
        Constraints constraints = {0};
        ConstraintState at = {0};
        assert_true(sentence.count <= sizeof EVEN / sizeof *EVEN);
        assert_true(constraints_add_term(&constraints, tokenizer, SV("chat"), tokenizer, SV("gato"),
                                         (Tokens){sentence.ids, (int)sentence.count}));
        for (size_t t = 0; t < text.count; t++) at = constraints_advance(&constraints, at, text.ids[t], EVEN);
        if (constraints_all_met(&constraints, &at) != CASES[i].met)
            fail_msg("%s: %s", CASES[i].source, CASES[i].text);
        constraints_free(&constraints);
        id_list_free(&sentence);
        id_list_free(&text);
    }
    tokenizer_free(tokenizer);
}

/* The source tokens that write a term, wherever the tokenizer cuts, or a form of its words. */
static void test_positions(void **state) {
    (void)state;
    static const struct {
        const char *source, *term,
            *tokens; /* that write the term, with spaces between them and _ for markers */
    } CASES[] = {{"xx <tag> xx", "tag", "tag"}, {"xx xx", "xx", "_xx _xx"},  {"xx yyz", "yy", ""},
                 {"xx yyzs", "yyz", "_ yyz s"}, {"a yyz's", "yyz", "_ yyz"}, {"xx (xx a)", "xx a", "xx _ a"}};
    static const char *const LINES[] = {"xx <tag> xx <tag> xx (xx (xx (xx a)", "-yyz -yyz -yyz 's", NULL};
    TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1, .bpe_merges = 16};
    Tokenizer *tokenizer = fixture_learn(&options, LINES);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IdList sentence = fixture_encode(tokenizer, sv(CASES[i].source));
        Constraints constraints = {0};
        StrBuf found = {0};
        assert_true(constraints_add_term(&constraints, tokenizer, SV("xx"), tokenizer, sv(CASES[i].term),
                                         (Tokens){sentence.ids, (int)sentence.count}));
        const IdList *positions = &constraints.phrases[0].source_positions;
        for (size_t p = 0; p < positions->count; p++) {
            StrView token = vocab_token(tokenizer_vocab(tokenizer), sentence.ids[positions->ids[p]]);
            bool spaced = sv_starts(token, SV(BPE_SPACE));
            if (spaced) token = (StrView){token.data + 3, token.length - 3};
            strbuf_format(&found, "%s%s%.*s", p > 0 ? " " : "", spaced ? "_" : "", SV_ARG(token));
        }
        assert_string_equal(strbuf_text(&found), CASES[i].tokens);
        strbuf_free(&found);
        constraints_free(&constraints);
        id_list_free(&sentence);
    }
    tokenizer_free(tokenizer);
}

/* The first token of a text, which continues the word before it if "-" is in front. */
static int first_id(Tokenizer *tokenizer, const char *text) {
    IdList ids = {0};
    if (text[0] == '-')
        tokenizer_encode_after_text(tokenizer, sv(text + 1), &ids);
    else
        tokenizer_encode(tokenizer, sv(text), &ids);
    int id = ids.ids[0];
    id_list_free(&ids);
    return id;
}

/* A phrase does not begin inside of a word: the token that the model finds best has more letters of it, or
 * the phrase adds some. */
static void test_inside_words(void **state) {
    (void)state;
    static const struct {
        const char *before, *best, *begin;
        bool breaks;
    } CASES[] = {{"rep", "-o", "chat", true},   {"rep", "o", "chat", false}, {"rep", "-.", "chat", false},
                 {"(", "-o", "chat", true},     {"(", "-o", "-chat", false}, {"(", "-.", "-chat", true},
                 {"rep", "-o", "-chat", false}, {"rep", "-o", "o", false},   {"", "-o", "chat", false},
                 {"rep c", "-o", "-hat", false}};
    static const char *const LINES[] = {"rep rep repo repo chat chat o o (chat) (chat) (o (o repchat (.",
                                        NULL};
    TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1, .bpe_merges = 12};
    Tokenizer *tokenizer = fixture_learn(&options, LINES);
    Constraints constraints = {0};
    assert_true(
        constraints_add_term(&constraints, tokenizer, SV("chat"), tokenizer, SV("gato"), (Tokens){0}));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ConstraintState before = follow_text(&constraints, tokenizer, CASES[i].before),
                        after = constraints_advance(&constraints, before, first_id(tokenizer, CASES[i].begin),
                                                    NULL);
        if (constraints_breaks_word(&constraints, &before, &after, first_id(tokenizer, CASES[i].best)) !=
            CASES[i].breaks)
            fail_msg("%s|%s|%s", CASES[i].before, CASES[i].best, CASES[i].begin);
    }
    constraints_free(&constraints);
    tokenizer_free(tokenizer);

    /* Tokens that mark the ends of words: the phrase itself continues the word. */
    options.bpe_marker = BPE_SUFFIX;
    tokenizer = fixture_learn(&options, LINES);
    int open = first_id(tokenizer, "repx"), closed = first_id(tokenizer, "o"),
        chat = first_id(tokenizer, "chat");
    assert_true(constraints_add_phrase(&constraints, tokenizer, SV("chat")));
    for (int ended = 0; ended < 2; ended++) {
        ConstraintState before = constraints_advance(&constraints, (ConstraintState){0},
                                                     ended ? closed : open, NULL),
                        after = constraints_advance(&constraints, before, chat, NULL);
        assert_true(constraints_breaks_word(&constraints, &before, &after, closed) == !ended);
    }
    constraints_free(&constraints);
    tokenizer_free(tokenizer);
}

/* In Chinese a word is met with a space before it, at the beginning, and after another word; another word
 * may follow without a space. */
static void test_no_spaces(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int dogs;
    } CASES[] = {
        {"\xE6\x88\x91\xE7\x9C\x8B\xE3\x80\x82", 0},              /* I see. */
        {"\xE6\x88\x91\xE7\x9C\x8B\xE7\x8B\x97\xE3\x80\x82", 1},  /* I see a dog. */
        {"\xE6\x88\x91\xE7\x9C\x8B \xE7\x8B\x97\xE3\x80\x82", 1}, /* the same, with a space before it */
        {"\xE7\x8B\x97\xE7\x9C\x8B\xE6\x88\x91\xE3\x80\x82", 1},  /* A dog sees me. */
        {"\xE7\x8B\x97\xE7\x9C\x8B\xE7\x8B\x97\xE3\x80\x82", 2}}; /* A dog sees a dog. */
    const char *lines[] = {"\xE7\x8B\x97 \xE7\x8B\x97", CASES[1].text, CASES[3].text, NULL};
    for (int merges = 0; merges <= 1; merges++) { /* of the space and the dog after it */
        TextOptions options = {.tokenizer = TOKENIZER_BPE, .min_count = 1, .bpe_merges = merges};
        Tokenizer *target = fixture_learn(&options, lines);
        for (int copies = 1; copies <= 2; copies++) {
            Constraints constraints = {0};
            for (int i = 0; i < copies; i++)
                assert_true(constraints_add_phrase(&constraints, target, SV("\xE7\x8B\x97")));
            for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
                ConstraintState at = follow_text(&constraints, target, CASES[i].text);
                if (constraints_all_met(&constraints, &at) != (CASES[i].dogs >= copies))
                    fail_msg("%s", CASES[i].text);
            }
            constraints_free(&constraints);
        }
        tokenizer_free(target);
    }
}

/* "t1 t2" is a phrase of every sentence, as the translation of its middle word or without a source. */
static void ask_for_words(Fixture *fixture, bool term) {
    Tokenizer *source = seq2seq_source(fixture->model), *target = seq2seq_target(fixture->model);
    for (int i = 0; i < SENTENCES; i++) {
        Tokens sentence = fixture->sources[i];
        StrBuf word = {0};
        constraints_free(&fixture->constraints[i]);
        tokenizer_decode(source, sentence.ids + sentence.length / 2, 1, &word);
        if (term)
            constraints_add_term(&fixture->constraints[i], target, SV("t1 t2"), source, strbuf_view(&word),
                                 sentence);
        else
            constraints_add_phrase(&fixture->constraints[i], target, SV("t1 t2"));
        strbuf_free(&word);
    }
}

/* The attention to the middle word of sentence i at the first t1 of the best translation; also checks the
 * score. */
static double attention_there(Fixture *fixture, int i) {
    const Hypothesis *found = &fixture->found[i].items[0];
    size_t columns = (size_t)fixture->found[i].source_length;
    HypothesisList forced;
    int t = 0;
    Tokens target = {found->ids, found->length};
    forced_search(fixture->scorer, &fixture->sources[i], 1, &(ForcedTargets){&target, 1, NULL}, &OPTIONS,
                  &forced);
    assert_null(found->attention);
    if (found->steps > found->length)
        assert_true(fabs(forced.items[0].score - found->score) < 1e-3 * found->steps);
    while (t < found->length && found->ids[t] != fixture->constraints[i].phrases[0].ids.ids[0]) t++;
    assert_true(t < found->length);
    size_t middle = (size_t)fixture->sources[i].length / 2;
    double there = (double)forced.items[0].attention[(size_t)t * columns + middle];
    hypotheses_free(&forced);
    return there;
}

/* Terms begin where the attention is on their source, other phrases anywhere. */
static void test_terms(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = OPTIONS;
    double there[2] = {0};
    options.decode.beam_size = 5;
    options.attention = false; /* the search computes it even so */
    fixture_begin(&fixture, 13);
    for (int term = 0; term < 2; term++) {
        ask_for_words(&fixture, term);
        search(&fixture, &options);
        for (int i = 0; i < SENTENCES; i++) there[term] += attention_there(&fixture, i);
        found_free(&fixture);
    }
    assert_true(there[1] > there[0]);
    fixture_end(&fixture);
}

static void test_words_in_text(void **state) {
    (void)state;
    assert_true(text_contains_words(SV("the chat sat"), SV("chat")));
    assert_true(text_contains_words(SV("chat."), SV("chat")));
    assert_true(text_contains_words(SV("l'chat"), SV("chat")));
    assert_false(text_contains_words(SV("the chaton"), SV("chat")));
    assert_false(text_contains_words(SV("un achat"), SV("chat")));
    assert_false(text_contains_words(SV("chat\xC3\xA9"), SV("chat")));
    assert_true(text_contains_words(SV("chaton chat"), SV("chat")));
    assert_true(text_contains_words(SV("\xE6\x88\x91\xE6\x98\xAF\xE4\xBA\xBA"), SV("\xE6\x98\xAF")));
    assert_false(text_contains_words(SV("chat\xCC\x81"), SV("chat"))); /* an accent */
    assert_false(text_contains_words(SV("chat2"), SV("chat")));
    assert_false(text_contains_words(SV("chat"), SV("")));
    assert_false(text_contains_words(SV(""), SV("chat")));
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_constraints),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_open_prefix),
        cmocka_unit_test(test_prefix_of_subwords),
        cmocka_unit_test(test_left_prefix),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_constraints_without_room),
        cmocka_unit_test(test_alternatives),
        cmocka_unit_test(test_begun_again),
        cmocka_unit_test(test_begun_alike),
        cmocka_unit_test(test_most_constraints),
        cmocka_unit_test(test_attention_score),
        cmocka_unit_test(test_longer_word),
        cmocka_unit_test(test_only_the_longer_word),
        cmocka_unit_test(test_after_mark),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_inside_words),
        cmocka_unit_test(test_no_spaces),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_words_in_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
