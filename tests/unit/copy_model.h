/* copy_model.h - a model with weights set by hand, which copies its source or translates it word for word.
 * Tests of the code around a model say with it exactly what comes out, whatever training would do.
 *
 *   attention  one source token at a time, with a weight of 1: the one after the token that it attended to
 *              before. The previous target token leads it back: the source token after the one that this
 *              token translates is preferred. Of several it is the nearest, where a step to the left counts
 *              as ten to the right. So the model continues after a prefix or a term of a glossary
 *   output     the attended token, or its translation, with probability 0.98. All other tokens are equally
 *              unlikely
 *   end        </s> translates </s>
 *
 * It is an ordinary Seq2Seq: a convolution as encoder, a GRU with Luong's attention and input feeding as
 * decoder, and one vocabulary of both languages. Words in `words` and `translations` are one token each.
 * Printable ASCII is spelled a character at a time, so `%s` may be two tokens; other characters are <unk>
 * unless they are in these words.
 */
#ifndef COPY_MODEL_H
#define COPY_MODEL_H

#include "models/seq2seq.h"

/* A model that handles one placeholder badly. */
typedef enum {
    COPY_SOUND,
    COPY_SECOND, /* the best hypothesis lacks the placeholder, the second one has it */
    COPY_NEVER   /* no hypothesis has it unless the search forces its first token; then the rest follows */
} CopyMistake;

typedef struct {
    const char *words;        /* with spaces between them, or NULL */
    const char *translations; /* "dog=chien cat=chat": one source word and one target word each, or NULL */
    /* Words of the target that no source word has as its best translation, with the source word that they
     * translate: "dog=toutou hot_dog=saucisse". The model attends to the source word after it when it has
     * written one. NULL: none. A phrase of the source has "_" for its spaces. */
    const char *synonyms;
    CopyMistake mistake;
    const char *placeholder; /* that `mistake` is about: "{0}", with a space before it in the source */
} CopyModelOptions;

/* Sources of up to 127 tokens. Release with seq2seq_free. */
Seq2Seq *copy_model_new(const CopyModelOptions *options);

#endif
