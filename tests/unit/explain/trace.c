/* trace.c - a trace has the values of the search, in every model: the same weights and probabilities, and the
 * contexts that follow from them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "search/backpointers.h"
#include "explain/explorer_data.h"
#include "search/ensemble.h"
#include "search/search.h"
#include "explain/trace.h"
#include "translate/translator.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"
#include "unit/model_variants.h"

enum { TOP = 4, SENTENCE = 2, TARGET = 3 };

static void assert_near(double a, double b, double error) {
    if (!(fabs(a - b) <= error)) fail_msg("%.9g is not %.9g", a, b);
}

/* The search stores the mean over heads and layers. */
static void check_weights(const Trace *trace, const Hypothesis *found) {
    int layers = 0, S = trace->source_length, T = trace->target_length;
    double *mean = mem_alloc((size_t)T * (size_t)S, sizeof *mean);
    TraceAttention a;
    for (; trace_attention(trace, layers, &a); layers++) {
        assert_int_equal(a.weights->rows, T);
        assert_int_equal(a.weights->columns, S);
        for (int h = 0; h < a.heads; h++)
            for (int t = 0; t < T; t++)
                for (int s = 0; s < S; s++)
                    mean[t * S + s] += (double)activation_row(a.weights, h, t)[s] / a.heads;
    }
    assert_true(layers > 0);
    for (int i = 0; i < T * S; i++) assert_near(mean[i] / layers, (double)found->attention[i], 2e-6);
    mem_free(mean);
}

/* weights = softmax(scores), context = weights values: from the notes alone. Key `hidden`, or none if it is
 * -1, has no score. */
static void check_attention(const Trace *trace, int layer, int hidden) {
    TraceAttention a;
    assert_true(trace_attention(trace, layer, &a));
    int width = a.values->columns / a.heads;
    assert_int_equal(a.values->rows, trace->source_length);
    assert_int_equal(a.context->rows, trace->target_length);
    assert_int_equal(a.query->rows, trace->target_length);
    for (int h = 0; h < a.heads; h++)
        for (int t = 0; t < a.context->rows; t++) {
            const real *scores = activation_row(a.scores, h, t), *weights = activation_row(a.weights, h, t);
            double sum = 0;
            for (int s = 0; s < a.scores->columns; s++) sum += s == hidden ? 0 : exp((double)scores[s]);
            for (int s = 0; s < a.scores->columns; s++)
                assert_near((double)weights[s], s == hidden ? 0 : exp((double)scores[s]) / sum, 1e-5);
            for (int i = 0; i < width; i++) {
                double context = 0;
                for (int s = 0; s < a.scores->columns; s++)
                    context += (double)weights[s] * (double)activation_row(a.values, 0, s)[h * width + i];
                assert_near((double)activation_row(a.context, 0, t)[h * width + i], context, 1e-5);
            }
        }
}

static void check_tokens(const Trace *trace, const Hypothesis *found) {
    assert_int_equal(found->steps, trace->target_length);
    for (int t = 0; t < trace->target_length; t++) {
        const TraceToken *best = trace->best + t * TOP;
        assert_int_equal(trace->scores[t].token, trace->target[t]);
        assert_near(trace->scores[t].log_p, (double)found->token_scores[t], 1e-5);
        double before = INFINITY;
        for (int i = 0; i < TOP; before = best[i++].logit) assert_true(best[i].logit <= before);
        assert_true(trace->scores[t].logit <= best[0].logit);
        /* In bits; bounded by the probability of the best token. */
        assert_true(trace->entropy[t] >= -best[0].log_p / log(2) - 1e-6);
        assert_true(trace->entropy[t] < 32);
    }
}

