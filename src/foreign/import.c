/* import.c - see import.h. */
#include "foreign/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "foreign/archive.h"
#include "foreign/shortlist_marian.h"
#include "foreign/tensors.h"
#include "foreign/vocabulary.h"
#include "foreign/zip.h"
#include "io/fileio.h"
#include "layers/positions.h"

/* The families: names of tensors, and settings. */
typedef enum { MARIAN, HUGGING_FACE, CTRANSLATE2 } Family;

enum { NO_ROW = -1, DECODE_INPUT = 500 };
#define NO_PROBABILITY (-1e9f) /* as a bias of the output layer */

/* One language: tokens by their foreign ids, and the row of each of our ids, or NO_ROW: zeros. */
typedef struct {
    StrList tokens;
    SentencePiece *pieces; /* until the tokenizer has it */
    Tokenizer *tokenizer;
    int *row;
} Side;

typedef struct {
    const ForeignArchive *archive;
    Family family;
    ForeignTensors tensors;
    Side source, target;
    bool one_vocabulary;
    int start_row;         /* of the decoder's first input */
    bool start_in_softmax; /* <s> is a token of the model's own */
    bool pad_in_softmax;
    ForeignTensor *source_table, *target_table, *output_table, *output_bias;
    bool transposed_output;
    StrBuf model_options, decode_options; /* members of JSON objects */
    char source_language[32], target_language[32];
    Json *config; /* config.json, or NULL */
    int width;
    ForeignModel *result;
} Import;

/* ---- settings ---- */

static Status refuse(const char *what, StrView value) {
    status_fail(STATUS_DATA, "its %s is '%.*s', which is not read", what,
                value.length < 100 ? (int)value.length : 100, value.data ? value.data : "");
    return status_hint(STATUS_DATA, "docs/public-models.md lists the models that are read");
}

static Status read_file(const Import *im, const char *start, const char *end, StrBuf *content) {
    long index = foreign_archive_find(im->archive, start, end);
    if (index < 0)
        return status_fail(STATUS_DATA, "it has no file '%s%s%s'", start, start[0] && end[0] ? "*" : "", end);
    return foreign_archive_read(im->archive, (size_t)index, content);
}

static bool has_file(const Import *im, const char *start, const char *end) {
    return foreign_archive_find(im->archive, start, end) >= 0;
}

static double setting_number(const Import *im, const char *key, double missing) {
    const Json *value = im->config ? json_get(im->config, key) : NULL;
    if (json_type(value) == JSON_BOOL) return json_bool(value);
    return json_type(value) == JSON_NUMBER ? json_number(value) : missing;
}

static StrView setting_text(const Import *im, const char *key, const char *missing) {
    const Json *value = im->config ? json_get(im->config, key) : NULL;
    return sv(json_type(value) == JSON_STRING ? json_string(value) : missing);
}

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

static Status marian_demand(const Import *im, const char *key, const char *wanted) {
    StrView value = marian_text(im, key, wanted);
    return sv_equal(value, sv(wanted)) ? STATUS_OK : refuse(key, value);
}

static Status setting_demand(const Import *im, const char *key, double wanted) {
    if (fabs(setting_number(im, key, wanted) - wanted) < 1e-9) return STATUS_OK;
    return refuse(key, SV("another than usual"));
}

/* The sizes of the model, in `model_options`. */
typedef struct {
    int width, heads, feed_forward, decoder_feed_forward, encoder_layers, decoder_layers;
    const char *activation, *positions, *norm;
    double epsilon, multiplier;
    bool ssru, source_eos;
    int max_positions;
} Sizes;

static void put_sizes(Import *im, const Sizes *s) {
    StrBuf *o = &im->model_options;
    im->width = s->width;
    json_put_integer(o, "embedding", s->width);
    json_put_integer(o, "hidden", s->width);
    json_put_object(o, "encoder");
    json_put_string(o, "style", SV("self_attention"));
    json_put_integer(o, "layers", s->encoder_layers);
    json_close_object(o);
    json_put_object(o, "decoder");
    json_put_string(o, "style", SV("transformer"));
    json_put_integer(o, "layers", s->decoder_layers);
    json_put_string(o, "autoreg", sv(s->ssru ? "ssru" : "self_attention"));
    json_put_integer(o, "feed_forward", s->decoder_feed_forward);
    json_close_object(o);
    json_put_string(o, "attention", SV("scaled_dot"));
    json_put_integer(o, "heads", s->heads);
    json_put_integer(o, "feed_forward", s->feed_forward);
    json_put_string(o, "activation", sv(s->activation));
    json_put_bool(o, "attention_bias", true);
    json_put_string(o, "norm", sv(s->norm));
    json_put_number(o, "norm_epsilon", s->epsilon);
    json_put_number(o, "embedding_multiplier", s->multiplier);
    json_put_bool(o, "add_source_eos", s->source_eos);
    json_put_string(o, "positions", sv(s->positions));
    if (s->max_positions) json_put_integer(o, "max_positions", s->max_positions);
}

static void put_search(Import *im, int beam, double length_penalty, bool allow_unk, double factor,
                       int extra) {
    StrBuf *o = &im->decode_options;
    json_put_integer(o, "beam_size", beam);
    json_put_number(o, "length_penalty", length_penalty);
    json_put_bool(o, "allow_unk", allow_unk);
    json_put_number(o, "max_length_factor", factor);
    json_put_integer(o, "max_length_extra", extra);
    json_put_integer(o, "max_input_length", DECODE_INPUT);
}

/* ---- vocabularies ---- */

