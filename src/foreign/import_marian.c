/* import_marian.c - see import_parts.h; files of Marian: releases of OPUS-MT (.npz) and models of Firefox. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "foreign/import_parts.h"
#include "foreign/shortlist_marian.h"
#include "foreign/vocabulary.h"
#include "text/languages.h"

/* The norm before a layer has a name of its own. */
#define NORM_PART(ours, theirs)                                                                              \
    {ours, theirs, 0, 0}, { ours, theirs "_pre", 0, 0 }
#define NORM(ours, theirs)                                                                                   \
    NORM_PART(ours ".gain", theirs "_ln_scale"), NORM_PART(ours ".bias", theirs "_ln_bias")
#define BOTH(ours, weight, bias)                                                                             \
    {ours ".weight", weight, 0, 0}, { ours ".bias", bias, 0, 0 }
#define ATTENTION(ours, theirs)                                                                              \
    BOTH(ours ".query", theirs "_Wq", theirs "_bq"), BOTH(ours ".key", theirs "_Wk", theirs "_bk"),          \
        BOTH(ours ".value", theirs "_Wv", theirs "_bv"), BOTH(ours ".output", theirs "_Wo", theirs "_bo")

static const TensorName NAMES[] = {
    ATTENTION("self", "self"),
    ATTENTION("cross", "context"),
    NORM("self_norm", "self_Wo"),
    NORM("self_norm", "rnn_ffn"),
    NORM("cross_norm", "context_Wo"),
    NORM("feed_norm", "ffn_ffn"),
    BOTH("inner", "ffn_W1", "ffn_b1"),
    BOTH("outer", "ffn_W2", "ffn_b2"),
    {"ssru.input.weight", "rnn_W", 0, 0},
    BOTH("ssru.gate", "rnn_Wf", "rnn_bf"),
    {NULL, NULL, 0, 0},
};

static void name_block(StrBuf *name, const char *half, int layer, const char *theirs) {
    strbuf_format(name, "%s_l%d_%s", half, layer + 1, theirs);
}

static bool name_outside(StrBuf *name, const char *half, const char *ours) {
    if (strcmp(ours, "positions") == 0) return false;
    strbuf_format(name, "%s_top_ln_%s", half, strcmp(ours, "norm.gain") == 0 ? "scale" : "bias");
    return true;
}

static const NamingScheme NAMING = {.names = NAMES, .block = name_block, .outside = name_outside};

static StrView marian_text(const Import *im, const char *key, const char *missing) {
    StrView value = foreign_yaml_value(strbuf_view(&im->tensors.settings), key);
    return value.length ? value : sv(missing);
}

static int marian_number(const Import *im, const char *key, int missing) {
    StrView value = marian_text(im, key, "");
    char digits[16] = "";
    if (value.length == 0 || value.length >= sizeof digits) return missing;
    memcpy(digits, value.data, value.length);
    return atoi(digits);
}

static Status marian_require(const Import *im, const char *key, const char *supported) {
    StrView value = marian_text(im, key, supported);
    return sv_equal(value, sv(supported)) ? STATUS_OK : import_refuse(key, value);
}

static Status check_marian(const Import *im, bool *ssru, bool *pre) {
    static const char *const off[] = {"right-left",
                                      "transformer-train-position-embeddings",
                                      "transformer-no-projection",
                                      "transformer-no-bias",
                                      "output-omit-bias",
                                      "ulr",
                                      "transformer-rnn-projection"};
    StrView type = marian_text(im, "type", "transformer"),
            autoreg = marian_text(im, "transformer-decoder-autoreg", "self-attention");
    if (!sv_equal(type, SV("transformer"))) return import_refuse("type", type);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) TRY(marian_require(im, off[i], "false"));
    *ssru = sv_equal(autoreg, SV("rnn"));
    if (!*ssru && !sv_equal(autoreg, SV("self-attention")))
        return import_refuse("transformer-decoder-autoreg", autoreg);
    if (*ssru) TRY(marian_require(im, "dec-cell", "ssru"));
    StrView before = marian_text(im, "transformer-preprocess", ""),
            after = marian_text(im, "transformer-postprocess", "dan");
    *pre = sv_equal(before, SV("n")) && sv_equal(after, SV("da"));
    if (!*pre && (before.length > 0 || !sv_equal(after, SV("dan"))))
        return import_refuse("transformer-postprocess", after);
    TRY(marian_require(im, "transformer-ffn-depth", "2"));
    StrView combine = marian_text(im, "factors-combine", "sum"),
            lemma = marian_text(im, "lemma-dim-emb", "0");
    if (!sv_equal(combine, SV("sum"))) return import_refuse("factors-combine", combine);
    if (!sv_equal(lemma, SV("0"))) return import_refuse("lemma-dim-emb", lemma);
    StrView tied = marian_text(im, "transformer-tied-layers", "[]");
    return sv_equal(tied, SV("[]")) ? STATUS_OK : import_refuse("transformer-tied-layers", tied);
}

