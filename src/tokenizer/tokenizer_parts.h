/* tokenizer_parts.h - private to tokenizer*.c. */
#ifndef TOKENIZER_TOKENIZER_PARTS_H
#define TOKENIZER_TOKENIZER_PARTS_H

#include "base/hashmap.h"
#include "base/unicode.h"
#include "tokenizer/bpe.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/pretokenize.h"

struct Tokenizer {
    int references;
    TokenizerKind kind;
    NormalForm normalize;
    bool lowercase;
    Vocab *vocab;
    IdList roles[TOKENIZER_ROLES];
    Bpe *bpe;              /* or NULL */
    SentencePiece *pieces; /* or NULL */
    int *piece_ids;        /* [pieces] the id of each piece in the vocabulary */
    bool is_view;          /* vocabulary, roles, `pieces` and `piece_ids` belong to another tokenizer */

    /* Cache of pre-tokens: `cached` maps to a position in `pool`, with the number of ids and then the ids. */
    HashMap *cached;
    IdList pool;
    StrBuf repaired, normal; /* scratch */
    SentencePieceText text;  /* scratch */
    StrBuf runs;             /* scratch */
};

Tokenizer *tokenizer_new(void); /* zeroed, with one reference */

/* Repairs, normalizes and splits a line; `sink` gets pre-tokens (with markers) or words. */
void tokenizer_pretokenize(Tokenizer *tokenizer, StrView line, TokenSink sink, void *context);

/* tokenizer_encode_spelled, tokenizer_decode_spelled and parts of the JSON of
 * TOKENIZER_SENTENCEPIECE and TOKENIZER_UNIGRAM. */
void tokenizer_encode_pieces(Tokenizer *tokenizer, StrView line, IdList *ids, StrList *unknown);
void tokenizer_sample_pieces(Tokenizer *tokenizer, StrView line, double alpha, Rng *rng, IdList *ids);
/* Takes both. */
void tokenizer_set_pieces(Tokenizer *tokenizer, SentencePiece *pieces, Vocab *vocab);
void tokenizer_encode_pieces_after_text(Tokenizer *tokenizer, StrView text,
                                        IdList *ids); /* tokenizer_encode_after_text */
void tokenizer_decode_pieces(const Tokenizer *tokenizer, const int *ids, size_t count, const StrList *unknown,
                             StrBuf *line);
void tokenizer_write_pieces(const Tokenizer *tokenizer, StrBuf *out);
Status tokenizer_read_pieces(SentencePiece **pieces, StrView base64);

/* Is this text the spelling of a special token? Such text never gets the id of that token. */
bool tokenizer_is_special(StrView token);

#endif