/* The rows of our ids: our four tokens first, then all others in the order of their foreign ids. Tokens
 * that cannot be tokens
 * of ours (empty, twice, or the spelling of one of the four) get a name of their own. */
static Status make_tokenizer(Side *side, const char *unknown, const char *end, const char *pad,
                             const char *start, StrView spm, const char *spm_name) {
    const StrList *tokens = &side->tokens;
    int special[VOCAB_SPECIALS] = {
        foreign_vocabulary_find(tokens, pad), foreign_vocabulary_find(tokens, unknown),
        start ? foreign_vocabulary_find(tokens, start) : NO_ROW, foreign_vocabulary_find(tokens, end)};
    if (special[VOCAB_UNK] < 0 || special[VOCAB_EOS] < 0)
        return status_fail(STATUS_DATA, "its vocabulary has no %s", special[VOCAB_EOS] < 0 ? end : unknown);
    Vocab *vocab = vocab_new();
    side->row = mem_alloc(tokens->count + VOCAB_SPECIALS, sizeof *side->row);
    for (int i = 0; i < VOCAB_SPECIALS; i++) side->row[i] = special[i];
    for (int id = 0; id < (int)tokens->count; id++) {
        if (id == special[0] || id == special[1] || id == special[2] || id == special[3]) continue;
        StrView token = sv(tokens->items[id]);
        int next = vocab_size(vocab);
        if (token.length == 0 || token.length > VOCAB_TOKEN_BYTES || vocab_add(vocab, token) != next) {
            char name[32];
            snprintf(name, sizeof name, "<unused:%d>", id);
            vocab_add(vocab, sv(name));
        }
        if (vocab_size(vocab) == next + 1) side->row[next] = id;
    }
    Status status = sentencepiece_read(&side->pieces, spm, spm_name);
    if (status != STATUS_OK) {
        vocab_free(vocab);
        return status;
    }
    side->tokenizer = tokenizer_from_sentencepiece(side->pieces, vocab);
    return STATUS_OK;
}

