/* validate.c - loss and BLEU on validation data. */
#include "train/validate.h"

#include "base/mem.h"
#include "decode/translator.h"
#include "metrics/bleu.h"
#include "train/shards.h"

static void translate(const Seq2Seq *model, const Corpus *corpus, const Config *config, Workers *workers,
                      ValidationScore *score) {
    size_t n = (size_t)score->count;
    Tokens *sources = mem_alloc(n, sizeof *sources);
    HypothesisList *found = mem_alloc(n, sizeof *found);
    for (int i = 0; i < score->count; i++) sources[i] = corpus_source(corpus, i);
    translator_greedy(model, sources, score->count, &config->decode, workers, found);
    for (int i = 0; i < score->count; i++) {
        const Hypothesis *best = &found[i].items[0];
        StrBuf line = {0};
        segmenter_decode(seq2seq_target(model), best->ids, (size_t)best->length, &line);
        score->hypotheses[i] = mem_strdup(strbuf_text(&line));
        strbuf_free(&line);
        hypotheses_free(&found[i]);
    }
    mem_free(sources);
    mem_free(found);
}

Status validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config, Workers *workers,
                      ValidationScore *score) {
    *score = (ValidationScore){0};
    BatchLoss loss = shards_validate(model, corpus, 0, workers);
    score->loss = loss.likelihood / (double)loss.tokens;
    int limit = config->train.valid_limit;
    score->count = limit && limit < corpus->count ? limit : corpus->count;
    score->hypotheses = mem_alloc((size_t)score->count, sizeof *score->hypotheses);
    translate(model, corpus, config, workers, score);

    StrView *hypotheses = mem_alloc((size_t)score->count, sizeof *hypotheses);
    StrView *references = mem_alloc((size_t)score->count, sizeof *references);
    for (int i = 0; i < score->count; i++) {
        hypotheses[i] = sv(score->hypotheses[i]);
        references[i] = sv(corpus->target_text.items[i]);
    }
    score->bleu = bleu_corpus_simple(hypotheses, references, (size_t)score->count,
                                     (BleuTokenizer)config->train.bleu_tokenizer, config->text.lowercase);
    mem_free(hypotheses);
    mem_free(references);
    return STATUS_OK;
}

void validate_free(ValidationScore *score) {
    for (int i = 0; i < score->count; i++) mem_free(score->hypotheses[i]);
    mem_free(score->hypotheses);
    *score = (ValidationScore){0};
}
