/* search_ranks.c - see search_ranks.h. Sentences are dealt one by one, the longest first, so that all ranks
 * have as much to do; there is no asking for more. */
#include "decode/search_ranks.h"

#include <stdlib.h>
#include "base/comm.h"
#include "base/mem.h"
#include "base/pack.h"

/* ---- what was found ------------------------------------------------------------------------------------ */

static void pack_floats(StrBuf *out, const float *values, size_t count) {
    bool there = values != NULL;
    pack(out, &there, sizeof there);
    if (there) pack(out, values, count * sizeof *values);
}

static float *unpack_floats(const char **from, size_t count) {
    bool there;
    unpack(from, &there, sizeof there);
    if (!there) return NULL;
    float *values = mem_alloc(count + 1, sizeof *values);
    unpack(from, values, count * sizeof *values);
    return values;
}

static void pack_found(StrBuf *out, const HypothesisList *found, int alternatives) {
    pack(out, &found->count, sizeof found->count);
    pack(out, &found->source_length, sizeof found->source_length);
    for (int i = 0; i < found->count; i++) {
        const Hypothesis *h = &found->items[i];
        size_t steps = (size_t)h->steps, others = h->alternatives ? steps * (size_t)alternatives : 0;
        pack(out, h, sizeof *h); /* for its numbers */
        pack(out, h->ids, (size_t)h->length * sizeof *h->ids);
        pack_floats(out, h->token_scores, steps);
        pack_floats(out, h->attention, steps * (size_t)found->source_length);
        pack(out, h->alternatives, others * sizeof *h->alternatives);
    }
}

static void unpack_found(const char **from, HypothesisList *found, int alternatives) {
    unpack(from, &found->count, sizeof found->count);
    unpack(from, &found->source_length, sizeof found->source_length);
    found->items = mem_alloc((size_t)found->count, sizeof *found->items);
    for (int i = 0; i < found->count; i++) {
        Hypothesis *h = &found->items[i];
        unpack(from, h, sizeof *h); /* its pointers are another process's */
        size_t steps = (size_t)h->steps, others = h->alternatives ? steps * (size_t)alternatives : 0;
        h->ids = mem_alloc((size_t)h->length + 1, sizeof *h->ids);
        unpack(from, h->ids, (size_t)h->length * sizeof *h->ids);
        h->token_scores = unpack_floats(from, steps);
        h->attention = unpack_floats(from, steps * (size_t)found->source_length);
        if (h->alternatives) h->alternatives = mem_alloc(others + 1, sizeof *h->alternatives);
        unpack(from, h->alternatives, others * sizeof *h->alternatives);
    }
}

void search_ranks_collect(HypothesisList *found, int count, int alternatives) {
    int size = comm_size(), me = comm_rank();
    if (size == 1) return;
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    long long *lengths = mem_alloc((size_t)size, sizeof *lengths);
    StrBuf own = {0};
    for (int i = me; i < count && me > 0; i += size) pack_found(&own, &found[i], alternatives);
    for (int r = 0; r <= size; r++) first[r] = (size_t)r * sizeof *lengths;
    lengths[me] = (long long)own.length;
    comm_gather(lengths, first);
    first[0] = 0;
    for (int r = 0; r < size; r++) first[r + 1] = first[r] + (size_t)lengths[r];
    char *all = mem_alloc(first[size] + 1, 1);
    if (own.length) memcpy(all + first[me], own.data, own.length);
    comm_gather_root(all, first);
    for (int r = 1; r < size && me == 0; r++) {
        const char *bytes = all + first[r];
        for (int i = r; i < count; i += size) unpack_found(&bytes, &found[i], alternatives);
    }
    strbuf_free(&own);
    mem_free(all);
    mem_free(lengths);
    mem_free(first);
}

/* ---- what is dealt ------------------------------------------------------------------------------------- */