/* ">>fra<<": which language a source with several targets asks for. */
static Status add_languages(Side *side) {
    const Vocab *vocab = tokenizer_vocab(side->tokenizer);
    for (int id = VOCAB_SPECIALS; id < vocab_size(vocab); id++) {
        StrView token = vocab_token(vocab, id);
        if (token.length > 4 && sv_starts(token, SV(">>")) && sv_ends(token, SV("<<")))
            TRY(tokenizer_set_role(side->tokenizer, TOKENIZER_LANGUAGES, token));
    }
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

static Status read_tokens(const Import *im, const char *start, const char *end,
                          Status (*read)(StrList *, StrView), StrList *tokens) {
    StrBuf content = {0};
    Status status = read_file(im, start, end, &content);
    if (status == STATUS_OK) status = read(tokens, strbuf_view(&content));
    strbuf_free(&content);
    return status == STATUS_OK ? status : status_context(status, "'%s%s'", start, end);
}

/* Tokens are the pieces of a SentencePiece model. */
static Status read_own_tokens(StrList *tokens, StrView spm) {
    SentencePiece *model;
    TRY(sentencepiece_read(&model, spm, "vocabulary"));
    for (int i = 0; i < sentencepiece_size(model); i++) strlist_add(tokens, sentencepiece_piece(model, i));
    sentencepiece_free(model);
    return STATUS_OK;
}

typedef struct {
    const char *unknown, *end, *pad, *start;
} SpecialNames;

/* Tokenizers of both sides from their tokens and the two SentencePiece models. */
static Status make_tokenizers(Import *im, SpecialNames names, const StrBuf spm[2]) {
    TRY(make_tokenizer(&im->source, names.unknown, names.end, names.pad, names.start, strbuf_view(&spm[0]),
                       "source.spm"));
    TRY(make_tokenizer(&im->target, names.unknown, names.end, names.pad, names.start, strbuf_view(&spm[1]),
                       "target.spm"));
    im->one_vocabulary =
        vocab_difference(tokenizer_vocab(im->source.tokenizer), tokenizer_vocab(im->target.tokenizer)) < 0;
    TRY(add_languages(&im->source));
    return im->family == MARIAN ? ban_controls(&im->target) : STATUS_OK;
}

/* ---- the names of tensors ---- */

/* What stands behind the block; of CTranslate2's fused matrices part `part` of `parts`. T: transposed
 * there. */
typedef struct {
    const char *ours, *marian, *hugging_face, *ctranslate2;
    int part, parts;
} Name;

#define ATTENTION(ours, marian, hugging_face, query, query_part, keys, key_part, key_parts, output)          \
    {ours ".query.weight", marian "_Wq", hugging_face ".q_proj.weight", query "/weight", 0, query_part},     \
        {ours ".query.bias", marian "_bq", hugging_face ".q_proj.bias", query "/bias", 0, query_part},       \
        {ours ".key.weight", marian "_Wk", hugging_face ".k_proj.weight",                                    \
         keys "/weight",     key_part,     key_parts},                                                       \
        {ours ".key.bias", marian "_bk", hugging_face ".k_proj.bias", keys "/bias", key_part, key_parts},    \
        {ours ".value.weight", marian "_Wv", hugging_face ".v_proj.weight",                                  \
         keys "/weight",       key_part + 1, key_parts},                                                     \
        {ours ".value.bias", marian "_bv", hugging_face ".v_proj.bias",                                      \
         keys "/bias",       key_part + 1, key_parts},                                                       \
        {ours ".output.weight", marian "_Wo", hugging_face ".out_proj.weight", output "/weight", 0, 1}, {    \
        ours ".output.bias", marian "_bo", hugging_face ".out_proj.bias", output "/bias", 0, 1               \
    }
#define PAIR(ours_a, marian_a, ours_b, marian_b, hugging_face, ctranslate2_a, ctranslate2_b)                 \
    {ours_a, marian_a, hugging_face ".weight", ctranslate2_a, 0, 1}, {                                       \
        ours_b, marian_b, hugging_face ".bias", ctranslate2_b, 0, 1                                          \
    }
#define NORM(ours, marian, hugging_face, ctranslate2)                                                        \
    PAIR(ours ".gain", marian "_ln_scale", ours ".bias", marian "_ln_bias", hugging_face,                    \
         ctranslate2 "/gamma", ctranslate2 "/beta")

static const Name NAMES[] = {
    ATTENTION("self", "self", "self_attn", "self_attention/linear_0", 3, "self_attention/linear_0", 1, 3,
              "self_attention/linear_1"),
    ATTENTION("cross", "context", "encoder_attn", "attention/linear_0", 1, "attention/linear_1", 0, 2,
              "attention/linear_2"),
    NORM("self_norm", "self_Wo", "self_attn_layer_norm", "self_attention/layer_norm"),
    NORM("cross_norm", "context_Wo", "encoder_attn_layer_norm", "attention/layer_norm"),
    NORM("feed_norm", "ffn_ffn", "final_layer_norm", "ffn/layer_norm"),
    NORM("self_norm", "rnn_ffn", "", ""),
    PAIR("inner.weight", "ffn_W1", "inner.bias", "ffn_b1", "fc1", "ffn/linear_0/weight", "ffn/linear_0/bias"),
    PAIR("outer.weight", "ffn_W2", "outer.bias", "ffn_b2", "fc2", "ffn/linear_1/weight", "ffn/linear_1/bias"),
    {"ssru.input.weight", "rnn_W", "", "", 0, 1},
    PAIR("ssru.gate.weight", "rnn_Wf", "ssru.gate.bias", "rnn_bf", "", "", ""),
};

static ForeignTensor *find_named(const Import *im, const char *side, int layer, const Name *name,
                                 StrBuf *text) {
    strbuf_clear(text);
    if (im->family == MARIAN) strbuf_format(text, "%s_l%d_%s", side, layer + 1, name->marian);
    if (im->family == HUGGING_FACE)
        strbuf_format(text, "model.%s.layers.%d.%s", side, layer, name->hugging_face);
    if (im->family == CTRANSLATE2) strbuf_format(text, "%s/layer_%d/%s", side, layer, name->ctranslate2);
    ForeignTensor *found = foreign_tensors_find(&im->tensors, strbuf_text(text));
    if (found || im->family != MARIAN) return found;
    StrBuf pre = {0};
    strbuf_format(&pre, "%s_pre", strbuf_text(text));
    found = foreign_tensors_find(&im->tensors, strbuf_text(&pre));
    strbuf_free(&pre);
    return found;
}

/* Part `part` of `parts` of the rows, transposed if `transpose`. */
static Status copy_matrix(const Param *p, real *to, ForeignTensor *from, int part, int parts,
                          bool transpose) {
    bool vector = p->rows == 1 && from->rows == 1;
    size_t rows = (size_t)p->rows, columns = (size_t)p->columns, n = (size_t)parts, k = (size_t)part;
    bool fits = vector      ? from->columns == columns * n
                : transpose ? from->columns == rows && from->rows == columns * n
                            : from->rows == rows && from->columns == columns;
    from->used = true;
    if (!fits)
        return status_fail(STATUS_DATA, "tensor '%s' is [%zu, %zu], which does not fit '%s' [%d, %d]",
                           from->name, from->rows, from->columns, p->name, p->rows, p->columns);
    const float *data = from->data + (vector || transpose ? columns * k * (vector ? 1 : rows) : 0);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[r * columns + c] = (real)(transpose && !vector ? data[c * rows + r] : data[r * columns + c]);
    return STATUS_OK;
}

/* ---- filling the parameters ---- */

/* Rows of a table by our ids; `transposed`: the tensor is [width, tokens]. */
static Status copy_table(const Param *p, real *to, ForeignTensor *from, const int *row, size_t tokens,
                         bool transposed) {
    size_t width = (size_t)p->columns;
    from->used = true;
    if (transposed ? from->columns != tokens || from->rows != width
                   : from->rows != tokens || from->columns != width)
        return status_fail(
            STATUS_DATA,
            "tensor '%s' is [%zu, %zu], but the vocabulary has %zu tokens, and the model's width is %zu",
            from->name, from->rows, from->columns, tokens, width);
    for (size_t id = 0; id < (size_t)p->rows; id++)
        for (size_t c = 0; c < width; c++) {
            size_t r = (size_t)row[id];
            to[id * width + c] =
                row[id] == NO_ROW ? 0 : (real)from->data[transposed ? c * tokens + r : r * width + c];
        }
    return STATUS_OK;
}

static Status fill_bias(Import *im, const Param *p, real *to) {
    const int *row = im->target.row;
    size_t tokens = im->target.tokens.count;
    ForeignTensor *bias = im->output_bias;
    if (bias) bias->used = true;
    if (bias && bias->rows * bias->columns != tokens)
        return status_fail(STATUS_DATA, "tensor '%s' has %zu numbers, but the vocabulary has %zu tokens",
                           bias->name, bias->rows * bias->columns, tokens);
    for (int id = 0; id < p->columns; id++) {
        bool counts = row[id] != NO_ROW && (id != VOCAB_PAD || im->pad_in_softmax) &&
                      (id != VOCAB_BOS || im->start_in_softmax);
        to[id] = !counts ? NO_PROBABILITY : bias ? (real)bias->data[row[id]] : 0;
    }
    return STATUS_OK;
}

static Status fill_learned(Import *im, const Param *p, real *to, const char *side) {
    StrBuf name = {0};
    strbuf_format(&name, "%s/position_encodings/encodings", side);
    ForeignTensor *from = foreign_tensors_find(&im->tensors, strbuf_text(&name));
    strbuf_free(&name);
    if (!from) return status_fail(STATUS_DATA, "its table of positions is missing");
    TRY(copy_matrix(p, to, from, 0, 1, false));
    for (size_t i = 0; i < param_size(p); i++) to[i] /= sqrtf((real)im->width);
    return STATUS_OK;
}

static Status fill_block(Import *im, const Param *p, real *to, const char *side, int layer,
                         const char *rest) {
    StrBuf name = {0};
    Status status = status_fail(STATUS_DATA, "its tensor for '%s' is missing", p->name);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(NAMES[i].ours, rest) != 0) continue;
        ForeignTensor *from = find_named(im, side, layer, &NAMES[i], &name);
        if (!from) continue;
        bool fused = im->family == CTRANSLATE2;
        status = copy_matrix(p, to, from, fused ? NAMES[i].part : 0, fused ? NAMES[i].parts : 1,
                             im->family != MARIAN);
        if (from->quantized && from->scale > 0) im->result->scales[p->index] = (real)from->scale;
        break;
    }
    strbuf_free(&name);
    return status;
}

