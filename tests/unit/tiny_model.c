/* tiny_model.c - see tiny_model.h. */
#include "tiny_model.h"

#include <assert.h>
#include "base/mem.h"
#include "base/rng.h"
#include "unit/learn.h"

/* Every word occurs once. */
static Tokenizer *word_tokenizer(const char *language, int words, TextOptions options) {
    Tokenizer *tokenizer;
    StrBuf text = {0};
    for (int i = 0; i < words; i++) strbuf_format(&text, "%s%d ", language, i);
    Status status = learn_tokenizer(&tokenizer, &options, strbuf_view(&text));
    assert(status == STATUS_OK && vocab_size(tokenizer_vocab(tokenizer)) == words + VOCAB_SPECIALS);
    (void)status;
    strbuf_free(&text);
    return tokenizer;
}

static Seq2Seq *new_model(int words, uint64_t seed, bool both_ways) {
    Config config;
    config_init(&config);
    config.text.tokenizer = TOKENIZER_WORD;
    config.text.joint = false;
    config.text.min_count = 1;
    config.model.embedding = 12;
    config.model.hidden = 16;
    config.model.attention_size = 0;
    config.model.encoder_layers = 1;
    config.model.decoder_layers = 1;
    config.model.tie = TIE_NONE;
    config.model.decoder_bidirectional = both_ways;
    config.train.seed = (long long)seed;
    Tokenizer *source = word_tokenizer("s", words, config.text),
              *target = word_tokenizer("t", words, config.text);
    Seq2Seq *model = seq2seq_new(&config, source, target);
    ParamSet *params = seq2seq_params(model);
    params_initialize(params, seed);
    for (size_t i = 0; i < params->size; i++) params->data[i] *= 3;
    param_data(params, params_find(params, "output.bias"))[VOCAB_EOS] +=
        2; /* sentences of different lengths */
    params_pack_all(params);
    tokenizer_free(source);
    tokenizer_free(target);
    config_free(&config);
    return model;
}

Seq2Seq *tiny_model_new(int words, uint64_t seed) { return new_model(words, seed, false); }

Seq2Seq *tiny_model_both_ways(int words, uint64_t seed) { return new_model(words, seed, true); }

void tiny_model_reverse(Seq2Seq *model) { ((Config *)seq2seq_config(model))->model.right_to_left = true; }

void tiny_model_give_lists(Seq2Seq *model, int words, int m, int width) {
    int V = words + VOCAB_SPECIALS;
    StrBuf text = {0};
    Shortlist *shortlist;
    for (int list = 0; list <= V; list++) {
        for (int i = 0; i < width; i++)
            strbuf_format(&text, "%s%d", i ? " " : "", VOCAB_SPECIALS + (list * (7 + m) + i) % words);
        strbuf_add_char(&text, ';');
    }
    Status status = shortlist_read_text(&shortlist, strbuf_view(&text), V, V);
    assert(status == STATUS_OK);
    (void)status;
    seq2seq_take_shortlist(model, shortlist);
    strbuf_free(&text);
}

void tiny_model_sentence(int words, int number, int length, StrBuf *line) {
    Rng rng = rng_new(rng_key(7, (uint64_t)number, 0, 0));
    for (int i = 0; i < length; i++)
        strbuf_format(line, "%ss%u", i ? " " : "", (unsigned)rng_below(&rng, (uint32_t)words));
}

Tokens tiny_model_tokens(const Seq2Seq *model, int words, int number, int length) {
    StrBuf line = {0};
    IdList ids = {0};
    tiny_model_sentence(words, number, length, &line);
    tokenizer_encode(seq2seq_source(model), strbuf_view(&line), &ids);
    assert((int)ids.count == length);
    strbuf_free(&line);
    return (Tokens){ids.ids, length};
}

void tiny_model_forget(Tokens tokens) { mem_free((int *)tokens.ids); }
