/* model_variants.c - see model_variants.h. */
#include "unit/model_variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "unit/learn.h"

#define TRANSFORMER                                                                                          \
    "model.encoder.style=self_attention model.decoder.style=transformer model.attention=scaled_dot "         \
    "model.heads=2"

const ModelVariant MODEL_VARIANTS[] = {
    {"conditional, deep readout, all tied", "model.tie=all"},
    {"textbook: bahdanau, two layers, final start, linear readout",
     "model.decoder.style=bahdanau model.decoder.start=final model.encoder.bidirectional=false "
     "model.decoder.readout=linear model.tie=none "
     "model.encoder.layers=2 model.decoder.layers=2 model.hidden=5"},
    {"bahdanau, deep readout, target tied", "model.decoder.style=bahdanau model.tie=target model.hidden=5"},
    {"conditional, layer norm, two layers",
     "model.layer_norm=true model.encoder.layers=2 model.decoder.layers=2"},
    {"bahdanau, layer norm, final start, linear readout, target tied",
     "model.decoder.style=bahdanau model.layer_norm=true model.decoder.start=final "
     "model.encoder.bidirectional=false "
     "model.decoder.readout=linear model.tie=target"},
    {"conditional, linear readout, untied, small attention",
     "model.decoder.readout=linear model.tie=none model.attention_size=3 model.encoder.layers=2 "
     "model.hidden=5"},
    {"bahdanau, layer norm, two decoder layers, untied",
     "model.decoder.style=bahdanau model.layer_norm=true model.decoder.layers=2 model.tie=none "
     "model.hidden=5"},
    {"conditional, final start, linear readout, all tied",
     "model.decoder.start=final model.encoder.bidirectional=false model.decoder.readout=linear model.tie=all "
     "model.encoder.layers=2 "
     "model.decoder.layers=2"},
    /* Every score, cell, encoder and decoder, and their options. */
    {"LSTM, dot product", "model.cell=lstm model.attention=dot"},
    {"scaled dot product, three layers, residual",
     "model.attention=scaled_dot model.encoder.layers=3 model.decoder.layers=2 model.residual=true"},
    {"general score, keys wider than queries", "model.attention=general model.hidden=6 model.tie=none"},
    {"cosine, LSTM, residual",
     "model.attention=cosine model.cell=lstm model.decoder.layers=2 model.residual=true"},
    {"cosine without sharpness, forward layer alone",
     "model.attention=bare_cosine model.encoder.bidirectional=false"},
    {"distance, Bahdanau's decoder", "model.attention=distance model.decoder.style=bahdanau"},
    {"location, LSTM, Bahdanau's decoder",
     "model.attention=location model.cell=lstm model.decoder.style=bahdanau"},
    {"concat, small attention", "model.attention=concat model.attention_size=3 model.tie=target"},
    {"sum of query and key", "model.attention=sum"},
    {"no attention", "model.attention=none"},
    {"no attention, forward layer alone, LSTM",
     "model.attention=none model.encoder.bidirectional=false model.cell=lstm model.decoder.start=final"},
    {"LSTM, layer norm, final start",
     "model.cell=lstm model.layer_norm=true model.encoder.bidirectional=false model.decoder.start=final"},
    {"LSTM, Bahdanau's decoder, linear readout, untied",
     "model.cell=lstm model.decoder.style=bahdanau model.decoder.readout=linear model.tie=none"},
    {"Luong's decoder", "model.decoder.style=luong model.attention=general"},
    {"Luong's decoder, input feeding", "model.decoder.style=luong model.decoder.input_feeding=true"},
    {"Luong's decoder, input feeding, LSTM, small readout",
     "model.decoder.style=luong model.decoder.input_feeding=true model.cell=lstm model.hidden=6 "
     "model.decoder.layers=2"},
    {"Luong's decoder, input feeding, large readout, layer norm",
     "model.decoder.style=luong model.decoder.input_feeding=true model.hidden=6 "
     "model.decoder.readout=linear model.tie=none model.layer_norm=true"},
    {"Luong's decoder without attention, residual",
     "model.decoder.style=luong model.attention=none model.decoder.layers=2 model.residual=true"},
    {"conditional, looks at its own outputs", "model.decoder.self_attention=true"},
    {"Bahdanau's decoder, looks at its own outputs, LSTM, layer norm",
     "model.decoder.style=bahdanau model.decoder.self_attention=true model.cell=lstm model.layer_norm=true"},
    {"Luong's decoder, looks at its own outputs",
     "model.decoder.style=luong model.decoder.self_attention=true"},
    {"convolutions, learned positions", "model.encoder.style=conv model.positions=learned"},
    {"convolutions of five tokens, layer norm, no positions, LSTM",
     "model.encoder.style=conv model.encoder.width=5 model.encoder.layers=3 model.layer_norm=true "
     "model.positions=none model.cell=lstm"},
    {"convolutions of two tokens, wider than embeddings, Luong's decoder",
     "model.encoder.style=conv model.encoder.width=2 model.hidden=6 model.decoder.style=luong"},
    {"convolutions, no attention", "model.encoder.style=conv model.attention=none"},
    {"blocks under a GRU", "model.encoder.style=self_attention model.heads=2"},
    {"blocks with the norm behind, Bahdanau's decoder, LSTM",
     "model.encoder.style=self_attention model.norm=post model.heads=2 model.encoder.layers=2 "
     "model.decoder.style=bahdanau model.cell=lstm"},
    {"blocks with relative positions, Luong's decoder, cosine",
     "model.encoder.style=self_attention model.positions=relative model.heads=2 model.hidden=6 "
     "model.decoder.style=luong model.attention=cosine"},
    {"blocks, no attention, no positions",
     "model.encoder.style=self_attention model.attention=none model.positions=none model.heads=1"},
    {"Transformer", TRANSFORMER " model.encoder.layers=2 model.decoder.layers=2"},
    {"Transformer, norm behind, learned positions, untied",
     TRANSFORMER " model.norm=post model.positions=learned model.tie=none"},
    {"Transformer, relative positions, wider than embeddings",
     TRANSFORMER " model.positions=relative model.hidden=6 model.tie=none model.decoder.layers=2"},
    {"Transformer, one head, no positions",
     "model.encoder.style=self_attention model.decoder.style=transformer model.attention=scaled_dot "
     "model.heads=1 model.positions=none"},
    {"Transformer as OPUS-MT has it: swish, biases, sines before cosines",
     TRANSFORMER " model.norm=post model.activation=swish model.attention_bias=true "
                 "model.positions=sinusoidal_halves model.tie=all"},
    {"Transformer as Marian has it, with SSRUs",
     TRANSFORMER " model.norm=post model.attention_bias=true model.positions=marian model.norm_epsilon=1e-6 "
                 "model.decoder.autoreg=ssru model.decoder.layers=2"},
    {"Transformer with pre-norm SSRUs, gelu, wider than embeddings",
     TRANSFORMER " model.decoder.autoreg=ssru model.activation=gelu model.hidden=6 model.tie=none "
                 "model.positions=learned"},
    {"Transformer as OpenNMT has it: source without </s>, gelu by tanh, other multiplier",
     TRANSFORMER " model.add_source_eos=false model.attention_bias=true model.activation=gelu_tanh "
                 "model.embedding_multiplier=3 model.encoder.layers=2 model.decoder.layers=2"},
    {"Transformer, gelu by sigmoid, SSRUs, source without </s>, target tied",
     TRANSFORMER " model.add_source_eos=false model.activation=gelu_sigmoid model.decoder.autoreg=ssru "
                 "model.tie=target model.decoder.layers=2 model.decoder.feed_forward=5"},
    {"convolutions with Marian's positions",
     "model.encoder.style=conv model.positions=marian model.embedding_multiplier=1"},
    {"GRU encoder, Transformer decoder",
     "model.decoder.style=transformer model.attention=scaled_dot model.heads=2 model.encoder.layers=2"},
    {"LSTM encoder with layer norm, Transformer decoder with relative positions",
     "model.decoder.style=transformer model.attention=scaled_dot model.heads=2 model.cell=lstm "
     "model.layer_norm=true model.encoder.bidirectional=false model.positions=relative model.norm=post"},
    {"convolutions, Transformer decoder",
     "model.encoder.style=conv model.decoder.style=transformer model.attention=scaled_dot model.heads=2 "
     "model.layer_norm=true"},
    {0}};

