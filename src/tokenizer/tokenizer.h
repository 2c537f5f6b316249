/* tokenizer.h - from a line of raw text to token ids and back, for one language of a model.
 *
 * encode: repair UTF-8 -> normal form, case -> pre-tokens (pretokenize.h) -> ids.  decode is its inverse.
 *   word  as in the textbook: no-break spaces become spaces, lower case by option, a space is inserted before
 *         , . ! ? and text is split at spaces; words seen less than min_count times are <unk>; decode joins
 *         them
 *   bpe   text is split into runs of letters, digits, and other characters (BPE_PREFIX; a run after a space
 *         has the marker) or at spaces (BPE_SUFFIX); merges make pieces of these; decode is exact
 *   unigram  runs as in bpe, with the marker of BPE_PREFIX; the most probable pieces of a unigram
 *         model, which
 *         is learned here and has the format of SentencePiece's
 *   sentencepiece  a model of SentencePiece (sentencepiece.h) normalizes and splits the line, and decodes.
 *         Only models that others have trained have it: it is not learned here
 *
 * Exact   bpe: decode(encode(x)) is x in its normal form, with one space between words and none at the ends.
 *         No-break spaces stay. U+2581 becomes "_" (BPE_PREFIX). Characters seen less than min_count times in
 *         learning are <unk>. A piece outside the vocabulary is split again, so that only single characters
 *         can be <unk>. Text such as "<unk>" or "</s>" never gets the id of that token
 * Owner   reference counted (tokenizer_retain, tokenizer_free): a joint vocabulary is one object for both
 *         sides
 * Threads encoding uses a cache: one thread at a time per tokenizer, others take views; decoding is read-only
 */
#ifndef TOKENIZER_TOKENIZER_H
#define TOKENIZER_TOKENIZER_H

#include "base/hashmap.h"
#include "io/json.h"
#include "base/progress_line.h"
#include "io/options.h"
#include "base/rng.h"
#include "base/status.h"
#include "sentencepiece/sentencepiece.h"
#include "tokenizer/vocab.h"

typedef enum { TOKENIZER_BPE, TOKENIZER_WORD, TOKENIZER_SENTENCEPIECE, TOKENIZER_UNIGRAM } TokenizerKind;
#define TOKENIZER_CHOICES "bpe|word|sentencepiece|unigram"

typedef struct {
    int tokenizer; /* TokenizerKind */
    int normalize; /* NormalForm */
    bool lowercase;
    int bpe_merges;     /* merges to learn (per side, or for both together if joint) */
    int bpe_marker;     /* BpeMarker */
    int unigram_pieces; /* pieces to learn */
    bool joint;         /* one vocabulary and one merge list for both languages */
    int min_count;      /* rarer words become <unk>; rarer pieces are split further */
    int max_vocab;      /* tokens, including the four special ones; 0 = no limit */
    char *bpe_codes;    /* read merges from this file instead of learning them, or NULL */
    bool all_pieces; /* pieces that are always merged further are in the vocabulary, too: for BPE-dropout */
    bool reserved;   /* the vocabulary has reserved tokens (reserved_tokens.h); only of bpe */
} TextOptions;

typedef struct {
    int *ids;
    size_t count, capacity;
} IdList;
void id_list_add(IdList *list, int id);
void id_list_free(IdList *list);

typedef struct Tokenizer Tokenizer;

/* Learns merges and vocabulary in three steps: begin; count the words of each line; finish. Before `finish`,
 * a tokenizer and its views can only count. */
Status tokenizer_begin(Tokenizer **tokenizer, const TextOptions *options);
void tokenizer_count(Tokenizer *tokenizer, StrView line, HashMap *words);
/* Words may be in any order; STATUS_DATA if there are none. `progress` of the merges may be NULL. */
Status tokenizer_finish(Tokenizer *tokenizer, const TextOptions *options, const HashMap *words,
                        ProgressLine *progress);
/* A tokenizer that splits text by `model` and takes the ids of the pieces from `vocab`, which may have more
 * tokens and lack some pieces: these become <unk>. Takes both. */
Tokenizer *tokenizer_from_sentencepiece(SentencePiece *model, Vocab *vocab);
Tokenizer *tokenizer_retain(Tokenizer *tokenizer);
void tokenizer_free(Tokenizer *tokenizer);
/* The same tokenizer with a cache of its own; `tokenizer` outlives it. */
Tokenizer *tokenizer_view(const Tokenizer *tokenizer);

