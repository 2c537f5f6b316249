/* config_check.c - combinations of settings that are refused. */
#include <string.h>
#include "config/config.h"
#include "layers/attention.h"
#include "layers/transformer.h"

static bool has_blocks(const ModelOptions *m) {
    return m->encoder_style == ENCODER_SELF_ATTENTION || m->decoder_style == DECODER_TRANSFORMER;
}

static Status check_sizes(const ModelOptions *m) {
    Status s = STATUS_USAGE;
    bool transformer = m->decoder_style == DECODER_TRANSFORMER;
    if (m->tie != TIE_NONE && (m->readout == READOUT_LINEAR || transformer) && m->embedding != m->hidden) {
        s = status_fail(s, "a tied %s needs equal sizes: model.embedding = %d, model.hidden = %d",
                        transformer ? "Transformer decoder" : "linear readout", m->embedding, m->hidden);
        return status_hint(s, "make them equal, or set model.tie = \"none\"%s",
                           transformer ? "" : " or model.decoder.readout = \"deep\"");
    }
    if (has_blocks(m) && m->hidden % m->heads) {
        s = status_fail(s, "model.heads = %d does not divide model.hidden = %d", m->heads, m->hidden);
        return status_hint(s, "every head takes an equal part of the layer");
    }
    return STATUS_OK;
}

static Status check_start(const ModelOptions *m) {
    Status s = STATUS_USAGE;
    if (m->decoder_start != START_FINAL || m->decoder_style == DECODER_TRANSFORMER) return STATUS_OK;
    if (m->encoder_style != ENCODER_RNN) {
        s = status_fail(s, "model.decoder.start = \"final\" needs the states of a recurrent encoder");
        return status_hint(s, "set model.decoder.start = \"mean\", or model.encoder.style = \"rnn\"");
    }
    if (m->bidirectional || m->encoder_layers != m->decoder_layers) {
        s = status_fail(
            s,
            "model.decoder.start = \"final\" hands each encoder layer's last state to the decoder "
            "layer beside it, which needs a one-directional encoder with as many layers "
            "(encoder %d%s, decoder %d)",
            m->encoder_layers, m->bidirectional ? ", bidirectional" : "", m->decoder_layers);
        return status_hint(
            s, "set model.decoder.start = \"mean\", or model.encoder.bidirectional = false and equal layers");
    }
    return STATUS_OK;
}

/* Self-attention stands between the last output and the output layer. */
static Status check_self_attention(const ModelOptions *m) {
    Status s = STATUS_USAGE;
    if (!m->decoder_self_attention) return STATUS_OK;
    if (m->decoder_style == DECODER_TRANSFORMER) {
        s = status_fail(s,
                        "model.decoder.self_attention is for recurrent decoders: a Transformer has its own");
        return status_hint(s, "leave it off, or choose another model.decoder.style");
    }
    if (m->readout == READOUT_LINEAR && m->decoder_style != DECODER_LUONG) {
        s = status_fail(s,
                        "model.decoder.self_attention has no reader: a linear readout sees the state alone");
        return status_hint(s, "set model.decoder.readout = \"deep\", or leave self-attention off");
    }
    if (m->input_feeding) {
        s = status_fail(s, "model.decoder.self_attention and model.decoder.input_feeding exclude each other");
        return status_hint(s, "both are ways to remember what was translated: choose one");
    }
    return STATUS_OK;
}

/* Parts that only Transformer blocks have. */
static Status check_blocks(const ModelOptions *m) {
    Status s = STATUS_USAGE;
    bool transformer = m->decoder_style == DECODER_TRANSFORMER;
    if (m->autoreg == AUTOREG_SSRU && !transformer) {
        s = status_fail(s, "model.decoder.autoreg = \"ssru\" is for Transformer decoders");
        return status_hint(s, "set model.decoder.style = \"transformer\"");
    }
    if (!m->add_source_eos && (!transformer || m->encoder_style != ENCODER_SELF_ATTENTION)) {
        s = status_fail(s, "model.add_source_eos = false hides </s> from attention, but the encoder or the "
                           "decoder reads it in another way");
        return status_hint(s, "set model.encoder.style = \"self_attention\" and model.decoder.style = "
                              "\"transformer\"");
    }
    return STATUS_OK;
}

