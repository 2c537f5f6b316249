/* zip.c - see zip.h. */
#include "io/zip.h"

#include <string.h>
#include "base/mem.h"
#include "io/bytes.h"
#include "io/deflate.h"

enum {
    END_BYTES = 22, /* the end record without its comment */
    COMMENT_BYTES = 65535,
    LOCATOR_BYTES = 20, /* zip64 */
    LARGE = 16 << 20,   /* only greater entries have a limit of their ratio */
    RATIO = 200,        /* numbers and text compress less */
    ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8,
};

#define ALL_ONES 0xFFFFFFFFu

static const uint32_t LOCAL_MAGIC = 0x04034b50, ENTRY_MAGIC = 0x02014b50, END_MAGIC = 0x06054b50,
                      LOCATOR_MAGIC = 0x07064b50, END64_MAGIC = 0x06064b50;

bool zip_starts(StrView bytes) { return sv_starts(bytes, SV("PK\3\4")) || sv_starts(bytes, SV("PK\5\6")); }

Status zip_check_name(StrView name) {
    StrView rest = name, part;
    bool bad = name.length == 0 || name.length > 4096 || name.data[0] == '/' ||
               memchr(name.data, '\\', name.length) || (name.length > 1 && name.data[1] == ':');
    for (size_t i = 0; i < name.length; i++) bad |= (unsigned char)name.data[i] < ' ' || name.data[i] == 127;
    if (bad && name.length > 0 && (unsigned char)name.data[0] < ' ')
        return status_fail(STATUS_DATA, "the archive has an entry with control characters in its name");
    while (!bad && sv_next(&rest, '/', &part)) bad = sv_equal(part, SV(".."));
    if (!bad) return STATUS_OK;
    status_fail(STATUS_DATA, "the archive has an entry '%.*s' whose name leads out of it or is malformed",
                name.length < 200 ? (int)name.length : 200, name.length ? name.data : "");
    return status_hint(STATUS_DATA, "archives of models do not have such names: do not trust this one");
}

typedef struct {
    uint64_t count, offset;
} Directory;

static Status find_directory(StrView bytes, Directory *directory) {
    if (bytes.length < END_BYTES) return status_fail(STATUS_DATA, "the zip file is truncated");
    size_t lowest = bytes.length > END_BYTES + COMMENT_BYTES ? bytes.length - END_BYTES - COMMENT_BYTES : 0;
    for (size_t at = bytes.length - END_BYTES + 1; at-- > lowest;) {
        ByteReader reader = bytes_from(bytes, at);
        if (bytes_u32(&reader) != END_MAGIC) continue;
        reader = bytes_from(bytes, at + 10);
        directory->count = bytes_u16(&reader);
        uint64_t size = bytes_u32(&reader);
        directory->offset = bytes_u32(&reader);
        if (directory->count != 0xFFFF && size != ALL_ONES && directory->offset != ALL_ONES) return STATUS_OK;
        reader = bytes_from(bytes, at < LOCATOR_BYTES ? UINT64_MAX : at - LOCATOR_BYTES);
        if (bytes_u32(&reader) != LOCATOR_MAGIC) return STATUS_OK;
        reader.at += 4;
        reader = bytes_from(bytes, bytes_u64(&reader));
        uint64_t end = reader.at;
        if (bytes_u32(&reader) != END64_MAGIC || reader.bad) break;
        reader = bytes_from(bytes, end + 32);
        directory->count = bytes_u64(&reader);
        bytes_u64(&reader);
        directory->offset = bytes_u64(&reader);
        if (reader.bad) break;
        return STATUS_OK;
    }
    return status_hint(status_fail(STATUS_DATA, "the zip file is truncated: it has no directory"),
                       "download it again");
}

/* Numbers of all ones stand in the extra field with tag 1, only those, in this order. */
static void read_zip64(StrView extra, ZipEntry *entry) {
    ByteReader reader = {extra, 0, false};
    while (!reader.bad && reader.at < extra.length) {
        uint16_t tag = bytes_u16(&reader), length = bytes_u16(&reader);
        StrView field = bytes_take(&reader, length);
        if (tag != 1) continue;
        ByteReader wide = {field, 0, false};
        if (entry->size == ALL_ONES) entry->size = bytes_u64(&wide);
        if (entry->packed == ALL_ONES) entry->packed = bytes_u64(&wide);
        if (entry->header == ALL_ONES) entry->header = bytes_u64(&wide);
    }
}

