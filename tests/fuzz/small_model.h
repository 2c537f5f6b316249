/* small_model.h - for fuzz targets: a random model with a vocabulary of a few letters. */
#ifndef FUZZ_SMALL_MODEL_H
#define FUZZ_SMALL_MODEL_H

#include "fuzz/scratch.h"
#include "models/seq2seq.h"

/* `config` is initialized; the function makes its sizes small and keeps the other options. */
static inline Seq2Seq *small_model_new(Config *config) {
    static const char TEXT[] =
        "{\"tokenizer\":\"bpe\",\"normalize\":\"nfc\",\"lowercase\":false,\"marker\":\"prefix\","
        "\"merges\":[\"t h\",\"th e\"],"
        "\"vocab\":[\"\342\226\201\",\"the\",\"t\",\"h\",\"e\",\"a\",\".\",\"<\",\">\",\"b\",\"/\",\"1\"]}";
    Tokenizer *tokenizer;
    require(tokenizer_read_json(&tokenizer, sv(TEXT)) == STATUS_OK);
    config->model.embedding = config->model.hidden = 8;
    config->model.heads = 2;
    config->model.encoder_layers = config->model.decoder_layers = 1;
    Seq2Seq *model = seq2seq_new(config, tokenizer, tokenizer);
    ParamSet *params = seq2seq_params(model);
    params_initialize(params, 1);
    for (size_t i = 0; i < params->size; i++)
        params->data[i] *= 3; /* larger weights: less uniform probabilities */
    params_pack_all(params);
    tokenizer_free(tokenizer);
    return model;
}

#endif