static Status check_styles(const ModelOptions *m) {
    Status s = STATUS_USAGE;
    if (m->decoder_bidirectional && m->right_to_left) {
        s = status_fail(s, "model.decoder.bidirectional and model.decoder.right_to_left do not go together");
        return status_hint(s, "the second decoder writes from right to left already");
    }
    if (m->input_feeding && m->decoder_style != DECODER_LUONG) {
        s = status_fail(s, "model.decoder.input_feeding feeds the attentional vector of the style \"luong\"");
        return status_hint(s, "set model.decoder.style = \"luong\", or leave input feeding off");
    }
    TRY(check_self_attention(m));
    TRY(check_blocks(m));
    if (m->encoder_style == ENCODER_CONV && m->positions == POSITIONS_RELATIVE) {
        s = status_fail(s, "model.positions = \"relative\" changes attention scores, convolutions have none");
        return status_hint(s, "choose sinusoidal, learned or none");
    }
    const char *score = ATTENTION_SCORES[m->attention].name;
    if (m->decoder_style == DECODER_TRANSFORMER && strcmp(score, "scaled_dot") != 0) {
        s = status_fail(
            s, "a Transformer decoder attends by scaled dot products, not by model.attention = \"%s\"",
            score);
        return status_hint(s, "set model.attention = \"scaled_dot\"");
    }
    return STATUS_OK;
}

static Status check_bpe_dropout(const Config *config) {
    const TrainOptions *t = &config->train;
    if (t->bpe_dropout_source <= 0 && t->bpe_dropout_target <= 0) return STATUS_OK;
    if (config->text.tokenizer == TOKENIZER_BPE) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "train.bpe_dropout_%s passes over merges, but %s have none",
                           t->bpe_dropout_source > 0 ? "source" : "target",
                           config->text.tokenizer == TOKENIZER_WORD      ? "words"
                           : config->text.tokenizer == TOKENIZER_UNIGRAM ? "unigram models"
                                                                         : "models of SentencePiece");
    return status_hint(s, "set text.tokenizer = \"bpe\"");
}

static Status check_unigram_alpha(const Config *config) {
    int kind = config->text.tokenizer;
    if (config->train.unigram_alpha <= 0 || kind == TOKENIZER_UNIGRAM || kind == TOKENIZER_SENTENCEPIECE)
        return STATUS_OK;
    Status s =
        status_fail(STATUS_USAGE, "train.unigram_alpha draws pieces of a unigram model, but %s have none",
                    kind == TOKENIZER_WORD ? "words" : "merges");
    return status_hint(s, "set text.tokenizer = \"unigram\"");
}

static Status check_placeholders(const Config *config) {
    if (!config->data.placeholders || config->text.tokenizer == TOKENIZER_BPE) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "data.placeholders makes tokens of placeholders, which a vocabulary "
                                         "of words cannot have beside punctuation");
    return status_hint(s, "set text.tokenizer = \"bpe\"");
}

static Status check_directions(const Config *config) {
    Status s = STATUS_USAGE;
    if (config->train.both_directions <= 0) return STATUS_OK;
    if (!config->text.joint) {
        s = status_fail(s, "train.both_directions reads and writes both languages, but the vocabularies are "
                           "separate");
        return status_hint(s, "set text.joint = true");
    }
    if (config_has_end(&config->train)) return STATUS_OK;
    s = status_fail(s, "train.both_directions is a share of a run that has no end");
    return status_hint(s, "set train.epochs or train.max_updates");
}

static Status check_schedule(const TrainOptions *t) {
    if (t->schedule != SCHEDULE_LINEAR || config_has_end(t)) return STATUS_OK;
    Status s =
        status_fail(STATUS_USAGE, "train.schedule = \"linear\" falls to 0 at the end of a run that has none");
    return status_hint(s, "set train.epochs or train.max_updates, or train.schedule = \"inverse_sqrt\"");
}

Status config_check(const Config *config) {
    const ModelOptions *m = &config->model;
    if (m->tie == TIE_ALL && !config->text.joint) {
        Status s =
            status_fail(STATUS_USAGE,
                        "model.tie = \"all\" shares the source embedding, but the vocabularies are separate");
        return status_hint(s, "set text.joint = true, or model.tie = \"target\"");
    }
    TRY(check_bpe_dropout(config));
    TRY(check_unigram_alpha(config));
    TRY(check_placeholders(config));
    TRY(check_directions(config));
    TRY(check_schedule(&config->train));
    TRY(check_sizes(m));
    TRY(check_start(m));
    return check_styles(m);
}
