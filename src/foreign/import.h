/* import.h - models of other programs, read into ours: OPUS-MT of Hugging Face and Marian, Firefox, Argos,
 * CTranslate2.
 *
 * The content decides what it is, not names: config.json with model_type "marian", a model.bin of
 * CTranslate2, an .npz or .bin
 * of Marian. How the tensors become ours: docs/model-format.md, "Models of other programs".
 *
 * Fails   STATUS_DATA for what is damaged, STATUS_DATA with the name of what is not read (an architecture,
 *         a setting, a
 *         tensor): nothing is passed over that could change a translation
 */
#ifndef FOREIGN_IMPORT_H
#define FOREIGN_IMPORT_H

#include "models/seq2seq.h"

typedef struct {
    Seq2Seq *model;    /* its parameters are floats in one block */
    bool has_bytes;    /* the file has weights of 8 bits */
    real *scales;      /* [parameters] of bytes with one scale a matrix; 0: a scale for each column */
    StrBuf provenance; /* JSON: program, source_sha256, languages, licence */
    const char *program;
} ForeignModel;

/* Can `path` be a model of another program: a folder, a zip or a tar? */
bool foreign_is_archive(const char *path);
/* `sentencepiece`: the SentencePiece models of source and target for folders of CTranslate2 that have
 * none, or NULL; without
 * the second the first is for both. */
Status foreign_import(ForeignModel *result, const char *path, const char *const sentencepiece[2]);
void foreign_model_free(ForeignModel *result);

#endif