static Status fill_last_norm(Import *im, const Param *p, real *to, const char *side, const char *rest) {
    StrBuf name = {0};
    bool gain = strcmp(rest, "norm.gain") == 0;
    if (im->family == MARIAN) strbuf_format(&name, "%s_top_ln_%s", side, gain ? "scale" : "bias");
    if (im->family == CTRANSLATE2) strbuf_format(&name, "%s/layer_norm/%s", side, gain ? "gamma" : "beta");
    ForeignTensor *from = foreign_tensors_find(&im->tensors, strbuf_text(&name));
    Status status = from ? copy_matrix(p, to, from, 0, 1, false)
                         : status_fail(STATUS_DATA, "it has no '%s'", strbuf_text(&name));
    strbuf_free(&name);
    return status;
}

static Status fill(Import *im, const Param *p, real *to) {
    const char *name = p->name, *dot = strchr(name, '.');
    const Side *source = &im->source, *target = &im->target;
    ForeignTensor *table = NULL;
    const Side *side = target;
    bool transposed = false;
    if (strcmp(name, "output.bias") == 0) return fill_bias(im, p, to);
    if (strcmp(name, "embedding") == 0 || strcmp(name, "target.embedding") == 0) table = im->target_table;
    if (strcmp(name, "source.embedding") == 0) table = im->source_table, side = source;
    if (strcmp(name, "output.weight") == 0) table = im->output_table, transposed = im->transposed_output;
    if (table) {
        if (table->quantized && table->scale > 0) im->result->scales[p->index] = (real)table->scale;
        return copy_table(p, to, table, side->row, side->tokens.count, transposed);
    }
    if (!dot) return status_fail(STATUS_DATA, "no tensor is known for '%s'", name);
    const char *half = strncmp(name, "encoder", 7) == 0 ? "encoder" : "decoder";
    char *rest;
    long layer = strtol(dot + 1, &rest, 10);
    if (rest > dot + 1 && *rest == '.') return fill_block(im, p, to, half, (int)layer, rest + 1);
    if (strcmp(dot + 1, "positions") == 0) return fill_learned(im, p, to, half);
    return fill_last_norm(im, p, to, half, dot + 1);
}

static bool same_numbers(const ForeignTensor *a, const ForeignTensor *b) {
    return a == b || (a->rows == b->rows && a->columns == b->columns &&
                      memcmp(a->data, b->data, a->rows * a->columns * sizeof *a->data) == 0);
}

/* Which tables are one. */
static const char *choose_tie(Import *im) {
    bool one_output = !im->transposed_output && same_numbers(im->target_table, im->output_table);
    im->target_table->used = im->source_table->used = im->output_table->used = true;
    if (one_output && same_numbers(im->source_table, im->target_table) && im->one_vocabulary) return "all";
    return one_output ? "target" : "none";
}

/* A tensor that nothing has read may be a part of the model that is not known here. */
static Status check_all_used(const Import *im) {
    static const char *const known[] = {"num_heads",           "pre_norm",
                                        "activation",          "scale_embeddings",
                                        "alignment_layer",     "alignment_heads",
                                        "embeddings_merge",    "start_from_zero_embedding",
                                        "encodings",           "embed_positions.weight",
                                        "embed_tokens.weight", "shared.weight",
                                        "lm_head.weight",      "alibi_use_positive_positions"};
    for (size_t i = 0; i < im->tensors.count; i++) {
        const ForeignTensor *tensor = &im->tensors.items[i];
        bool harmless = tensor->used || (tensor->rows * tensor->columns == 1 && tensor->data[0] == 0);
        for (size_t k = 0; k < sizeof known / sizeof *known && !harmless; k++)
            harmless = sv_ends(sv(tensor->name), sv(known[k]));
        if (!harmless)
            return refuse("model has a tensor that attn-mt does not know; its name", sv(tensor->name));
    }
    return STATUS_OK;
}

