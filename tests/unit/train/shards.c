/* shards.c - the gradient of a batch in parts, by any number of threads; validation loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "kern/kern.h"
#include "train/shards.h"
#include "train/validate.h"
#include "unit/model_variants.h"

enum { PAIRS = 150 }; /* many validation batches of 16, the last one not full */
#define DROPOUTS                                                                                             \
    "model.dropout_embedding=0.3 model.dropout_output=0.3 model.dropout_encoder=0.3 model.hidden=6"

/* Random sentences of 1 to 9 tokens. */
static Corpus make_corpus(void) {
    Corpus corpus = {.count = PAIRS};
    corpus.source.start = mem_alloc(PAIRS + 1, sizeof *corpus.source.start);
    corpus.target.start = mem_alloc(PAIRS + 1, sizeof *corpus.target.start);
    Rng rng = rng_new(3);
    IdList source = {0}, target = {0};
    for (int i = 0; i < PAIRS; i++) {
        for (uint32_t n = 1 + rng_below(&rng, 9); n; n--)
            id_list_add(&source, (int)(VOCAB_SPECIALS + rng_below(&rng, VARIANT_WORDS)));
        for (uint32_t n = 1 + rng_below(&rng, 9); n; n--)
            id_list_add(&target, (int)(VOCAB_SPECIALS + rng_below(&rng, VARIANT_WORDS)));
        corpus.source.start[i + 1] = source.count;
        corpus.target.start[i + 1] = target.count;
    }
    corpus.source.ids = source.ids, corpus.target.ids = target.ids;
    corpus.source.wide = corpus.target.wide = true;
    return corpus;
}

static Seq2Seq *make_variant(const char *settings) {
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[2], settings, 8);
    seq2seq_params(model)->packs_backward = true;
    params_pack_all(seq2seq_params(model));
    return model;
}

static Seq2Seq *make_model(void) { return make_variant(DROPOUTS); }

static const int BATCH[] = {5, 17, 3, 149, 0, 80, 81, 82, 40, 41, 42};
enum { BATCH_SIZE = sizeof BATCH / sizeof *BATCH };

typedef struct {
    BatchLoss loss;
    real *gradient; /* summed over the shards */
} Result;

static MicroBatch batch_of(int count, uint64_t key) { return (MicroBatch){BATCH, count, key}; }

/* The gradient of these batches, each computed on one tape. */
static Result run_whole(const Seq2Seq *model, const Corpus *corpus, const MicroBatch *batches,
                        int batch_count) {
    Tape *tape = tape_new(seq2seq_params(model), true);
    Result result = {.gradient = params_block(seq2seq_params(model))};
    tape->grads = result.gradient;
    for (int b = 0; b < batch_count; b++) {
        tape_reset(tape);
        TrainingBatch batch = micro_batch_collate(&batches[b], corpus, tape);
        batch_loss_add(&result.loss, seq2seq_loss(model, tape, &batch, 0.1, 0.01));
        tape_backward(tape);
    }
    tape_free(tape);
    return result;
}

/* The gradient of these batches, after another update that must have no effect. */
static Result run_batches(const Seq2Seq *model, const Corpus *corpus, int threads, const MicroBatch *batches,
                          int batch_count) {
    Workers *workers = workers_new(threads);
    Shards *shards = shards_new(model, corpus, workers);
    size_t size = seq2seq_params(model)->size;
    Result result = {.gradient = params_block(seq2seq_params(model))};
    const MicroBatch before = batch_of(4, 77);
    for (int update = 0; update < 2; update++) {
        result.loss = update ? shards_run(shards, batches, batch_count, 0.1, 0.01)
                             : shards_run(shards, &before, 1, 0.1, 1);
        PartialSums rest = shards_gradients(shards);
        assert_true(rest.count <= 4);
        partial_sums_add(&rest, 0, size);
        memcpy(result.gradient, rest.blocks[0], size * sizeof(real));
        for (int i = 0; i < rest.count; i++) memset(rest.blocks[i], 0, size * sizeof(real));
    }
    shards_free(shards);
    workers_free(workers);
    return result;
}

