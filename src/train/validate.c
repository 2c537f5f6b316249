/* validate.c - loss and BLEU on validation data. */
#include "train/validate.h"

#include "base/mem.h"
#include "bleu/bleu.h"
#include "decode/translator.h"
#include "train/shards.h"

static Status translate(const Seq2Seq *model, const Corpus *corpus, const Config *config, Workers *workers,
                        ValidationScore *score) {
    size_t n = (size_t)score->count;
    const int **ids = mem_alloc(n, sizeof *ids);
    int *lengths = mem_alloc(n, sizeof *lengths), **out = mem_alloc(n, sizeof *out);
    int *out_lengths = mem_alloc(n, sizeof *out_lengths);
    for (int i = 0; i < score->count; i++) {
        ids[i] = corpus->source.ids + corpus->source_start[i];
        lengths[i] = corpus_source_length(corpus, i);
    }
    Status status =
        translator_greedy_ids(model, ids, lengths, score->count, &config->decode, workers, out, out_lengths);
    for (int i = 0; i < score->count && status == STATUS_OK; i++) {
        StrBuf line = {0};
        segmenter_decode(seq2seq_target(model), out[i], (size_t)out_lengths[i], &line);
        score->hypotheses[i] = mem_strdup(strbuf_text(&line));
        strbuf_free(&line);
        mem_free(out[i]);
    }
    mem_free(ids);
    mem_free(lengths);
    mem_free(out);
    mem_free(out_lengths);
    return status;
}

Status validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config, Workers *workers,
                      ValidationScore *score) {
    *score = (ValidationScore){0};
    BatchLoss loss = shards_validate(model, corpus, 0, workers);
    score->loss = loss.likelihood / (double)loss.tokens;
    int limit = config->train.valid_limit;
    score->count = limit && limit < corpus->count ? limit : corpus->count;
    score->hypotheses = mem_alloc((size_t)score->count, sizeof *score->hypotheses);
    TRY(translate(model, corpus, config, workers, score));

    StrView *hypotheses = mem_alloc((size_t)score->count, sizeof *hypotheses);
    StrView *references = mem_alloc((size_t)score->count, sizeof *references);
    for (int i = 0; i < score->count; i++) {
        hypotheses[i] = sv(score->hypotheses[i]);
        references[i] = sv(corpus->target_text.items[i]);
    }
    score->bleu = bleu_corpus_simple(hypotheses, references, (size_t)score->count,
                                     config->train.bleu_tokenizer, config->text.lowercase);
    mem_free(hypotheses);
    mem_free(references);
    return STATUS_OK;
}

void validate_free(ValidationScore *score) {
    for (int i = 0; i < score->count; i++) mem_free(score->hypotheses[i]);
    mem_free(score->hypotheses);
    *score = (ValidationScore){0};
}