static Status put_marian_sizes(Import *im) {
    bool ssru = false, pre = false;
    TRY(check_marian(im, &ssru, &pre));
    StrView activation = marian_text(im, "transformer-ffn-activation", "swish");
    const char *known = sv_equal(activation, SV("swish"))  ? "swish"
                        : sv_equal(activation, SV("relu")) ? "relu"
                        : sv_equal(activation, SV("gelu")) ? "gelu"
                                                           : NULL;
    if (!known) return import_refuse("transformer-ffn-activation", activation);
    int inner = marian_number(im, "transformer-dim-ffn", 2048);
    import_put_sizes(
        im, &(ImportSizes){.width = marian_number(im, "dim-emb", 512),
                           .heads = marian_number(im, "transformer-heads", 8),
                           .feed_forward = inner,
                           .decoder_feed_forward = marian_number(im, "transformer-decoder-dim-ffn", 0),
                           .encoder_layers = marian_number(im, "enc-depth", 6),
                           .decoder_layers = marian_number(im, "dec-depth", 6),
                           .activation = known,
                           .positions = "marian",
                           .norm = pre ? "pre" : "post",
                           .epsilon = 1e-6,
                           .multiplier = 0,
                           .ssru = ssru,
                           .source_eos = true});
    return STATUS_OK;
}

/* Tokens are the pieces of a SentencePiece model. */
static Status read_own_tokens(StrList *tokens, StrView spm) {
    SentencePiece *model;
    TRY(sentencepiece_read(&model, spm, "vocabulary"));
    for (int i = 0; i < sentencepiece_size(model); i++) strlist_add(tokens, sentencepiece_piece(model, i));
    sentencepiece_free(model);
    return STATUS_OK;
}

/* Marian never writes bytes that are control characters. */
static Status ban_controls(Side *side) {
    const Vocab *vocab = tokenizer_vocab(side->tokenizer);
    for (int byte = 0; byte < ' '; byte++) {
        char token[8];
        snprintf(token, sizeof token, "<0x%02X>", byte);
        if (vocab_id(vocab, sv(token)) >= VOCAB_SPECIALS)
            TRY(tokenizer_set_role(side->tokenizer, TOKENIZER_BANNED, sv(token)));
    }
    return STATUS_OK;
}

/* Firefox: vocab.enfr.spm, or srcvocab and trgvocab, whose pieces are the vocabulary. OPUS-MT: *.vocab.yml
 * and two models. */
static Status read_marian_vocabularies(Import *im, StrBuf spm[2], SpecialNames *names) {
    *names = (SpecialNames){"<unk>", "</s>", "<pad>", NULL};
    if (import_has_file(im, "source.spm", "")) {
        bool two = import_has_file(im, "", ".src.vocab.yml");
        TRY(import_read_file(im, "source.spm", "", &spm[0]));
        TRY(import_read_file(im, "target.spm", "", &spm[1]));
        TRY(import_read_tokens(im, "", two ? ".src.vocab.yml" : "vocab.yml", foreign_vocabulary_yaml,
                               &im->source.tokens));
        return import_read_tokens(im, "", two ? ".trg.vocab.yml" : "vocab.yml", foreign_vocabulary_yaml,
                                  &im->target.tokens);
    }
    if (import_has_file(im, "", ".bpe")) return import_refuse_codes();
    bool two = import_has_file(im, "srcvocab", ".spm");
    TRY(import_read_file(im, two ? "srcvocab" : "vocab", ".spm", &spm[0]));
    TRY(import_read_file(im, two ? "trgvocab" : "vocab", ".spm", &spm[1]));
    TRY(read_own_tokens(&im->source.tokens, strbuf_view(&spm[0])));
    return read_own_tokens(&im->target.tokens, strbuf_view(&spm[1]));
}

