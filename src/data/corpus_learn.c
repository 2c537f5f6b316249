/* corpus_learn.c - learns the tokenizers of a corpus.
 *
 * One thread counts the words of a block. The counts are added in the order of the text, so that the words
 * have the same order as with a single thread.
 */
#include <assert.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "data/corpus.h"
#include "data/pair_blocks.h"

typedef struct {
    Tokenizer **view;                         /* [threads] */
    HashMap *counted[PAIR_SLOTS][PAIR_SIDES]; /* words of each block */
    HashMap *words[PAIR_SIDES];               /* the same map for both sides of a joint vocabulary */
} WordCounter;

static void count_block(void *context, const PairBlock *block, int thread) {
    WordCounter *counter = context;
    HashMap **counted = counter->counted[block->slot];
    bool joint = counter->words[PAIR_SOURCE] == counter->words[PAIR_TARGET];
    counted[PAIR_SOURCE] = hashmap_new();
    counted[PAIR_TARGET] = joint ? NULL : hashmap_new();
    for (int pair = 0; pair < block->count; pair++) {
        tokenizer_count(counter->view[thread], pair_block_source(block, pair), counted[PAIR_SOURCE]);
        tokenizer_count(counter->view[thread], pair_block_target(block, pair),
                        counted[joint ? PAIR_SOURCE : PAIR_TARGET]);
    }
}

static Status collect_words(void *context, const PairBlock *block) {
    WordCounter *counter = context;
    for (int side = 0; side < PAIR_SIDES; side++) {
        HashMap **counted = &counter->counted[block->slot][side];
        for (size_t i = 0; *counted && i < hashmap_count(*counted); i++)
            *hashmap_slot(counter->words[side], hashmap_key(*counted, i), 0) += hashmap_value(*counted, i);
        hashmap_free(*counted);
        *counted = NULL;
    }
    return STATUS_OK;
}

static Status count_words(WordCounter *counter, const Tokenizer *tokenizer, PairReader *reader,
                          Workers *workers) {
    PairWork work = {.doing = "counting", .context = counter, .work = count_block, .collect = collect_words};
    int threads = workers_count(workers);
    counter->view = mem_alloc((size_t)threads, sizeof *counter->view);
    for (int i = 0; i < threads; i++) counter->view[i] = tokenizer_view(tokenizer);
    Status status = pair_blocks_run(reader, workers, &work);
    for (int i = 0; i < threads; i++) tokenizer_free(counter->view[i]);
    mem_free(counter->view);
    for (int slot = 0; slot < PAIR_SLOTS; slot++)
        for (int side = 0; side < PAIR_SIDES; side++) hashmap_free(counter->counted[slot][side]);
    return status;
}

typedef struct {
    Tokenizer *tokenizer[PAIR_SIDES];
    HashMap *words[PAIR_SIDES];
    const TextOptions *text;
    ProgressLine progress; /* of the source side */
} FinishTask;

static void finish_side(void *context, int side, int thread) {
    FinishTask *f = context;
    (void)thread;
    Status status = tokenizer_finish(f->tokenizer[side], f->text, f->words[side],
                                     side == PAIR_SOURCE ? &f->progress : NULL);
    assert(status == STATUS_OK); /* there is a pair, and its texts are not blank */
    (void)status;
}

/* Both sides in parallel. */
static void finish(Tokenizer **tokenizers, HashMap **words, const TextOptions *text, Workers *workers) {
    FinishTask task = {.tokenizer = {tokenizers[PAIR_SOURCE], tokenizers[PAIR_TARGET]},
                       .words = {words[PAIR_SOURCE], words[PAIR_TARGET]},
                       .text = text,
                       .progress = progress_line_begin("learning")};
    int count = words[PAIR_SOURCE] == words[PAIR_TARGET] ? 1 : PAIR_SIDES;
    log_progress("%s", task.progress.what); /* the first merge comes some time later */
    workers_run(workers, count, finish_side, &task);
}

/* Training would accept a model without tokens, which writes nothing. */
static Status check_learned(const Tokenizer *tokenizer, const TextOptions *text) {
    bool words = text->tokenizer == TOKENIZER_WORD;
    if (vocab_size(tokenizer_vocab(tokenizer)) > VOCAB_SPECIALS) return STATUS_OK;
    if (text->max_vocab > 0 && text->max_vocab <= VOCAB_SPECIALS)
        return status_fail(STATUS_DATA, "text.max_vocab = %d leaves room only for the %d special tokens",
                           text->max_vocab, VOCAB_SPECIALS);
    Status s = status_fail(STATUS_DATA,
                           "no %s of the training pairs occurs %d times (text.min_count): the "
                           "vocabulary is empty",
                           words ? "word" : "character", text->min_count);
    return status_hint(
        s, words ? "--set text.tokenizer=bpe learns pieces of words, --set text.min_count=1 all words"
                 : "--set text.min_count=1 learns all of them");
}

static Status learn(PairReader *reader, const TextOptions *text, Workers *workers, Tokenizer **tokenizers) {
    TRY(tokenizer_begin(&tokenizers[PAIR_SOURCE], text));
    if (text->joint)
        tokenizers[PAIR_TARGET] = tokenizer_retain(tokenizers[PAIR_SOURCE]);
    else
        TRY(tokenizer_begin(&tokenizers[PAIR_TARGET], text));
    WordCounter *counter = mem_alloc(1, sizeof *counter);
    HashMap *words[PAIR_SIDES] = {hashmap_new(), text->joint ? NULL : hashmap_new()};
    counter->words[PAIR_SOURCE] = words[PAIR_SOURCE];
    counter->words[PAIR_TARGET] = text->joint ? words[PAIR_SOURCE] : words[PAIR_TARGET];
    Status status = count_words(counter, tokenizers[PAIR_SOURCE], reader, workers);
    if (status == STATUS_OK) finish(tokenizers, counter->words, text, workers);
    for (int side = 0; side < (text->joint ? 1 : PAIR_SIDES) && status == STATUS_OK; side++)
        status = check_learned(tokenizers[side], text);
    hashmap_free(words[PAIR_SOURCE]);
    hashmap_free(words[PAIR_TARGET]);
    mem_free(counter);
    return status;
}

Status corpus_learn_tokenizers(const StrList *entries, const DataOptions *data, const TextOptions *text,
                               Workers *workers, Tokenizer **source, Tokenizer **target) {
    Tokenizer *tokenizers[PAIR_SIDES] = {0};
    PairReader *reader;
    *source = *target = NULL;
    TRY(pair_reader_open(&reader, entries, data));
    corpus_set_limit(reader, data, true);
    Status status = learn(reader, text, workers, tokenizers);
    pair_reader_close(reader);
    if (status == STATUS_OK) {
        *source = tokenizers[PAIR_SOURCE];
        *target = tokenizers[PAIR_TARGET];
        return STATUS_OK;
    }
    tokenizer_free(tokenizers[PAIR_SOURCE]);
    tokenizer_free(tokenizers[PAIR_TARGET]);
    return status;
}
