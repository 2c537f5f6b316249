/* subject.c - the configuration with its data, or the model and lines, of the measurements. */
#include <stdio.h>
#include "base/mem.h"
#include "base/version.h"
#include "bench/bench.h"
#include "models/modelfile.h"
#include "kern/gemm.h"
#include "kern/kern.h"

enum { LINES_MAX = 5000, LINES_QUICK = 64 };

static void add_line(Bench *bench, size_t *capacity, StrView line) {
    MEM_GROW(bench->input.items, *capacity, bench->input.count + 1);
    bench->input.items[bench->input.count++] = mem_strndup(line.data, line.length);
}

static Status read_lines(Bench *bench, const char *path) {
    LineReader *reader;
    StrView line;
    bool more = true;
    size_t capacity = 0;
    TRY(line_reader_open(&reader, path));
    Status status = STATUS_OK;
    while (bench->input.count < LINES_MAX) {
        status = line_reader_next(reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        add_line(bench, &capacity, line);
    }
    line_reader_close(reader);
    if (status == STATUS_OK && !bench->input.count)
        status = status_fail(STATUS_DATA, "'%s' has no lines", path);
    return status;
}

static Status take_model(Bench *bench) {
    TRY(modelfile_load_floats(&bench->model, bench->options.model, NULL));
    bench->config = seq2seq_config(bench->model);
    bench->source = tokenizer_retain(seq2seq_source(bench->model));
    bench->target = tokenizer_retain(seq2seq_target(bench->model));
    snprintf(bench->knows, sizeof bench->knows, "from a file");
    if (!bench->options.input)
        return status_hint(status_fail(STATUS_USAGE, "no lines to translate"), "name some: --input FILE");
    return read_lines(bench, bench->options.input);
}

static Status take_data(Bench *bench) {
    const Config *c = bench->config = &bench->own;
    if (!c->data.train.count || !c->data.valid.count)
        return status_hint(status_fail(STATUS_USAGE, "neither a configuration with data nor a model"),
                           "try --config configs/bench-bidirectional.json");
    TRY(config_check(c));
    TRY(corpus_learn_tokenizers(&c->data.train, &c->data, &c->text, bench->team[1], &bench->source,
                                &bench->target));
    TRY(corpus_read(&bench->train, &c->data.train, &c->data, bench->source, bench->target, true, false,
                    bench->team[1]));
    TRY(corpus_read(&bench->valid, &c->data.valid, &c->data, bench->source, bench->target, false, true,
                    bench->team[1]));
    if (bench->options.input) return read_lines(bench, bench->options.input);
    size_t capacity = 0, most = bench->options.quick ? LINES_QUICK : LINES_MAX;
    for (size_t i = 0; i < bench->valid.source_text.count && i < most; i++)
        add_line(bench, &capacity, sv(bench->valid.source_text.items[i]));
    return STATUS_OK;
}

static Status announce(Bench *bench) {
    const ModelOptions *m = &bench->config->model;
    int pairs = bench->train.count, source = vocab_size(tokenizer_vocab(bench->source)),
        target = vocab_size(tokenizer_vocab(bench->target));
    StrBuf text = {0};
    strbuf_format(&bench->facts,
                  ", \"training_pairs\": %d, \"source_vocabulary\": %d, \"target_vocabulary\": %d", pairs,
                  source, target);
    strbuf_format(
        &text,
        "attn-mt %s, %d thread%s, SIMD %s, BLAS %s\n"
        "embedding %d, hidden %d, vocabularies %d and %d; %d training pairs; %zu lines to translate\n",
        ATTN_MT_VERSION, bench->threads, bench->threads == 1 ? "" : "s", kern->name, gemm_kernel(),
        m->embedding, m->hidden, source, target, pairs, bench->input.count);
    Status status = report_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

Status bench_subject(Bench *bench) {
    if (bench->config) return STATUS_OK;
    TRY(gemm_self_test(bench->threads));
    bench->team[0] = workers_new(1);
    bench->team[1] = workers_new(bench->threads);
    TRY(bench->options.model ? take_model(bench) : take_data(bench));
    return announce(bench);
}

void bench_release(Bench *bench) {
    seq2seq_free(train_loop_end(bench->loop));
    seq2seq_free(bench->model);
    corpus_free(&bench->train);
    corpus_free(&bench->valid);
    tokenizer_free(bench->source);
    tokenizer_free(bench->target);
    for (size_t i = 0; i < bench->input.count; i++) mem_free(bench->input.items[i]);
    mem_free(bench->input.items);
    for (int team = 0; team < TEAMS; team++) workers_free(bench->team[team]);
    report_free(&bench->report);
    strbuf_free(&bench->facts);
}