/* The model as ours, from all that was found out. */
static Status build(Import *im) {
    Config config;
    StrBuf json = {0};
    if (!im->source_table || !im->target_table || !im->output_table)
        return status_fail(STATUS_DATA, "it has no table of embeddings");
    const char *tie = choose_tie(im);
    strbuf_add(&json,
               SV("{\"text\": {\"tokenizer\": \"sentencepiece\", \"normalize\": \"none\"}, \"model\": {"));
    strbuf_add(&json, strbuf_view(&im->model_options));
    strbuf_format(&json, ", \"tie\": \"%s\"}, \"decode\": {%s}}", tie, strbuf_text(&im->decode_options));
    config_init(&config);
    Status status = config_read_json(&config, strbuf_view(&json));
    strbuf_free(&json);
    if (status == STATUS_OK) {
        im->target.row[VOCAB_BOS] = im->start_row;
        im->result->model = seq2seq_new(&config, im->source.tokenizer, im->target.tokenizer);
        ParamSet *params = seq2seq_params(im->result->model);
        params_allocate(params);
        im->result->scales = mem_alloc((size_t)params->count, sizeof *im->result->scales);
        for (int i = 0; i < params->count && status == STATUS_OK; i++)
            status = fill(im, params->items[i], param_data(params, params->items[i]));
    }
    config_free(&config);
    for (size_t i = 0; i < im->tensors.count; i++) im->result->has_bytes |= im->tensors.items[i].quantized;
    return status == STATUS_OK ? check_all_used(im) : status;
}

/* ---- Hugging Face ---- */

static ForeignTensor *first_of(const Import *im, const char *a, const char *b) {
    ForeignTensor *found = foreign_tensors_find(&im->tensors, a);
    return found ? found : foreign_tensors_find(&im->tensors, b);
}

static void take_language(const Json *object, const char *key, char language[32]) {
    const Json *value = json_get(object, key);
    if (json_type(value) == JSON_STRING) snprintf(language, 32, "%s", json_string(value));
}

static Status read_json(const Import *im, const char *name, Json **root) {
    StrBuf content = {0};
    *root = NULL;
    if (!has_file(im, name, "")) return STATUS_OK;
    Status status = read_file(im, name, "", &content);
    if (status == STATUS_OK) status = json_parse(root, strbuf_view(&content), false);
    strbuf_free(&content);
    return status == STATUS_OK ? status : status_context(status, "'%s'", name);
}

static Status check_hugging_face(const Import *im) {
    static const struct {
        const char *key;
        double wanted;
    } demands[] = {{"static_position_embeddings", 1},
                   {"normalize_embedding", 0},
                   {"normalize_before", 0},
                   {"add_final_layer_norm", 0},
                   {"is_encoder_decoder", 1}};
    StrView type = setting_text(im, "model_type", "");
    if (!sv_equal(type, SV("marian"))) return refuse("model_type", type);
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++)
        TRY(setting_demand(im, demands[i].key, demands[i].wanted));
    if (fabs(setting_number(im, "encoder_attention_heads", 0) -
             setting_number(im, "decoder_attention_heads", 0)) > 0)
        return refuse("number of heads", SV("different in encoder and decoder"));
    return STATUS_OK;
}

static Status import_hugging_face(Import *im) {
    StrBuf file = {0}, spm[2] = {{0}};
    Json *tokenizer;
    im->family = HUGGING_FACE;
    im->result->program = "Hugging Face, MarianMTModel";
    TRY(check_hugging_face(im));
    StrView activation = setting_text(im, "activation_function", "swish");
    bool swish = sv_equal(activation, SV("swish")) || sv_equal(activation, SV("silu"));
    if (!swish && !sv_equal(activation, SV("relu")) && !sv_equal(activation, SV("gelu")))
        return refuse("activation_function", activation);
    put_sizes(im, &(Sizes){.width = (int)setting_number(im, "d_model", 0),
                           .heads = (int)setting_number(im, "encoder_attention_heads", 0),
                           .feed_forward = (int)setting_number(im, "encoder_ffn_dim", 0),
                           .decoder_feed_forward = (int)setting_number(im, "decoder_ffn_dim", 0),
                           .encoder_layers = (int)setting_number(im, "encoder_layers", 0),
                           .decoder_layers = (int)setting_number(im, "decoder_layers", 0),
                           .activation = swish                              ? "swish"
                                         : sv_equal(activation, SV("relu")) ? "relu"
                                                                            : "gelu",
                           .positions = "sinusoidal_halves",
                           .norm = "post",
                           .epsilon = 1e-5,
                           .multiplier = setting_number(im, "scale_embedding", 1) > 0 ? 0 : 1,
                           .source_eos = true});
    put_search(im, (int)setting_number(im, "num_beams", 4), 1, true, 2, 50);
    bool safe = has_file(im, "model.safetensors", "");
    Status status =
        safe ? read_file(im, "model.safetensors", "", &file) : read_file(im, "pytorch_model.bin", "", &file);
    if (status == STATUS_OK)
        status = safe ? foreign_read_safetensors(&im->tensors, strbuf_view(&file))
                      : foreign_read_torch(&im->tensors, strbuf_view(&file));
    strbuf_free(&file);
    TRY(status);
    TRY(read_tokens(im, "vocab.json", "", foreign_vocabulary_json, &im->source.tokens));
    TRY(read_tokens(im, has_file(im, "target_vocab.json", "") ? "target_vocab.json" : "vocab.json", "",
                    foreign_vocabulary_json, &im->target.tokens));
    im->source_table = first_of(im, "model.encoder.embed_tokens.weight", "model.shared.weight");
    im->target_table = first_of(im, "model.decoder.embed_tokens.weight", "model.shared.weight");
    im->output_table = foreign_tensors_find(&im->tensors, "lm_head.weight");
    if (!im->output_table) im->output_table = im->target_table;
    im->output_bias = foreign_tensors_find(&im->tensors, "final_logits_bias");
    status = read_file(im, "source.spm", "", &spm[0]);
    if (status == STATUS_OK) status = read_file(im, "target.spm", "", &spm[1]);
    if (status == STATUS_OK)
        status = make_tokenizers(im, (SpecialNames){"<unk>", "</s>", "<pad>", NULL}, spm);
    strbuf_free(&spm[0]);
    strbuf_free(&spm[1]);
    TRY(status);
    im->start_row = im->target.row[VOCAB_PAD];
    TRY(read_json(im, "tokenizer_config.json", &tokenizer));
    take_language(tokenizer, "source_lang", im->source_language);
    take_language(tokenizer, "target_lang", im->target_language);
    json_free(tokenizer);
    return build(im);
}

