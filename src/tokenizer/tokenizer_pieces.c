/* tokenizer_pieces.c - tokenizers of the kind sentencepiece: pieces of a model, ids of a vocabulary. */
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "io/base64.h"
#include "tokenizer/tokenizer_parts.h"

/* Line breaks and NUL would break the line that they are in. */
static char inline_char(char c) { return c == '\n' || c == '\r' || c == '\0' ? ' ' : c; }

void tokenizer_set_pieces(Tokenizer *tokenizer, SentencePiece *pieces, Vocab *vocab) {
    int size = sentencepiece_size(pieces);
    tokenizer->vocab = vocab;
    tokenizer->pieces = pieces;
    tokenizer->piece_ids = mem_alloc((size_t)size, sizeof *tokenizer->piece_ids);
    for (int i = 0, next = VOCAB_SPECIALS; i < size; i++, next++) {
        StrView piece = sentencepiece_piece(pieces, i);
        bool follows = next < vocab_size(vocab) && sv_equal(piece, vocab_token(vocab, next)); /* mostly */
        int id = follows ? next : vocab_id(vocab, piece);
        if (id >= VOCAB_SPECIALS) next = id;
        bool unknown = id < VOCAB_SPECIALS || sentencepiece_kind(pieces, i) == PIECE_UNKNOWN;
        tokenizer->piece_ids[i] = unknown ? VOCAB_UNK : id;
    }
}

Tokenizer *tokenizer_from_sentencepiece(SentencePiece *pieces, Vocab *vocab) {
    Tokenizer *tokenizer = tokenizer_new();
    tokenizer->kind = TOKENIZER_SENTENCEPIECE;
    tokenizer->normalize = NORMALIZE_NONE;
    tokenizer_set_pieces(tokenizer, pieces, vocab);
    return tokenizer;
}

/* The vocabulary may know text that is no piece: OPUS-MT has one vocabulary for the models of two
 * languages. */
static int id_of(const Tokenizer *tokenizer, const EncodedPiece *piece) {
    int id = tokenizer->piece_ids[piece->id];
    if (id != VOCAB_UNK || piece->id != sentencepiece_unknown(tokenizer->pieces)) return id;
    int known = vocab_id(tokenizer->vocab, piece->text);
    return known >= VOCAB_SPECIALS ? known : VOCAB_UNK;
}

static void add_run(void *runs, StrView token) { strbuf_add(runs, token); }

/* What the model gets. Its own normalization adds the first marker again. */
static StrView text_for_pieces(Tokenizer *tokenizer, StrView line) {
    StrView space = SV(BPE_SPACE);
    if (tokenizer->kind != TOKENIZER_UNIGRAM) return line;
    strbuf_clear(&tokenizer->runs);
    tokenizer_pretokenize(tokenizer, line, add_run, &tokenizer->runs);
    StrView text = strbuf_view(&tokenizer->runs);
    if (sv_starts(text, space)) text = (StrView){text.data + space.length, text.length - space.length};
    return text;
}

/* Appends the ids of the text that is encoded. */
static void add_ids(const Tokenizer *tokenizer, IdList *ids, StrList *unknown) {
    const SentencePieceText *text = &tokenizer->text;
    for (size_t i = 0; i < text->count; i++) {
        int id = id_of(tokenizer, &text->pieces[i]);
        id_list_add(ids, id);
        if (id == VOCAB_UNK && unknown) strlist_add(unknown, text->pieces[i].text);
    }
}

void tokenizer_encode_pieces(Tokenizer *tokenizer, StrView line, IdList *ids, StrList *unknown) {
    sentencepiece_encode(tokenizer->pieces, text_for_pieces(tokenizer, line), &tokenizer->text);
    add_ids(tokenizer, ids, unknown);
}

void tokenizer_sample_pieces(Tokenizer *tokenizer, StrView line, double alpha, Rng *rng, IdList *ids) {
    sentencepiece_sample(tokenizer->pieces, text_for_pieces(tokenizer, line), alpha, rng, &tokenizer->text);
    add_ids(tokenizer, ids, NULL);
}

void tokenizer_encode_pieces_after_text(Tokenizer *tokenizer, StrView text, IdList *ids) {
    size_t position = 0;
    bool space = text.length > 0 && unicode_class(utf8_next(text, &position)) == CHAR_SPACE;
    text = text_for_pieces(tokenizer, text);
    if (space && tokenizer->kind == TOKENIZER_UNIGRAM) /* its marker */
        sentencepiece_encode(tokenizer->pieces, text, &tokenizer->text);
    else
        sentencepiece_encode_after_text(tokenizer->pieces, text, &tokenizer->text);
    add_ids(tokenizer, ids, NULL);
}

/* The text of a piece that is not in the model may have markers, which are spaces. */
static void add_decoded(StrView text, StrBuf *line) {
    StrView space = SV(BPE_SPACE);
    while (text.length > 0) {
        bool is_space = sv_starts(text, space);
        size_t length = is_space ? space.length : 1;
        strbuf_add_char(line, is_space ? ' ' : inline_char(text.data[0]));
        text = (StrView){text.data + length, text.length - length};
    }
}

void tokenizer_decode_pieces(const Tokenizer *tokenizer, const int *ids, size_t count, const StrList *unknown,
                             StrBuf *line) {
    const SentencePiece *model = tokenizer->pieces;
    StrView *pieces = mem_alloc(count + 1, sizeof *pieces);
    size_t used = 0, kept = 0;
    for (size_t i = 0; i < count && ids[i] != VOCAB_EOS; i++) {
        if (ids[i] == VOCAB_PAD || ids[i] == VOCAB_BOS) continue;
        StrView piece = vocab_token(tokenizer->vocab, ids[i]);
        if (ids[i] == VOCAB_UNK)
            piece = unknown && used < unknown->count
                        ? sv(unknown->items[used++])
                        : sentencepiece_piece(model, sentencepiece_unknown(model));
        pieces[kept++] = piece;
    }
    StrBuf text = {0};
    sentencepiece_decode(model, pieces, kept, &text);
    add_decoded(strbuf_view(&text), line);
    strbuf_free(&text);
    mem_free(pieces);
}

void tokenizer_write_pieces(const Tokenizer *tokenizer, StrBuf *out) {
    StrBuf file = {0};
    sentencepiece_write(tokenizer->pieces, &file);
    strbuf_add(out, SV("\"model\":\""));
    base64_write(strbuf_view(&file), out);
    strbuf_add(out, SV("\","));
    strbuf_free(&file);
}

Status tokenizer_read_pieces(SentencePiece **pieces, StrView base64) {
    StrBuf file = {0};
    Status status = base64_read(base64, &file);
    if (status == STATUS_OK) status = sentencepiece_read(pieces, strbuf_view(&file), "model");
    strbuf_free(&file);
    return status == STATUS_OK ? status : status_context(status, "tokenizer");
}
