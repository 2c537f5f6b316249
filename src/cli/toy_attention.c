/* toy_attention.c - the layers of the models, called with made-up numbers. */
#include "cli/toy_attention.h"

#include <string.h>
#include "base/rng.h"

enum { HIDDEN = 8, ROWS = TOY_QUERIES * TOY_KEYS };
enum { STREAM_QUERIES = 1, STREAM_KEYS };
const int TOY_LENGTHS[TOY_QUERIES] = {2, 6};

static Attention declare(ParamSet *params, int score, int query_size) {
    AttentionSizes sizes = {
        .query = query_size, .value = TOY_KEY_SIZE, .hidden = HIDDEN, .positions = TOY_KEYS};
    return attention_new(params, "attention", score, sizes);
}

static int parameter_count(int score, int query_size) {
    ParamSet *params = params_new();
    declare(params, score, query_size);
    int count = params->count;
    params_free(params);
    return count;
}

/* A score that needs one more matrix where the sizes differ compares queries and keys number by number. */
static int query_size_for(int score) {
    return parameter_count(score, TOY_QUERY_MOST) > parameter_count(score, TOY_KEY_SIZE) ? TOY_KEY_SIZE
                                                                                         : TOY_QUERY_MOST;
}

static Tensor *normal_numbers(Tape *tape, int rows, int columns, uint64_t key) {
    Tensor *x = tape_tensor(tape, rows, columns);
    Rng rng = rng_new(key);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)rng_normal(&rng);
    return x;
}

static Tensor *equal_numbers(Tape *tape, int rows, int columns) {
    Tensor *x = tape_tensor(tape, rows, columns);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = 1;
    return x;
}

/* 0, 1, 2, ... for each query anew. */
static Tensor *counting_numbers(Tape *tape) {
    Tensor *x = tape_tensor(tape, ROWS, TOY_VALUE_SIZE);
    for (int i = 0; i < ROWS * TOY_VALUE_SIZE; i++) x->data[i] = (real)(i % (TOY_KEYS * TOY_VALUE_SIZE));
    return x;
}

static void copy(real *to, const Tensor *from) { memcpy(to, from->data, tensor_size(from) * sizeof *to); }

static void copy_weights(const Tensor *weights, const Spans *spans, ToyAttention *toy) {
    for (int q = 0; q < TOY_QUERIES; q++)
        for (int k = 0; k < spans->length[q]; k++) toy->weights[q][k] = weights->data[spans->start[q] + k];
}

void toy_attention_run(int score, bool equal_keys, uint64_t seed, ToyAttention *toy) {
    static const int first[TOY_QUERIES] = {0, TOY_KEYS};
    *toy = (ToyAttention){.query_size = query_size_for(score)};
    ParamSet *params = params_new();
    Attention attention = declare(params, score, toy->query_size);
    params_initialize(params, seed);
    params_pack_all(params);
    Tape *tape = tape_new(params, false);
    Spans *spans = spans_new(tape, first, TOY_LENGTHS, TOY_QUERIES);
    Tensor *query = normal_numbers(tape, TOY_QUERIES, toy->query_size, rng_key(seed, STREAM_QUERIES, 0, 0));
    Tensor *keys = equal_keys ? equal_numbers(tape, ROWS, TOY_KEY_SIZE)
                              : normal_numbers(tape, ROWS, TOY_KEY_SIZE, rng_key(seed, STREAM_KEYS, 0, 0));
    KeysValues kv = attention_project_keys(tape, &attention, keys);
    toy->sees_keys = kv.keys != NULL;
    kv.values = counting_numbers(tape); /* in models keys and values are the same rows */
    Tensor *weights = attention_weights(tape, &attention, query, &kv, spans);
    Tensor *context = attention_context(tape, weights, &kv, spans, (AttentionDropout){0});
    copy(toy->queries, query);
    copy(&toy->keys[0][0][0], keys);
    copy(toy->contexts[0], context);
    copy_weights(weights, spans, toy);
    tape_free(tape);
    params_free(params);
}
