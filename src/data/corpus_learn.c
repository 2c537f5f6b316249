/* corpus_learn.c - the vocabularies of a corpus.
 *
 * Each block of pairs has its words counted by one thread; the counts are added up in the order of the text,
 * so that the sum has every word where it would be if one thread had read it all.
 */
#include <assert.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "data/corpus.h"
#include "data/pair_blocks.h"

enum { SOURCE, TARGET, SIDE_COUNT };

typedef struct {
    Tokenizer **view;                         /* [threads] */
    HashMap *counted[PAIR_SLOTS][SIDE_COUNT]; /* words of a block */
    HashMap *words[SIDE_COUNT];               /* both sides are the same if they have one vocabulary */
} Counting;

static void count_block(void *context, const PairBlock *block, int thread) {
    Counting *counting = context;
    HashMap **counted = counting->counted[block->slot];
    bool joint = counting->words[SOURCE] == counting->words[TARGET];
    counted[SOURCE] = hashmap_new();
    counted[TARGET] = joint ? NULL : hashmap_new();
    for (int pair = 0; pair < block->count; pair++) {
        tokenizer_count(counting->view[thread], pair_block_source(block, pair), counted[SOURCE]);
        tokenizer_count(counting->view[thread], pair_block_target(block, pair),
                        counted[joint ? SOURCE : TARGET]);
    }
}

static Status collect_words(void *context, const PairBlock *block) {
    Counting *counting = context;
    for (int side = 0; side < SIDE_COUNT; side++) {
        HashMap **counted = &counting->counted[block->slot][side];
        for (size_t i = 0; *counted && i < hashmap_count(*counted); i++)
            *hashmap_slot(counting->words[side], hashmap_key(*counted, i), 0) += hashmap_value(*counted, i);
        hashmap_free(*counted);
        *counted = NULL;
    }
    return STATUS_OK;
}

static Status count_words(Counting *counting, const Tokenizer *cutter, PairReader *reader, Workers *workers) {
    PairWork work = {.doing = "counting", .context = counting, .work = count_block, .collect = collect_words};
    int threads = workers_count(workers);
    counting->view = mem_alloc((size_t)threads, sizeof *counting->view);
    for (int i = 0; i < threads; i++) counting->view[i] = tokenizer_view(cutter);
    Status status = pair_blocks_run(reader, workers, &work);
    for (int i = 0; i < threads; i++) tokenizer_free(counting->view[i]);
    mem_free(counting->view);
    for (int slot = 0; slot < PAIR_SLOTS; slot++)
        for (int side = 0; side < SIDE_COUNT; side++) hashmap_free(counting->counted[slot][side]);
    return status;
}

typedef struct {
    Tokenizer *tokenizer[SIDE_COUNT];
    HashMap *words[SIDE_COUNT];
    const TextOptions *text;
    ProgressLine progress; /* of the first */
} Finishing;

static void finish_side(void *context, int side, int thread) {
    Finishing *f = context;
    (void)thread;
    Status status =
        tokenizer_finish(f->tokenizer[side], f->text, f->words[side], side == SOURCE ? &f->progress : NULL);
    assert(status == STATUS_OK); /* there is a pair, and no text of one is blank */
    (void)status;
}

/* Both sides at once. */
static void finish(Tokenizer **tokenizers, HashMap **words, const TextOptions *text, Workers *workers) {
    Finishing finishing = {.tokenizer = {tokenizers[SOURCE], tokenizers[TARGET]},
                           .words = {words[SOURCE], words[TARGET]},
                           .text = text,
                           .progress = progress_line_begin("learning")};
    int count = words[SOURCE] == words[TARGET] ? 1 : SIDE_COUNT;
    log_progress("%s", finishing.progress.what); /* words are laid out before the first merge */
    workers_run(workers, count, finish_side, &finishing);
}

/* A model without tokens could be trained, and would write nothing. */
static Status check_learned(const Tokenizer *tokenizer, const TextOptions *text) {
    bool words = text->tokenizer == TOKENIZER_WORD;
    if (vocab_size(tokenizer_vocab(tokenizer)) > VOCAB_SPECIALS) return STATUS_OK;
    if (text->max_vocab > 0 && text->max_vocab <= VOCAB_SPECIALS)
        return status_fail(STATUS_DATA, "text.max_vocab = %d leaves room for the %d special tokens alone",
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
    TRY(tokenizer_begin(&tokenizers[SOURCE], text));
    if (text->joint)
        tokenizers[TARGET] = tokenizer_retain(tokenizers[SOURCE]);
    else
        TRY(tokenizer_begin(&tokenizers[TARGET], text));
    Counting *counting = mem_alloc(1, sizeof *counting);
    HashMap *words[SIDE_COUNT] = {hashmap_new(), text->joint ? NULL : hashmap_new()};
    counting->words[SOURCE] = words[SOURCE];
    counting->words[TARGET] = text->joint ? words[SOURCE] : words[TARGET];
    Status status = count_words(counting, tokenizers[SOURCE], reader, workers);
    if (status == STATUS_OK) finish(tokenizers, counting->words, text, workers);
    for (int side = 0; side < (text->joint ? 1 : SIDE_COUNT) && status == STATUS_OK; side++)
        status = check_learned(tokenizers[side], text);
    hashmap_free(words[SOURCE]);
    hashmap_free(words[TARGET]);
    mem_free(counting);
    return status;
}

Status corpus_learn_tokenizers(const StrList *entries, const DataOptions *data, const TextOptions *text,
                               Workers *workers, Tokenizer **source, Tokenizer **target) {
    Tokenizer *tokenizers[SIDE_COUNT] = {0};
    PairReader *reader;
    *source = *target = NULL;
    TRY(pair_reader_open(&reader, entries, data));
    corpus_set_limit(reader, data, true);
    Status status = learn(reader, text, workers, tokenizers);
    pair_reader_close(reader);
    if (status == STATUS_OK) {
        *source = tokenizers[SOURCE];
        *target = tokenizers[TARGET];
        return STATUS_OK;
    }
    tokenizer_free(tokenizers[SOURCE]);
    tokenizer_free(tokenizers[TARGET]);
    return status;
}
