/* corpus.h - sentence pairs as token ids, in memory: 2 bytes a token, or 4 where a vocabulary has more than
 * 65,536, 16 a pair, and the raw text where it is asked for.
 *
 * Reading, learning and cutting anew are shared among the threads of `workers`; how many there are changes
 * nothing but the time.
 */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H

#include "base/workers.h"
#include "data/pairs.h"
#include "text/tokenizer.h"
#include "text/tokens.h"

enum { VALIDATION_LENGTH = 1000 };

typedef struct {
    size_t *start; /* [count + 1] of each sentence in ids */
    void *ids;     /* uint16_t, or uint32_t if `wide`; without <s> and </s> */
    bool wide;
} CorpusSide;

typedef struct {
    int count; /* pairs */
    CorpusSide source, target;
    StrList source_text, target_text; /* raw lines, only if keep_text */
    long too_long;                    /* pairs left out because of their length */
    StrBuf report;                    /* a line for each kind of thing that was dropped or repaired */
    char sha256[65]; /* of all usable pairs: tells whether a resumed run sees the same data */
} Corpus;

/* Read all entries. `filter`: apply max_length, max_ratio and limit (training data only); without it pairs of
 * more than VALIDATION_LENGTH tokens a side are left out, each of which would take longer than all others.
 * Where pairs are held out, `filter` leaves them out, and without it they alone are read. The report goes to
 * the log. */
Status corpus_read(Corpus *corpus, const StrList *entries, const DataOptions *options, Tokenizer *source,
                   Tokenizer *target, bool filter, bool keep_text, Workers *workers);
/* A report as warnings: once for pairs that are held out and those that they are held out of. */
void corpus_warn(StrView report);
void corpus_free(Corpus *corpus);
/* Cut the texts anew with BPE-dropout of these probabilities (tokenizer.h), for the sides where they are not
 * 0: a function of seed, epoch and pair. Needs keep_text. */
void corpus_retokenize(Corpus *corpus, Tokenizer *source, double source_dropout, Tokenizer *target,
                       double target_dropout, uint64_t seed, int epoch, Workers *workers);

/* Learn both sides from the training entries; with joint text options *target is *source retained. */
Status corpus_learn_tokenizers(const StrList *entries, const DataOptions *data, const TextOptions *text,
                               Workers *workers, Tokenizer **source, Tokenizer **target);

/* The same pairs from the other side: a view, valid until `corpus` changes. */
Corpus corpus_swapped(const Corpus *corpus);

/* Which of the pairs of `entries` are wanted. */
PairSplit corpus_part(const DataOptions *options, bool training);
/* That the reader reads those: no more of the training pairs than data.limit, held out or not. */
void corpus_set_limit(PairReader *reader, const DataOptions *options, bool training);

static inline size_t corpus_id_size(const CorpusSide *side) {
    return side->wide ? sizeof(uint32_t) : sizeof(uint16_t);
}
/* Token i of all that the side has. */
static inline uint32_t corpus_id(const CorpusSide *side, size_t i) {
    return side->wide ? ((const uint32_t *)side->ids)[i] : ((const uint16_t *)side->ids)[i];
}
static inline int corpus_source_length(const Corpus *corpus, int pair) {
    return (int)(corpus->source.start[pair + 1] - corpus->source.start[pair]);
}
static inline int corpus_target_length(const Corpus *corpus, int pair) {
    return (int)(corpus->target.start[pair + 1] - corpus->target.start[pair]);
}
/* The ids go to `room`, which has space for the length, and are valid as long as it is. */
Tokens corpus_source(const Corpus *corpus, int pair, int *room);
Tokens corpus_target(const Corpus *corpus, int pair, int *room);
/* Of all pairs. */
static inline size_t corpus_tokens(const Corpus *corpus, const CorpusSide *side) {
    return side->start ? side->start[corpus->count] : 0;
}

#endif