static void pack_tokens(StrBuf *out, Tokens tokens) {
    pack(out, &tokens.length, sizeof tokens.length);
    pack(out, tokens.ids, (size_t)tokens.length * sizeof *tokens.ids);
}

static Tokens unpack_tokens(const char **from) {
    Tokens tokens;
    unpack(from, &tokens.length, sizeof tokens.length);
    int *ids = mem_alloc((size_t)tokens.length + 1, sizeof *ids);
    unpack(from, ids, (size_t)tokens.length * sizeof *ids);
    tokens.ids = ids;
    return tokens;
}

/* A share that owns what is in it; that of rank 0 only its arrays. */
typedef struct {
    Tokens *sources, *targets;
    Guide *guides;
    int models, total;
} Share;

static Share share_new(int models, int total, bool has_targets, bool has_guides) {
    size_t count = (size_t)total;
    return (Share){.sources = mem_alloc(count * (size_t)models + 1, sizeof(Tokens)),
                   .targets = has_targets ? mem_alloc(count + 1, sizeof(Tokens)) : NULL,
                   .guides = has_guides ? mem_alloc(count + 1, sizeof(Guide)) : NULL,
                   .models = models,
                   .total = total};
}

static Sentences share_view(const Share *s) {
    return (Sentences){s->sources, s->targets, s->guides, s->models, s->total};
}

static void share_free(Share *s, bool with_content) {
    for (int i = 0; with_content && i < s->total; i++) {
        for (int m = 0; m < s->models; m++) mem_free((int *)s->sources[i * s->models + m].ids);
        if (s->targets) mem_free((int *)s->targets[i].ids);
        if (s->guides) guide_free(&s->guides[i]);
    }
    mem_free(s->sources);
    mem_free(s->targets);
    mem_free(s->guides);
}

/* Begins each message of rank 0. */
typedef struct {
    int all, total; /* sentences: of all ranks, of this one */
    bool has_targets, has_guides;
} Head;

static void pack_sentence(StrBuf *out, const Sentences *all, int i) {
    for (int m = 0; m < all->models; m++) pack_tokens(out, all->sources[i * all->models + m]);
    if (all->targets) pack_tokens(out, all->targets[i]);
    if (all->guides) guide_pack(&all->guides[i], out);
}

static Share unpack_share(const char *bytes, int models, const Segmenter *target, int *all) {
    Head head;
    unpack(&bytes, &head, sizeof head);
    Share share = share_new(models, head.total, head.has_targets, head.has_guides);
    for (int i = 0; i < head.total; i++) {
        for (int m = 0; m < models; m++) share.sources[i * models + m] = unpack_tokens(&bytes);
        if (share.targets) share.targets[i] = unpack_tokens(&bytes);
        if (share.guides) guide_unpack(&share.guides[i], target, &bytes);
    }
    *all = head.all;
    return share;
}

/* A message from rank 0 to each of the others: its length, then its bytes. */
static void send_all(const StrBuf *messages) {
    int size = comm_size();
    long long *lengths = mem_alloc((size_t)size, sizeof *lengths);
    CommParcel *parcels = mem_alloc((size_t)size, sizeof *parcels);
    for (int r = 1; r < size; r++) {
        lengths[r] = (long long)messages[r].length;
        parcels[r] = (CommParcel){.give = &lengths[r], .give_bytes = sizeof *lengths};
    }
    comm_exchange(parcels);
    for (int r = 1; r < size; r++)
        parcels[r] = (CommParcel){.give = messages[r].data, .give_bytes = messages[r].length};
    comm_exchange(parcels);
    mem_free(parcels);
    mem_free(lengths);
}

/* NULL: it is empty. */
static char *receive(void) {
    long long length = 0;
    CommParcel *parcels = mem_alloc((size_t)comm_size(), sizeof *parcels);
    parcels[0] = (CommParcel){.take = &length, .take_bytes = sizeof length};
    comm_exchange(parcels);
    char *bytes = length ? mem_alloc((size_t)length, 1) : NULL;
    parcels[0] = (CommParcel){.take = bytes, .take_bytes = (size_t)length};
    comm_exchange(parcels);
    mem_free(parcels);
    return bytes;
}

