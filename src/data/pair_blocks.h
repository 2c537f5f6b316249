/* pair_blocks.h - sentence pairs in blocks for many threads, and what becomes of them in order.
 *
 * While the threads work on the blocks of one round, one of them reads those of the next round, and one
 * collects what was made in the round before. Which pairs are in which block follows from the files alone,
 * and blocks are collected in the order of the text: results are the same for any number of threads.
 *
 * Owner   a block and its slot belong to the work until the block was collected
 * Fails   as the reader does, and as `collect` says; the first failure in the order of the text ends it all
 */
#ifndef DATA_PAIR_BLOCKS_H
#define DATA_PAIR_BLOCKS_H

#include "base/workers.h"
#include "data/pairs.h"

enum { PAIR_SLOTS = 96, PAIR_BLOCK = 1024 };

typedef struct {
    int slot;                      /* 0..PAIR_SLOTS-1: where the work may keep what it makes of the block */
    int count;                     /* pairs */
    StrBuf text;                   /* "source TAB target LF" of each */
    size_t source_end[PAIR_BLOCK]; /* in `text`, where the TAB stands */
    size_t target_end[PAIR_BLOCK]; /* and the LF */
} PairBlock;

StrView pair_block_source(const PairBlock *block, int pair);
StrView pair_block_target(const PairBlock *block, int pair);

typedef struct {
    const char *doing; /* "reading": for the progress line (progress_line_share) */
    void *context;
    void (*work)(void *context, const PairBlock *block, int thread); /* on any thread, in any order */
    Status (*collect)(void *context, const PairBlock *block);        /* one after the other */
} PairWork;

/* All pairs that the reader still has. */
Status pair_blocks_run(PairReader *reader, Workers *workers, const PairWork *work);

#endif
