/* marked_chunks.h - chunks of lines with markup in the search: what models read of them, which of their
 * hypotheses agree with them, and the text that is written.
 *
 * Owner   a zeroed MarkedChunk is one without markup; marked_chunk_free releases it
 */
#ifndef POSTPROCESS_MARKED_CHUNKS_H
#define POSTPROCESS_MARKED_CHUNKS_H

#include "search/search.h"
#include "text/marked_text.h"

typedef struct {
    bool is_marked; /* false: a chunk of text without markup */
    bool in_place;  /* models read it with its placeholders; otherwise without */
    MarkedText text;
    StrBuf reserved;              /* its text with reserved tokens, which models read first; empty: none */
    PlaceholderList placeholders; /* that these stand for */
    StrBuf *outputs;              /* [output_count] texts of the hypotheses that agree, in their order */
    int output_count;
} MarkedChunk;

/* `text`: moves into the chunk. The chunk is read with reserved tokens (tokenizer/reserved_tokens.h) if all
 * models have them, and in place if all models can spell all of its marks. */
void marked_chunk_make(MarkedChunk *chunk, MarkedText text, const Seq2Seq *const *models, int count);
void marked_chunk_free(MarkedChunk *chunk);
StrView marked_chunk_text(const MarkedChunk *chunk); /* what models read */
/* From now on models read the chunk in place or plain. */
void marked_chunk_leave_reserved(MarkedChunk *chunk);
/* Keeps the first `most` hypotheses that agree with the chunk, which is not read plain, and their outputs.
 * Returns whether there are any; if not, the list stays as it is. `unknown`: texts of the <unk>s of a
 * prefix. */
bool marked_chunk_take(MarkedChunk *chunk, HypothesisList *hypotheses, int most, const Tokenizer *target,
                       const StrList *unknown);
/* Adds phrases for the placeholders, at the positions of `source`, the tokens of the first model; false if
 * there are none, or too many. */
bool marked_chunk_constrain(const MarkedChunk *chunk, Constraints *constraints, const Seq2Seq *model,
                            Tokens source);
/* Replaces outputs that could form placeholders with the text beside the chunk (markup_is_open) by the
 * source. */
void marked_chunk_close(MarkedChunk *chunk);
/* Makes the outputs of all hypotheses of the text without its marks; `sources` [models] are its tokens. */
void marked_chunk_restore(MarkedChunk *chunk, const Seq2Seq *model, const Tokens *sources, int models,
                          const HypothesisList *hypotheses, const DecodeOptions *options,
                          const StrList *unknown);

#endif
