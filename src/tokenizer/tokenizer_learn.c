/* tokenizer_learn.c - merges and vocabulary from text.
 *
 * The text is read once, to count its distinct pre-tokens. The vocabulary of a bpe tokenizer has all
 * characters seen min_count times, and all pieces of the training text seen min_count times. Rarer pieces
 * are split into the two that they were merged from.
 */
#include <limits.h>
#include <stdlib.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "tokenizer/bpe_learn.h"
#include "tokenizer/reserved_tokens.h"
#include "tokenizer/tokenizer_parts.h"
#include "tokenizer/unigram_learn.h"

enum { RAREST_PAIR = 2 }; /* as in subword-nmt: a pair seen once is not merged */

static void add_count(HashMap *counts, StrView key, int64_t count) { *hashmap_slot(counts, key, 0) += count; }

static void count_token(void *counts, StrView token) { add_count(counts, token, 1); }

void tokenizer_count(Tokenizer *tokenizer, StrView line, HashMap *words) {
    tokenizer_pretokenize(tokenizer, line, count_token, words);
}

/* ---- choosing the vocabulary ---- */

typedef struct {
    StrView token;
    int64_t count;
    bool basic; /* a single character: removed last if max_vocab is small */
} Entry;

typedef struct {
    Entry *entries;
    size_t count, capacity;
} EntryList;

static int by_count(const void *a, const void *b) {
    const Entry *p = a, *q = b;
    if (p->count != q->count) return p->count > q->count ? -1 : 1;
    return sv_compare(p->token, q->token);
}

static int by_need(const void *a, const void *b) {
    const Entry *p = a, *q = b;
    return p->basic == q->basic ? by_count(a, b) : q->basic - p->basic;
}

static void add_entry(EntryList *list, StrView token, int64_t count, bool basic) {
    if (token.length > VOCAB_TOKEN_BYTES || tokenizer_is_special(token)) return;
    MEM_GROW(list->entries, list->capacity, list->count + 1);
    list->entries[list->count++] = (Entry){token, count, basic};
}

static Vocab *make_vocab(EntryList *list, int max_vocab) {
    size_t limit = max_vocab > VOCAB_SPECIALS ? (size_t)(max_vocab - VOCAB_SPECIALS) : 0;
    if (max_vocab > 0 && list->count > limit) {
        qsort(list->entries, list->count, sizeof *list->entries, by_need);
        list->count = limit;
    }
    if (list->count > 0) qsort(list->entries, list->count, sizeof *list->entries, by_count);
    Vocab *vocab = vocab_new();
    for (size_t i = 0; i < list->count; i++) vocab_add(vocab, list->entries[i].token);
    mem_free(list->entries);
    return vocab;
}

static Vocab *word_vocab(const HashMap *words, const TextOptions *options) {
    EntryList list = {0};
    for (size_t i = 0; i < hashmap_count(words); i++)
        if (hashmap_value(words, i) >= options->min_count)
            add_entry(&list, hashmap_key(words, i), hashmap_value(words, i), false);
    return make_vocab(&list, options->max_vocab);
}

/* The count of each character at all positions of words. */
static HashMap *count_characters(const HashMap *words, BpeMarker marker) {
    HashMap *characters = hashmap_new();
    for (size_t i = 0; i < hashmap_count(words); i++) {
        StrView word = hashmap_key(words, i);
        if (marker == BPE_SUFFIX) word.length -= sizeof BPE_WORD_END - 1;
        for (size_t position = 0; position < word.length;) {
            size_t length = bpe_unit(BPE_PREFIX, word, position);
            add_count(characters, (StrView){word.data + position, length}, hashmap_value(words, i));
            position += length;
        }
    }
    return characters;
}

typedef struct {
    HashMap *pieces;
    int64_t count;
} PieceCounter;

static void count_piece(void *context, StrView piece) {
    PieceCounter *counter = context;
    add_count(counter->pieces, piece, counter->count);
}

/* Adds the count of each piece seen less than `min_count` times to the two pieces that it was merged from;
 * the piece itself keeps it only with `keep_count`. The last merge comes first, so that the two are examined
 * later. */
static void split_rare_pieces(const Bpe *bpe, HashMap *pieces, int min_count, bool keep_count) {
    StrBuf piece = {0};
    for (size_t rank = bpe_count(bpe); rank-- > 0;) {
        StrView left, right;
        bpe_merge(bpe, rank, &left, &right);
        strbuf_clear(&piece);
        strbuf_add(&piece, left);
        strbuf_add(&piece, right);
        int64_t count = hashmap_get(pieces, strbuf_view(&piece), 0);
        StrView first, second;
        if (count == 0 || count >= min_count || !bpe_split(bpe, strbuf_view(&piece), &first, &second))
            continue;
        if (!keep_count) hashmap_set(pieces, strbuf_view(&piece), 0);
        add_count(pieces, first, count);
        add_count(pieces, second, count);
    }
    strbuf_free(&piece);
}

/* Marks reserved tokens as characters to add. */
static void add_reserved(HashMap *basic, BpeMarker marker) {
    StrBuf token = {0};
    for (int k = 0; k < RESERVED_TOKENS; k++) {
        strbuf_clear(&token);
        reserved_add(k, &token);
        hashmap_set(basic, strbuf_view(&token), 1);
        if (marker != BPE_SUFFIX) continue;
        strbuf_add(&token, SV(BPE_WORD_END));
        hashmap_set(basic, strbuf_view(&token), 1);
    }
    strbuf_free(&token);
}

