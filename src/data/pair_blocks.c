/* pair_blocks.c - rounds of blocks: one being read, one being worked on, one being collected. */
#include "data/pair_blocks.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"

enum { ROUNDS = 3, ROUND_BLOCKS = PAIR_SLOTS / ROUNDS, BLOCK_BYTES = 1 << 20 };

typedef struct {
    PairBlock *blocks; /* [ROUND_BLOCKS] */
    int count;
} Round;

typedef struct {
    PairReader *reader;
    const PairWork *work;
    Round *reading, *working, *collecting;
    bool ended; /* the reader is at the end */
    StatusRecord read, collected;
} Run;

StrView pair_block_source(const PairBlock *block, int pair) {
    size_t start = pair ? block->target_end[pair - 1] + 1 : 0;
    return (StrView){block->text.data + start, block->source_end[pair] - start};
}

StrView pair_block_target(const PairBlock *block, int pair) {
    size_t start = block->source_end[pair] + 1;
    return (StrView){block->text.data + start, block->target_end[pair] - start};
}

static void block_add(PairBlock *block, StrView source, StrView target) {
    strbuf_add(&block->text, source);
    block->source_end[block->count] = block->text.length;
    strbuf_add_char(&block->text, '\t');
    strbuf_add(&block->text, target);
    block->target_end[block->count++] = block->text.length;
    strbuf_add_char(&block->text, '\n');
}

static Status read_block(Run *run, PairBlock *block) {
    block->count = 0;
    strbuf_clear(&block->text);
    while (block->count < PAIR_BLOCK && block->text.length < BLOCK_BYTES) {
        StrView source, target;
        bool more;
        TRY(pair_reader_next(run->reader, &source, &target, &more));
        run->ended = !more;
        if (!more) break;
        block_add(block, source, target);
    }
    return STATUS_OK;
}

static Status read_round(Run *run) {
    run->reading->count = 0;
    while (run->reading->count < ROUND_BLOCKS && !run->ended) {
        PairBlock *block = &run->reading->blocks[run->reading->count];
        TRY(read_block(run, block));
        run->reading->count += block->count > 0;
    }
    return STATUS_OK;
}

static Status collect_round(const Run *run) {
    for (int i = 0; i < run->collecting->count; i++)
        TRY(run->work->collect(run->work->context, &run->collecting->blocks[i]));
    return STATUS_OK;
}

/* Reading is the first task: it takes longest, and cannot be divided. */
static void run_task(void *context, int task, int thread) {
    Run *run = context;
    if (task == 0)
        status_save(&run->read, read_round(run));
    else if (task == 1)
        status_save(&run->collected, collect_round(run));
    else
        run->work->work(run->work->context, &run->working->blocks[task - 2], thread);
}

static Status run_rounds(Run *run, Workers *workers) {
    ProgressLine progress = progress_line_begin(run->work->doing);
    do {
        workers_run(workers, 2 + run->working->count, run_task, run);
        if (run->collected.code != STATUS_OK) return status_restore(&run->collected);
        if (run->read.code != STATUS_OK) return status_restore(&run->read);
        progress_line_fraction(&progress, pair_reader_fraction(run->reader));
        Round *free_round = run->collecting;
        run->collecting = run->working;
        run->working = run->reading;
        run->reading = free_round;
    } while (!run->ended || run->working->count + run->collecting->count > 0);
    return STATUS_OK;
}

Status pair_blocks_run(PairReader *reader, Workers *workers, const PairWork *work) {
    PairBlock *blocks = mem_alloc(PAIR_SLOTS, sizeof *blocks);
    Round rounds[ROUNDS];
    for (int slot = 0; slot < PAIR_SLOTS; slot++) blocks[slot].slot = slot;
    for (int i = 0; i < ROUNDS; i++) rounds[i] = (Round){blocks + (size_t)i * ROUND_BLOCKS, 0};
    Run run = {.reader = reader,
               .work = work,
               .reading = &rounds[0],
               .working = &rounds[1],
               .collecting = &rounds[2]};
    Status status = run_rounds(&run, workers);
    for (int slot = 0; slot < PAIR_SLOTS; slot++) strbuf_free(&blocks[slot].text);
    mem_free(blocks);
    return status;
}