static void give_up(const char *what) {
    fprintf(stderr, "model_variants: %s: %s\n", what, status_message());
    exit(1);
}

static void set_all(Config *config, const char *settings) {
    OptionTable tables[6];
    config_tables(config, tables);
    StrView rest = sv(settings), item, key;
    while (sv_next(&rest, ' ', &item)) {
        if (!item.length) continue;
        sv_next(&item, '=', &key);
        if (options_set(tables, key, item) != STATUS_OK) give_up(settings);
    }
}

static Tokenizer *learn(const char *language, const TextOptions *options) {
    Tokenizer *tokenizer;
    StrBuf words = {0};
    for (int i = 0; i < VARIANT_WORDS; i++) strbuf_format(&words, "%s%d ", language, i);
    if (learn_tokenizer(&tokenizer, options, strbuf_view(&words)) != STATUS_OK) give_up("learning");
    strbuf_free(&words);
    if (vocab_size(tokenizer_vocab(tokenizer)) != VARIANT_WORDS + VOCAB_SPECIALS) give_up("vocabulary");
    return tokenizer;
}

/* Zeros and ones would hide mistakes. */
static void shake(ParamSet *params) {
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        Rng rng = rng_new(rng_key(77, (uint64_t)i, 0, 0));
        if (p->init != INIT_ZERO && p->init != INIT_ONE) continue;
        for (size_t j = 0; j < (size_t)p->rows * (size_t)p->columns; j++)
            param_data(params, p)[j] += (real)(rng_uniform(&rng) - 0.5);
    }
}

