/* corpus.h - sentence pairs as token ids, in memory. 4 bytes a token, 16 a pair, and the raw text where it is
 * asked for. */
#ifndef TEXT_CORPUS_H
#define TEXT_CORPUS_H

#include "text/pairs.h"
#include "text/segmenter.h"
#include "text/tokens.h"

typedef struct {
    int count;                           /* pairs */
    IdList source, target;               /* all ids, sentence after sentence, without <s> and </s> */
    size_t *source_start, *target_start; /* [count + 1] */
    StrList source_text, target_text;    /* raw lines, only if keep_text */
    long too_long;                       /* pairs left out by max_length or max_ratio */
    char sha256[65]; /* of all usable pairs: tells whether a resumed run sees the same data */
} Corpus;

/* Read all entries. `filter`: apply max_length, max_ratio and limit (training data only). Where pairs are
 * held out, `filter` leaves them out, and without it they alone are read. Warnings go to the log. */
Status corpus_read(Corpus *corpus, const StrList *entries, const DataOptions *options, Segmenter *source,
                   Segmenter *target, bool filter, bool keep_text);
void corpus_free(Corpus *corpus);
/* Cut the texts anew with BPE-dropout of these probabilities (segmenter.h), for the sides where they are not
 * 0: a function of seed, epoch and pair. Needs keep_text. */
void corpus_resegment(Corpus *corpus, Segmenter *source, double source_dropout, Segmenter *target,
                      double target_dropout, uint64_t seed, int epoch);

/* Learn both sides from the training entries; with joint text options *target is *source retained. */
Status corpus_learn_segmenters(const StrList *entries, const DataOptions *data, const TextOptions *text,
                               Segmenter **source, Segmenter **target);

/* The same pairs from the other side: a view, valid until `corpus` changes. */
Corpus corpus_swapped(const Corpus *corpus);

static inline Tokens corpus_side(const IdList *ids, const size_t *start, int pair) {
    return (Tokens){ids->ids ? ids->ids + start[pair] : NULL, (int)(start[pair + 1] - start[pair])};
}
/* Valid as long as the corpus. */
static inline Tokens corpus_source(const Corpus *corpus, int pair) {
    return corpus_side(&corpus->source, corpus->source_start, pair);
}
static inline Tokens corpus_target(const Corpus *corpus, int pair) {
    return corpus_side(&corpus->target, corpus->target_start, pair);
}

#endif
