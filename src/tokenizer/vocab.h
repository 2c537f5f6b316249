/* vocab.h - tokens and their ids.
 *
 * Ids 0..3 are <pad> <unk> <s> </s>. The other tokens are ordered by count, descending, then by bytes.
 *
 * Owner   the vocabulary copies its tokens; the result of vocab_token is valid until the next vocab_add
 * Fails   reading: STATUS_DATA for anything but a list of distinct, non-empty strings; white space in them is
 *         an error unless the caller allows it
 */
#ifndef TOKENIZER_VOCAB_H
#define TOKENIZER_VOCAB_H

#include "io/json.h"
#include "base/status.h"
#include "base/strview.h"

enum { VOCAB_PAD, VOCAB_UNK, VOCAB_BOS, VOCAB_EOS, VOCAB_SPECIALS };
enum { VOCAB_TOKEN_BYTES = 1024 }; /* longer tokens are not learned, and an error when read */

typedef struct Vocab Vocab;

Vocab *vocab_new(void); /* the four special tokens */
void vocab_free(Vocab *vocab);
int vocab_size(const Vocab *vocab);
int vocab_add(Vocab *vocab, StrView token);      /* its id, new or existing */
int vocab_id(const Vocab *vocab, StrView token); /* VOCAB_UNK if unknown */
StrView vocab_token(const Vocab *vocab, int id);
/* The first id with different tokens, or that only one vocabulary has; -1 if they are equal. */
int vocab_difference(const Vocab *a, const Vocab *b);
void vocab_write_json(const Vocab *vocab, StrBuf *out); /* array of the tokens after the specials */
Status vocab_read_json(Vocab **vocab, const Json *array, bool with_spaces);
/* The same tokens as bytes: UTF-8, a NUL after each. More NULs may follow, fewer than 8. */
void vocab_write(const Vocab *vocab, StrBuf *out);
Status vocab_read(Vocab **vocab, StrView text, bool with_spaces);

#endif
