/* trace_json.c - a trace as text that any language reads. */
#include "decode/trace.h"

#include "base/json.h"

static void write_token(const char *key, const Segmenter *segmenter, int id, StrBuf *out) {
    strbuf_format(out, "\"%s\": ", key);
    json_write_string(out, vocab_token(segmenter_vocab(segmenter), id));
}

static void write_tokens(const char *key, const Segmenter *segmenter, const int *ids, int count,
                         StrBuf *out) {
    strbuf_format(out, "\"%s\": [", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) strbuf_add(out, SV(", "));
        json_write_string(out, vocab_token(segmenter_vocab(segmenter), ids[i]));
    }
    strbuf_add(out, SV("],\n"));
}

enum { FLOAT_DIGITS = 9 };

static void write_scores(const Segmenter *target, const TraceToken *token, StrBuf *out) {
    strbuf_add_char(out, '{');
    write_token("token", target, token->token, out);
    strbuf_add(out, SV(", \"logit\": "));
    json_write_digits(out, token->logit, FLOAT_DIGITS);
    strbuf_add(out, SV(", \"log_p\": "));
    json_write_digits(out, token->log_p, FLOAT_DIGITS);
}

static void write_steps(const Trace *trace, const Segmenter *target, StrBuf *out) {
    strbuf_add(out, SV("\"steps\": ["));
    for (int t = 0; t < trace->target_length; t++) {
        strbuf_add(out, t ? SV(",\n  ") : SV("\n  "));
        write_scores(target, &trace->said[t], out);
        strbuf_add(out, SV(", \"best\": ["));
        for (int i = 0; i < trace->top; i++) {
            if (i > 0) strbuf_add(out, SV(", "));
            write_scores(target, &trace->best[t * trace->top + i], out);
            strbuf_add_char(out, '}');
        }
        strbuf_add(out, SV("]}"));
    }
    strbuf_add(out, SV("],\n"));
}

static void write_beam(const Backpointers *tree, const Segmenter *target, StrBuf *out) {
    strbuf_add(out, SV("\"beam\": ["));
    for (int i = 0; i < tree->count; i++) {
        const Backpointer *node = &tree->nodes[i];
        strbuf_format(out, "%s{\"parent\": %d, ", i ? ",\n  " : "\n  ", node->parent);
        write_token("token", target, node->token, out);
        strbuf_add(out, SV(", \"log_p\": "));
        json_write_digits(out, (double)node->score, FLOAT_DIGITS);
        strbuf_add(out, node->dropped ? SV(", \"dropped\": true}") : SV("}"));
    }
    strbuf_add(out, SV("],\n"));
}

static void write_matrix(const Note *one, int head, StrBuf *out) {
    strbuf_add_char(out, '[');
    for (int r = 0; r < one->rows; r++) {
        const real *row = note_row(one, head, r);
        strbuf_add(out, r ? SV(", [") : SV("["));
        for (int c = 0; c < one->columns; c++) {
            if (c > 0) strbuf_add(out, SV(", "));
            json_write_digits(out, (double)row[c], FLOAT_DIGITS);
        }
        strbuf_add_char(out, ']');
    }
    strbuf_add_char(out, ']');
}

static void write_notes(const Notes *notes, StrBuf *out) {
    strbuf_add(out, SV("\"tensors\": {"));
    for (int i = 0; i < notes->count; i++) {
        const Note *one = &notes->items[i];
        strbuf_format(out, "%s\"%s\": ", i ? ",\n  " : "\n  ", one->name);
        if (one->heads > 1) strbuf_add_char(out, '[');
        for (int h = 0; h < one->heads; h++) {
            if (h > 0) strbuf_add(out, SV(", "));
            write_matrix(one, h, out);
        }
        if (one->heads > 1) strbuf_add_char(out, ']');
    }
    strbuf_add(out, SV("}"));
}

void trace_write_json(const Trace *trace, const Seq2Seq *model, const Backpointers *tree, StrBuf *out) {
    const Segmenter *source = seq2seq_source(model), *target = seq2seq_target(model);
    write_tokens("source", source, trace->source, trace->source_length, out);
    write_tokens("target", target, trace->target, trace->target_length, out);
    write_steps(trace, target, out);
    if (tree && tree->count > 0) write_beam(tree, target, out);
    write_notes(&trace->notes, out);
}
