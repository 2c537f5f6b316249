/* shortlist_marian.c - see shortlist_marian.h. */
#include "foreign/shortlist_marian.h"

#include "base/mem.h"
#include "io/bytes.h"

static const uint64_t MAGIC = 0xF11A48D5013417F5;

typedef struct {
    uint64_t first, lists, words; /* tokens of the first list, numbers of offsets and of ids */
    StrView offsets, ids;
} Lists;

static uint64_t number(StrView data, uint64_t index, size_t size) {
    ByteReader reader = bytes_from(data, index * size);
    return bytes_number(&reader, size);
}

static Status read_lists(StrView file, Lists *lists) {
    ByteReader reader = {file, 0, false};
    uint64_t hash = 0, magic = bytes_u64(&reader), checksum = bytes_u64(&reader);
    for (uint64_t i = 2; i < file.length / 8; i++)
        hash ^= number(file, i, 8) + 0x9e3779b9 + (hash << 6) + (hash >> 2);
    if (reader.bad || magic != MAGIC) return status_fail(STATUS_DATA, "it is not a shortlist of Marian");
    if (hash != checksum) return status_fail(STATUS_DATA, "it is damaged: its checksum differs");
    lists->first = bytes_u64(&reader);
    bytes_u64(&reader);
    lists->lists = bytes_u64(&reader);
    lists->words = bytes_u64(&reader);
    if (lists->lists > file.length / 8 || lists->words > file.length / 4) reader.bad = true;
    lists->offsets = bytes_take(&reader, lists->lists * 8);
    lists->ids = bytes_take(&reader, lists->words * 4);
    return reader.bad || lists->lists == 0 ? status_fail(STATUS_DATA, "it is truncated") : STATUS_OK;
}

/* A shortlist that is being built. */
typedef struct {
    Shortlist *shortlist;
    size_t capacity; /* of its ids */
    int *ours;       /* [rows] our id of each foreign one; 0: none */
    uint64_t rows;
} Builder;

/* The list begins behind the last one. */
static size_t *begin_list(Builder *b, int list) {
    size_t *end = &b->shortlist->start[list + 1];
    *end = b->shortlist->start[list];
    return end;
}

/* Adds our id of a foreign one to the list that ends at *end, unless it is one of our four special tokens. */
static void add_id(Builder *b, size_t *end, uint64_t row) {
    if (b->ours[row] < VOCAB_SPECIALS) return;
    MEM_GROW(b->shortlist->ids, b->capacity, *end + 1);
    b->shortlist->ids[(*end)++] = b->ours[row];
}

static Status add_list(Builder *b, const Lists *lists, int list, int row) {
    size_t *end = begin_list(b, list);
    if (row < 0) return STATUS_OK;
    uint64_t first = number(lists->offsets, (uint64_t)row, 8),
             behind = number(lists->offsets, (uint64_t)row + 1, 8);
    if ((uint64_t)row + 1 >= lists->lists || first > behind || behind > lists->words ||
        behind - first > SHORTLIST_MAX)
        return status_fail(STATUS_DATA, "its list %d is malformed", row);
    for (uint64_t i = first; i < behind; i++) {
        uint64_t id = number(lists->ids, i, 4);
        if (id >= b->rows)
            return status_fail(STATUS_DATA, "its list %d has the id %llu", row, (unsigned long long)id);
        add_id(b, end, id);
    }
    return STATUS_OK;
}

/* The foreign ids of our target tokens, the other way round. */
static void invert_rows(Builder *b, const int *target_row, int target_size) {
    b->ours = mem_alloc((size_t)target_size, sizeof *b->ours);
    for (int id = 0; id < target_size; id++) {
        if (target_row[id] < 0 || target_row[id] >= target_size) continue;
        b->ours[target_row[id]] = id;
        if ((uint64_t)target_row[id] >= b->rows) b->rows = (uint64_t)target_row[id] + 1;
    }
}

Status foreign_shortlist_read(Shortlist **shortlist, StrView file, const int *source_row, int source_size,
                              const int *target_row, int target_size) {
    Lists lists = {0};
    Builder b = {0};
    *shortlist = NULL;
    TRY(read_lists(file, &lists));
    invert_rows(&b, target_row, target_size);
    b.shortlist = mem_alloc(1, sizeof *b.shortlist);
    *b.shortlist = (Shortlist){.source_size = source_size, .target_size = target_size};
    b.shortlist->start = mem_alloc((size_t)source_size + 2, sizeof *b.shortlist->start);
    MEM_GROW(b.shortlist->ids, b.capacity, 1);
    size_t *end = begin_list(&b, 0);
    for (uint64_t row = 0; row < lists.first && row < b.rows && row < SHORTLIST_MAX; row++)
        add_id(&b, end, row);
    Status status = STATUS_OK;
    for (int id = 0; id < source_size && status == STATUS_OK; id++)
        status = add_list(&b, &lists, 1 + id, id < VOCAB_SPECIALS ? -1 : source_row[id]);
    mem_free(b.ours);
    if (status == STATUS_OK)
        *shortlist = b.shortlist;
    else
        shortlist_free(b.shortlist);
    return status;
}
