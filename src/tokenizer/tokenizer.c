/* tokenizer.c - see tokenizer.h. tokenizer_learn.c learns tokenizers, tokenizer_json.c reads and writes
 * them. */
#include "tokenizer/tokenizer.h"

#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/reserved_tokens.h"
#include "tokenizer/tokenizer_parts.h"

enum {
    CACHED_WORDS = 100000, /* with more of them the cache is emptied */
    CACHED_IDS = 1000000,
    CACHED_WORD_BYTES = 100, /* longer words are not cached */
};

void id_list_add(IdList *list, int id) {
    MEM_GROW(list->ids, list->capacity, list->count + 1);
    list->ids[list->count++] = id;
}

void id_list_free(IdList *list) {
    mem_free(list->ids);
    *list = (IdList){0};
}

Tokenizer *tokenizer_new(void) {
    Tokenizer *tokenizer = mem_alloc(1, sizeof *tokenizer);
    tokenizer->references = 1;
    return tokenizer;
}

Tokenizer *tokenizer_retain(Tokenizer *tokenizer) {
    tokenizer->references++;
    return tokenizer;
}

Tokenizer *tokenizer_view(const Tokenizer *tokenizer) {
    Tokenizer *view = tokenizer_new();
    view->kind = tokenizer->kind;
    view->normalize = tokenizer->normalize;
    view->lowercase = tokenizer->lowercase;
    view->vocab = tokenizer->vocab;
    memcpy(view->roles, tokenizer->roles, sizeof view->roles);
    view->bpe = tokenizer->bpe ? bpe_view(tokenizer->bpe) : NULL;
    view->pieces = tokenizer->pieces;
    view->piece_ids = tokenizer->piece_ids;
    view->is_view = true;
    return view;
}

void tokenizer_free(Tokenizer *tokenizer) {
    if (!tokenizer || --tokenizer->references > 0) return;
    if (!tokenizer->is_view) {
        vocab_free(tokenizer->vocab);
        for (int r = 0; r < TOKENIZER_ROLES; r++) id_list_free(&tokenizer->roles[r]);
        sentencepiece_free(tokenizer->pieces);
        mem_free(tokenizer->piece_ids);
    }
    bpe_free(tokenizer->bpe);
    if (tokenizer->cached) hashmap_free(tokenizer->cached);
    id_list_free(&tokenizer->pool);
    strbuf_free(&tokenizer->repaired);
    strbuf_free(&tokenizer->normal);
    strbuf_free(&tokenizer->runs);
    sentencepiece_text_free(&tokenizer->text);
    mem_free(tokenizer);
}

const Vocab *tokenizer_vocab(const Tokenizer *tokenizer) { return tokenizer->vocab; }

/* ---- roles ---- */

Status tokenizer_set_role(Tokenizer *tokenizer, TokenRole role, StrView token) {
    int id = vocab_id(tokenizer->vocab, token);
    if (id < VOCAB_SPECIALS)
        return status_fail(STATUS_DATA, "tokenizer: '%.*s' is not in the vocabulary", SV_ARG(token));
    id_list_add(&tokenizer->roles[role], id);
    return STATUS_OK;
}

const IdList *tokenizer_role(const Tokenizer *tokenizer, TokenRole role) { return &tokenizer->roles[role]; }

int tokenizer_language(const Tokenizer *tokenizer, StrView name) {
    const IdList *languages = &tokenizer->roles[TOKENIZER_LANGUAGES];
    int found = -1;
    StrBuf marked = {0};
    strbuf_format(&marked, ">>%.*s<<", SV_ARG(name));
    for (size_t i = 0; i < languages->count && found < 0; i++) {
        StrView token = vocab_token(tokenizer->vocab, languages->ids[i]);
        if (sv_equal(token, name) || sv_equal(token, strbuf_view(&marked))) found = languages->ids[i];
    }
    strbuf_free(&marked);
    return found;
}

int tokenizer_leading_language(const Tokenizer *tokenizer, StrView text) {
    const IdList *languages = &tokenizer->roles[TOKENIZER_LANGUAGES];
    for (size_t i = 0; i < languages->count; i++)
        if (sv_starts(text, vocab_token(tokenizer->vocab, languages->ids[i]))) return languages->ids[i];
    return -1;
}

