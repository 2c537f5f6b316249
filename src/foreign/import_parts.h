/* import_parts.h - what the readers of the families of models share: import_marian.c, import_hugging_face.c,
 * import_ctranslate2.c.
 *
 * A family reads its settings, tensors and vocabularies into an Import, says how its tensors are named, and
 * calls import_build.
 */
#ifndef FOREIGN_IMPORT_PARTS_H
#define FOREIGN_IMPORT_PARTS_H

#include "foreign/archive.h"
#include "foreign/import.h"
#include "foreign/tensors.h"
#include "io/json.h"

enum { NO_ROW = -1 };

/* One language: tokens by their foreign ids, and the row of each of our ids, or NO_ROW: zeros. */
typedef struct {
    StrList tokens;
    SentencePiece *pieces; /* until the tokenizer has it */
    Tokenizer *tokenizer;
    int *row;
} Side;

/* A tensor of a block. Of a matrix that several of ours are in, part `part` of `parts`. */
typedef struct {
    const char *ours, *theirs; /* what stands behind the block */
    int part, parts;           /* 0, 0: all of it */
} TensorName;

/* How a family names its tensors. */
typedef struct {
    const TensorName *names; /* the first row whose tensor is there counts; ended by a row of NULL */
    bool transposed;         /* the matrices are [output, input] */
    /* Append the full name; `half` is "encoder" or "decoder". */
    void (*block)(StrBuf *name, const char *half, int layer, const char *theirs);
    /* norm.gain, norm.bias and positions; false: the family has none */
    bool (*outside)(StrBuf *name, const char *half, const char *ours);
} NamingScheme;

typedef struct {
    const ForeignArchive *archive;
    const NamingScheme *naming;
    ForeignTensors tensors;
    Side source, target;
    bool one_vocabulary;
    int start_row;         /* of the decoder's first input */
    bool start_in_softmax; /* <s> is a token of the model's own */
    bool pad_in_softmax;
    ForeignTensor *source_table, *target_table, *output_table, *output_bias;
    bool transposed_output;
    StrBuf model_options, decode_options; /* members of JSON objects */
    char source_language[32], target_language[32];
    Json *config; /* config.json, or NULL */
    int width;
    ForeignModel *result;
} Import;

/* ---- import.c: files and settings ---- */

/* STATUS_DATA, with the hint where the supported models are listed. */
Status import_hint_supported(void);
/* STATUS_DATA: "its WHAT is 'VALUE', which attn-mt does not support", with this hint. */
Status import_refuse(const char *what, StrView value);
/* STATUS_DATA: its text is cut by subword-nmt. */
Status import_refuse_codes(void);
/* The first file whose name begins with `start` and ends with `end`. */
bool import_has_file(const Import *im, const char *start, const char *end);
Status import_read_file(const Import *im, const char *start, const char *end, StrBuf *content);
Status import_read_json(const Import *im, const char *name, Json **root); /* NULL: no such file */
/* Of config.json. */
double import_setting_number(const Import *im, const char *key, double missing);
StrView import_setting_text(const Import *im, const char *key, const char *missing);
void import_take_language(const Json *object, const char *key, char language[32]);

/* ---- import_build.c: options, tokenizers and parameters ---- */

typedef struct {
    int width, heads, feed_forward, decoder_feed_forward, encoder_layers, decoder_layers;
    const char *activation, *positions, *norm;
    double epsilon, multiplier;
    bool ssru, source_eos;
    int max_positions;
} ImportSizes;

typedef struct {
    const char *unknown, *end, *pad, *start; /* start: NULL if there is none */
} SpecialNames;

/* Members of `model_options` and of `decode_options`. */
void import_put_sizes(Import *im, const ImportSizes *sizes);
void import_put_search(Import *im, const char *program, int beam, double length_penalty, bool allow_unk,
                       double factor, int extra);
Status import_read_tokens(const Import *im, const char *start, const char *end,
                          Status (*read)(StrList *, StrView), StrList *tokens);
/* Tokenizers of both sides from their tokens and the two SentencePiece models. */
Status import_make_tokenizers(Import *im, SpecialNames names, const StrBuf spm[2]);
ForeignTensor *import_first_of(const Import *im, const char *a, const char *b); /* or NULL */
/* The model as ours, from all that was found out. */
Status import_build(Import *im);

/* ---- the families ---- */

Status import_hugging_face(Import *im);
Status import_marian(Import *im, bool npz);
Status import_ctranslate2(Import *im, const char *const sentencepiece[2]);

#endif