static void test_every_model(void **state) {
    (void)state;
    SearchOptions options = {.decode = {.beam_size = 1, .length_penalty = 1},
                             .n_best = 1,
                             .choice = {ATTENTION_MEAN, ATTENTION_MEAN}};
    TrainingBatch batch = variant_batch(0);
    for (const ModelVariant *variant = MODEL_VARIANTS; variant->name; variant++) {
        Seq2Seq *model = variant_new(variant, NULL, 4);
        params_pack_all(seq2seq_params(model));
        const Seq2Seq *one = model;
        Scorer *scorer = scorer_new(&one, 1, false);
        HypothesisList found = {0};
        Trace trace;
        bool shown = seq2seq_config(model)->model.add_source_eos;
        int layers, heads;
        seq2seq_attentions(model, &layers, &heads);
        options.attention = layers > 0;
        forced_search(scorer, &batch.source[SENTENCE], 1, &(ForcedTargets){&batch.target[TARGET], 1, NULL},
                      &options, &found);
        trace_run(&trace, model, batch.source[SENTENCE], batch.target[TARGET], TOP);
        if (options.attention) check_weights(&trace, &found.items[0]);
        for (int l = 0; l < layers; l++) check_attention(&trace, l, shown ? -1 : trace.source_length - 1);
        check_tokens(&trace, &found.items[0]);
        assert_int_equal(activations_find(&trace.activations, "encoder.annotations")->rows,
                         trace.source_length);
        assert_int_equal(activations_find(&trace.activations, "decoder.readout")->rows, trace.target_length);
        assert_null(activations_find(&trace.activations, "decoder.nonsense"));
        trace_free(&trace);
        hypotheses_free(&found);
        scorer_free(scorer);
        seq2seq_free(model);
    }
}

/* Annotations of a bidirectional encoder concatenate the states of both directions. The states of a decoder
 * include the initial state. */
static void test_states(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[0], NULL, 4);
    params_pack_all(seq2seq_params(model));
    TrainingBatch batch = variant_batch(0);
    Trace trace;
    trace_run(&trace, model, batch.source[SENTENCE], batch.target[TARGET], 0);
    const Activation *both = activations_find(&trace.activations, "encoder.annotations"),
                     *forward = activations_find(&trace.activations, "encoder.0.forward.hidden"),
                     *backward = activations_find(&trace.activations, "encoder.0.backward.hidden");
    size_t H = (size_t)forward->columns;
    for (int s = 0; s < trace.source_length; s++) {
        assert_memory_equal(activation_row(both, 0, s), activation_row(forward, 0, s), H * sizeof(real));
        assert_memory_equal(activation_row(both, 0, s) + H, activation_row(backward, 0, s), H * sizeof(real));
    }
    assert_int_equal(activations_find(&trace.activations, "decoder.gru.0.hidden")->rows,
                     trace.target_length + 1);
    trace_free(&trace);
    seq2seq_free(model);
}

/* The score and the number of tokens of the hypothesis that ends at a node. */
static double path_score(const Backpointers *tree, int node, int *steps) {
    double score = 0;
    for (*steps = 0; node >= 0; node = tree->nodes[node].parent, ++*steps)
        score += (double)tree->nodes[node].score;
    return score;
}

/* At each step the candidates outside the beam are few, have no successors, and are no better than the worst
 * hypothesis of the beam. */
static void check_dropped(const Backpointers *tree, int beam) {
    enum { STEPS = 64 };
    double worst[STEPS];
    int dropped[STEPS] = {0}, all = 0, steps;
    for (int t = 0; t < STEPS; t++) worst[t] = INFINITY;
    for (int i = 0; i < tree->count; i++) {
        double score = path_score(tree, i, &steps);
        assert_true(steps < STEPS);
        if (tree->nodes[i].parent >= 0) assert_false(tree->nodes[tree->nodes[i].parent].pruned);
        if (!tree->nodes[i].pruned) worst[steps] = fmin(worst[steps], score);
    }
    for (int i = 0; i < tree->count; i++) {
        if (!tree->nodes[i].pruned) continue;
        assert_true(path_score(tree, i, &steps) <= worst[steps] + 1e-5);
        assert_true(++dropped[steps] <= SEARCH_PRUNED);
        all++;
    }
    assert_int_equal(dropped[1], beam > 1 ? SEARCH_PRUNED : 0);
    assert_true(beam == 1 || all > SEARCH_PRUNED);
}