static Status check_entry(const ZipEntry *entry, unsigned flags, unsigned method, uint64_t *sum) {
    TRY(zip_check_name(entry->name));
    if (flags & ENCRYPTED) return status_fail(STATUS_DATA, "the zip file is encrypted");
    if (method != STORED && method != DEFLATED)
        return status_fail(STATUS_DATA,
                           "zip entry '%.*s': compression method %u is not supported, only deflate",
                           SV_ARG(entry->name), method);
    bool bomb = entry->size > LARGE && entry->size / RATIO > entry->packed;
    if (method == STORED && entry->size != entry->packed)
        return status_fail(STATUS_DATA, "zip entry '%.*s': its two sizes differ", SV_ARG(entry->name));
    if (bomb || entry->size > ZIP_BYTES - *sum)
        return status_fail(STATUS_DATA, "zip entry '%.*s' claims %llu bytes, made of %llu",
                           SV_ARG(entry->name), (unsigned long long)entry->size,
                           (unsigned long long)entry->packed);
    *sum += entry->size;
    return STATUS_OK;
}

/* Folders, and what macOS adds. */
static bool is_skipped(StrView name) {
    const char *slash = memrchr(name.data, '/', name.length);
    StrView last = slash ? (StrView){slash + 1, (size_t)(name.data + name.length - slash - 1)} : name;
    return last.length == 0 || sv_starts(last, SV("._")) || sv_starts(name, SV("__MACOSX/"));
}

static Status read_directory(Zip *zip) {
    Directory directory = {0};
    uint64_t sum = 0;
    TRY(find_directory(zip->bytes, &directory));
    if (directory.count > ZIP_ENTRIES)
        return status_fail(STATUS_DATA, "the zip file has %llu entries, more than %d",
                           (unsigned long long)directory.count, ZIP_ENTRIES);
    ByteReader reader = bytes_from(zip->bytes, directory.offset);
    for (uint64_t i = 0; i < directory.count; i++) {
        uint64_t begin = reader.at;
        ZipEntry entry = {0};
        if (bytes_u32(&reader) != ENTRY_MAGIC) reader.bad = true;
        bytes_u32(&reader);
        unsigned flags = bytes_u16(&reader), method = bytes_u16(&reader);
        bytes_u32(&reader);
        entry.crc = bytes_u32(&reader);
        entry.packed = bytes_u32(&reader);
        entry.size = bytes_u32(&reader);
        uint16_t name = bytes_u16(&reader), extra = bytes_u16(&reader), comment = bytes_u16(&reader);
        bytes_u64(&reader);
        entry.header = bytes_u32(&reader);
        entry.name = bytes_take(&reader, name);
        StrView fields = bytes_take(&reader, extra);
        bytes_take(&reader, comment);
        if (reader.bad)
            return status_fail(STATUS_DATA, "the zip file's directory is damaged at byte %llu",
                               (unsigned long long)begin);
        read_zip64(fields, &entry);
        TRY(check_entry(&entry, flags, method, &sum));
        entry.deflated = method == DEFLATED;
        if (is_skipped(entry.name)) continue;
        MEM_GROW(zip->entries, zip->capacity, zip->count + 1);
        zip->entries[zip->count++] = entry;
    }
    return STATUS_OK;
}

Status zip_open(Zip *zip, StrView bytes) {
    *zip = (Zip){.bytes = bytes};
    Status status = read_directory(zip);
    if (status != STATUS_OK) zip_free(zip);
    return status;
}

void zip_free(Zip *zip) {
    mem_free(zip->entries);
    *zip = (Zip){0};
}

Status zip_read(const Zip *zip, size_t index, StrBuf *content) {
    const ZipEntry *entry = &zip->entries[index];
    ByteReader reader = bytes_from(zip->bytes, entry->header);
    if (bytes_u32(&reader) != LOCAL_MAGIC) reader.bad = true;
    bytes_take(&reader, 22);
    uint16_t name = bytes_u16(&reader), extra = bytes_u16(&reader);
    bytes_take(&reader, (uint64_t)name + extra);
    StrView packed = bytes_take(&reader, entry->packed);
    size_t before = content->length;
    if (reader.bad) return status_fail(STATUS_DATA, "zip entry '%.*s' is truncated", SV_ARG(entry->name));
    if (!entry->deflated)
        strbuf_add(content, packed);
    else if (!inflate_raw(packed, (size_t)entry->size, content))
        return status_fail(STATUS_DATA, "zip entry '%.*s' cannot be decompressed", SV_ARG(entry->name));
    StrView view = strbuf_view(content);
    view.data += before;
    view.length -= before;
    if (view.length == entry->size && crc32_of(view) == entry->crc) return STATUS_OK;
    return status_hint(
        status_fail(STATUS_DATA, "zip entry '%.*s' is damaged: its checksum differs", SV_ARG(entry->name)),
        "download the file again");
}