void tokenizer_pretokenize(Tokenizer *tokenizer, StrView line, TokenSink sink, void *context) {
    if (line.length == 0) return;
    if (!utf8_valid(line) || memchr(line.data, 0, line.length)) {
        strbuf_clear(&tokenizer->repaired);
        utf8_repair(line, &tokenizer->repaired);
        line = strbuf_view(&tokenizer->repaired);
    }
    strbuf_clear(&tokenizer->normal);
    unicode_normalize(line, tokenizer->normalize, tokenizer->lowercase, &tokenizer->normal);
    StrView text = strbuf_view(&tokenizer->normal);
    if (tokenizer->kind == TOKENIZER_WORD)
        tokenize_words(text, sink, context);
    else if (!tokenizer->bpe || bpe_marker(tokenizer->bpe) == BPE_PREFIX)
        tokenize_runs(text, sink, context);
    else
        tokenize_spaced(text, sink, context);
}

bool tokenizer_is_special(StrView token) {
    return sv_equal(token, SV("<pad>")) || sv_equal(token, SV("<unk>")) || sv_equal(token, SV("<s>")) ||
           sv_equal(token, SV("</s>"));
}

bool tokenizer_has_subwords(const Tokenizer *tokenizer) { return tokenizer->kind != TOKENIZER_WORD; }

bool tokenizer_has_reserved(const Tokenizer *tokenizer) { return reserved_in_vocab(tokenizer->vocab); }

/* ---- encoding ---- */

typedef struct {
    Tokenizer *tokenizer;
    IdList *ids;
    StrList *unknown; /* or NULL */
    double dropout;   /* with random numbers of `rng` */
    Rng *rng;
} Encoder;

static int known_id(const Tokenizer *tokenizer, StrView token) {
    int id = vocab_id(tokenizer->vocab, token);
    return id < VOCAB_SPECIALS ? VOCAB_UNK : id; /* text such as "</s>" is unknown text */
}

static void encode_id(Encoder *encoder, int id, StrView text) {
    id_list_add(encoder->ids, id);
    if (id == VOCAB_UNK && encoder->unknown) strlist_add(encoder->unknown, text);
}

/* A piece outside the vocabulary is split again: only single characters can be unknown. */
static void encode_piece(void *context, StrView piece) {
    Encoder *encoder = context;
    StrView left, right;
    int id = known_id(encoder->tokenizer, piece);
    if (id == VOCAB_UNK && bpe_split(encoder->tokenizer->bpe, piece, &left, &right)) {
        encode_piece(context, left);
        encode_piece(context, right);
    } else {
        encode_id(encoder, id, piece);
    }
}

/* Appends ids from the cache; false if the caller needs the texts of unknown tokens, which are not there. */
static bool encode_cached(Encoder *encoder, const int *ids, int count) {
    for (int i = 0; i < count && encoder->unknown; i++)
        if (ids[i] == VOCAB_UNK) return false;
    for (int i = 0; i < count; i++) id_list_add(encoder->ids, ids[i]);
    return true;
}

static void cache_ids(Tokenizer *tokenizer, StrView token, const int *ids, size_t count) {
    if (token.length > CACHED_WORD_BYTES) return;
    if (tokenizer->cached &&
        (hashmap_count(tokenizer->cached) >= CACHED_WORDS || tokenizer->pool.count >= CACHED_IDS)) {
        hashmap_free(tokenizer->cached);
        tokenizer->cached = NULL;
        tokenizer->pool.count = 0;
    }
    if (!tokenizer->cached) tokenizer->cached = hashmap_new();
    hashmap_set(tokenizer->cached, token, (int)tokenizer->pool.count);
    id_list_add(&tokenizer->pool, (int)count);
    for (size_t i = 0; i < count; i++) id_list_add(&tokenizer->pool, ids[i]);
}

