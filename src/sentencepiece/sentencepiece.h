/* sentencepiece.h - models of SentencePiece: text to pieces and back, as the original library does it.
 * Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer"
 * Kudo 2018, "Subword Regularization" (unigram); Sennrich, Haddow and Birch 2016 (BPE)
 *
 *   encode   line -> normalized text (character map, white space, U+2581) -> pieces
 *   decode   pieces -> line
 *
 * A model file is a protobuf message: the pieces with their scores, the kind of the model (unigram or bpe),
 * and the rules of normalization. Models of the kinds word and char are refused.
 *
 * Exact   pieces, ids, byte ranges and decoded text are those of the original library (0.2), for any bytes
 * Owner   the caller frees with sentencepiece_free
 * Threads a model is read-only: any number of threads, each with a SentencePieceText of its own
 * Fails   reading: STATUS_DATA with the name of the file. Nothing fails afterwards
 */
#ifndef SENTENCEPIECE_SENTENCEPIECE_H
#define SENTENCEPIECE_SENTENCEPIECE_H

#include "base/rng.h"
#include "base/status.h"
#include "base/strview.h"

typedef struct SentencePiece SentencePiece;

/* The numbers are those of the file. */
typedef enum {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,      /* one per model */
    PIECE_CONTROL,      /* such as <s>: never found in text, and empty text when decoded */
    PIECE_USER_DEFINED, /* always found as a whole */
    PIECE_UNUSED,       /* in the file, but not used */
    PIECE_BYTE,         /* <0x00> to <0xFF>: the bytes of a character that no piece has */
} PieceKind;

enum {
    SENTENCEPIECE_PIECES = 1 << 20,      /* more are refused */
    SENTENCEPIECE_PIECE_BYTES = 1024,    /* longer pieces are refused */
    SENTENCEPIECE_FILE_BYTES = 64 << 20, /* larger files are refused */
};

/* `name` of the file is for messages. */
Status sentencepiece_read(SentencePiece **model, StrView file, const char *name);
/* A unigram model without a character map: `texts` [count], distinct, not empty and UTF-8, with `scores`,
 * are the ids from 3 on. */
SentencePiece *sentencepiece_new_unigram(const StrView *texts, const float *scores, size_t count);
void sentencepiece_free(SentencePiece *model);
/* Appends a file with all that sentencepiece_read uses; the same bytes for the same model. */
void sentencepiece_write(const SentencePiece *model, StrBuf *file);

int sentencepiece_size(const SentencePiece *model);               /* pieces */
StrView sentencepiece_piece(const SentencePiece *model, int id);  /* 0 <= id < size */
PieceKind sentencepiece_kind(const SentencePiece *model, int id); /* 0 <= id < size */
int sentencepiece_id(const SentencePiece *model, StrView piece);  /* the id of <unk> if there is none */
bool sentencepiece_space_is_suffix(const SentencePiece *model);   /* U+2581 ends words, else begins them */
int sentencepiece_unknown(const SentencePiece *model);            /* the id of <unk> */
bool sentencepiece_is_unigram(const SentencePiece *model);        /* else BPE */
bool sentencepiece_has_bytes(const SentencePiece *model);         /* no text becomes <unk> */

typedef struct {
    int id;
    StrView text;      /* the piece; for <unk> the normalized text that it stands for */
    size_t begin, end; /* bytes of the line. Of the bytes of a character, only the last has them */
} EncodedPiece;

/* The result of sentencepiece_encode, which clears it first. Zeroed is empty. */
typedef struct {
    EncodedPiece *pieces; /* the texts are views into `normal` or into the model */
    size_t count;
    StrBuf normal;  /* the normalized text */
    size_t *origin; /* [normal.length + 1] the byte of the line that a byte of `normal` is from */
    struct SentencePieceScratch *scratch;
    size_t capacity, origin_capacity;
} SentencePieceText;

void sentencepiece_encode(const SentencePiece *model, StrView line, SentencePieceText *result);
/* The same for text that directly follows other text: no dummy space begins it. */
void sentencepiece_encode_after_text(const SentencePiece *model, StrView text, SentencePieceText *result);
/* Draws one of all ways to cut the line, with probabilities in proportion to those of the unigram
 * model to the
 * power of `alpha` > 0: the smaller, the more varied. Only for unigram models. Kudo 2018, "Subword
 * regularization", section 3.3 */
void sentencepiece_sample(const SentencePiece *model, StrView line, double alpha, Rng *rng,
                          SentencePieceText *result);
void sentencepiece_text_free(SentencePieceText *text);

/* Appends the text of `pieces`. A piece that the model does not have is appended as it is; <unk> becomes
 * " U+2047 ", or what the model has for it. */
void sentencepiece_decode(const SentencePiece *model, const StrView *pieces, size_t count, StrBuf *line);
/* The same with ids, 0 <= id < size. */
void sentencepiece_decode_ids(const SentencePiece *model, const int *ids, size_t count, StrBuf *line);

#endif
