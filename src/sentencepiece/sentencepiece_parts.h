/* sentencepiece_parts.h - private to sentencepiece*.c. */
#ifndef SENTENCEPIECE_SENTENCEPIECE_PARTS_H
#define SENTENCEPIECE_SENTENCEPIECE_PARTS_H

#include "base/hashmap.h"
#include "sentencepiece/charsmap.h"
#include "sentencepiece/piece_trie.h"
#include "sentencepiece/sentencepiece.h"

#define PIECE_SPACE "\xE2\x96\x81" /* U+2581 */

typedef struct {
    StrView text; /* in `file` of the model */
    float score;
    PieceKind kind;
} ModelPiece;

typedef struct {
    Charsmap *map;              /* or NULL */
    bool dummy_prefix;          /* one space at the beginning */
    bool remove_spaces;         /* at both ends, and all but one between words */
    bool escape_spaces;         /* write them as U+2581 */
    bool space_is_suffix;       /* the dummy is at the end */
    const PieceTrie *user_trie; /* user-defined pieces, which stay as they are, or NULL */
} Normalizer;

struct SentencePiece {
    StrBuf file;
    ModelPiece *pieces;
    size_t count, capacity;
    bool unigram, bytes;
    char *unknown_surface; /* the text of <unk> */
    Normalizer normalizer, denormalizer;
    int unknown;
    int byte_ids[256];           /* if `bytes` */
    float min_score;             /* score of normal pieces */
    PieceTrie *trie, *user_trie; /* normal, user-defined and unused pieces; user-defined ones, or NULL */
    HashMap *reserved;           /* the other pieces */
};

/* Clears the normal form and the origins of `result`, and writes them. */
void sentencepiece_normalize(const Normalizer *normalizer, StrView line, SentencePieceText *result);
/* Frees `scratch`, which may be NULL. */
void sentencepiece_scratch_free(struct SentencePieceScratch *scratch);
/* Bytes of the character that starts with `lead`, in well-formed text. */
static inline size_t character_bytes(char lead) {
    unsigned char c = (unsigned char)lead;
    return c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

#endif