static Status add_shortlist(Import *im) {
    StrBuf file = {0};
    Shortlist *shortlist;
    if (!import_has_file(im, "lex", ".bin")) return STATUS_OK;
    Status status = import_read_file(im, "lex", ".bin", &file);
    if (status == STATUS_OK)
        status = foreign_shortlist_read(&shortlist, strbuf_view(&file), im->source.row,
                                        vocab_size(tokenizer_vocab(im->source.tokenizer)), im->target.row,
                                        vocab_size(tokenizer_vocab(im->target.tokenizer)));
    if (status == STATUS_OK) seq2seq_take_shortlist(im->result->model, shortlist);
    strbuf_free(&file);
    return status == STATUS_OK ? status : status_context(status, "the shortlist");
}

/* Firefox names its files "model.enpt.intgemm.alphas.bin". */
static void take_languages(Import *im, const char *path) {
    enum { LETTERS = 2 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    StrView prefix = SV("model.");
    if (!sv_starts(sv(name), prefix)) return;
    const char *codes = name + prefix.length;
    if (strcspn(codes, ".") != 2 * LETTERS) return;
    StrView source = {codes, LETTERS}, target = {codes + LETTERS, LETTERS};
    if (!sv_equal(language_code(source), source) || !sv_equal(language_code(target), target)) return;
    snprintf(im->source_language, sizeof im->source_language, "%.*s", SV_ARG(source));
    snprintf(im->target_language, sizeof im->target_language, "%.*s", SV_ARG(target));
}

Status import_marian(Import *im, bool npz) {
    StrBuf file = {0}, spm[2] = {{0}};
    SpecialNames names;
    if (!npz)
        take_languages(im, foreign_archive_name(
                               im->archive, (size_t)foreign_archive_find(im->archive, 0, "model", ".bin")));
    im->naming = &NAMING;
    im->result->program = npz ? "Marian" : "Marian, 8 bits";
    Status status = import_read_file(im, npz ? "" : "model", npz ? ".npz" : ".bin", &file);
    if (status == STATUS_OK)
        status = npz ? foreign_read_npz(&im->tensors, strbuf_view(&file))
                     : foreign_read_marian(&im->tensors, strbuf_view(&file));
    strbuf_free(&file);
    TRY(status);
    TRY(put_marian_sizes(im));
    import_put_search(im, "marian", npz ? 6 : 1, 1, false, 3, 3);
    status = read_marian_vocabularies(im, spm, &names);
    if (status == STATUS_OK) status = import_make_tokenizers(im, names, spm);
    if (status == STATUS_OK) status = ban_controls(&im->target);
    strbuf_free(&spm[0]);
    strbuf_free(&spm[1]);
    TRY(status);
    im->source_table = import_first_of(im, "encoder_Wemb", "Wemb");
    im->target_table = import_first_of(im, "decoder_Wemb", "Wemb");
    im->output_table = import_first_of(im, "decoder_ff_logit_out_Wt", "decoder_ff_logit_out_W");
    im->transposed_output =
        foreign_tensors_find(&im->tensors, "decoder_ff_logit_out_W") == im->output_table && im->output_table;
    if (!im->output_table) im->output_table = im->target_table;
    im->output_bias = foreign_tensors_find(&im->tensors, "decoder_ff_logit_out_b");
    im->start_row = NO_ROW;
    TRY(import_build(im));
    return add_shortlist(im);
}
