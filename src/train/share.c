/* share.c - texts and arrays from rank 0 to all. */
#include "train/share.h"

#include <string.h>
#include "base/comm.h"
#include "base/log.h"
#include "base/mem.h"

/* Of rank 0 to all others, whose buffers are empty. */
static void share_text(StrBuf *text) {
    size_t length = text->length;
    comm_broadcast(&length, sizeof length);
    if (!comm_is_root()) {
        char *bytes = mem_alloc(length + 1, 1);
        comm_broadcast(bytes, length);
        strbuf_add(text, (StrView){bytes, length});
        mem_free(bytes);
    } else {
        comm_broadcast(text->data, length);
    }
}

/* What the same program has just written can be read. */
static void must(Status status) {
    if (status == STATUS_OK) return;
    log_failure();
    comm_abort((int)status);
}

void share_config(Config *config) {
    if (comm_size() == 1) return;
    Config copy = config_view(config);
    OptionTable tables[6];
    StrBuf text = {0};
    copy.data.train = copy.data.valid = (StrList){0};
    config_tables(&copy, tables);
    if (comm_is_root()) options_write_json(tables, false, &text);
    share_text(&text);
    if (!comm_is_root()) {
        StrList train = config->data.train, valid = config->data.valid;
        config->data.train = config->data.valid = (StrList){0};
        must(config_read_json(config, strbuf_view(&text)));
        strlist_free(&config->data.train);
        strlist_free(&config->data.valid);
        config->data.train = train;
        config->data.valid = valid;
    }
    strbuf_free(&text);
}

static void share_segmenter(Segmenter **segmenter) {
    StrBuf text = {0};
    if (comm_is_root()) segmenter_write_json(*segmenter, &text);
    share_text(&text);
    if (!comm_is_root()) must(segmenter_read_json(segmenter, strbuf_view(&text)));
    strbuf_free(&text);
}

void share_segmenters(Segmenter **source, Segmenter **target) {
    if (comm_size() == 1) return;
    long long joint = comm_largest(comm_is_root() && *source == *target);
    share_segmenter(source);
    if (!joint)
        share_segmenter(target);
    else if (!comm_is_root())
        *target = segmenter_retain(*source);
}

/* An array of rank 0 to the others, who get memory for it. */
static void *share_array(void *array, size_t count, size_t size) {
    if (!comm_is_root()) array = count ? mem_alloc(count, size) : NULL;
    comm_broadcast(array, count * size);
    return array;
}

static void share_side(CorpusSide *side, size_t pairs) {
    comm_broadcast(&side->wide, sizeof side->wide);
    side->start = share_array(side->start, pairs + 1, sizeof *side->start);
    side->ids = share_array(side->ids, side->start[pairs], corpus_id_size(side));
}

static void share_lines(StrList *list) {
    StrBuf text = {0};
    if (comm_is_root()) strlist_join(list, &text);
    share_text(&text);
    if (!comm_is_root()) strlist_split(list, strbuf_view(&text));
    strbuf_free(&text);
}

void share_corpus(Corpus *corpus) {
    if (comm_size() == 1) return;
    comm_broadcast(&corpus->count, sizeof corpus->count);
    comm_broadcast(&corpus->too_long, sizeof corpus->too_long);
    comm_broadcast(corpus->sha256, sizeof corpus->sha256);
    share_side(&corpus->source, (size_t)corpus->count);
    share_side(&corpus->target, (size_t)corpus->count);
    share_lines(&corpus->source_text);
    share_lines(&corpus->target_text);
}

Status share_compare(const char *digest, const char *what, const char *hint) {
    enum { DIGITS = 64 };
    char theirs[DIGITS];
    memcpy(theirs, digest, DIGITS);
    comm_broadcast(theirs, DIGITS);
    Status status = STATUS_OK;
    if (memcmp(theirs, digest, DIGITS) != 0) {
        status =
            status_fail(STATUS_DATA, "the %s here is not what rank 0 on %s has read", what, comm_host(0));
        status_hint(status, "%s", hint);
    }
    return comm_settle(status);
}

/* ---- weights ------------------------------------------------------------------------------------------- */

void share_weights(ParamSet *params) { comm_broadcast(params->data, params->size * sizeof(real)); }

typedef struct {
    const ParamSet *params;
    uint64_t *digests; /* [params->count] */
} DigestRun;

/* Not for enemies: one wrong bit anywhere changes it. */
static void digest_param(void *context, int task, int thread) {
    DigestRun *run = context;
    const Param *p = run->params->items[task];
    size_t bytes = (size_t)p->rows * (size_t)p->columns * sizeof(real);
    const char *data = (const char *)param_data(run->params, p);
    uint64_t digest = bytes;
    (void)thread;
    for (size_t i = 0; i < bytes; i += sizeof digest) {
        uint64_t word = 0;
        memcpy(&word, data + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        digest = (digest ^ word) * 0x9E3779B97F4A7C15u;
        digest ^= digest >> 29;
    }
    run->digests[task] = digest;
}

Status share_check_weights(const ParamSet *params, long long update, Workers *workers) {
    int size = comm_size();
    if (size == 1) return STATUS_OK;
    size_t count = (size_t)params->count, *first = mem_alloc((size_t)size + 1, sizeof *first);
    uint64_t *all = mem_alloc((size_t)size * count, sizeof *all);
    for (int r = 0; r <= size; r++) first[r] = (size_t)r * count * sizeof *all;
    DigestRun run = {params, all + (size_t)comm_rank() * count};
    workers_run(workers, params->count, digest_param, &run);
    comm_gather(all, first);
    Status status = STATUS_OK;
    for (int r = 1; r < size && status == STATUS_OK; r++)
        for (size_t i = 0; i < count && status == STATUS_OK; i++)
            if (all[(size_t)r * count + i] != all[i])
                status = status_fail(STATUS_RUNTIME,
                                     "rank %d on %s has other weights in '%s' than rank 0 on %s "
                                     "after update %lld",
                                     r, comm_host(r), params->items[i]->name, comm_host(0), update);
    if (status != STATUS_OK)
        status_hint(status,
                    "memory or a network card is broken, or the machines run different programs; what "
                    "was saved last is from before");
    mem_free(all);
    mem_free(first);
    return comm_settle(status);
}
