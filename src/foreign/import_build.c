/* import_build.c - see import_parts.h; a model of ours from the settings, tokens and tensors of another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "foreign/import_parts.h"
#include "foreign/vocabulary.h"
#include "io/json_write.h"

enum { DECODE_INPUT = 500 };
#define NO_PROBABILITY (-1e9f) /* as a bias of the output layer */

void import_put_sizes(Import *im, const ImportSizes *s) {
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
    /* For fine-tuning. Small public models learned from larger ones without dropout, and cannot bear it. */
    static const char *const PLACES[] = {"dropout_embedding", "dropout_layers", "dropout_encoder",
                                         "dropout_output"};
    for (int i = 0; i < 4; i++) json_put_number(o, PLACES[i], 0);
}

void import_put_search(Import *im, const char *program, int beam, double length_penalty, bool allow_unk,
                       double factor, int extra) {
    StrBuf *o = &im->decode_options;
    json_put_integer(o, "beam_size", beam);
    json_put_string(o, "early_stopping", sv(program));
    json_put_number(o, "length_penalty", length_penalty);
    json_put_bool(o, "allow_unk", allow_unk);
    json_put_number(o, "max_length_factor", factor);
    json_put_integer(o, "max_length_extra", extra);
    json_put_integer(o, "max_input_length", DECODE_INPUT);
}

ForeignTensor *import_first_of(const Import *im, const char *a, const char *b) {
    ForeignTensor *tensor = foreign_tensors_find(&im->tensors, a);
    return tensor ? tensor : foreign_tensors_find(&im->tensors, b);
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

Status import_read_tokens(const Import *im, const char *start, const char *end,
                          Status (*read)(StrList *, StrView), StrList *tokens) {
    StrBuf content = {0};
    Status status = import_read_file(im, start, end, &content);
    if (status == STATUS_OK) status = read(tokens, strbuf_view(&content));
    strbuf_free(&content);
    return status == STATUS_OK ? status : status_context(status, "'%s%s'", start, end);
}

Status import_make_tokenizers(Import *im, SpecialNames names, const StrBuf spm[2]) {
    TRY(make_tokenizer(&im->source, names.unknown, names.end, names.pad, names.start, strbuf_view(&spm[0]),
                       "source.spm"));
    TRY(make_tokenizer(&im->target, names.unknown, names.end, names.pad, names.start, strbuf_view(&spm[1]),
                       "target.spm"));
    im->one_vocabulary =
        vocab_difference(tokenizer_vocab(im->source.tokenizer), tokenizer_vocab(im->target.tokenizer)) < 0;
    return add_languages(&im->source);
}

/* ---- parameters ---- */

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

static Status fill_block(Import *im, const Param *p, real *to, const char *half, int layer,
                         const char *rest) {
    StrBuf text = {0};
    Status status = status_fail(STATUS_DATA, "its tensor for '%s' is missing", p->name);
    for (const TensorName *name = im->naming->names; name->ours; name++) {
        if (strcmp(name->ours, rest) != 0) continue;
        strbuf_clear(&text);
        im->naming->block(&text, half, layer, name->theirs);
        ForeignTensor *from = foreign_tensors_find(&im->tensors, strbuf_text(&text));
        if (!from) continue;
        status = copy_matrix(p, to, from, name->part, name->parts ? name->parts : 1, im->naming->transposed);
        if (from->quantized && from->scale > 0) im->result->scales[p->index] = (real)from->scale;
        break;
    }
    strbuf_free(&text);
    return status;
}

static Status fill_outside(Import *im, const Param *p, real *to, const char *half, const char *ours) {
    StrBuf name = {0};
    ForeignTensor *from = im->naming->outside && im->naming->outside(&name, half, ours)
                              ? foreign_tensors_find(&im->tensors, strbuf_text(&name))
                              : NULL;
    Status status = from ? copy_matrix(p, to, from, 0, 1, false)
                         : status_fail(STATUS_DATA, "its tensor for '%s' is missing", p->name);
    strbuf_free(&name);
    TRY(status);
    if (strcmp(ours, "positions") == 0) /* learned ones are added before the scale of embeddings */
        for (size_t i = 0; i < param_size(p); i++) to[i] /= sqrtf((real)im->width);
    return STATUS_OK;
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
    if (!dot) return status_fail(STATUS_DATA, "its tensor for '%s' is missing", name);
    const char *half = strncmp(name, "encoder", 7) == 0 ? "encoder" : "decoder";
    char *rest;
    long layer = strtol(dot + 1, &rest, 10);
    if (rest > dot + 1 && *rest == '.') return fill_block(im, p, to, half, (int)layer, rest + 1);
    return fill_outside(im, p, to, half, dot + 1);
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
        if (!harmless) {
            status_fail(STATUS_DATA, "it has a tensor that attn-mt does not know: '%s'", tensor->name);
            return import_hint_supported();
        }
    }
    return STATUS_OK;
}

Status import_build(Import *im) {
    Config config;
    StrBuf json = {0};
    if (!im->source_table || !im->target_table || !im->output_table)
        return status_fail(STATUS_DATA, "it has no embeddings");
    const char *tie = choose_tie(im);
    strbuf_add(&json,
               SV("{\"text\": {\"tokenizer\": \"sentencepiece\", \"normalize\": \"none\"}, \"model\": {"));
    strbuf_add(&json, strbuf_view(&im->model_options));
    strbuf_format(&json, ", \"tie\": \"%s\"}, \"decode\": {%s}}", tie, strbuf_text(&im->decode_options));
    config_init(&config);
    Status status = config_read_json(&config, strbuf_view(&json));
    strbuf_free(&json);
    if (status != STATUS_OK) status = status_context(STATUS_DATA, "its settings");
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
