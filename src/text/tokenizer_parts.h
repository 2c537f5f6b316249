/* tokenizer_parts.h - private to tokenizer.c and tokenizer_learn.c. */
#ifndef TEXT_TOKENIZER_PARTS_H
#define TEXT_TOKENIZER_PARTS_H

#include "base/hashmap.h"
#include "base/unicode.h"
#include "text/bpe.h"
#include "text/tokenizer.h"
#include "text/pretokenize.h"

struct Tokenizer {
    int references;
    TokenizerKind kind;
    NormalForm normalize;
    bool lowercase;
    Vocab *vocab;
    IdList roles[TOKENIZER_ROLES];
    Bpe *bpe;     /* NULL for TOKENIZER_WORD */
    bool is_view; /* vocabulary and roles belong to another tokenizer */

    /* Cache of pre-tokens: `cached` maps to a position in `pool`, with the number of ids and then the ids. */
    HashMap *cached;
    IdList pool;
    StrBuf repaired, normal; /* scratch */
};

Tokenizer *tokenizer_new(void); /* zeroed, with one reference */

/* Repairs, normalizes and splits a line; `sink` gets pre-tokens (with markers) or words. */
void tokenizer_cut(Tokenizer *tokenizer, StrView line, TokenSink sink, void *context);

/* Is this text the spelling of a special token? Such text never gets the id of that token. */
bool tokenizer_is_special(StrView token);

#endif