static Result run(const Seq2Seq *model, const Corpus *corpus, int threads, int batch_size, uint64_t key) {
    const MicroBatch batch = batch_of(batch_size, key);
    return run_batches(model, corpus, threads, &batch, 1);
}

static void test_threads(void **state) {
    (void)state;
    Corpus corpus = make_corpus();
    Seq2Seq *model = make_model();
    size_t size = seq2seq_params(model)->size;
    for (int key = 0; key < 2; key++) {
        const MicroBatch batch = batch_of(BATCH_SIZE, (uint64_t)key);
        Result whole = run_whole(model, &corpus, &batch, 1);
        long tokens = 0;
        for (int i = 0; i < BATCH_SIZE; i++) tokens += corpus_target_length(&corpus, BATCH[i]) + 1;
        assert_int_equal(whole.loss.tokens, tokens);
        Result one = run(model, &corpus, 1, BATCH_SIZE, (uint64_t)key);
        assert_int_equal(one.loss.tokens, tokens);
        assert_true(fabs(one.loss.loss - whole.loss.loss) <= 1e-5 * whole.loss.loss);
        assert_true(fabs(one.loss.likelihood - whole.loss.likelihood) <= 1e-5 * whole.loss.likelihood);
        for (size_t i = 0; i < size; i++)
            assert_true(fabs((double)(one.gradient[i] - whole.gradient[i])) <= 1e-5);
        for (int threads = 2; threads <= 16; threads++) { /* some have no part */
            Result other = run(model, &corpus, threads, BATCH_SIZE, (uint64_t)key);
            assert_true(other.loss.loss == one.loss.loss);
            assert_true(other.loss.likelihood == one.loss.likelihood);
            assert_memory_equal(other.gradient, one.gradient, size * sizeof(real));
            mem_free(other.gradient);
        }
        mem_free(one.gradient);
        mem_free(whole.gradient);
    }
    seq2seq_free(model);
    corpus_free(&corpus);
}

/* The gradient of two batches is the sum of their gradients, with the same bits for any number of threads. */
static void test_several_batches(void **state) {
    (void)state;
    Corpus corpus = make_corpus();
    Seq2Seq *model = make_model();
    size_t size = seq2seq_params(model)->size;
    const MicroBatch two[2] = {batch_of(BATCH_SIZE, 1), batch_of(5, 2)};
    Result a = run_batches(model, &corpus, 1, &two[0], 1), b = run_batches(model, &corpus, 1, &two[1], 1);
    for (int threads = 1; threads <= 4; threads++) {
        Result both = run_batches(model, &corpus, threads, two, 2),
               again = run_batches(model, &corpus, 1, two, 2);
        assert_true(fabs(both.loss.loss - a.loss.loss - b.loss.loss) <= 1e-12 * both.loss.loss);
        assert_int_equal(both.loss.tokens, a.loss.tokens + b.loss.tokens);
        for (size_t i = 0; i < size; i++)
            assert_true(fabs((double)(both.gradient[i] - a.gradient[i] - b.gradient[i])) <= 1e-5);
        assert_memory_equal(both.gradient, again.gradient, size * sizeof(real));
        mem_free(both.gradient);
        mem_free(again.gradient);
    }
    mem_free(a.gradient);
    mem_free(b.gradient);
    seq2seq_free(model);
    corpus_free(&corpus);
}

/* The number of parts follows from the batches: the gradient equals that of one part, with the same bits for
 * any number of threads, also if rounds end inside a shard, and with more threads than parts. */
