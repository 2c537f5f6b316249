/* import_ctranslate2.c - see import_parts.h; model.bin of CTranslate2, also as Argos Translate packs it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "foreign/import_parts.h"
#include "foreign/vocabulary.h"
#include "io/fileio.h"
#include "layers/positions.h"

#define NORM(ours, theirs)                                                                                   \
    {ours ".gain", theirs "/gamma", 0, 0}, { ours ".bias", theirs "/beta", 0, 0 }
/* Queries, keys and values are parts of fewer matrices. */
#define PART(ours, theirs, part, parts)                                                                      \
    {ours ".weight", theirs "/weight", part, parts}, { ours ".bias", theirs "/bias", part, parts }

static const TensorName NAMES[] = {
    PART("self.query", "self_attention/linear_0", 0, 3),
    PART("self.key", "self_attention/linear_0", 1, 3),
    PART("self.value", "self_attention/linear_0", 2, 3),
    PART("self.output", "self_attention/linear_1", 0, 1),
    PART("cross.query", "attention/linear_0", 0, 1),
    PART("cross.key", "attention/linear_1", 0, 2),
    PART("cross.value", "attention/linear_1", 1, 2),
    PART("cross.output", "attention/linear_2", 0, 1),
    NORM("self_norm", "self_attention/layer_norm"),
    NORM("cross_norm", "attention/layer_norm"),
    NORM("feed_norm", "ffn/layer_norm"),
    PART("inner", "ffn/linear_0", 0, 1),
    PART("outer", "ffn/linear_1", 0, 1),
    {NULL, NULL, 0, 0},
};

static void name_block(StrBuf *name, const char *half, int layer, const char *theirs) {
    strbuf_format(name, "%s/layer_%d/%s", half, layer, theirs);
}

static bool name_outside(StrBuf *name, const char *half, const char *ours) {
    strbuf_format(name, "%s/%s", half,
                  strcmp(ours, "positions") == 0   ? "position_encodings/encodings"
                  : strcmp(ours, "norm.gain") == 0 ? "layer_norm/gamma"
                                                   : "layer_norm/beta");
    return true;
}

static const NamingScheme NAMING = {
    .names = NAMES, .transposed = true, .block = name_block, .outside = name_outside};

static double ct2_number(const Import *im, const char *side, const char *name, double missing) {
    StrBuf full = {0};
    strbuf_format(&full, "%s/%s", side, name);
    double value = foreign_tensors_number(&im->tensors, strbuf_text(&full),
                                          foreign_tensors_number(&im->tensors, name, missing));
    strbuf_free(&full);
    return value;
}

static int count_layers(const Import *im, const char *side) {
    for (int layer = 0;; layer++) {
        char name[64];
        snprintf(name, sizeof name, "%s/layer_%d/ffn/linear_0/weight", side, layer);
        if (!foreign_tensors_find(&im->tensors, name)) return layer;
    }
}

/* The kind of positions that a stored table has. */
static const char *find_positions(ForeignTensor *table) {
    static const struct {
        PositionKind kind;
        const char *name;
    } kinds[] = {{POSITIONS_SINUSOIDAL, "sinusoidal"},
                 {POSITIONS_SINUSOIDAL_HALVES, "sinusoidal_halves"},
                 {POSITIONS_MARIAN, "marian"}};
    size_t count = table->rows * table->columns;
    real *numbers = mem_alloc(count, sizeof *numbers);
    const char *name = NULL;
    table->used = true;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !name; k++) {
        double most = 0;
        positions_table(kinds[k].kind, 0, (int)table->rows, (int)table->columns, numbers);
        for (size_t i = 0; i < count; i++)
            most = fmax(most, fabs((double)numbers[i] - (double)table->data[i]));
        if (most < 2e-3) name = kinds[k].name;
    }
    mem_free(numbers);
    return name ? name : "learned";
}

static double ct2_multiplier(const Import *im) {
    ForeignTensor *scale = foreign_tensors_find(&im->tensors, "encoder/scale_embeddings");
    if (!scale) return 0;
    scale->used = true;
    if (scale->type == FOREIGN_I8) return scale->data[0] != 0 ? 0 : 1;
    return (double)scale->data[0];
}

static Status put_ct2_sizes(Import *im) {
    static const char *const activations[] = {"relu", "gelu_tanh", "swish", "gelu", "gelu_sigmoid"};
    ForeignTensor *inner = foreign_tensors_find(&im->tensors, "encoder/layer_0/ffn/linear_0/weight"),
                  *decoder_inner = foreign_tensors_find(&im->tensors, "decoder/layer_0/ffn/linear_0/weight"),
                  *positions = foreign_tensors_find(&im->tensors, "encoder/position_encodings/encodings");
    double activation = ct2_number(im, "encoder", "activation", 0);
    if (!inner || !decoder_inner)
        return status_fail(STATUS_DATA, "it is not a Transformer with an encoder and a decoder");
    if (activation < 0 || activation > 4) return import_refuse("activation", SV("unknown"));
    if (!positions) return import_refuse("positional encoding", SV("not a stored table"));
    import_put_sizes(
        im,
        &(ImportSizes){
            .width = (int)inner->columns,
            .heads = (int)ct2_number(im, "encoder", "num_heads", 8),
            .feed_forward = (int)inner->rows,
            .decoder_feed_forward = (int)decoder_inner->rows,
            .encoder_layers = count_layers(im, "encoder"),
            .decoder_layers = count_layers(im, "decoder"),
            .activation = activations[(int)activation],
            .positions = find_positions(positions),
            .max_positions = (int)positions->rows,
            .norm = ct2_number(im, "encoder", "pre_norm", 1) > 0 ? "pre" : "post",
            .epsilon = import_setting_number(im, "layer_norm_epsilon", 1e-5),
            .multiplier = ct2_multiplier(im),
            /* Marian's models, which begin with zeros, always have </s>; their converters leave it to
             * others. */
            .source_eos = import_setting_number(im, "add_source_eos", 0) > 0 ||
                          foreign_tensors_number(&im->tensors, "decoder/start_from_zero_embedding", 0) > 0});
    if (import_setting_number(im, "add_source_bos", 0) > 0)
        return import_refuse("add_source_bos", SV("true"));
    return STATUS_OK;
}