const Vocab *tokenizer_vocab(const Tokenizer *tokenizer);
/* Does the vocabulary have tokens for placeholders (reserved_tokens.h)? */
bool tokenizer_has_reserved(const Tokenizer *tokenizer);
bool tokenizer_has_subwords(const Tokenizer *tokenizer);

/* Tokens with a role, which are stored with the tokenizer. A language is a token such as ">>fra<<" that
 * stands first in a source and says what language to write: encoding a text that begins with these characters
 * gives this token first. A banned token is never written, though a model gives it a probability. */
typedef enum { TOKENIZER_LANGUAGES, TOKENIZER_BANNED, TOKENIZER_ROLES } TokenRole;
Status tokenizer_set_role(Tokenizer *tokenizer, TokenRole role, StrView token); /* STATUS_DATA if unknown */
const IdList *tokenizer_role(const Tokenizer *tokenizer, TokenRole role);
/* The language token with this text, or with ">>name<<"; -1: none. */
int tokenizer_language(const Tokenizer *tokenizer, StrView name);
/* The language token that a text begins with, or -1. */
int tokenizer_leading_language(const Tokenizer *tokenizer, StrView text);
/* Does the last piece of a word have a marker (BPE_SUFFIX, or SentencePiece's white space as suffix)? <unk>
 * never has one. */
bool tokenizer_marks_ends(const Tokenizer *tokenizer);
void tokenizer_encode(Tokenizer *tokenizer, StrView line, IdList *ids); /* appends; no <s> or </s> */
/* The tokens of text that directly follows other characters, as tokenizer_encode cuts it there. */
void tokenizer_encode_after_text(Tokenizer *tokenizer, StrView text, IdList *ids);
/* tokenizer_encode with other pieces each time. `rate`: the probability of BPE-dropout (bpe.h), or the
 * alpha of
 * a unigram model (sentencepiece.h); 0, and tokenizers without such pieces: tokenizer_encode. */
void tokenizer_encode_sampled(Tokenizer *tokenizer, StrView line, double rate, Rng *rng, IdList *ids);
bool tokenizer_has_unigrams(const Tokenizer *tokenizer);
void tokenizer_decode(const Tokenizer *tokenizer, const int *ids, size_t count,
                      StrBuf *line); /* stops at </s> */
/* The same with the texts of <unk>: encoding appends the text of each VOCAB_UNK (in normal form, with
 * markers) to `unknown`; decoding inserts them in this order, and "<unk>" (SentencePiece: the model's text of
 * the unknown piece) after the last. `unknown` may be NULL. */
void tokenizer_encode_spelled(Tokenizer *tokenizer, StrView line, IdList *ids, StrList *unknown);
void tokenizer_decode_spelled(const Tokenizer *tokenizer, const int *ids, size_t count,
                              const StrList *unknown, StrBuf *line);
/* Advances `unknown`, a view of a list, past the texts of the <unk>s in `ids`. */
void unknown_skip(StrList *unknown, const int *ids, int count);
/* The words (between spaces) of pieces: word[i] [count] is the number of the word of ids[i], from 0; returns
 * the number of words. </s> is a word of its own. */
int tokenizer_words(const Tokenizer *tokenizer, const int *ids, size_t count, int *word);
/* The token of the vocabulary, with markers and no-break spaces; control characters become U+FFFD, and
 * reserved tokens <0>, <1> and so on. */
void tokenizer_label(const Tokenizer *tokenizer, int id, StrBuf *label);
void tokenizer_label_unknown(const char *unknown, StrBuf *label);

/* The whole tokenizer, with its merges, as a JSON object. */
void tokenizer_write_json(const Tokenizer *tokenizer, StrBuf *out);
Status tokenizer_read_json(Tokenizer **tokenizer, StrView text);
/* The same in parts, which are read faster: of a tokenizer with a model of SentencePiece `json` lacks "model"
 * and "vocab"; `model` is the file, `vocab` the tokens (vocab_write). Of others `json` has everything.
 * Reading is in two steps, so that another thread can do the second one: before that, a tokenizer with a
 * model knows only its vocabulary and its roles. */
void tokenizer_write(const Tokenizer *tokenizer, StrBuf *json, StrBuf *model, StrBuf *vocab);
Status tokenizer_read(Tokenizer **tokenizer, StrView json, StrView vocab); /* vocab: empty if json has it */
Status tokenizer_read_model(Tokenizer *tokenizer, StrView model);
/* The merge list in subword-nmt's format; false for other kinds than bpe. */
bool tokenizer_write_codes(const Tokenizer *tokenizer, StrBuf *out);

#endif