static void test_by_batch(void **state) {
    (void)state;
    static int all[PAIRS];
    for (int i = 0; i < PAIRS; i++) all[i] = PAIRS - 1 - i;
    static const int THREADS[] = {1, 2, 3, 4, 8, 11, 16};
    const MicroBatch batches[] = {{all, PAIRS, 1}, {BATCH, 1, 2}, {all, 100, 3}, {BATCH, BATCH_SIZE, 4}};
    const int count = sizeof batches / sizeof *batches;
    Corpus corpus = make_corpus();
    for (int variant = 0; MODEL_VARIANTS[variant].name; variant++) {
        if (!variant_allowed(&MODEL_VARIANTS[variant], DROPOUTS)) continue;
        Seq2Seq *model = variant_new(&MODEL_VARIANTS[variant], DROPOUTS, 8);
        seq2seq_params(model)->packs_backward = true;
        params_pack_all(seq2seq_params(model));
        size_t size = seq2seq_params(model)->size;
        Result whole = run_whole(model, &corpus, batches, count), first = {0};
        for (size_t t = 0; t < sizeof THREADS / sizeof *THREADS; t++) {
            Result r = run_batches(model, &corpus, THREADS[t], batches, count);
            if (t == 0) {
                first = r;
                assert_int_equal(r.loss.tokens, whole.loss.tokens);
                assert_true(fabs(r.loss.loss - whole.loss.loss) <= 1e-5 * whole.loss.loss);
                for (size_t i = 0; i < size; i++) {
                    double one = (double)whole.gradient[i], other = (double)r.gradient[i];
                    if (!(fabs(one - other) <= 1e-4 * (1 + fabs(one))))
                        fail_msg("%s: number %zu is %g instead of %g", MODEL_VARIANTS[variant].name, i, other,
                                 one);
                }
                continue;
            }
            assert_true(r.loss.loss == first.loss.loss && r.loss.likelihood == first.loss.likelihood);
            assert_memory_equal(r.gradient, first.gradient, size * sizeof(real));
            mem_free(r.gradient);
        }
        mem_free(first.gradient);
        mem_free(whole.gradient);
        seq2seq_free(model);
    }
    corpus_free(&corpus);
}

/* With products of 16-bit numbers the gradient points the same way, as far as eight bits can tell, and has
 * the same bits for any number of threads. */
static void test_rounded_products(void **state) {
    (void)state;
    if (!kern->weights[WEIGHT_BF16].outer) skip();
    static int all[PAIRS];
    for (int i = 0; i < PAIRS; i++) all[i] = i;
    const MicroBatch batches[] = {{all, PAIRS, 1}, {BATCH, BATCH_SIZE, 2}};
    Corpus corpus = make_corpus();
    for (int variant = 0; MODEL_VARIANTS[variant].name; variant++) {
        if (!variant_allowed(&MODEL_VARIANTS[variant], DROPOUTS)) continue;
        Seq2Seq *floats = variant_new(&MODEL_VARIANTS[variant], DROPOUTS, 8),
                *model = variant_new(&MODEL_VARIANTS[variant], DROPOUTS, 8);
        ParamSet *params = seq2seq_params(model);
        Result exact = run_batches(floats, &corpus, 1, batches, 2);
        params->format = WEIGHT_BF16;
        params->packs_backward = true;
        params_pack_all(params);
        Result rounded = run_batches(model, &corpus, 1, batches, 2);
        double difference = 0, norm = 0;
        for (size_t i = 0; i < params->size; i++) {
            norm += pow((double)exact.gradient[i], 2);
            difference += pow((double)(rounded.gradient[i] - exact.gradient[i]), 2);
        }
        if (!(difference > 0 && sqrt(difference / norm) < 0.03))
            fail_msg("%s: off by %g", MODEL_VARIANTS[variant].name, sqrt(difference / norm));
        for (int threads = 2; threads <= 16; threads += threads) {
            Result other = run_batches(model, &corpus, threads, batches, 2);
            assert_memory_equal(other.gradient, rounded.gradient, params->size * sizeof(real));
            mem_free(other.gradient);
        }
        mem_free(exact.gradient), mem_free(rounded.gradient);
        seq2seq_free(floats);
        seq2seq_free(model);
    }
    corpus_free(&corpus);
}

/* The masks belong to the update and to the sentence's number in the corpus. */
static void test_dropout_keys(void **state) {
    (void)state;
    Corpus corpus = make_corpus();
    Seq2Seq *model = make_model();
    Result none = run(model, &corpus, 1, BATCH_SIZE, 0), one = run(model, &corpus, 1, BATCH_SIZE, 1),
           two = run(model, &corpus, 1, BATCH_SIZE, 2);
    assert_true(none.loss.loss != one.loss.loss && one.loss.loss != two.loss.loss);
    mem_free(none.gradient);
    mem_free(one.gradient);
    mem_free(two.gradient);
    seq2seq_free(model);
    corpus_free(&corpus);
}