static Vocab *bpe_vocab(Bpe *bpe, const HashMap *words, const TextOptions *options) {
    BpeMarker marker = bpe_marker(bpe);
    HashMap *characters = count_characters(words, marker);
    PieceCounter counter = {.pieces = hashmap_new()};
    for (size_t i = 0; i < hashmap_count(words); i++) {
        counter.count = hashmap_value(words, i);
        bpe_apply(bpe, hashmap_key(words, i), count_piece, &counter);
    }
    split_rare_pieces(bpe, counter.pieces, options->min_count, false);
    if (options->all_pieces) split_rare_pieces(bpe, counter.pieces, INT_MAX, true);

    /* All frequent characters are in the vocabulary, as the last of a word, too: only rare ones are
 * unknown. */
    HashMap *basic = hashmap_new();
    StrBuf final = {0};
    for (size_t i = 0; i < hashmap_count(characters); i++) {
        StrView character = hashmap_key(characters, i);
        if (hashmap_value(characters, i) < options->min_count) continue;
        hashmap_set(basic, character, 1);
        if (marker != BPE_SUFFIX) continue;
        strbuf_clear(&final);
        strbuf_add(&final, character);
        strbuf_add(&final, SV(BPE_WORD_END));
        hashmap_set(basic, strbuf_view(&final), 1);
    }
    if (options->reserved) add_reserved(basic, marker);
    EntryList list = {0};
    for (size_t i = 0; i < hashmap_count(basic); i++) {
        StrView unit = hashmap_key(basic, i);
        add_entry(&list, unit, hashmap_get(counter.pieces, unit, 0), true);
    }
    for (size_t i = 0; i < hashmap_count(counter.pieces); i++) {
        StrView piece = hashmap_key(counter.pieces, i);
        bool single = bpe_unit(marker, piece, 0) == piece.length;
        if (!single && hashmap_value(counter.pieces, i) >= options->min_count)
            add_entry(&list, piece, hashmap_value(counter.pieces, i), false);
    }
    Vocab *vocab = make_vocab(&list, options->max_vocab);
    strbuf_free(&final);
    hashmap_free(basic);
    hashmap_free(counter.pieces);
    hashmap_free(characters);
    return vocab;
}

/* ---- learning ---- */

static Status read_codes(Bpe **bpe, const char *path, BpeMarker default_marker) {
    StrBuf content = {0};
    Status status = file_read_text(path, FILE_TEXT_BYTES, &content);
    if (status == STATUS_OK) status = bpe_read(bpe, strbuf_view(&content), path, default_marker);
    strbuf_free(&content);
    return status;
}

static bool has_codes(const TextOptions *options) { return options->bpe_codes && options->bpe_codes[0]; }

Status tokenizer_begin(Tokenizer **tokenizer, const TextOptions *options) {
    Bpe *bpe = NULL;
    *tokenizer = NULL;
    if (options->tokenizer == TOKENIZER_SENTENCEPIECE) {
        Status s = status_fail(STATUS_USAGE, "text.tokenizer = \"sentencepiece\" cannot be learned");
        return status_hint(
            s, "set text.tokenizer = \"unigram\" or \"bpe\", or start from a model that has it (--init)");
    }
    if (options->tokenizer == TOKENIZER_BPE) { /* the marker decides where text is split */
        BpeMarker marker = (BpeMarker)options->bpe_marker;
        if (has_codes(options))
            TRY(read_codes(&bpe, options->bpe_codes, marker));
        else
            bpe = bpe_new(marker);
    }
    Tokenizer *result = *tokenizer = tokenizer_new();
    result->kind = (TokenizerKind)options->tokenizer;
    result->normalize = (NormalForm)options->normalize;
    result->lowercase = options->lowercase;
    result->bpe = bpe;
    return STATUS_OK;
}

/* No pieces: the vocabulary is empty. */
static void learn_pieces(Tokenizer *tokenizer, const TextOptions *options, const HashMap *words,
                         ProgressLine *progress) {
    int most = options->unigram_pieces;
    if (options->max_vocab > 0 && options->max_vocab - VOCAB_SPECIALS < most)
        most = options->max_vocab - VOCAB_SPECIALS;
    SentencePiece *pieces = unigram_learn(words, most, options->min_count, progress);
    Vocab *vocab = vocab_new();
    for (int i = 0; pieces && i < sentencepiece_size(pieces); i++)
        if (sentencepiece_kind(pieces, i) == PIECE_NORMAL) vocab_add(vocab, sentencepiece_piece(pieces, i));
    if (pieces)
        tokenizer_set_pieces(tokenizer, pieces, vocab);
    else
        tokenizer->vocab = vocab;
}

Status tokenizer_finish(Tokenizer *tokenizer, const TextOptions *options, const HashMap *words,
                        ProgressLine *progress) {
    if (hashmap_count(words) == 0) return status_fail(STATUS_DATA, "no text to learn a vocabulary from");
    if (tokenizer->kind == TOKENIZER_WORD) {
        tokenizer->vocab = word_vocab(words, options);
        return STATUS_OK;
    }
    if (tokenizer->kind == TOKENIZER_UNIGRAM) {
        learn_pieces(tokenizer, options, words, progress);
        return STATUS_OK;
    }
    if (!has_codes(options)) {
        bpe_free(tokenizer->bpe);
        tokenizer->bpe =
            bpe_learn(words, (BpeMarker)options->bpe_marker, options->bpe_merges, RAREST_PAIR, progress);
    }
    tokenizer->vocab = bpe_vocab(tokenizer->bpe, words, options);
    return STATUS_OK;
}