/* The scores of the best path through the tree are the scores of the best hypothesis. */
static void test_tree(void **state) {
    (void)state;
    enum { WORDS = 40 };
    Seq2Seq *model = tiny_model_new(WORDS, 11);
    const Seq2Seq *one = model;
    Tokens source = tiny_model_tokens(model, WORDS, 3, 6);
    for (int beam = 1; beam <= 4; beam += 3) {
        Backpointers tree = {0};
        SearchOptions options = {.decode = {.beam_size = beam, .length_penalty = 1, .max_length_extra = 12},
                                 .n_best = 1,
                                 .tree = &tree};
        Scorer *scorer = scorer_new(&one, 1, false);
        HypothesisList found = {0}, alone = {0};
        if (beam > 1)
            beam_search(scorer, &source, NULL, 1, &options, &found);
        else
            greedy_search(scorer, &source, NULL, 1, &options, &found);
        const Hypothesis *best = &found.items[0];
        check_dropped(&tree, beam);
        double nearest = INFINITY;
        for (int i = 0; i < tree.count; i++) {
            int steps;
            double score = path_score(&tree, i, &steps);
            if (steps == best->steps) nearest = fmin(nearest, fabs(score - best->score));
        }
        assert_near(nearest, 0, 1e-4);
        assert_true(tree.count >= best->steps && tree.count <= (beam + SEARCH_PRUNED) * best->steps * 3);
        options.tree = NULL; /* recording the tree changes no result */
        beam_search(scorer, &source, NULL, 1, &options, &alone);
        assert_int_equal(alone.items[0].length, best->length);
        assert_memory_equal(alone.items[0].ids, best->ids, (size_t)best->length * sizeof(int));
        assert_true(alone.items[0].score == best->score);
        hypotheses_free(&alone);
        backpointers_free(&tree);
        hypotheses_free(&found);
        scorer_free(scorer);
    }
    tiny_model_forget(source);
    seq2seq_free(model);
}

/* The length of a page of one sentence, translated once. */
static size_t page_length(const Seq2Seq *model, const Translation *translation, StrView line,
                          const DecodeOptions *decode) {
    StrBuf page = {0};
    ExplorerData *data = explorer_data_new();
    explorer_data_add_model(data, model, SV("model"));
    explorer_data_add_sentence(data, line);
    explorer_data_add_run(data, &(ExplorerRun){.translation = translation, .decode = decode});
    explorer_data_write(data, 0, 0, true, &page);
    size_t length = page.length;
    explorer_data_free(data);
    strbuf_free(&page);
    return length;
}

/* Alternative continuations respect the length limits of model files and of the search options. */
static void test_long_continuations(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(9, 3); /* its translations are long */
    const Seq2Seq *models[] = {model};
    TranslatorOptions options = {.search = {.decode = seq2seq_config(model)->decode, .n_best = 1}};
    options.search.attention = true;
    options.search.decode.beam_size = 1;
    ((Config *)(uintptr_t)seq2seq_config(model))->decode.max_length_extra = 20000;
    Workers *workers = workers_new(1);
    Translator *translator;
    Translation translation;
    StrView line = SV("s0 s1 s2");
    assert_int_equal(translator_new(&translator, models, 1, &options, workers), STATUS_OK);
    translator_run(translator, &line, NULL, 1, 1, &translation);
    DecodeOptions most = decode_options_bound(seq2seq_config(model)->decode);
    assert_in_range(page_length(model, &translation, line, &most), 3000, 100000); /* each until it loops */
    size_t as_asked = page_length(model, &translation, line, &options.search.decode);
    most.max_length_extra = 1;
    most.max_length_factor = 1;
    assert_true(page_length(model, &translation, line, &most) < as_asked);
    translation_free(&translation);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_model), cmocka_unit_test(test_states),
                                       cmocka_unit_test(test_tree),
                                       cmocka_unit_test(test_long_continuations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
