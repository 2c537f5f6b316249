/* test_train_shards.c - the gradient of a batch in parts, by any number of threads; validation loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "num/kern.h"
#include "train/shards.h"
#include "unit/model_variants.h"

enum { PAIRS = 150 }; /* more than two validation batches of 64 */
#define DROPOUTS                                                                                             \
    "model.dropout_embedding=0.3 model.dropout_output=0.3 model.dropout_encoder=0.3 model.hidden=6"

/* Random sentences of 1 to 9 tokens. */
static Corpus make_corpus(void) {
    Corpus corpus = {.count = PAIRS};
    corpus.source_start = mem_alloc(PAIRS + 1, sizeof *corpus.source_start);
    corpus.target_start = mem_alloc(PAIRS + 1, sizeof *corpus.target_start);
    Rng rng = rng_new(3);
    for (int i = 0; i < PAIRS; i++) {
        for (uint32_t n = 1 + rng_below(&rng, 9); n; n--)
            id_list_add(&corpus.source, (int)(VOCAB_SPECIALS + rng_below(&rng, VARIANT_WORDS)));
        for (uint32_t n = 1 + rng_below(&rng, 9); n; n--)
            id_list_add(&corpus.target, (int)(VOCAB_SPECIALS + rng_below(&rng, VARIANT_WORDS)));
        corpus.source_start[i + 1] = corpus.source.count;
        corpus.target_start[i + 1] = corpus.target.count;
    }
    return corpus;
}

static Seq2Seq *make_model(void) {
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[2], DROPOUTS, 8);
    seq2seq_params(model)->packs_backward = true;
    params_pack_all(seq2seq_params(model));
    return model;
}

static const int BATCH[] = {5, 17, 3, 149, 0, 80, 81, 82, 40, 41, 42};
enum { BATCH_SIZE = sizeof BATCH / sizeof *BATCH };

typedef struct {
    BatchLoss loss;
    real *gradient; /* summed over the shards in order */
} Result;

static Result run(const Seq2Seq *model, const Corpus *corpus, int count, int threads, int batch_size,
                  uint64_t key) {
    Workers *workers = workers_new(threads);
    Shards *shards = shards_new(model, corpus, count, workers);
    Result result = {.gradient = params_block(seq2seq_params(model))};
    shards_run(shards, BATCH, 4, 77, 0.1, 0.01); /* what was there before does not matter, but is added to */
    for (int s = 0; s < count; s++)
        memset(shards_gradients(shards)[s], 0, seq2seq_params(model)->size * sizeof(real));
    result.loss = shards_run(shards, BATCH, batch_size, key, 0.1, 0.01);
    for (int s = 0; s < count; s++)
        kern->add(seq2seq_params(model)->size, shards_gradients(shards)[s], result.gradient);
    shards_free(shards);
    workers_free(workers);
    return result;
}

static void test_threads_and_shards(void **state) {
    (void)state;
    Corpus corpus = make_corpus();
    Seq2Seq *model = make_model();
    size_t size = seq2seq_params(model)->size;
    for (int key = 0; key < 2; key++) {
        Result whole = run(model, &corpus, 1, 1, BATCH_SIZE, (uint64_t)key);
        long tokens = 0;
        for (int i = 0; i < BATCH_SIZE; i++) tokens += corpus_target(&corpus, BATCH[i]).length + 1;
        assert_int_equal(whole.loss.tokens, tokens);
        for (int count = 2; count <= 16; count *= 2) { /* 16: more shards than sentences */
            Result one = run(model, &corpus, count, 1, BATCH_SIZE, (uint64_t)key);
            assert_int_equal(one.loss.tokens, tokens);
            assert_true(fabs(one.loss.loss - whole.loss.loss) <= 1e-5 * whole.loss.loss);
            assert_true(fabs(one.loss.likelihood - whole.loss.likelihood) <= 1e-5 * whole.loss.likelihood);
            for (size_t i = 0; i < size; i++)
                assert_true(fabs((double)(one.gradient[i] - whole.gradient[i])) <= 1e-5);
            for (int threads = 2; threads <= 3; threads++) { /* bit for bit */
                Result other = run(model, &corpus, count, threads, BATCH_SIZE, (uint64_t)key);
                assert_true(other.loss.loss == one.loss.loss);
                assert_true(other.loss.likelihood == one.loss.likelihood);
                assert_memory_equal(other.gradient, one.gradient, size * sizeof(real));
                mem_free(other.gradient);
            }
            mem_free(one.gradient);
        }
        mem_free(whole.gradient);
    }
    seq2seq_free(model);
    corpus_free(&corpus);
}

/* The masks belong to the update and to the sentence's number in the corpus. */
static void test_dropout_keys(void **state) {
    (void)state;
    Corpus corpus = make_corpus();
    Seq2Seq *model = make_model();
    Result none = run(model, &corpus, 2, 1, BATCH_SIZE, 0), one = run(model, &corpus, 2, 1, BATCH_SIZE, 1),
           two = run(model, &corpus, 2, 1, BATCH_SIZE, 2);
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
        Tokens source = corpus_source(&corpus, i), target = corpus_target(&corpus, i);
        uint32_t number = 0;
        TrainingBatch one = {1, &source, &target, &number, 0};
        tape_reset(tape);
        BatchLoss b = seq2seq_loss(model, tape, &one, 0.1, 1);
        loss += b.loss, likelihood += b.likelihood;
    }
    tape_free(tape);
    BatchLoss first = {0};
    for (int threads = 1; threads <= 3; threads++) {
        Workers *workers = workers_new(threads);
        BatchLoss sum = shards_validate(model, &corpus, 0.1, workers);
        assert_int_equal(sum.tokens, corpus.target.count + PAIRS);
        assert_true(fabs(sum.loss - loss) <= 1e-5 * loss &&
                    fabs(sum.likelihood - likelihood) <= 1e-5 * likelihood);
        if (threads == 1) first = sum;
        assert_true(sum.loss == first.loss && sum.likelihood == first.likelihood);
        workers_free(workers);
    }
    seq2seq_free(model);
    corpus_free(&corpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_shards),
        cmocka_unit_test(test_dropout_keys),
        cmocka_unit_test(test_validation),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