static Status read_ct2_tokens(Import *im, Side *side, const char *own) {
    const char *names[] = {"shared_vocabulary.json", "shared_vocabulary.txt"};
    for (int i = 0; i < 2; i++) {
        StrBuf name = {0};
        strbuf_format(&name, "%s_vocabulary.%s", own, i == 0 ? "json" : "txt");
        const char *file = import_has_file(im, names[i], "")             ? names[i]
                           : import_has_file(im, strbuf_text(&name), "") ? strbuf_text(&name)
                                                                         : NULL;
        Status status = file ? import_read_tokens(im, file, "",
                                                  i == 0 ? foreign_vocabulary_json : foreign_vocabulary_lines,
                                                  &side->tokens)
                             : STATUS_OK;
        strbuf_free(&name);
        if (file) return status;
    }
    return status_fail(STATUS_DATA, "it has no vocabulary");
}

static Status read_ct2_pieces(const Import *im, const char *const given[2], StrBuf spm[2]) {
    if (given[0]) {
        TRY(file_read(given[0], SENTENCEPIECE_FILE_BYTES, &spm[0]));
        if (given[1]) return file_read(given[1], SENTENCEPIECE_FILE_BYTES, &spm[1]);
    } else if (import_has_file(im, "source.spm", "") && import_has_file(im, "target.spm", "")) {
        TRY(import_read_file(im, "source.spm", "", &spm[0]));
        return import_read_file(im, "target.spm", "", &spm[1]);
    } else if (import_has_file(im, "sentencepiece.model", "")) {
        TRY(import_read_file(im, "sentencepiece.model", "", &spm[0]));
    } else {
        status_fail(STATUS_DATA, "it has no SentencePiece model, which is needed to tokenize text");
        return status_hint(STATUS_DATA,
                           "name the SentencePiece model that it was trained with: --sentencepiece FILE");
    }
    strbuf_add(&spm[1], strbuf_view(&spm[0]));
    return STATUS_OK;
}

Status import_ctranslate2(Import *im, const char *const given[2]) {
    StrBuf file = {0}, spm[2] = {{0}};
    Json *package;
    im->naming = &NAMING;
    im->result->program = "CTranslate2";
    if (!given[0] && import_has_file(im, "bpe.model", "")) return import_refuse_codes();
    Status status = import_read_file(im, "model.bin", "", &file);
    if (status == STATUS_OK) status = foreign_read_ctranslate2(&im->tensors, strbuf_view(&file));
    strbuf_free(&file);
    TRY(status);
    TRY(put_ct2_sizes(im));
    import_put_search(im, "ctranslate2", 4, 1, true, 2, 50);
    TRY(read_ct2_tokens(im, &im->source, "source"));
    TRY(read_ct2_tokens(im, &im->target, "target"));
    bool zeros = foreign_tensors_number(&im->tensors, "decoder/start_from_zero_embedding", 0) > 0;
    bool blank = foreign_vocabulary_find(&im->target.tokens, "<blank>") >= 0;
    SpecialNames names = {"<unk>", "</s>", blank ? "<blank>" : "<pad>", zeros ? NULL : "<s>"};
    StrView start = import_setting_text(im, "decoder_start_token", "<s>");
    if (!zeros && !sv_equal(start, SV("<s>"))) return import_refuse("decoder_start_token", start);
    status = read_ct2_pieces(im, given, spm);
    if (status == STATUS_OK) status = import_make_tokenizers(im, names, spm);
    strbuf_free(&spm[0]);
    strbuf_free(&spm[1]);
    TRY(status);
    im->start_row = im->target.row[VOCAB_BOS];
    im->start_in_softmax = !zeros;
    im->pad_in_softmax = true;
    im->source_table = import_first_of(im, "encoder/embeddings_0/weight", "encoder/embeddings/weight");
    im->target_table = foreign_tensors_find(&im->tensors, "decoder/embeddings/weight");
    im->output_table = foreign_tensors_find(&im->tensors, "decoder/projection/weight");
    if (!im->output_table) im->output_table = im->target_table;
    im->output_bias = foreign_tensors_find(&im->tensors, "decoder/projection/bias");
    TRY(import_read_json(im, "metadata.json", &package));
    import_take_language(package, "from_code", im->source_language);
    import_take_language(package, "to_code", im->target_language);
    if (package) im->result->program = "Argos Translate";
    json_free(package);
    return import_build(im);
}