/* ---- Marian ---- */

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
    if (!sv_equal(type, SV("transformer"))) return refuse("type", type);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) TRY(marian_demand(im, off[i], "false"));
    *ssru = sv_equal(autoreg, SV("rnn"));
    if (!*ssru && !sv_equal(autoreg, SV("self-attention")))
        return refuse("transformer-decoder-autoreg", autoreg);
    if (*ssru) TRY(marian_demand(im, "dec-cell", "ssru"));
    StrView before = marian_text(im, "transformer-preprocess", ""),
            after = marian_text(im, "transformer-postprocess", "dan");
    *pre = sv_equal(before, SV("n")) && sv_equal(after, SV("da"));
    if (!*pre && (before.length > 0 || !sv_equal(after, SV("dan"))))
        return refuse("transformer-postprocess", after);
    TRY(marian_demand(im, "transformer-ffn-depth", "2"));
    StrView combine = marian_text(im, "factors-combine", "sum"),
            lemma = marian_text(im, "lemma-dim-emb", "0");
    if (!sv_equal(combine, SV("sum"))) return refuse("factors-combine", combine);
    if (!sv_equal(lemma, SV("0"))) return refuse("lemma-dim-emb", lemma);
    StrView tied = marian_text(im, "transformer-tied-layers", "[]");
    return sv_equal(tied, SV("[]")) ? STATUS_OK : refuse("transformer-tied-layers", tied);
}

