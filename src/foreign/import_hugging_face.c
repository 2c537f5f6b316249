/* import_hugging_face.c - see import_parts.h; MarianMTModel of Hugging Face's transformers. */
#include <math.h>
#include "foreign/import_parts.h"
#include "foreign/vocabulary.h"

#define BOTH(ours, theirs)                                                                                   \
    {ours ".weight", theirs ".weight", 0, 0}, { ours ".bias", theirs ".bias", 0, 0 }
#define NORM(ours, theirs)                                                                                   \
    {ours ".gain", theirs ".weight", 0, 0}, { ours ".bias", theirs ".bias", 0, 0 }
#define ATTENTION(ours, theirs)                                                                              \
    BOTH(ours ".query", theirs ".q_proj"), BOTH(ours ".key", theirs ".k_proj"),                              \
        BOTH(ours ".value", theirs ".v_proj"), BOTH(ours ".output", theirs ".out_proj")

static const TensorName NAMES[] = {
    ATTENTION("self", "self_attn"),
    ATTENTION("cross", "encoder_attn"),
    NORM("self_norm", "self_attn_layer_norm"),
    NORM("cross_norm", "encoder_attn_layer_norm"),
    NORM("feed_norm", "final_layer_norm"),
    BOTH("inner", "fc1"),
    BOTH("outer", "fc2"),
    {NULL, NULL, 0, 0},
};

static void name_block(StrBuf *name, const char *half, int layer, const char *theirs) {
    strbuf_format(name, "model.%s.layers.%d.%s", half, layer, theirs);
}

static const NamingScheme NAMING = {.names = NAMES, .transposed = true, .block = name_block};

static Status require_setting(const Import *im, const char *key, bool supported) {
    double value = import_setting_number(im, key, supported);
    if (fabs(value - supported) < 1e-9) return STATUS_OK;
    return import_refuse(key, fabs(value - !supported) > 1e-9 ? SV("a number")
                              : supported                     ? SV("false")
                                                              : SV("true"));
}

/* Sizes have no default: another size would read other numbers. */
static Status require_sizes(const Import *im) {
    static const char *const KEYS[] = {"d_model",        "encoder_attention_heads", "decoder_attention_heads",
                                       "encoder_layers", "decoder_layers",          "encoder_ffn_dim",
                                       "decoder_ffn_dim"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        double size = import_setting_number(im, KEYS[i], 0);
        if (!(size >= 1 && size <= 1e6 && size - floor(size) <= 0))
            return status_fail(STATUS_DATA, "'config.json': '%s' is missing, or no size", KEYS[i]);
    }
    return STATUS_OK;
}

static Status check_hugging_face(const Import *im) {
    static const struct {
        const char *key;
        bool supported;
    } required[] = {{"static_position_embeddings", true},
                    {"normalize_embedding", false},
                    {"normalize_before", false},
                    {"add_final_layer_norm", false},
                    {"is_encoder_decoder", true}};
    StrView type = import_setting_text(im, "model_type", "");
    if (!sv_equal(type, SV("marian"))) return import_refuse("model_type", type);
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        TRY(require_setting(im, required[i].key, required[i].supported));
    TRY(require_sizes(im));
    if (fabs(import_setting_number(im, "encoder_attention_heads", 0) -
             import_setting_number(im, "decoder_attention_heads", 0)) > 0)
        return import_refuse("number of heads", SV("different in encoder and decoder"));
    return STATUS_OK;
}

Status import_hugging_face(Import *im) {
    StrBuf file = {0}, spm[2] = {{0}};
    Json *tokenizer;
    im->naming = &NAMING;
    im->result->program = "Hugging Face, MarianMTModel";
    TRY(check_hugging_face(im));
    StrView activation = import_setting_text(im, "activation_function", "swish");
    bool swish = sv_equal(activation, SV("swish")) || sv_equal(activation, SV("silu"));
    if (!swish && !sv_equal(activation, SV("relu")) && !sv_equal(activation, SV("gelu")))
        return import_refuse("activation_function", activation);
    import_put_sizes(
        im, &(ImportSizes){.width = (int)import_setting_number(im, "d_model", 0),
                           .heads = (int)import_setting_number(im, "encoder_attention_heads", 0),
                           .feed_forward = (int)import_setting_number(im, "encoder_ffn_dim", 0),
                           .decoder_feed_forward = (int)import_setting_number(im, "decoder_ffn_dim", 0),
                           .encoder_layers = (int)import_setting_number(im, "encoder_layers", 0),
                           .decoder_layers = (int)import_setting_number(im, "decoder_layers", 0),
                           .activation = swish                              ? "swish"
                                         : sv_equal(activation, SV("relu")) ? "relu"
                                                                            : "gelu",
                           .positions = "sinusoidal_halves",
                           .norm = "post",
                           .epsilon = 1e-5,
                           .multiplier = import_setting_number(im, "scale_embedding", 1) > 0 ? 0 : 1,
                           .source_eos = true});
    import_put_search(im, "transformers", (int)import_setting_number(im, "num_beams", 4), 1, true, 2, 50);
    bool safe = import_has_file(im, "model.safetensors", "");
    const char *weights = safe ? "model.safetensors" : "pytorch_model.bin";
    Status status = import_read_file(im, weights, "", &file);
    if (status == STATUS_OK)
        status = safe ? foreign_read_safetensors(&im->tensors, strbuf_view(&file))
                      : foreign_read_torch(&im->tensors, strbuf_view(&file));
    strbuf_free(&file);
    if (status != STATUS_OK) return status_context(status, "'%s'", weights);
    TRY(import_read_tokens(im, "vocab.json", "", foreign_vocabulary_json, &im->source.tokens));
    TRY(import_read_tokens(im,
                           import_has_file(im, "target_vocab.json", "") ? "target_vocab.json" : "vocab.json",
                           "", foreign_vocabulary_json, &im->target.tokens));
    im->source_table = import_first_of(im, "model.encoder.embed_tokens.weight", "model.shared.weight");
    im->target_table = import_first_of(im, "model.decoder.embed_tokens.weight", "model.shared.weight");
    im->output_table = foreign_tensors_find(&im->tensors, "lm_head.weight");
    if (!im->output_table) im->output_table = im->target_table;
    im->output_bias = foreign_tensors_find(&im->tensors, "final_logits_bias");
    status = import_read_file(im, "source.spm", "", &spm[0]);
    if (status == STATUS_OK) status = import_read_file(im, "target.spm", "", &spm[1]);
    if (status == STATUS_OK)
        status = import_make_tokenizers(im, (SpecialNames){"<unk>", "</s>", "<pad>", NULL}, spm);
    strbuf_free(&spm[0]);
    strbuf_free(&spm[1]);
    TRY(status);
    im->start_row = im->target.row[VOCAB_PAD];
    TRY(import_read_json(im, "tokenizer_config.json", &tokenizer));
    import_take_language(tokenizer, "source_lang", im->source_language);
    import_take_language(tokenizer, "target_lang", im->target_language);
    json_free(tokenizer);
    return import_build(im);
}