/* ---- together ------------------------------------------------------------------------------------------ */

static SearchPlace *order_new(const Sentences *all) {
    SearchPlace *order = mem_alloc((size_t)all->total + 1, sizeof *order);
    for (int i = 0; i < all->total; i++) order[i] = (SearchPlace){all->sources[i * all->models].length, i};
    qsort(order, (size_t)all->total, sizeof *order, search_longest_first);
    return order;
}

/* How many of `all` are dealt to this rank. */
static int dealt_to(int rank, int all) { return (all - rank + comm_size() - 1) / comm_size(); }

/* To all others; what is left is this rank's. */
static Share deal(const Sentences *all, const SearchPlace *order) {
    int size = comm_size(), models = all->models;
    StrBuf *messages = mem_alloc((size_t)size, sizeof *messages);
    Share own = share_new(models, dealt_to(0, all->total), all->targets != NULL, all->guides != NULL);
    for (int r = 1; r < size; r++) {
        Head head = {.all = all->total, .total = dealt_to(r, all->total)};
        head.has_targets = all->targets != NULL;
        head.has_guides = all->guides != NULL;
        pack(&messages[r], &head, sizeof head);
    }
    for (int i = 0; i < all->total; i++) {
        int sentence = order[i].sentence, place = i / size;
        if (i % size > 0) {
            pack_sentence(&messages[i % size], all, sentence);
            continue;
        }
        for (int m = 0; m < models; m++)
            own.sources[place * models + m] = all->sources[sentence * models + m];
        if (own.targets) own.targets[place] = all->targets[sentence];
        if (own.guides) own.guides[place] = all->guides[sentence];
    }
    send_all(messages);
    for (int r = 0; r < size; r++) strbuf_free(&messages[r]);
    mem_free(messages);
    return own;
}

/* Search the share of this rank, and give what was found to rank 0, in the order of the dealing. */
static int search_share(const Share *share, int all, int alternatives, SearchHere search, void *context,
                        HypothesisList *found) {
    HypothesisList *mine = mem_alloc((size_t)share->total + 1, sizeof *mine);
    Sentences sentences = share_view(share);
    int result = search(context, &sentences, mine);
    for (int i = 0; i < share->total; i++) found[comm_rank() + i * comm_size()] = mine[i];
    mem_free(mine);
    search_ranks_collect(found, all, alternatives);
    return (int)comm_largest(result);
}

int search_ranks(const Sentences *sentences, int alternatives, SearchHere search, void *context,
                 HypothesisList *results) {
    SearchPlace *order = order_new(sentences);
    Share own = deal(sentences, order);
    HypothesisList *found = mem_alloc((size_t)sentences->total + 1, sizeof *found);
    int result = search_share(&own, sentences->total, alternatives, search, context, found);
    for (int i = 0; i < sentences->total; i++) results[order[i].sentence] = found[i];
    share_free(&own, false);
    mem_free(found);
    mem_free(order);
    return result;
}

void search_ranks_help(int models, const Segmenter *target, int alternatives, SearchHere search,
                       void *context) {
    for (char *bytes; (bytes = receive()); mem_free(bytes)) {
        int all;
        Share share = unpack_share(bytes, models, target, &all);
        HypothesisList *found = mem_alloc((size_t)all + 1, sizeof *found);
        search_share(&share, all, alternatives, search, context, found);
        for (int i = 0; i < all; i++) hypotheses_free(&found[i]);
        mem_free(found);
        share_free(&share, true);
    }
}

void search_ranks_end(void) {
    StrBuf *nothing = mem_alloc((size_t)comm_size(), sizeof *nothing);
    if (comm_size() > 1) send_all(nothing);
    mem_free(nothing);
}
