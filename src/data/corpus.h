/* corpus.h - sentence pairs as token ids, in memory: 2 bytes per token (4 if the vocabulary has more than
 * 65,536 tokens), 16 bytes per pair, and the raw text with keep_text. There is no cache on disk: every
 * session of a training reads and tokenizes the files again.
 *
 * Reading, learning and tokenizing run on the threads of `workers`. The results do not depend on their
 * number.
 */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H

#include "base/workers.h"
#include "data/pairs.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokens.h"

enum { VALIDATION_LENGTH = 1000 };

typedef struct {
    size_t *start; /* [count + 1] start of each sentence in ids */
    void *ids;     /* uint16_t, or uint32_t if `wide`; without <s> and </s> */
    bool wide;
} CorpusSide;

typedef struct {
    int count; /* pairs */
    CorpusSide source, target;
    StrList source_text, target_text; /* raw lines, only if keep_text */
    long symbols, symbols_copied;     /* sources that need no translation; those whose target is the same */
    long too_long;                    /* pairs left out because of their length */
    StrBuf report;                    /* pair_reader_report, and a line about long pairs */
    char sha256[65];                  /* of all usable pairs: shows whether a resumed run has the same data */
} Corpus;

/* Reads all entries.
 *   filter      for training: applies max_length, max_ratio and limit, and leaves out the pairs held out for
 *               validation
 *   no filter   for validation: if pairs are held out, reads only those among the first `limit`; drops pairs
 *               of more than VALIDATION_LENGTH tokens per side, because one of them would take longer than
 *               all others
 * Logs the report. */
Status corpus_read(Corpus *corpus, const StrList *entries, const DataOptions *options, Tokenizer *source,
                   Tokenizer *target, bool filter, bool keep_text, Workers *workers);
/* Logs a report as warnings. */
void corpus_warn(StrView report);
void corpus_free(Corpus *corpus);
/* How the texts of an epoch become tokens. */
typedef struct {
    double source_rate, target_rate; /* of tokenizer_encode_sampled */
    bool reserved; /* half of the pairs have reserved tokens for their placeholders (reserved_tokens.h) */
} RetokenizeOptions;

/* Tokenizes the texts again, unless nothing can change. The result is a function of seed, epoch and pair.
 * Needs keep_text. */
void corpus_retokenize(Corpus *corpus, Tokenizer *source, Tokenizer *target, const RetokenizeOptions *how,
                       uint64_t seed, int epoch, Workers *workers);

/* Learns both tokenizers from the training entries; with a joint vocabulary *target is *source, retained. */
Status corpus_learn_tokenizers(const StrList *entries, const DataOptions *data, const TextOptions *text,
                               Workers *workers, Tokenizer **source, Tokenizer **target);

/* The same pairs in the reverse direction: a view, valid until `corpus` changes. */
Corpus corpus_swapped(const Corpus *corpus);

/* Do at least 10 sources of the corpus need no translation (text/copied_text.h), of which fewer than half are
 * copied? Then a model of the corpus translates such lines. */
bool corpus_translates_symbols(const Corpus *corpus);

/* The pairs to read for training or validation. */
PairSplit corpus_split(const DataOptions *options, bool training);
/* Sets the split and the limit of the reader: training pairs, held out or not, are limited by data.limit. */
void corpus_set_limit(PairReader *reader, const DataOptions *options, bool training);

static inline size_t corpus_id_size(const CorpusSide *side) {
    return side->wide ? sizeof(uint32_t) : sizeof(uint16_t);
}
/* Token i of the side. */
static inline uint32_t corpus_id(const CorpusSide *side, size_t i) {
    return side->wide ? ((const uint32_t *)side->ids)[i] : ((const uint16_t *)side->ids)[i];
}
static inline int corpus_source_length(const Corpus *corpus, int pair) {
    return (int)(corpus->source.start[pair + 1] - corpus->source.start[pair]);
}
static inline int corpus_target_length(const Corpus *corpus, int pair) {
    return (int)(corpus->target.start[pair + 1] - corpus->target.start[pair]);
}
/* A view of `ids`, the buffer [length] that receives the token ids. */
Tokens corpus_source(const Corpus *corpus, int pair, int *ids);
Tokens corpus_target(const Corpus *corpus, int pair, int *ids);
/* The number of tokens of the side. */
static inline size_t corpus_tokens(const Corpus *corpus, const CorpusSide *side) {
    return side->start ? side->start[corpus->count] : 0;
}

#endif
