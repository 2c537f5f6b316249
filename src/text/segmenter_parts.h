/* segmenter_parts.h - what segmenter.c and segmenter_learn.c share; for nobody else. */
#ifndef TEXT_SEGMENTER_PARTS_H
#define TEXT_SEGMENTER_PARTS_H

#include "base/hashmap.h"
#include "base/unicode.h"
#include "text/bpe.h"
#include "text/segmenter.h"
#include "text/tokenize.h"

struct Segmenter {
    int references;
    TokenizerKind tokenizer;
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

Segmenter *segmenter_new(void); /* nothing but zeros and one reference */

/* Repair, normalize and cut one line; `sink` gets pre-tokens (with markers) or words. */
void segmenter_cut(Segmenter *segmenter, StrView line, TokenSink sink, void *context);

/* Is this text the spelling of a special token? Such text is never given the id of that token. */
bool segmenter_is_special(StrView token);

#endif
