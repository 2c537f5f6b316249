/* model_text.h - the tensors of a model file that are no parameters: the pieces and the vocabularies of
 * tokenizers that are models of SentencePiece, and a shortlist.
 *
 * As JSON in the header they would take longer to read than all weights. They stand before the weights,
 * because the sizes of the weights follow from them. A part that a model does not have is empty. The last one
 * may end in zeros, fewer than 8 bytes, so that the weights are aligned.
 *
 * Owner   free with model_text_free
 */
#ifndef MODELS_MODEL_TEXT_H
#define MODELS_MODEL_TEXT_H

#include "models/safetensors.h"
#include "models/seq2seq.h"

/* Names of tensors; in the order of a file. */
typedef enum {
    TEXT_SHORTLIST_LENGTHS, /* shortlist.h */
    TEXT_SHORTLIST_TOKENS,
    TEXT_SOURCE_PIECES, /* a file of SentencePiece */
    TEXT_TARGET_PIECES,
    TEXT_SOURCE_VOCAB, /* vocab_write; that of the target is empty if both are the same */
    TEXT_TARGET_VOCAB,
    TEXT_PARTS
} TextPart;

typedef struct {
    StrBuf json[2]; /* the rest of source and target tokenizer; the second is empty if both are one */
    StrBuf parts[TEXT_PARTS];
    bool wide; /* the shortlist has numbers of 4 bytes, else of 2 */
} ModelText;

/* Everything that is not a parameter. */
void model_text_write(ModelText *text, const Seq2Seq *model);
/* The tensors of a text, at most TEXT_PARTS; their data belong to `text`. */
size_t model_text_tensors(const ModelText *text, SafeTensor *tensors);
/* Reads the parts at the start of a file of which only the header was read; `json` stays empty. *count is
 * their number. STATUS_DATA for a tensor of another type. */
Status model_text_read(ModelText *text, SafeFile *file, size_t *count);
void model_text_free(ModelText *text);
/* Is this the name of one of the tensors? */
bool model_text_has(const char *name);

#endif