void variant_sizes(ModelOptions *options) {
    options->embedding = options->hidden = 4;
    options->embedding_scale = 0.7;
    options->max_positions = 4; /* fewer than the longest sentence has */
    options->max_relative_position = 2;
}

static void configure(Config *config, const ModelVariant *variant, const char *more) {
    config_init(config);
    set_all(config, "text.tokenizer=word text.min_count=1");
    variant_sizes(&config->model);
    set_all(config, variant->settings);
    if (more) set_all(config, more);
    config->text.joint = config->model.tie == TIE_ALL;
}

bool variant_allowed(const ModelVariant *variant, const char *more) {
    Config config;
    configure(&config, variant, more);
    Status status = config_check(&config);
    config_free(&config);
    return status == STATUS_OK;
}

Seq2Seq *variant_new(const ModelVariant *variant, const char *more, uint64_t seed) {
    Config config;
    configure(&config, variant, more);
    if (config_check(&config) != STATUS_OK) give_up(variant->name);
    Tokenizer *source = learn("s", &config.text);
    Tokenizer *target = config.text.joint ? tokenizer_retain(source) : learn("t", &config.text);
    Seq2Seq *model = seq2seq_new(&config, source, target);
    params_initialize(seq2seq_params(model), seed);
    shake(seq2seq_params(model));
    tokenizer_free(source);
    tokenizer_free(target);
    config_free(&config);
    return model;
}

void variant_take_decoder(Seq2Seq *one, const Seq2Seq *both, bool right_to_left) {
    const ParamSet *from = seq2seq_params(both);
    ParamSet *to = seq2seq_params(one);
    for (int i = 0; i < to->count; i++) {
        const Param *p = to->items[i];
        bool second = right_to_left && strncmp(p->name, "decoder.", 8) == 0;
        char name[128];
        snprintf(name, sizeof name, "%s%s", second ? "decoder.backward." : "", p->name + (second ? 8 : 0));
        const Param *other = params_find(from, name);
        if (!other || other->rows != p->rows || other->columns != p->columns) give_up(name);
        memcpy(param_data(to, p), param_data(from, other),
               (size_t)p->rows * (size_t)p->columns * sizeof(real));
    }
}

TrainingBatch variant_batch(uint64_t seed_update) {
    static const int A[] = {4, 5, 6}, B[] = {8}, C[] = {8, 4, 4, 1, 7}, D[] = {5, 6, 7, 8};
    static const Tokens source[VARIANT_SENTENCES] = {{A, 3}, {B, 0}, {C, 5}, {D, 1}, {B, 1}},
                        target[VARIANT_SENTENCES] = {{B, 1}, {D, 4}, {A, 0}, {C, 5}, {A, 2}};
    static const uint32_t sentence[VARIANT_SENTENCES] = {12, 0, 7, 3000000000u, 8};
    return (TrainingBatch){VARIANT_SENTENCES, source, target, sentence, seed_update};
}