static void encode_token(void *context, StrView token) {
    Encoder *encoder = context;
    Tokenizer *tokenizer = encoder->tokenizer;
    if (tokenizer->kind == TOKENIZER_WORD) {
        encode_id(encoder, known_id(tokenizer, token), token);
        return;
    }
    if (encoder->dropout > 0) {
        bpe_apply_dropout(tokenizer->bpe, token, encoder->dropout, encoder->rng, encode_piece, encoder);
        return;
    }
    int at = tokenizer->cached ? (int)hashmap_get(tokenizer->cached, token, -1) : -1;
    if (at >= 0 && encode_cached(encoder, tokenizer->pool.ids + at + 1, tokenizer->pool.ids[at])) return;
    size_t before = encoder->ids->count;
    bpe_apply(tokenizer->bpe, token, encode_piece, encoder);
    if (at < 0) cache_ids(tokenizer, token, encoder->ids->ids + before, encoder->ids->count - before);
}

/* Appends the language token that the line begins with; returns the rest of the line. */
static StrView encode_language(const Tokenizer *tokenizer, StrView line, IdList *ids) {
    int id = tokenizer_leading_language(tokenizer, line);
    if (id < 0) return line;
    id_list_add(ids, id);
    size_t length = vocab_token(tokenizer->vocab, id).length;
    return (StrView){line.data + length, line.length - length};
}

void tokenizer_encode_spelled(Tokenizer *tokenizer, StrView line, IdList *ids, StrList *unknown) {
    Encoder encoder = {.tokenizer = tokenizer, .ids = ids, .unknown = unknown};
    line = encode_language(tokenizer, line, ids);
    if (tokenizer->pieces)
        tokenizer_encode_pieces(tokenizer, line, ids, unknown);
    else
        tokenizer_pretokenize(tokenizer, line, encode_token, &encoder);
}

bool tokenizer_has_unigrams(const Tokenizer *tokenizer) {
    return tokenizer->pieces && sentencepiece_is_unigram(tokenizer->pieces);
}

void tokenizer_encode_sampled(Tokenizer *tokenizer, StrView line, double rate, Rng *rng, IdList *ids) {
    Encoder encoder = {.tokenizer = tokenizer, .ids = ids, .dropout = rate, .rng = rng};
    line = encode_language(tokenizer, line, ids);
    if (tokenizer_has_unigrams(tokenizer) && rate > 0)
        tokenizer_sample_pieces(tokenizer, line, rate, rng, ids);
    else if (tokenizer->pieces)
        tokenizer_encode_pieces(tokenizer, line, ids, NULL);
    else
        tokenizer_pretokenize(tokenizer, line, encode_token, &encoder);
}

void tokenizer_encode(Tokenizer *tokenizer, StrView line, IdList *ids) {
    tokenizer_encode_spelled(tokenizer, line, ids, NULL);
}

void tokenizer_encode_after_text(Tokenizer *tokenizer, StrView text, IdList *ids) {
    size_t position = 0, before;
    StrBuf both = {0};
    if (text.length == 0) return;
    if (tokenizer->pieces) {
        tokenizer_encode_pieces_after_text(tokenizer, text, ids);
        return;
    }
    /* A character of another class is a token of its own. */
    strbuf_add_char(&both, unicode_class(utf8_next(text, &position)) == CHAR_OTHER ? 'a' : '.');
    size_t start = ids->count;
    tokenizer_encode(tokenizer, strbuf_view(&both), ids);
    before = ids->count - start;
    ids->count = start;
    strbuf_add(&both, text);
    tokenizer_encode(tokenizer, strbuf_view(&both), ids);
    if (before > ids->count - start) before = ids->count - start;
    ids->count -= before;
    memmove(ids->ids + start, ids->ids + start + before, (ids->count - start) * sizeof *ids->ids);
    strbuf_free(&both);
}

/* ---- decoding ---- */

bool tokenizer_marks_ends(const Tokenizer *tokenizer) {
    if (tokenizer->pieces) return sentencepiece_space_is_suffix(tokenizer->pieces);
    return tokenizer->bpe && bpe_marker(tokenizer->bpe) == BPE_SUFFIX;
}

static void add_space(StrBuf *line, size_t start) {
    if (line->length > start && line->data[line->length - 1] != ' ') strbuf_add_char(line, ' ');
}

