/* sentencepiece.c - see sentencepiece.h: reads and writes models, and decodes. */
#include "sentencepiece/sentencepiece.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "io/protobuf.h"
#include "sentencepiece/sentencepiece_parts.h"

/* sentencepiece_model.proto: the numbers of the fields that are used. */
enum { MODEL_PIECE = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3, MODEL_DENORMALIZER = 5 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum { TRAINER_TYPE = 3, TRAINER_SUFFIX = 24, TRAINER_BYTES = 35, TRAINER_UNKNOWN_SURFACE = 44 };
enum { NORMALIZER_MAP = 2, NORMALIZER_DUMMY = 3, NORMALIZER_REMOVE = 4, NORMALIZER_ESCAPE = 5 };
enum { TYPE_UNIGRAM = 1, TYPE_BPE = 2, TYPE_WORD = 3, TYPE_CHAR = 4 };

#define UNKNOWN_SURFACE " \xE2\x81\x87 " /* U+2047 */

/* The fields of a model as they are read. A message that is there twice continues the first one. */
typedef struct {
    SentencePiece *model;
    uint64_t type;
    StrView map, inverse_map;
} ModelFields;

/* ---- reading ---- */

static Status read_piece(SentencePiece *model, StrView message) {
    ProtobufReader reader = {message, 0};
    ProtobufField field;
    ModelPiece piece = {.kind = PIECE_NORMAL};
    uint64_t kind = PIECE_NORMAL;
    for (bool found;;) {
        TRY(protobuf_next(&reader, &field, &found));
        if (!found) break;
        if (field.number == PIECE_TEXT) piece.text = field.bytes;
        if (field.number == PIECE_SCORE) piece.score = protobuf_float(&field);
        if (field.number == PIECE_TYPE) kind = field.value;
    }
    size_t id = model->count;
    if (piece.text.length == 0) return status_fail(STATUS_DATA, "piece %zu is empty", id);
    if (piece.text.length > SENTENCEPIECE_PIECE_BYTES)
        return status_fail(STATUS_DATA, "piece %zu has more than %d bytes", id, SENTENCEPIECE_PIECE_BYTES);
    if (!utf8_valid(piece.text) || memchr(piece.text.data, 0, piece.text.length))
        return status_fail(STATUS_DATA, "piece %zu is not UTF-8", id);
    if (!isfinite(piece.score)) return status_fail(STATUS_DATA, "the score of piece %zu is not a number", id);
    if (kind < PIECE_NORMAL || kind > PIECE_BYTE)
        return status_fail(STATUS_DATA, "piece %zu has an unknown type", id);
    if (id == SENTENCEPIECE_PIECES)
        return status_fail(STATUS_DATA, "more than %d pieces", SENTENCEPIECE_PIECES);
    piece.kind = (PieceKind)kind;
    MEM_GROW(model->pieces, model->capacity, id + 1);
    model->pieces[model->count++] = piece;
    return STATUS_OK;
}

static Status read_trainer(ModelFields *fields, StrView message) {
    ProtobufReader reader = {message, 0};
    ProtobufField field;
    SentencePiece *model = fields->model;
    for (bool found;;) {
        TRY(protobuf_next(&reader, &field, &found));
        if (!found) return STATUS_OK;
        if (field.number == TRAINER_TYPE) fields->type = field.value;
        if (field.number == TRAINER_SUFFIX) model->normalizer.space_is_suffix = field.value != 0;
        if (field.number == TRAINER_BYTES) model->bytes = field.value != 0;
        if (field.number != TRAINER_UNKNOWN_SURFACE) continue;
        mem_free(model->unknown_surface);
        model->unknown_surface = mem_strndup(field.bytes.data ? field.bytes.data : "", field.bytes.length);
        if (field.bytes.length > SENTENCEPIECE_PIECE_BYTES || !utf8_valid(sv(model->unknown_surface)))
            return status_fail(STATUS_DATA, "the text of the unknown piece is too long or not UTF-8");
    }
}

static Status read_normalizer(Normalizer *normalizer, StrView *map, StrView message) {
    ProtobufReader reader = {message, 0};
    ProtobufField field;
    for (bool found;;) {
        TRY(protobuf_next(&reader, &field, &found));
        if (!found) return STATUS_OK;
        if (field.number == NORMALIZER_MAP) *map = field.bytes;
        if (field.number == NORMALIZER_DUMMY) normalizer->dummy_prefix = field.value != 0;
        if (field.number == NORMALIZER_REMOVE) normalizer->remove_spaces = field.value != 0;
        if (field.number == NORMALIZER_ESCAPE) normalizer->escape_spaces = field.value != 0;
    }
}

static Status read_fields(ModelFields *fields) {
    SentencePiece *model = fields->model;
    ProtobufReader reader = {strbuf_view(&model->file), 0};
    ProtobufField field;
    for (bool found;;) {
        TRY(protobuf_next(&reader, &field, &found));
        if (!found) return STATUS_OK;
        if (field.type != PROTOBUF_BYTES) continue;
        if (field.number == MODEL_PIECE) TRY(read_piece(model, field.bytes));
        if (field.number == MODEL_TRAINER) TRY(read_trainer(fields, field.bytes));
        if (field.number == MODEL_NORMALIZER)
            TRY(read_normalizer(&model->normalizer, &fields->map, field.bytes));
        if (field.number == MODEL_DENORMALIZER)
            TRY(read_normalizer(&model->denormalizer, &fields->inverse_map, field.bytes));
    }
}

/* The byte that a text such as <0x0A> stands for, or -1. */
static int byte_of(StrView text) {
    static const char digits[] = "0123456789ABCDEF";
    if (text.length != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>') return -1;
    const char *high = memchr(digits, text.data[3], 16), *low = memchr(digits, text.data[4], 16);
    return high && low ? (int)(16 * (high - digits) + (low - digits)) : -1;
}

static bool is_reserved(PieceKind kind) {
    return kind == PIECE_UNKNOWN || kind == PIECE_CONTROL || kind == PIECE_BYTE;
}

static Status add_reserved(SentencePiece *model, int id) {
    const ModelPiece *piece = &model->pieces[id];
    int64_t *slot = hashmap_slot(model->reserved, piece->text, -1);
    if (*slot >= 0) return status_fail(STATUS_DATA, "pieces %d and %d are equal", (int)*slot, id);
    *slot = id;
    if (piece->kind == PIECE_UNKNOWN) {
        if (model->unknown >= 0)
            return status_fail(STATUS_DATA, "pieces %d and %d are both of the type unknown", model->unknown,
                               id);
        model->unknown = id;
    }
    if (piece->kind == PIECE_BYTE) {
        int byte = byte_of(piece->text);
        if (byte < 0 || !model->bytes) return status_fail(STATUS_DATA, "piece %d is not a byte", id);
        model->byte_ids[byte] = id;
    }
    return STATUS_OK;
}

static Status index_reserved(SentencePiece *model) {
    model->reserved = hashmap_new();
    model->unknown = -1;
    for (int i = 0; i < 256; i++) model->byte_ids[i] = -1;
    for (size_t id = 0; id < model->count; id++)
        if (is_reserved(model->pieces[id].kind)) TRY(add_reserved(model, (int)id));
    if (model->unknown < 0) return status_fail(STATUS_DATA, "no piece is of the type unknown");
    for (int i = 0; i < 256 && model->bytes; i++)
        if (model->byte_ids[i] < 0) return status_fail(STATUS_DATA, "the piece <0x%02X> is missing", i);
    return STATUS_OK;
}

/* A trie of all pieces that text can have, or of the user-defined ones. *twice: see piece_trie_new. */
static PieceTrie *new_trie(const SentencePiece *model, bool user_defined, size_t *count, int *twice) {
    TriePiece *pieces = mem_alloc(model->count + 1, sizeof *pieces);
    *count = 0;
    for (size_t id = 0; id < model->count; id++) {
        const ModelPiece *piece = &model->pieces[id];
        if (user_defined ? piece->kind == PIECE_USER_DEFINED : !is_reserved(piece->kind))
            pieces[(*count)++] = (TriePiece){piece->text, (int)id};
    }
    PieceTrie *trie = piece_trie_new(pieces, *count, twice);
    mem_free(pieces);
    return trie;
}

static Status index_pieces(SentencePiece *model) {
    size_t count;
    int twice;
    model->trie = new_trie(model, false, &count, &twice);
    if (count == 0) return status_fail(STATUS_DATA, "there are no pieces");
    if (twice >= 0)
        return status_fail(STATUS_DATA, "pieces %d and %d are equal",
                           piece_trie_find(model->trie, model->pieces[twice].text), twice);
    model->user_trie = new_trie(model, true, &count, NULL);
    if (count == 0) {
        piece_trie_free(model->user_trie);
        model->user_trie = NULL;
    }
    model->normalizer.user_trie = model->user_trie;
    model->min_score = FLT_MAX;
    for (size_t id = 0; id < model->count; id++) {
        const ModelPiece *piece = &model->pieces[id];
        if (piece->kind == PIECE_NORMAL) model->min_score = fminf(model->min_score, piece->score);
    }
    return STATUS_OK;
}

static Status check_type(uint64_t type) {
    if (type == TYPE_UNIGRAM || type == TYPE_BPE) return STATUS_OK;
    const char *name = type == TYPE_WORD ? "word" : type == TYPE_CHAR ? "char" : "unknown";
    return status_fail(STATUS_DATA, "models of the type %s are not supported, only unigram and bpe", name);
}

static Status read_model(SentencePiece *model) {
    ModelFields fields = {.model = model, .type = TYPE_UNIGRAM};
    TRY(read_fields(&fields));
    TRY(check_type(fields.type));
    model->unigram = fields.type == TYPE_UNIGRAM;
    TRY(index_reserved(model));
    TRY(index_pieces(model));
    if (fields.map.length > 0) TRY(charsmap_read(&model->normalizer.map, fields.map));
    if (fields.inverse_map.length > 0) TRY(charsmap_read(&model->denormalizer.map, fields.inverse_map));
    return STATUS_OK;
}

Status sentencepiece_read(SentencePiece **model, StrView file, const char *name) {
    *model = NULL;
    if (file.length > SENTENCEPIECE_FILE_BYTES)
        return status_fail(STATUS_DATA, "SentencePiece model '%s': more than %d MB", name,
                           SENTENCEPIECE_FILE_BYTES >> 20);
    SentencePiece *result = mem_alloc(1, sizeof *result);
    result->normalizer = (Normalizer){.dummy_prefix = true, .remove_spaces = true, .escape_spaces = true};
    result->denormalizer = result->normalizer;
    result->unknown_surface = mem_strdup(UNKNOWN_SURFACE);
    strbuf_add(&result->file, file);
    Status status = read_model(result);
    if (status == STATUS_OK) {
        *model = result;
        return STATUS_OK;
    }
    sentencepiece_free(result);
    return status_context(status, "SentencePiece model '%s'", name);
}

static void write_piece(StrBuf *file, StrView text, float score, PieceKind kind) {
    StrBuf message = {0};
    protobuf_add_bytes(&message, PIECE_TEXT, text);
    protobuf_add_float(&message, PIECE_SCORE, score);
    if (kind != PIECE_NORMAL) protobuf_add_varint(&message, PIECE_TYPE, kind);
    protobuf_add_bytes(file, MODEL_PIECE, strbuf_view(&message));
    strbuf_free(&message);
}

SentencePiece *sentencepiece_new_unigram(const StrView *texts, const float *scores, size_t count) {
    SentencePiece *model;
    StrBuf file = {0};
    write_piece(&file, SV("<unk>"), 0, PIECE_UNKNOWN);
    write_piece(&file, SV("<s>"), 0, PIECE_CONTROL);
    write_piece(&file, SV("</s>"), 0, PIECE_CONTROL);
    for (size_t i = 0; i < count; i++) write_piece(&file, texts[i], scores[i], PIECE_NORMAL);
    Status status = sentencepiece_read(&model, strbuf_view(&file), "pieces");
    assert(status == STATUS_OK); /* the texts are pieces */
    (void)status;
    strbuf_free(&file);
    return model;
}

void sentencepiece_free(SentencePiece *model) {
    if (!model) return;
    strbuf_free(&model->file);
    mem_free(model->pieces);
    mem_free(model->unknown_surface);
    charsmap_free(model->normalizer.map);
    charsmap_free(model->denormalizer.map);
    piece_trie_free(model->trie);
    piece_trie_free(model->user_trie);
    if (model->reserved) hashmap_free(model->reserved);
    mem_free(model);
}

/* ---- writing ---- */

static void write_normalizer(const Normalizer *normalizer, uint32_t number, StrBuf *file) {
    StrBuf message = {0};
    if (normalizer->map) protobuf_add_bytes(&message, NORMALIZER_MAP, charsmap_bytes(normalizer->map));
    protobuf_add_varint(&message, NORMALIZER_DUMMY, normalizer->dummy_prefix);
    protobuf_add_varint(&message, NORMALIZER_REMOVE, normalizer->remove_spaces);
    protobuf_add_varint(&message, NORMALIZER_ESCAPE, normalizer->escape_spaces);
    protobuf_add_bytes(file, number, strbuf_view(&message));
    strbuf_free(&message);
}

void sentencepiece_write(const SentencePiece *model, StrBuf *file) {
    StrBuf message = {0};
    for (size_t id = 0; id < model->count; id++) {
        const ModelPiece *piece = &model->pieces[id];
        write_piece(file, piece->text, piece->score, piece->kind);
    }
    protobuf_add_varint(&message, TRAINER_TYPE, model->unigram ? TYPE_UNIGRAM : TYPE_BPE);
    protobuf_add_varint(&message, TRAINER_SUFFIX, model->normalizer.space_is_suffix);
    protobuf_add_varint(&message, TRAINER_BYTES, model->bytes);
    protobuf_add_bytes(&message, TRAINER_UNKNOWN_SURFACE, sv(model->unknown_surface));
    protobuf_add_bytes(file, MODEL_TRAINER, strbuf_view(&message));
    write_normalizer(&model->normalizer, MODEL_NORMALIZER, file);
    if (model->denormalizer.map) write_normalizer(&model->denormalizer, MODEL_DENORMALIZER, file);
    strbuf_free(&message);
}

/* ---- pieces ---- */

int sentencepiece_size(const SentencePiece *model) { return (int)model->count; }

StrView sentencepiece_piece(const SentencePiece *model, int id) { return model->pieces[id].text; }

PieceKind sentencepiece_kind(const SentencePiece *model, int id) { return model->pieces[id].kind; }

int sentencepiece_id(const SentencePiece *model, StrView piece) {
    int id = (int)hashmap_get(model->reserved, piece, -1);
    if (id < 0) id = piece_trie_find(model->trie, piece);
    return id < 0 ? model->unknown : id;
}

int sentencepiece_unknown(const SentencePiece *model) { return model->unknown; }

bool sentencepiece_is_unigram(const SentencePiece *model) { return model->unigram; }

bool sentencepiece_space_is_suffix(const SentencePiece *model) { return model->normalizer.space_is_suffix; }

bool sentencepiece_has_bytes(const SentencePiece *model) { return model->bytes; }

/* ---- decoding ---- */

typedef struct {
    const SentencePiece *model;
    StrBuf text, bytes; /* bytes: of pieces that are bytes, until another piece comes */
    bool at_start;      /* the next space may be the dummy */
    bool cut_space;     /* the piece before was cut, and no more spaces are */
} Decoder;

static void add_bytes(Decoder *decoder) {
    StrView bytes = strbuf_view(&decoder->bytes);
    while (bytes.length > 0) {
        size_t length = character_bytes(bytes.data[0]);
        bool valid = length <= bytes.length && utf8_valid((StrView){bytes.data, length});
        if (!valid) length = 1;
        strbuf_add(&decoder->text, valid ? (StrView){bytes.data, length} : SV("\xEF\xBF\xBD"));
        bytes = (StrView){bytes.data + length, bytes.length - length};
    }
    strbuf_clear(&decoder->bytes);
}

static void add_with_spaces(StrBuf *text, StrView piece) {
    StrView space = SV(PIECE_SPACE);
    while (piece.length > 0) {
        bool is_space = sv_starts(piece, space);
        size_t length = is_space ? space.length : 1;
        strbuf_add_char(text, is_space ? ' ' : piece.data[0]);
        piece = (StrView){piece.data + length, piece.length - length};
    }
}

static void add_text(Decoder *decoder, StrView piece) {
    const SentencePiece *model = decoder->model;
    const Normalizer *normalizer = &model->normalizer;
    if (decoder->cut_space || decoder->text.length > 0) decoder->at_start = false;
    decoder->cut_space = false;
    int id = sentencepiece_id(model, piece);
    if (model->pieces[id].kind == PIECE_CONTROL) return;
    if (id == model->unknown) {
        bool is_name = sv_equal(piece, model->pieces[id].text);
        strbuf_add(&decoder->text, is_name ? sv(model->unknown_surface) : piece);
        return;
    }
    StrView space = SV(PIECE_SPACE);
    bool cut = decoder->at_start && (normalizer->dummy_prefix || normalizer->remove_spaces) &&
               sv_starts(piece, space);
    if (cut) piece = (StrView){piece.data + space.length, piece.length - space.length};
    decoder->cut_space = cut && !normalizer->remove_spaces;
    add_with_spaces(&decoder->text, piece);
}

static void decode_piece(Decoder *decoder, StrView piece) {
    int byte = decoder->model->bytes ? byte_of(piece) : -1;
    if (byte >= 0) {
        strbuf_add_char(&decoder->bytes, (char)byte);
        return;
    }
    add_bytes(decoder);
    add_text(decoder, piece);
}

static void decoder_end(Decoder *decoder, StrBuf *line) {
    add_bytes(decoder);
    if (decoder->model->denormalizer.map) {
        SentencePieceText result = {0};
        sentencepiece_normalize(&decoder->model->denormalizer, strbuf_view(&decoder->text), &result);
        strbuf_add(line, strbuf_view(&result.normal));
        sentencepiece_text_free(&result);
    } else {
        strbuf_add(line, strbuf_view(&decoder->text));
    }
    strbuf_free(&decoder->text);
    strbuf_free(&decoder->bytes);
}

void sentencepiece_decode(const SentencePiece *model, const StrView *pieces, size_t count, StrBuf *line) {
    Decoder decoder = {.model = model, .at_start = true};
    for (size_t i = 0; i < count; i++) decode_piece(&decoder, pieces[i]);
    decoder_end(&decoder, line);
}

void sentencepiece_decode_ids(const SentencePiece *model, const int *ids, size_t count, StrBuf *line) {
    Decoder decoder = {.model = model, .at_start = true};
    for (size_t i = 0; i < count; i++) decode_piece(&decoder, model->pieces[ids[i]].text);
    decoder_end(&decoder, line);
}
