/* modelfile.h - a model in one .safetensors file: weights under readable names, everything else in the
 * metadata.
 *
 * Metadata  format "attn-mt", format_version, config (JSON), source and target (tokenizers as JSON;
 *           no target if they are one), provenance (JSON), precision of quantized weights
 *           (autograd/quantize.h), and the digests of safetensors.h
 * Tensors   shortlist, and pieces and vocabularies of SentencePiece (model_text.h); then the weights
 * Fails     STATUS_DATA for a file that is not a sound model: reason and path; STATUS_RUNTIME for I/O
 */
#ifndef MODELS_MODELFILE_H
#define MODELS_MODELFILE_H

#include <sys/stat.h>
#include "models/seq2seq.h"

/* `weights` is a block of the model's layout (the average of weights, for instance); `provenance` a JSON
 * object as text: update, epoch, scores, program version, data digest. */
Status modelfile_save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path);
/* Write quantized weights, bf16 or int8, of a model that modelfile_load_exact loaded. */
Status modelfile_save_quantized(const Seq2Seq *model, WeightFormat precision, const char *provenance,
                                const char *path);
/* int8 of weights that were bytes before, with one scale a matrix: scales [parameters], 0 for those that
 * get a scale for each
 * output. So the bytes are the same again. */
Status modelfile_save_bytes(const Seq2Seq *model, const real *scales, const char *provenance,
                            const char *path);
/* Would modelfile_save write this model, and modelfile_load accept the file? Nothing is written. */
Status modelfile_check(const Seq2Seq *model, const char *provenance, const char *path);

/* Load for translation: weights are packed (params_allocate_packed). A file of quantized weights keeps its
 * own format, whatever `format` is. Without `shortlist` the model has none, and that of the file is not read.
 * The JSON text of the provenance is appended to `provenance`, which may be NULL; the same holds below. */
Status modelfile_load(Seq2Seq **model, const char *path, WeightFormat format, bool shortlist,
                      StrBuf *provenance);
/* All weights as floats in one block, nothing packed; quantized weights are dequantized. */
Status modelfile_load_floats(Seq2Seq **model, const char *path, StrBuf *provenance);
/* The same for training and averaging: STATUS_DATA for a file of quantized weights. */
Status modelfile_load_exact(Seq2Seq **model, const char *path, StrBuf *provenance);
/* Append the names of the languages in a provenance. Returns false, and appends nothing, if it has none. */
bool modelfile_languages(StrView provenance, StrBuf *source, StrBuf *target);
/* Did the training pairs of that provenance translate lines without letters (data/corpus.h)? */
bool modelfile_translates_symbols(StrView provenance);
/* What the header of a model file says of the model. */
typedef struct {
    char *source;                /* name of the source language; "" if unknown */
    StrList targets;             /* names of the target languages; empty if unknown */
    bool chooses_target;         /* a source names one of `targets` by a token (TOKENIZER_LANGUAGES) */
    char *program;               /* the program that the model comes from: "attn-mt", "Argos Translate" */
    char *source_sha256;         /* digest of the foreign model that it was made from; "" if there is none */
    const char *precision;       /* of modelfile_precision */
    long long parameters, bytes; /* bytes: of the file */
    struct stat file;            /* when it was read */
} ModelInfo;

/* Reads the header, with its checksum, and checks everything but vocabularies and weights. */
Status modelfile_read_info(ModelInfo *info, const char *path);
void model_info_free(ModelInfo *info);
/* Writes a copy of a model file whose provenance names these languages; empty: those of the model. */
Status modelfile_copy(const char *path, StrView source, StrView target, const char *output);

/* Is it the same file, not changed or replaced? */
bool modelfile_same(const struct stat *a, const struct stat *b);

/* "float32", "bf16" or "int8": the precision of the weights that the model translates with. */
const char *modelfile_precision(const Seq2Seq *model);

#endif