/* Appends a piece with markers as spaces. */
static void add_prefixed(StrView piece, StrBuf *line, size_t start) {
    StrView space = SV(BPE_SPACE);
    while (piece.length > 0) {
        size_t take = 1;
        if (sv_starts(piece, space)) {
            add_space(line, start);
            take = space.length;
        } else {
            strbuf_add_char(line, piece.data[0]);
        }
        piece = (StrView){piece.data + take, piece.length - take};
    }
}

void tokenizer_decode(const Tokenizer *tokenizer, const int *ids, size_t count, StrBuf *line) {
    tokenizer_decode_spelled(tokenizer, ids, count, NULL, line);
}

void tokenizer_decode_spelled(const Tokenizer *tokenizer, const int *ids, size_t count,
                              const StrList *unknown, StrBuf *line) {
    if (tokenizer->pieces) {
        tokenizer_decode_pieces(tokenizer, ids, count, unknown, line);
        return;
    }
    size_t start = line->length, used = 0;
    StrView end = SV(BPE_WORD_END);
    for (size_t i = 0; i < count && ids[i] != VOCAB_EOS; i++) {
        if (ids[i] == VOCAB_PAD || ids[i] == VOCAB_BOS) continue;
        StrView token = vocab_token(tokenizer->vocab, ids[i]);
        if (ids[i] == VOCAB_UNK && unknown && used < unknown->count) token = sv(unknown->items[used++]);
        if (tokenizer->kind == TOKENIZER_WORD) {
            strbuf_add(line, token);
            add_space(line, start);
        } else if (!tokenizer_marks_ends(tokenizer)) {
            add_prefixed(token, line, start);
        } else if (sv_ends(token, end)) {
            strbuf_add(line, (StrView){token.data, token.length - end.length});
            add_space(line, start);
        } else {
            strbuf_add(line, token);
        }
    }
    if (line->length > start && line->data[line->length - 1] == ' ') line->data[--line->length] = '\0';
}

void unknown_skip(StrList *unknown, const int *ids, int count) {
    for (int i = 0; i < count && unknown->count > 0; i++) {
        if (ids[i] != VOCAB_UNK) continue;
        unknown->items++;
        unknown->count--;
    }
}

/* `first`: the token is the first of the sentence, or the token before it ends a word. */
static bool starts_word(const Tokenizer *tokenizer, int id, bool first) {
    if (first || id == VOCAB_PAD || id == VOCAB_BOS || id == VOCAB_EOS) return true;
    if (tokenizer->kind == TOKENIZER_WORD) return true;
    return !tokenizer_marks_ends(tokenizer) && sv_starts(vocab_token(tokenizer->vocab, id), SV(BPE_SPACE));
}

int tokenizer_words(const Tokenizer *tokenizer, const int *ids, size_t count, int *word) {
    int words = 0;
    bool ended = true; /* the piece before is the last of its word */
    StrView end = tokenizer->pieces ? SV(BPE_SPACE) : SV(BPE_WORD_END);
    for (size_t i = 0; i < count; i++) {
        if (starts_word(tokenizer, ids[i], ended)) words++;
        word[i] = words - 1;
        bool special = ids[i] == VOCAB_PAD || ids[i] == VOCAB_BOS || ids[i] == VOCAB_EOS;
        bool last = tokenizer_marks_ends(tokenizer) && sv_ends(vocab_token(tokenizer->vocab, ids[i]), end);
        ended = special || last;
    }
    return words;
}

static void add_label(StrView token, StrBuf *label) {
    for (size_t position = 0; position < token.length;) {
        int c = utf8_next(token, &position), reserved = reserved_index(c);
        if (reserved >= 0)
            strbuf_format(label, "<%d>", reserved);
        else
            utf8_add(label, unicode_is_control(c) ? UTF8_REPLACEMENT : c);
    }
}

void tokenizer_label(const Tokenizer *tokenizer, int id, StrBuf *label) {
    add_label(vocab_token(tokenizer->vocab, id), label);
}

void tokenizer_label_unknown(const char *unknown, StrBuf *label) { add_label(sv(unknown), label); }
