/* tokenizer_parts.h - what tokenizer.c and tokenizer_learn.c share; for nobody else. */
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
    Bpe *bpe;     /* NULL for TOKENIZER_WORD */
    bool is_view; /* the vocabulary is another one's */

    /* Cache of pre-tokens: `known` maps to a position in `pool`, where a count stands and then the ids. */
    HashMap *known;
    IdList pool;
    StrBuf repaired, normal; /* scratch */
};

Tokenizer *tokenizer_new(void); /* nothing but zeros and one reference */

/* Repair, normalize and cut one line; `sink` gets pre-tokens (with markers) or words. */
void tokenizer_cut(Tokenizer *tokenizer, StrView line, TokenSink sink, void *context);

/* Is this text the spelling of a special token? Such text is never given the id of that token. */
bool tokenizer_is_special(StrView token);

#endif
