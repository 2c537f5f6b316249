/* toy_attention.c - calls the attention layer of the models with toy data.
 * Dive into Deep Learning, sections 11.1 and 11.3: eq. 11.1.1, 11.1.3, 11.3.1, 11.3.2, 11.3.7
 */
#include "textbook/toy_attention.h"

#include <math.h>
#include <string.h>
#include "base/rng.h"

enum { HIDDEN = 8 };
enum { STREAM_QUERIES = 1, STREAM_KEYS };

static Attention declare(ParamSet *params, int score, int query_size) {
    AttentionSizes sizes = {
        .query = query_size, .value = TOY_KEY_SIZE, .hidden = HIDDEN, .positions = TOY_KEYS};
    return attention_new(params, "attention", score, sizes);
}

void toy_write_parameters(const ParamSet *params, StrBuf *out) {
    for (int i = 0; i < params->count; i++) {
        const Param *one = params->items[i];
        const char *name = one->name + strlen("attention.");
        demo_write_rows(&(DemoRows){name, "row", 0, one->rows, one->columns, param_data(params, one), NULL},
                        out);
    }
}

static int parameter_count(int score, int query_size) {
    ParamSet *params = params_new();
    declare(params, score, query_size);
    int count = params->count;
    params_free(params);
    return count;
}

/* A score that has one more matrix for different sizes needs queries and keys of equal size. */
static int query_size_for(int score) {
    return parameter_count(score, TOY_QUERY_MAX) > parameter_count(score, TOY_KEY_SIZE) ? TOY_KEY_SIZE
                                                                                        : TOY_QUERY_MAX;
}

Tensor *toy_normal(Tape *tape, int rows, int columns, uint64_t key) {
    Tensor *x = tape_tensor(tape, rows, columns);
    Rng rng = rng_new(key);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)rng_normal(&rng);
    return x;
}

/* 0, 1, 2, ... in each example. */
static Tensor *counting_numbers(Tape *tape, int batch) {
    Tensor *x = tape_tensor(tape, batch * TOY_KEYS, TOY_VALUE_SIZE);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)(i % (TOY_KEYS * TOY_VALUE_SIZE));
    return x;
}

Spans *toy_spans(Tape *tape, const DemoLengths *lengths, int keys) {
    int first[LENGTHS_MOST_ROWS], rows = demo_lengths_rows(lengths);
    for (int r = 0; r < rows; r++) first[r] = r / lengths->queries * keys;
    return spans_new(tape, first, lengths->row, rows);
}

void toy_copy_spans(const real *from, const Spans *spans, int keys, real beyond, real *to) {
    for (int r = 0; r < spans->rows; r++)
        for (int k = 0; k < keys; k++)
            to[r * keys + k] = k < spans->length[r] ? from[spans->start[r] + k] : beyond;
}

static void copy(real *to, const Tensor *from) { memcpy(to, from->data, tensor_size(from) * sizeof *to); }

void toy_attention_run(int score, const DemoLengths *lengths, bool equal_keys, uint64_t seed,
                       ToyAttention *toy, StrBuf *parameters) {
    int queries = demo_lengths_rows(lengths), rows = lengths->batch * TOY_KEYS;
    *toy = (ToyAttention){.query_size = query_size_for(score)};
    ParamSet *params = params_new();
    Attention attention = declare(params, score, toy->query_size);
    params_initialize(params, seed);
    params_pack_all(params);
    if (parameters) toy_write_parameters(params, parameters);
    Tape *tape = tape_new(params, false);
    Spans *spans = toy_spans(tape, lengths, TOY_KEYS);
    Tensor *query = toy_normal(tape, queries, toy->query_size, rng_key(seed, STREAM_QUERIES, 0, 0));
    Tensor *keys = equal_keys ? tape_tensor_filled(tape, rows, TOY_KEY_SIZE, 1)
                              : toy_normal(tape, rows, TOY_KEY_SIZE, rng_key(seed, STREAM_KEYS, 0, 0));
    KeysValues kv = attention_project_keys(tape, &attention, keys);
    toy->sees_keys = kv.keys != NULL;
    kv.values = counting_numbers(tape, lengths->batch); /* in the models, keys and values are the same rows */
    Tensor *scores = attention.score->scores(tape, &attention, query, &kv, spans);
    Tensor *weights = op_masked_softmax(tape, scores, spans);
    Tensor *context = attention_context(tape, weights, &kv, spans, (AttentionDropout){0});
    copy(toy->queries, query);
    copy(&toy->keys[0][0][0], keys);
    copy(&toy->values[0][0][0], kv.values);
    copy(toy->contexts[0], context);
    toy_copy_spans(scores->data, spans, TOY_KEYS, -INFINITY, toy->scores[0]);
    toy_copy_spans(weights->data, spans, TOY_KEYS, 0, toy->weights[0]);
    tape_free(tape);
    params_free(params);
}
