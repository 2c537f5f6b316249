/* pair_blocks.h - sentence pairs in blocks, processed by many threads and collected in order.
 *
 * While the threads work on the blocks of one round, one thread reads the blocks of the next round and one
 * collects the results of the round before. The files alone decide which pairs a block has, and blocks are
 * collected in the order of the text. So results do not depend on the number of threads.
 *
 * Owner   a block and its slot belong to the work until the block is collected
 * Fails   with the first error of the reader or of `collect`, in the order of the text
 */
#ifndef DATA_PAIR_BLOCKS_H
#define DATA_PAIR_BLOCKS_H

#include "base/workers.h"
#include "data/pairs.h"

enum { PAIR_SLOTS = 96, PAIR_BLOCK = 1024 };

typedef struct {
    int slot;                      /* 0..PAIR_SLOTS-1: index for the results of the work */
    int count;                     /* pairs */
    StrBuf text;                   /* "source TAB target LF" of each */
    size_t source_end[PAIR_BLOCK]; /* position of the TAB in `text` */
    size_t target_end[PAIR_BLOCK]; /* position of the LF */
} PairBlock;

StrView pair_block_source(const PairBlock *block, int pair);
StrView pair_block_target(const PairBlock *block, int pair);

typedef struct {
    const char *doing; /* "reading": for the progress line (progress_line_fraction) */
    void *context;
    void (*work)(void *context, const PairBlock *block, int thread); /* on any thread, in any order */
    Status (*collect)(void *context, const PairBlock *block);        /* one block after the other */
} PairWork;

/* Processes the remaining pairs of the reader. */
Status pair_blocks_run(PairReader *reader, Workers *workers, const PairWork *work);

#endif
