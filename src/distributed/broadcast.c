/* broadcast.c - texts and arrays from the root to all, and translations to the root. */
#include "distributed/broadcast.h"

#include <string.h>
#include "distributed/comm.h"
#include "distributed/group.h"
#include "base/log.h"
#include "base/mem.h"

/* The buffers of the other processes are empty. */
static void broadcast_text(StrBuf *text) {
    size_t length = text->length;
    group_broadcast(&length, sizeof length);
    if (!group_is_root()) {
        char *bytes = mem_alloc(length + 1, 1);
        group_broadcast(bytes, length);
        strbuf_add(text, (StrView){bytes, length});
        mem_free(bytes);
    } else {
        group_broadcast(text->data, length);
    }
}

/* For texts that the same program has just written: an error here is a bug or broken memory. */
static void require_ok(Status status) {
    if (status == STATUS_OK) return;
    log_failure();
    comm_abort((int)status);
}

void broadcast_config(Config *config) {
    if (comm_size() == 1) return;
    Config copy = config_view(config);
    OptionTable tables[6];
    StrBuf text = {0};
    copy.data.train = copy.data.valid = copy.data.general = (StrList){0};
    config_tables(&copy, tables);
    if (group_is_root()) options_write_json(tables, false, &text);
    broadcast_text(&text);
    if (!group_is_root()) {
        StrList train = config->data.train, valid = config->data.valid, general = config->data.general;
        config->data.train = config->data.valid = config->data.general = (StrList){0};
        require_ok(config_read_json(config, strbuf_view(&text)));
        strlist_free(&config->data.train);
        strlist_free(&config->data.valid);
        strlist_free(&config->data.general);
        config->data.train = train;
        config->data.valid = valid;
        config->data.general = general;
    }
    strbuf_free(&text);
}

static void broadcast_tokenizer(Tokenizer **tokenizer) {
    StrBuf text = {0};
    if (group_is_root()) tokenizer_write_json(*tokenizer, &text);
    broadcast_text(&text);
    if (!group_is_root()) require_ok(tokenizer_read_json(tokenizer, strbuf_view(&text)));
    strbuf_free(&text);
}

void broadcast_tokenizers(Tokenizer **source, Tokenizer **target) {
    if (comm_size() == 1) return;
    long long joint = group_max(group_is_root() && *source == *target);
    broadcast_tokenizer(source);
    if (!joint)
        broadcast_tokenizer(target);
    else if (!group_is_root())
        *target = tokenizer_retain(*source);
}

Status broadcast_compare(const char *digest, const char *what, const char *hint) {
    enum { DIGITS = 64 };
    char expected[DIGITS];
    memcpy(expected, digest, DIGITS);
    group_broadcast(expected, DIGITS);
    Status status = STATUS_OK;
    if (memcmp(expected, digest, DIGITS) != 0) {
        status =
            status_fail(STATUS_DATA, "the %s here differ from those of rank 0 on %s", what, comm_host(0));
        status_hint(status, "%s", hint);
    }
    return group_agree(status);
}

/* ---- translations -------------------------------------------------------------------------------------- */

static void put(StrBuf *out, const void *values, size_t bytes) {
    if (bytes > 0) strbuf_add(out, (StrView){values, bytes});
}

/* Moves `*from` to the end of the value. */
static void take(const char **from, void *values, size_t bytes) {
    if (bytes > 0) memcpy(values, *from, bytes);
    *from += bytes;
}

/* A sentence has no hypothesis if a signal stopped the search: the root gets an empty one. */
static void put_translation(const HypothesisList *list, StrBuf *out) {
    const Hypothesis none = {0}, *h = list->count ? &list->items[0] : &none;
    put(out, &h->length, sizeof h->length);
    put(out, &h->steps, sizeof h->steps);
    put(out, h->ids, (size_t)h->length * sizeof *h->ids);
    put(out, h->token_scores, (size_t)h->steps * sizeof *h->token_scores);
}

static void take_translation(const char **from, Hypothesis *h) {
    take(from, &h->length, sizeof h->length);
    take(from, &h->steps, sizeof h->steps);
    h->ids = mem_alloc((size_t)h->length + 1, sizeof *h->ids);
    h->token_scores = mem_alloc((size_t)h->steps + 1, sizeof *h->token_scores);
    take(from, h->ids, (size_t)h->length * sizeof *h->ids);
    take(from, h->token_scores, (size_t)h->steps * sizeof *h->token_scores);
}

/* The root gets the bytes of all ranks; those of rank r begin at first[r], [size + 1]. */
static char *gather_bytes(const StrBuf *own, size_t *first) {
    int size = comm_size(), me = comm_rank();
    long long *lengths = mem_alloc((size_t)size, sizeof *lengths);
    for (int r = 0; r <= size; r++) first[r] = (size_t)r * sizeof *lengths;
    lengths[me] = (long long)own->length;
    group_gather(lengths, first);
    first[0] = 0;
    for (int r = 0; r < size; r++) first[r + 1] = first[r] + (size_t)lengths[r];
    char *all = mem_alloc(first[size] + 1, 1);
    if (own->length) memcpy(all + first[me], own->data, own->length);
    group_gather_root(all, first);
    mem_free(lengths);
    return all;
}

void broadcast_gather_translations(HypothesisList *translations, int count) {
    int size = comm_size(), me = comm_rank();
    if (size == 1) return;
    StrBuf own = {0};
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    for (int i = me; i < count && me > 0; i += size) put_translation(&translations[i], &own);
    char *all = gather_bytes(&own, first);
    for (int r = 1; r < size && me == 0; r++) {
        const char *bytes = all + first[r];
        for (int i = r; i < count; i += size) {
            translations[i] = (HypothesisList){mem_alloc(1, sizeof(Hypothesis)), .count = 1};
            take_translation(&bytes, &translations[i].items[0]);
        }
    }
    strbuf_free(&own);
    mem_free(all);
    mem_free(first);
}

/* ---- weights ------------------------------------------------------------------------------------------- */

void broadcast_weights(ParamSet *params) { group_broadcast(params->data, params->size * sizeof(real)); }

typedef struct {
    const ParamSet *params;
    uint64_t *digests; /* [params->count] */
} DigestRun;

/* A checksum that each wrong bit changes, not a cryptographic digest. */
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

Status broadcast_check_weights(const ParamSet *params, long long update, Workers *workers) {
    int size = comm_size();
    if (size == 1) return STATUS_OK;
    size_t count = (size_t)params->count, *first = mem_alloc((size_t)size + 1, sizeof *first);
    uint64_t *all = mem_alloc((size_t)size * count, sizeof *all);
    for (int r = 0; r <= size; r++) first[r] = (size_t)r * count * sizeof *all;
    DigestRun run = {params, all + (size_t)comm_rank() * count};
    workers_run(workers, params->count, digest_param, &run);
    group_gather(all, first);
    Status status = STATUS_OK;
    for (int r = 1; r < size && status == STATUS_OK; r++)
        for (size_t i = 0; i < count && status == STATUS_OK; i++)
            if (all[(size_t)r * count + i] != all[i])
                status = status_fail(STATUS_RUNTIME,
                                     "rank %d on %s has other weights in '%s' than rank 0 on %s "
                                     "after update %lld",
                                     r, comm_host(r), params->items[i]->name, comm_host(0), update);
    if (status != STATUS_OK)
        status_hint(status, "memory or a network card is broken, or the machines run different programs; the "
                            "last save is older than this error");
    mem_free(all);
    mem_free(first);
    return group_agree(status);
}