static Status put_marian_sizes(Import *im) {
    bool ssru = false, pre = false;
    TRY(check_marian(im, &ssru, &pre));
    StrView activation = marian_text(im, "transformer-ffn-activation", "swish");
    const char *known = sv_equal(activation, SV("swish"))  ? "swish"
                        : sv_equal(activation, SV("relu")) ? "relu"
                        : sv_equal(activation, SV("gelu")) ? "gelu"
                                                           : NULL;
    if (!known) return refuse("transformer-ffn-activation", activation);
    int inner = marian_number(im, "transformer-dim-ffn", 2048);
    put_sizes(im, &(Sizes){.width = marian_number(im, "dim-emb", 512),
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

/* Firefox: vocab.enfr.spm, or srcvocab and trgvocab, whose pieces are the vocabulary. OPUS-MT: *.vocab.yml
 * and two models. */
static Status read_marian_vocabularies(Import *im, StrBuf spm[2], SpecialNames *names) {
    *names = (SpecialNames){"<unk>", "</s>", "<pad>", NULL};
    if (has_file(im, "source.spm", "")) {
        bool two = has_file(im, "", ".src.vocab.yml");
        TRY(read_file(im, "source.spm", "", &spm[0]));
        TRY(read_file(im, "target.spm", "", &spm[1]));
        TRY(read_tokens(im, "", two ? ".src.vocab.yml" : "vocab.yml", foreign_vocabulary_yaml,
                        &im->source.tokens));
        return read_tokens(im, "", two ? ".trg.vocab.yml" : "vocab.yml", foreign_vocabulary_yaml,
                           &im->target.tokens);
    }
    if (has_file(im, "source.bpe", "") || has_file(im, "", ".bpe")) {
        status_fail(STATUS_DATA, "its text is cut by subword-nmt behind Moses' tokenizer, which is not read");
        return status_hint(STATUS_DATA, "take a release of OPUS-MT whose name has spm");
    }
    bool two = has_file(im, "srcvocab", ".spm");
    TRY(read_file(im, two ? "srcvocab" : "vocab", ".spm", &spm[0]));
    TRY(read_file(im, two ? "trgvocab" : "vocab", ".spm", &spm[1]));
    TRY(read_own_tokens(&im->source.tokens, strbuf_view(&spm[0])));
    return read_own_tokens(&im->target.tokens, strbuf_view(&spm[1]));
}

static Status add_shortlist(Import *im) {
    StrBuf file = {0}, text = {0};
    Shortlist *shortlist;
    if (!has_file(im, "lex", ".bin")) return STATUS_OK;
    Status status = read_file(im, "lex", ".bin", &file);
    if (status == STATUS_OK)
        status = foreign_shortlist_text(strbuf_view(&file), im->source.row,
                                        vocab_size(tokenizer_vocab(im->source.tokenizer)), im->target.row,
                                        vocab_size(tokenizer_vocab(im->target.tokenizer)), &text);
    if (status == STATUS_OK)
        status =
            shortlist_read(&shortlist, strbuf_view(&text), vocab_size(tokenizer_vocab(im->source.tokenizer)),
                           vocab_size(tokenizer_vocab(im->target.tokenizer)));
    if (status == STATUS_OK) seq2seq_take_shortlist(im->result->model, shortlist);
    strbuf_free(&file);
    strbuf_free(&text);
    return status == STATUS_OK ? status : status_context(status, "the shortlist");
}

static Status import_marian(Import *im, bool npz) {
    StrBuf file = {0}, spm[2] = {{0}};
    SpecialNames names;
    im->family = MARIAN;
    im->result->program = npz ? "Marian" : "Marian, 8 bits";
    Status status = read_file(im, npz ? "" : "model", npz ? ".npz" : ".bin", &file);
    if (status == STATUS_OK)
        status = npz ? foreign_read_npz(&im->tensors, strbuf_view(&file))
                     : foreign_read_marian(&im->tensors, strbuf_view(&file));
    strbuf_free(&file);
    TRY(status);
    TRY(put_marian_sizes(im));
    put_search(im, npz ? 6 : 1, 1, false, 3, 3);
    status = read_marian_vocabularies(im, spm, &names);
    if (status == STATUS_OK) status = make_tokenizers(im, names, spm);
    strbuf_free(&spm[0]);
    strbuf_free(&spm[1]);
    TRY(status);
    im->source_table = first_of(im, "encoder_Wemb", "Wemb");
    im->target_table = first_of(im, "decoder_Wemb", "Wemb");
    im->output_table = first_of(im, "decoder_ff_logit_out_Wt", "decoder_ff_logit_out_W");
    im->transposed_output =
        foreign_tensors_find(&im->tensors, "decoder_ff_logit_out_W") == im->output_table && im->output_table;
    if (!im->output_table) im->output_table = im->target_table;
    im->output_bias = foreign_tensors_find(&im->tensors, "decoder_ff_logit_out_b");
    im->start_row = NO_ROW;
    TRY(build(im));
    return add_shortlist(im);
}

/* ---- CTranslate2 ---- */

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
    const char *found = NULL;
    table->used = true;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !found; k++) {
        double most = 0;
        positions_table(kinds[k].kind, 0, (int)table->rows, (int)table->columns, numbers);
        for (size_t i = 0; i < count; i++)
            most = fmax(most, fabs((double)numbers[i] - (double)table->data[i]));
        if (most < 2e-3) found = kinds[k].name;
    }
    mem_free(numbers);
    return found ? found : "learned";
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
        return status_fail(STATUS_DATA, "it is no Transformer of encoder and decoder");
    if (activation < 0 || activation > 4) return refuse("activation", SV("unknown"));
    if (!positions) return refuse("positional encoding", SV("not a stored table"));
    put_sizes(
        im,
        &(Sizes){.width = (int)inner->columns,
                 .heads = (int)ct2_number(im, "encoder", "num_heads", 8),
                 .feed_forward = (int)inner->rows,
                 .decoder_feed_forward = (int)decoder_inner->rows,
                 .encoder_layers = count_layers(im, "encoder"),
                 .decoder_layers = count_layers(im, "decoder"),
                 .activation = activations[(int)activation],
                 .positions = find_positions(positions),
                 .max_positions = (int)positions->rows,
                 .norm = ct2_number(im, "encoder", "pre_norm", 1) > 0 ? "pre" : "post",
                 .epsilon = setting_number(im, "layer_norm_epsilon", 1e-5),
                 .multiplier = ct2_multiplier(im),
                 /* Marian's models, which begin with zeros, always have </s>; their converters leave it to
             * others. */
                 .source_eos =
                     setting_number(im, "add_source_eos", 0) > 0 ||
                     foreign_tensors_number(&im->tensors, "decoder/start_from_zero_embedding", 0) > 0});
    if (setting_number(im, "add_source_bos", 0) > 0) return refuse("add_source_bos", SV("true"));
    return STATUS_OK;
}

static Status read_ct2_tokens(Import *im, Side *side, const char *own) {
    const char *names[] = {"shared_vocabulary.json", "shared_vocabulary.txt"};
    for (int i = 0; i < 2; i++) {
        StrBuf name = {0};
        strbuf_format(&name, "%s_vocabulary.%s", own, i == 0 ? "json" : "txt");
        const char *file = has_file(im, names[i], "")             ? names[i]
                           : has_file(im, strbuf_text(&name), "") ? strbuf_text(&name)
                                                                  : NULL;
        Status status =
            file ? read_tokens(im, file, "", i == 0 ? foreign_vocabulary_json : foreign_vocabulary_lines,
                               &side->tokens)
                 : STATUS_OK;
        strbuf_free(&name);
        if (file) return status;
    }
    return status_fail(STATUS_DATA, "it has no vocabulary of CTranslate2");
}

static Status read_ct2_pieces(const Import *im, const char *const given[2], StrBuf spm[2]) {
    if (given[0]) {
        TRY(file_read(given[0], SENTENCEPIECE_FILE_BYTES, &spm[0]));
        if (given[1]) return file_read(given[1], SENTENCEPIECE_FILE_BYTES, &spm[1]);
    } else if (has_file(im, "source.spm", "") && has_file(im, "target.spm", "")) {
        TRY(read_file(im, "source.spm", "", &spm[0]));
        return read_file(im, "target.spm", "", &spm[1]);
    } else if (has_file(im, "sentencepiece.model", "")) {
        TRY(read_file(im, "sentencepiece.model", "", &spm[0]));
    } else {
        status_fail(STATUS_DATA, "it has no SentencePiece model, so nothing says how text is cut");
        return status_hint(STATUS_DATA, "name the model that it was trained with: --sentencepiece FILE");
    }
    strbuf_add(&spm[1], strbuf_view(&spm[0]));
    return STATUS_OK;
}

static Status import_ctranslate2(Import *im, const char *const given[2]) {
    StrBuf file = {0}, spm[2] = {{0}};
    Json *package;
    im->family = CTRANSLATE2;
    im->result->program = "CTranslate2";
    Status status = read_file(im, "model.bin", "", &file);
    if (status == STATUS_OK) status = foreign_read_ctranslate2(&im->tensors, strbuf_view(&file));
    strbuf_free(&file);
    TRY(status);
    TRY(put_ct2_sizes(im));
    put_search(im, 4, 1, true, 2, 50);
    TRY(read_ct2_tokens(im, &im->source, "source"));
    TRY(read_ct2_tokens(im, &im->target, "target"));
    bool zeros = foreign_tensors_number(&im->tensors, "decoder/start_from_zero_embedding", 0) > 0;
    bool blank = foreign_vocabulary_find(&im->target.tokens, "<blank>") >= 0;
    SpecialNames names = {"<unk>", "</s>", blank ? "<blank>" : "<pad>", zeros ? NULL : "<s>"};
    StrView start = setting_text(im, "decoder_start_token", "<s>");
    if (!zeros && !sv_equal(start, SV("<s>"))) return refuse("decoder_start_token", start);
    status = read_ct2_pieces(im, given, spm);
    if (status == STATUS_OK) status = make_tokenizers(im, names, spm);
    strbuf_free(&spm[0]);
    strbuf_free(&spm[1]);
    TRY(status);
    im->start_row = im->target.row[VOCAB_BOS];
    im->start_in_softmax = !zeros;
    im->pad_in_softmax = true;
    im->source_table = first_of(im, "encoder/embeddings_0/weight", "encoder/embeddings/weight");
    im->target_table = foreign_tensors_find(&im->tensors, "decoder/embeddings/weight");
    im->output_table = foreign_tensors_find(&im->tensors, "decoder/projection/weight");
    if (!im->output_table) im->output_table = im->target_table;
    im->output_bias = foreign_tensors_find(&im->tensors, "decoder/projection/bias");
    TRY(read_json(im, "metadata.json", &package));
    take_language(package, "from_code", im->source_language);
    take_language(package, "to_code", im->target_language);
    if (package) im->result->program = "Argos Translate";
    json_free(package);
    return build(im);
}

/* ---- all ---- */

static void put_file(const Import *im, const char *name, const char *key, StrBuf *out) {
    enum { MOST = 16384 };
    StrBuf text = {0};
    if (has_file(im, name, "") && read_file(im, name, "", &text) == STATUS_OK) {
        if (text.length > MOST) strbuf_cut(&text, MOST);
        json_put_string(out, key, strbuf_view(&text));
    }
    strbuf_free(&text);
}

static Status write_provenance(const Import *im) {
    char digest[65];
    StrBuf *out = &im->result->provenance;
    TRY(foreign_archive_digest(im->archive, digest));
    json_open_object(out);
    json_put_string(out, "origin", sv(im->result->program));
    json_put_string(out, "source_sha256", sv(digest));
    if (im->source_language[0] && im->target_language[0]) {
        json_put_string(out, "source_language", sv(im->source_language));
        json_put_string(out, "target_language", sv(im->target_language));
    }
    put_file(im, "LICENSE", "licence", out);
    put_file(im, "README.md", "readme", out);
    json_close_object(out);
    return STATUS_OK;
}

static Status recognise(Import *im, const char *const sentencepiece[2]) {
    TRY(read_json(im, "config.json", &im->config));
    bool weights = has_file(im, "model.safetensors", "") || has_file(im, "pytorch_model.bin", "");
    if (im->config && json_get(im->config, "model_type") && weights) return import_hugging_face(im);
    if (has_file(im, "model.bin", "")) return import_ctranslate2(im, sentencepiece);
    if (has_file(im, "model", ".bin")) return import_marian(im, false);
    if (has_file(im, "", ".npz")) return import_marian(im, true);
    status_fail(STATUS_DATA, "it has no model that attn-mt knows");
    return status_hint(
        STATUS_DATA, "known are folders, zips and tars of OPUS-MT, Argos Translate, CTranslate2 and Firefox: "
                     "docs/public-models.md");
}

static void side_free(Side *side) {
    strlist_free(&side->tokens);
    tokenizer_free(side->tokenizer);
    mem_free(side->row);
}

bool foreign_is_archive(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    if (S_ISDIR(info.st_mode)) return true;
    FILE *file = S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    char bytes[512] = {0};
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    return zip_starts((StrView){bytes, count}) || memcmp(bytes + 257, "ustar", 5) == 0 ||
           (bytes[0] == '\x1f' && bytes[1] == '\x8b');
}

Status foreign_import(ForeignModel *result, const char *path, const char *const sentencepiece[2]) {
    ForeignArchive *archive;
    *result = (ForeignModel){0};
    Status status = foreign_archive_open(&archive, path);
    if (status == STATUS_OK) {
        Import im = {.archive = archive, .result = result};
        status = recognise(&im, sentencepiece);
        if (status == STATUS_OK) status = write_provenance(&im);
        foreign_tensors_free(&im.tensors);
        side_free(&im.source);
        side_free(&im.target);
        strbuf_free(&im.model_options);
        strbuf_free(&im.decode_options);
        json_free(im.config);
        foreign_archive_close(archive);
    }
    if (status == STATUS_OK) return status;
    foreign_model_free(result);
    return status_context(status, "cannot read '%.700s' as a model", path);
}

void foreign_model_free(ForeignModel *result) {
    seq2seq_free(result->model);
    mem_free(result->scales);
    strbuf_free(&result->provenance);
    *result = (ForeignModel){0};
}
