/* translate_response.c - the JSON of the response to POST /translate. */
#include "base/mem.h"
#include "io/json_write.h"
#include "serve/translate_call.h"

static void write_alternatives(const Job *job, int text, StrBuf *out) {
    const attn_mt_candidate *candidate;
    json_open_array(out);
    for (int rank = 1; rank < job->kind.n_best && (candidate = job_candidate(job, text, rank)); rank++)
        json_write_string(out, sv(candidate->text));
    json_close_array(out);
}

static void put_labels(const char *key, const char *const *labels, int count, StrBuf *out) {
    json_put_array(out, key);
    for (int i = 0; i < count; i++) json_write_string(out, sv(labels[i]));
    json_close_array(out);
}

static void write_attention(const Job *job, int text, StrBuf *out) {
    enum { DIGITS = 4 };
    const attn_mt_matrix *matrix = job_attention(job, text);
    if (!matrix) {
        json_write_text(out, SV("null"));
        return;
    }
    json_open_object(out);
    put_labels("source", matrix->column_labels, matrix->columns, out);
    put_labels("target", matrix->row_labels, matrix->rows, out);
    json_put_array(out, "weights");
    for (int t = 0; t < matrix->rows; t++) {
        const float *row = matrix->weights + (size_t)t * (size_t)matrix->columns;
        json_open_array(out);
        for (int s = 0; s < matrix->columns; s++) json_write_digits(out, (double)row[s], DIGITS);
        json_close_array(out);
    }
    json_close_array(out);
    json_close_object(out);
}

static void write_text(const Job *job, int text, StrBuf *out) {
    json_write_string(out, sv(job_candidate(job, text, 0)->text));
}

static void write_problems(const Job *job, int text, StrBuf *out) {
    static const char *const NAMES[] = {"empty", "repetition", "length_limit"};
    const TranslateCall *call = job->context;
    json_open_array(out);
    for (int i = 0; i < 3; i++)
        if (call->problems[text] >> i & 1) json_write_string(out, sv(NAMES[i]));
    json_close_array(out);
}

static bool has_problems(const TranslateCall *call) {
    int problems = 0;
    for (int i = 0; i < call->job.count; i++) problems |= call->problems[i];
    return problems != 0;
}

/* The source language of the request, and how probable it is that the text is in it. */
static void write_detected(const Job *job, int text, StrBuf *out) {
    const TranslateCall *call = job->context;
    const Detector *detector = catalog_detector(call->catalog);
    int count = catalog_count(call->catalog), rank = 0;
    json_open_object(out);
    if (detector) {
        Detection *ranked = mem_alloc((size_t)count, sizeof *ranked);
        detector_run(detector, sv(call->texts[text]), ranked);
        while (ranked[rank].candidate != call->source) rank++;
        write_confidence(ranked[rank].confidence, out);
        mem_free(ranked);
    }
    json_put_string(out, "language", catalog_code(call->catalog, call->source));
    json_close_object(out);
}

/* The text that the last model translated. */
static void write_pivot(const Job *job, int text, StrBuf *out) {
    json_write_string(out, sv(job->texts[text]));
}

/* A member of the response: the value of the text, or the list of the values of all texts. */
static void put_member(const TranslateCall *call, const char *key,
                       void (*write)(const Job *job, int text, StrBuf *out), StrBuf *out) {
    json_write_key(out, key);
    if (call->list) json_open_array(out);
    for (int i = 0; i < call->job.count; i++) write(&call->job, i, out);
    if (call->list) json_close_array(out);
}

void translate_response_write(void *context) {
    TranslateCall *call = context;
    StrBuf *out = &call->body;
    json_open_object(out);
    put_member(call, "translatedText", write_text, out);
    if (has_problems(call)) put_member(call, "problems", write_problems, out);
    if (call->job.kind.n_best > 0) put_member(call, "alternatives", write_alternatives, out);
    if (call->job.kind.attention) put_member(call, "attention", write_attention, out);
    if (call->route->count > 1) put_member(call, "pivot", write_pivot, out);
    if (call->detect) put_member(call, "detectedLanguage", write_detected, out);
    json_close_object(out);
    strbuf_add_char(out, '\n');
}
