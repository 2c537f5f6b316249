/* config_applies.c - which options a model has. */
#include <string.h>
#include "config/config.h"
#include "layers/attention.h"

/* What an option is part of: one of the parts is enough. */
enum {
    RECURRENT_ENCODER = 1 << 0,
    RECURRENT_DECODER = 1 << 1,
    RECURRENT = RECURRENT_ENCODER | RECURRENT_DECODER,
    LUONG = 1 << 2,
    ADDITIVE = 1 << 3, /* a score with hidden units */
    LOCATION = 1 << 4, /* a score of positions */
    ENCODER_BLOCKS = 1 << 5,
    DECODER_BLOCKS = 1 << 6,
    BLOCKS = ENCODER_BLOCKS | DECODER_BLOCKS, /* of a Transformer */
    CONVOLUTION = 1 << 7,
    LEARNED_POSITIONS = 1 << 8,
    RELATIVE_POSITIONS = 1 << 9,
    TWO_DECODERS = 1 << 10,
    BPE = 1 << 11,
    LEARNED_BPE = 1 << 12,
    UNIGRAM = 1 << 13,
    LEARNED = 1 << 14, /* tokenizer and weights are of this program */
};

/* Options that are not here are part of all models. */
static const struct {
    const char *key;
    int parts;
} OPTION_PARTS[] = {
    {"text.normalize", LEARNED},
    {"text.lowercase", LEARNED},
    {"text.bpe_merges", LEARNED_BPE},
    {"text.bpe_marker", BPE},
    {"text.unigram_pieces", UNIGRAM},
    {"text.joint", LEARNED},
    {"text.min_count", LEARNED},
    {"text.max_vocab", LEARNED},
    {"text.bpe_codes", BPE},
    {"model.size", LEARNED},
    {"model.embedding_scale", LEARNED},
    {"model.cell", RECURRENT},
    {"model.layer_norm", RECURRENT | CONVOLUTION},
    {"model.residual", RECURRENT},
    {"model.encoder.bidirectional", RECURRENT_ENCODER},
    {"model.encoder.width", CONVOLUTION},
    {"model.decoder.start", RECURRENT_DECODER},
    {"model.decoder.input_feeding", LUONG},
    {"model.decoder.autoreg", DECODER_BLOCKS},
    {"model.decoder.self_attention", RECURRENT_DECODER},
    {"model.decoder.readout", RECURRENT_DECODER},
    {"model.attention_size", ADDITIVE},
    {"model.heads", BLOCKS},
    {"model.feed_forward", BLOCKS},
    {"model.decoder.feed_forward", DECODER_BLOCKS},
    {"model.activation", BLOCKS},
    {"model.attention_bias", BLOCKS},
    {"model.norm", BLOCKS},
    {"model.norm_epsilon", BLOCKS},
    {"model.embedding_multiplier", BLOCKS | CONVOLUTION},
    {"model.add_source_eos", DECODER_BLOCKS},
    {"model.positions", BLOCKS | CONVOLUTION},
    {"model.max_positions", LEARNED_POSITIONS | LOCATION},
    {"model.max_relative_position", RELATIVE_POSITIONS},
    {"model.dropout_state", RECURRENT},
    {"decode.left_to_right", TWO_DECODERS},
};

static int text_parts(const TextOptions *text) {
    int parts = text->tokenizer == TOKENIZER_SENTENCEPIECE ? 0 : LEARNED;
    if (text->tokenizer == TOKENIZER_BPE)
        parts |= text->bpe_codes && text->bpe_codes[0] ? BPE : BPE | LEARNED_BPE;
    if (text->tokenizer == TOKENIZER_UNIGRAM) parts |= UNIGRAM;
    return parts;
}

static int attention_parts(const ModelOptions *m) {
    const char *score = ATTENTION_SCORES[m->attention].name;
    if (m->decoder_style == DECODER_TRANSFORMER) return 0;
    if (strcmp(score, "additive") == 0 || strcmp(score, "concat") == 0) return ADDITIVE;
    return strcmp(score, "location") == 0 ? LOCATION : 0;
}

static int model_parts(const ModelOptions *m) {
    static const int ENCODERS[] = {[ENCODER_RNN] = RECURRENT_ENCODER,
                                   [ENCODER_SELF_ATTENTION] = ENCODER_BLOCKS,
                                   [ENCODER_CONV] = CONVOLUTION};
    bool transformer = m->decoder_style == DECODER_TRANSFORMER;
    int parts = ENCODERS[m->encoder_style] | (transformer ? DECODER_BLOCKS : RECURRENT_DECODER);
    if (m->decoder_style == DECODER_LUONG) parts |= LUONG;
    if (m->decoder_bidirectional) parts |= TWO_DECODERS;
    if (parts & (BLOCKS | CONVOLUTION)) {
        if (m->positions == POSITIONS_LEARNED) parts |= LEARNED_POSITIONS;
        if (m->positions == POSITIONS_RELATIVE) parts |= RELATIVE_POSITIONS;
    }
    return parts | attention_parts(m);
}

bool config_applies(const Config *config, const char *key) {
    int parts = text_parts(&config->text) | model_parts(&config->model);
    for (size_t i = 0; i < sizeof OPTION_PARTS / sizeof *OPTION_PARTS; i++)
        if (strcmp(OPTION_PARTS[i].key, key) == 0) return (OPTION_PARTS[i].parts & parts) != 0;
    return true;
}
