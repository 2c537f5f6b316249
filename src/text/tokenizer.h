/* tokenizer.h - from a line of raw text to token ids, and back: one language's side of a model.
 *
 * encode: repair UTF-8 -> normal form, case -> tokenizer (pretokenize.h) -> ids.  decode is its inverse.
 *   word  the textbook's: no-break spaces become spaces, lower case by option, a space before , . ! ? when
 *         none is there, split at spaces; words seen less than min_count times are <unk>; decode joins them
 *   bpe   text is cut into runs of letters, digits, and other characters (BPE_PREFIX; a run after a space
 *         carries the marker) or at spaces (BPE_SUFFIX); merges make pieces of these; decode is exact
 *
 * Exact   bpe: decode(encode(x)) is x in its normal form, where white space counts as one space between words
 *         (none at the ends), no-break spaces are kept, U+2581 becomes "_" (BPE_PREFIX), and characters that
 *         were not seen often enough in learning are <unk>. A piece that is not in the vocabulary is taken
 *         apart again, so nothing but single characters can be <unk>. Text that spells "<unk>", "</s>" ...
 *         never gets the id of that token
 * Owner   with a joint vocabulary both sides are the same object: use tokenizer_retain / tokenizer_free
 * Threads encoding uses a cache: one thread at a time per tokenizer, others take views; decoding is read-only
 */
#ifndef TEXT_TOKENIZER_H
#define TEXT_TOKENIZER_H

#include "base/hashmap.h"
#include "base/json.h"
#include "base/progress_line.h"
#include "base/options.h"
#include "base/rng.h"
#include "base/status.h"
#include "text/vocab.h"

typedef enum { TOKENIZER_BPE, TOKENIZER_WORD } TokenizerKind;
#define TOKENIZER_CHOICES "bpe|word"

typedef struct {
    int tokenizer; /* TokenizerKind */
    int normalize; /* NormalForm */
    bool lowercase;
    int bpe_merges;  /* merges to learn (per side, or for both together if joint) */
    int bpe_marker;  /* BpeMarker */
    bool joint;      /* one vocabulary and one merge list for both languages */
    int min_count;   /* words seen less often become <unk>; pieces seen less often are split further */
    int max_vocab;   /* with the four special tokens; 0 = no limit */
    char *bpe_codes; /* read merges from this file instead of learning them, or NULL */
    bool keep_parts; /* pieces that are always merged further are in the vocabulary too: for BPE-dropout */
} TextOptions;

typedef struct {
    int *ids;
    size_t count, capacity;
} IdList;
void id_list_add(IdList *list, int id);
void id_list_free(IdList *list);

typedef struct Tokenizer Tokenizer;

/* Learn merges and vocabulary: begin, count words, whose text is needed no more after that, and finish. A
 * tokenizer that was begun cuts text, and so do its views; nothing else yet. */
Status tokenizer_begin(Tokenizer **tokenizer, const TextOptions *options);
void tokenizer_count(Tokenizer *tokenizer, StrView line, HashMap *words);
/* Words may be in any order; STATUS_DATA if there are none. `progress`: of the merges; may be NULL. */
Status tokenizer_finish(Tokenizer *tokenizer, const TextOptions *options, const HashMap *words,
                        ProgressLine *progress);
Tokenizer *tokenizer_retain(Tokenizer *tokenizer);
void tokenizer_free(Tokenizer *tokenizer);
/* The same tokenizer with a cache of its own; `tokenizer` outlives it. */
Tokenizer *tokenizer_view(const Tokenizer *tokenizer);

const Vocab *tokenizer_vocab(const Tokenizer *tokenizer);
/* Does the last piece of a word say that it is (BPE_SUFFIX)? Only <unk> does not. */
bool tokenizer_marks_ends(const Tokenizer *tokenizer);
void tokenizer_encode(Tokenizer *tokenizer, StrView line, IdList *ids); /* appends; no <s> or </s> */
/* The same with BPE-dropout of probability `p` (bpe.h). */
void tokenizer_encode_dropout(Tokenizer *tokenizer, StrView line, double p, Rng *rng, IdList *ids);
void tokenizer_decode(const Tokenizer *tokenizer, const int *ids, size_t count,
                      StrBuf *line); /* stops at </s> */
/* The same with what <unk> stands for: encoding appends the text of each token that is VOCAB_UNK to `unknown`
 * (in the normal form, markers included), decoding puts it back in that order, as far as it goes. `unknown`
 * may be NULL. */
void tokenizer_encode_spelled(Tokenizer *tokenizer, StrView line, IdList *ids, StrList *unknown);
void tokenizer_decode_spelled(const Tokenizer *tokenizer, const int *ids, size_t count,
                              const StrList *unknown, StrBuf *line);
/* `unknown`, a view of a list, begins behind the texts of the <unk>s in `ids` from now on. */
void unknown_pass(StrList *unknown, const int *ids, int count);
/* For merging pieces into words (those between spaces): word[i] is the number of the word that ids[i] belongs
 * to, from 0; returns the number of words. </s> is a word of its own. */
int tokenizer_words(const Tokenizer *tokenizer, const int *ids, size_t count, int *word);
/* The token as the vocabulary has it, markers and no-break spaces too; controls become U+FFFD. */
void tokenizer_label(const Tokenizer *tokenizer, int id, StrBuf *label);
void tokenizer_label_unknown(const char *unknown, StrBuf *label);

/* Everything needed to do the same elsewhere, as one JSON object; merges included. */
void tokenizer_write_json(const Tokenizer *tokenizer, StrBuf *out);
Status tokenizer_read_json(Tokenizer **tokenizer, StrView text);
/* The merge list in subword-nmt's format; false for the word tokenizer. */
bool tokenizer_write_codes(const Tokenizer *tokenizer, StrBuf *out);

#endif
