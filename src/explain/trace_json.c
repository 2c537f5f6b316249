/* trace_json.c - a trace as JSON. */
#include "explain/trace.h"

#include "io/json_write.h"

static void write_token(const char *key, const Tokenizer *tokenizer, int id, StrBuf *out) {
    json_put_string(out, key, vocab_token(tokenizer_vocab(tokenizer), id));
}

static void write_tokens(const char *key, const Tokenizer *tokenizer, const int *ids, int count,
                         StrBuf *out) {
    json_write_line(out, 0);
    json_put_array(out, key);
    for (int i = 0; i < count; i++) json_write_string(out, vocab_token(tokenizer_vocab(tokenizer), ids[i]));
    json_close_array(out);
}

enum { FLOAT_DIGITS = 9 };

static void write_scores(const Tokenizer *target, const TraceToken *token, StrBuf *out) {
    write_token("token", target, token->token, out);
    json_put_digits(out, "logit", token->logit, FLOAT_DIGITS);
    json_put_digits(out, "log_p", token->log_p, FLOAT_DIGITS);
}

static void write_steps(const Trace *trace, const Tokenizer *target, StrBuf *out) {
    json_write_line(out, 0);
    json_put_array(out, "steps");
    for (int t = 0; t < trace->target_length; t++) {
        json_write_line(out, 2);
        json_open_object(out);
        write_scores(target, &trace->scores[t], out);
        json_put_array(out, "best");
        for (int i = 0; i < trace->top; i++) {
            json_open_object(out);
            write_scores(target, &trace->best[t * trace->top + i], out);
            json_close_object(out);
        }
        json_close_array(out);
        json_close_object(out);
    }
    json_close_array(out);
}

static void write_beam(const Backpointers *tree, const Tokenizer *target, StrBuf *out) {
    json_write_line(out, 0);
    json_put_array(out, "beam");
    for (int i = 0; i < tree->count; i++) {
        const Backpointer *node = &tree->nodes[i];
        json_write_line(out, 2);
        json_open_object(out);
        json_put_integer(out, "parent", node->parent);
        write_token("token", target, node->token, out);
        json_put_digits(out, "log_p", (double)node->score, FLOAT_DIGITS);
        if (node->pruned) json_put_bool(out, "dropped", true);
        json_close_object(out);
    }
    json_close_array(out);
}

static void write_matrix(const Activation *activation, int head, StrBuf *out) {
    json_open_array(out);
    for (int r = 0; r < activation->rows; r++) {
        const real *row = activation_row(activation, head, r);
        json_open_array(out);
        for (int c = 0; c < activation->columns; c++) json_write_digits(out, (double)row[c], FLOAT_DIGITS);
        json_close_array(out);
    }
    json_close_array(out);
}

static void write_tensors(const Activations *activations, StrBuf *out) {
    json_write_line(out, 0);
    json_put_object(out, "tensors");
    for (int i = 0; i < activations->count; i++) {
        const Activation *activation = &activations->items[i];
        json_write_line(out, 2);
        json_write_key(out, activation->name);
        if (activation->heads > 1) json_open_array(out);
        for (int h = 0; h < activation->heads; h++) write_matrix(activation, h, out);
        if (activation->heads > 1) json_close_array(out);
    }
    json_close_object(out);
}

void trace_write_json(const Trace *trace, const Seq2Seq *model, const Backpointers *tree, StrBuf *out) {
    const Tokenizer *source = seq2seq_source(model), *target = seq2seq_target(model);
    write_tokens("source", source, trace->source, trace->source_length, out);
    write_tokens("target", target, trace->target, trace->target_length, out);
    write_steps(trace, target, out);
    if (tree && tree->count > 0) write_beam(tree, target, out);
    write_tensors(&trace->activations, out);
}