static void test_validation(void **state) {
    (void)state;
    Corpus corpus = make_corpus();
    Seq2Seq *model = make_model();
    double loss = 0, likelihood = 0;
    Tape *tape = tape_new(seq2seq_params(model), false);
    for (int i = 0; i < PAIRS; i++) {
        int ids[2][9];
        Tokens source = corpus_source(&corpus, i, ids[0]), target = corpus_target(&corpus, i, ids[1]);
        uint32_t number = 0;
        TrainingBatch one = {1, &source, &target, &number, 0};
        tape_reset(tape);
        BatchLoss b = seq2seq_loss(model, tape, &one, 0, 1);
        loss += b.loss, likelihood += b.likelihood;
    }
    tape_free(tape);
    BatchLoss first = {0};
    for (int threads = 1; threads <= 3; threads++) {
        Workers *workers = workers_new(threads);
        BatchLoss sum = validate_loss(model, &corpus, workers);
        assert_int_equal(sum.tokens, corpus_tokens(&corpus, &corpus.target) + PAIRS);
        assert_true(fabs(sum.loss - loss) <= 1e-5 * loss &&
                    fabs(sum.likelihood - likelihood) <= 1e-5 * likelihood);
        if (threads == 1) first = sum;
        assert_true(sum.loss == first.loss && sum.likelihood == first.likelihood);
        workers_free(workers);
    }
    seq2seq_free(model);
    corpus_free(&corpus);
}

/* A right-to-left model learns from reversed targets; nothing else differs. */
static void test_right_to_left(void **state) {
    (void)state;
    Corpus corpus = make_corpus(), reversed = make_corpus();
    for (int i = 0; i < PAIRS; i++)
        tokens_reverse((int *)reversed.target.ids + reversed.target.start[i],
                       corpus_target_length(&reversed, i));
    Seq2Seq *model = make_model();
    Seq2Seq *right_to_left = make_variant(DROPOUTS " model.decoder.right_to_left=true");
    Result a = run(model, &reversed, 2, BATCH_SIZE, 1), b = run(right_to_left, &corpus, 2, BATCH_SIZE, 1),
           other = run(model, &corpus, 2, BATCH_SIZE, 1);
    assert_true(a.loss.loss == b.loss.loss && a.loss.loss != other.loss.loss);
    assert_memory_equal(a.gradient, b.gradient, seq2seq_params(model)->size * sizeof(real));
    Workers *workers = workers_new(2);
    assert_true(validate_loss(model, &reversed, workers).loss ==
                validate_loss(right_to_left, &corpus, workers).loss);
    workers_free(workers);
    mem_free(a.gradient);
    mem_free(b.gradient);
    mem_free(other.gradient);
    seq2seq_free(model);
    seq2seq_free(right_to_left);
    corpus_free(&corpus);
    corpus_free(&reversed);
}

/* Shards that ranks can share, and parts of each that threads can: powers of two; no part without a
 * sentence. */
static void test_plan(void **state) {
    (void)state;
    for (int sentences = 1; sentences <= 1000; sentences++)
        for (long rows = 2L * sentences; rows <= 9000L * sentences; rows += 1 + rows / 7) {
            ShardPlan plan = shards_plan(sentences, rows);
            int parts = plan.parts / plan.shards;
            assert_int_equal(plan.parts, plan.shards * parts);
            assert_true(parts > 0 && (parts & (parts - 1)) == 0);
            assert_true(plan.shards > 0 && plan.shards <= 8 && (plan.shards & (plan.shards - 1)) == 0);
            assert_true(plan.parts <= sentences);
        }
    static const long ROWS[] = {1000, 1800, 2500, 5000, 9000};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_int_equal(shards_plan(64, ROWS[i]).parts, i ? 32 : 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_several_batches),
        cmocka_unit_test(test_by_batch),      cmocka_unit_test(test_rounded_products),
        cmocka_unit_test(test_dropout_keys),  cmocka_unit_test(test_validation),
        cmocka_unit_test(test_right_to_left), cmocka_unit_test(test_plan),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
