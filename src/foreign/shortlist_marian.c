/* shortlist_marian.c - see shortlist_marian.h. */
#include "foreign/shortlist_marian.h"

#include "base/mem.h"
#include "io/bytes.h"

enum { HEADER = 48, LIST_MAX = 1000, SPECIALS = 4 };

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

/* One list; our ids of foreign ones, without our four tokens. */
static void add_id(int id, bool *started, StrBuf *text) {
    if (id < SPECIALS) return;
    strbuf_format(text, "%s%d", *started ? " " : "", id);
    *started = true;
}

static Status add_list(const Lists *lists, int row, const int *ours, uint64_t target_rows, StrBuf *text) {
    bool started = false;
    if (row >= 0) {
        uint64_t begin = number(lists->offsets, (uint64_t)row, 8),
                 end = number(lists->offsets, (uint64_t)row + 1, 8);
        if ((uint64_t)row + 1 >= lists->lists || begin > end || end > lists->words || end - begin > LIST_MAX)
            return status_fail(STATUS_DATA, "its list %d is malformed", row);
        for (uint64_t i = begin; i < end; i++) {
            uint64_t id = number(lists->ids, i, 4);
            if (id >= target_rows)
                return status_fail(STATUS_DATA, "its list %d has the id %llu", row, (unsigned long long)id);
            add_id(ours[id], &started, text);
        }
    }
    strbuf_add_char(text, ';');
    return STATUS_OK;
}

Status foreign_shortlist_text(StrView file, const int *source_row, int source_size, const int *target_row,
                              int target_size, StrBuf *text) {
    Lists lists = {0};
    TRY(read_lists(file, &lists));
    int *ours = mem_alloc((size_t)target_size, sizeof *ours);
    bool started = false;
    uint64_t rows = 0;
    for (int id = 0; id < target_size; id++)
        if (target_row[id] >= 0 && target_row[id] < target_size) {
            ours[target_row[id]] = id;
            if ((uint64_t)target_row[id] >= rows) rows = (uint64_t)target_row[id] + 1;
        }
    for (uint64_t id = 0; id < lists.first && id < rows && id < LIST_MAX; id++)
        add_id(ours[id], &started, text);
    strbuf_add_char(text, ';');
    Status status = STATUS_OK;
    for (int id = 0; id < source_size && status == STATUS_OK; id++)
        status = add_list(&lists, id < SPECIALS ? -1 : source_row[id], ours, rows, text);
    mem_free(ours);
    return status;
}
