/* archive.c - see archive.h. */
#include "foreign/archive.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "io/bytes.h"
#include "io/zip.h"
#include "io/fileio.h"
#include "io/sha256.h"

enum { TAR_BLOCK = 512, FOLDER_FILES = 1000, FOLDER_DEPTH = 3 };
#define FILE_MAX ((size_t)8 << 30)

typedef struct {
    char *name;    /* in the archive */
    char *path;    /* of a file of a folder, or NULL */
    StrView bytes; /* of a file of a tar, or the file alone */
    size_t zip;    /* of a file of a zip */
} Member;

struct ForeignArchive {
    StrBuf content; /* of the file, unless the caller has it */
    Zip zip;
    bool is_zip;
    Member *members;
    size_t count, capacity;
};

static Member *add_member(ForeignArchive *archive, StrView name) {
    MEM_GROW(archive->members, archive->capacity, archive->count + 1);
    Member *member = &archive->members[archive->count++];
    *member = (Member){.name = mem_strndup(name.data, name.length)};
    return member;
}

static int compare_members(const void *a, const void *b) {
    return strcmp(((const Member *)a)->name, ((const Member *)b)->name);
}

/* ---- folders ---- */

static Status list_folder(ForeignArchive *archive, const char *path, const char *prefix, int depth) {
    DIR *folder = opendir(path);
    if (!folder) return status_fail(STATUS_RUNTIME, "cannot open '%.700s': %s", path, strerror(errno));
    Status status = STATUS_OK;
    for (struct dirent *item = readdir(folder); item && status == STATUS_OK; item = readdir(folder)) {
        if (item->d_name[0] == '.') continue;
        StrBuf full = {0}, name = {0};
        struct stat info;
        strbuf_format(&full, "%s/%s", path, item->d_name);
        strbuf_format(&name, "%s%s", prefix, item->d_name);
        if (stat(strbuf_text(&full), &info) != 0) {
            /* A link to nowhere is no file. */
        } else if (S_ISDIR(info.st_mode) && depth > 1) {
            strbuf_add_char(&name, '/');
            status = list_folder(archive, strbuf_text(&full), strbuf_text(&name), depth - 1);
        } else if (S_ISREG(info.st_mode)) {
            add_member(archive, strbuf_view(&name))->path = mem_strdup(strbuf_text(&full));
            if (archive->count > FOLDER_FILES)
                status = status_fail(STATUS_DATA, "'%.700s' has more than %d files", path, FOLDER_FILES);
        }
        strbuf_free(&full);
        strbuf_free(&name);
    }
    closedir(folder);
    return status;
}

/* ---- tar ---- */

static bool is_tar(StrView bytes) {
    return bytes.length >= TAR_BLOCK && memcmp(bytes.data + 257, "ustar", 5) == 0;
}

/* A field of octal digits, or of a file that is too large for them. False: neither. */
static bool tar_number(StrView field, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < field.length && field.data[i] != '\0' && field.data[i] != ' '; i++) {
        if (field.data[i] < '0' || field.data[i] > '7') return false;
        *number = *number << 3 | (unsigned)(field.data[i] - '0');
    }
    return true;
}

static StrView tar_text(StrView header, size_t at, size_t most) {
    const char *text = header.data + at;
    return (StrView){text, strnlen(text, most)};
}

static Status list_tar(ForeignArchive *archive, StrView bytes) {
    ByteReader reader = {bytes, 0, false};
    while (reader.at + TAR_BLOCK <= bytes.length) {
        StrView header = bytes_take(&reader, TAR_BLOCK);
        uint64_t size = 0;
        if (header.data[0] == '\0') break;
        if (memcmp(header.data + 257, "ustar", 5) != 0 ||
            !tar_number((StrView){header.data + 124, 12}, &size))
            return status_fail(STATUS_DATA, "the tar file is damaged at byte %zu", reader.at - TAR_BLOCK);
        StrView data = bytes_take(&reader, size);
        bytes_take(&reader, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
        if (reader.bad) return status_fail(STATUS_DATA, "the tar file is truncated");
        StrBuf name = {0};
        StrView prefix = tar_text(header, 345, 155);
        if (prefix.length) strbuf_format(&name, "%.*s/", SV_ARG(prefix));
        strbuf_add(&name, tar_text(header, 0, 100));
        char type = header.data[156];
        Status status = type == '0' || type == '\0' ? zip_check_name(strbuf_view(&name)) : STATUS_OK;
        if (status == STATUS_OK && (type == '0' || type == '\0'))
            add_member(archive, strbuf_view(&name))->bytes = data;
        strbuf_free(&name);
        TRY(status);
        if (archive->count > FOLDER_FILES)
            return status_fail(STATUS_DATA, "the tar file has more than %d files", FOLDER_FILES);
    }
    return STATUS_OK;
}

/* ---- opening ---- */

static Status list_bytes(ForeignArchive *archive, StrView bytes, const char *path) {
    if (is_tar(bytes)) return list_tar(archive, bytes);
    if (!zip_starts(bytes)) {
        const char *slash = strrchr(path, '/');
        add_member(archive, sv(slash ? slash + 1 : path))->bytes = bytes;
        return STATUS_OK;
    }
    TRY(zip_open(&archive->zip, bytes));
    archive->is_zip = true;
    for (size_t i = 0; i < archive->zip.count; i++)
        add_member(archive, archive->zip.entries[i].name)->zip = i;
    return STATUS_OK;
}

static Status finish(ForeignArchive **archive, Status status) {
    if (status == STATUS_OK && (*archive)->count == 0)
        status = status_fail(STATUS_DATA, "there are no files in it");
    if (status == STATUS_OK) {
        qsort((*archive)->members, (*archive)->count, sizeof *(*archive)->members, compare_members);
        return STATUS_OK;
    }
    foreign_archive_close(*archive);
    *archive = NULL;
    return status;
}

Status foreign_archive_open_bytes(ForeignArchive **archive, StrView bytes) {
    *archive = mem_alloc(1, sizeof **archive);
    return finish(archive, list_bytes(*archive, bytes, "file"));
}

Status foreign_archive_open(ForeignArchive **archive, const char *path) {
    struct stat info;
    *archive = NULL;
    if (stat(path, &info) != 0)
        return status_fail(STATUS_RUNTIME, "cannot open '%.700s': %s", path, strerror(errno));
    *archive = mem_alloc(1, sizeof **archive);
    if (S_ISDIR(info.st_mode)) return finish(archive, list_folder(*archive, path, "", FOLDER_DEPTH));
    Status status = file_read(path, FILE_MAX, &(*archive)->content);
    if (status == STATUS_OK) status = list_bytes(*archive, strbuf_view(&(*archive)->content), path);
    return finish(archive, status);
}

void foreign_archive_close(ForeignArchive *archive) {
    if (!archive) return;
    for (size_t i = 0; i < archive->count; i++) {
        mem_free(archive->members[i].name);
        mem_free(archive->members[i].path);
    }
    mem_free(archive->members);
    zip_free(&archive->zip);
    strbuf_free(&archive->content);
    mem_free(archive);
}

size_t foreign_archive_count(const ForeignArchive *archive) { return archive->count; }

Status foreign_archive_read(const ForeignArchive *archive, size_t index, StrBuf *content) {
    const Member *member = &archive->members[index];
    strbuf_clear(content);
    if (member->path) return file_read(member->path, FILE_MAX, content);
    if (archive->is_zip) return zip_read(&archive->zip, member->zip, content);
    strbuf_add(content, member->bytes);
    return STATUS_OK;
}

const char *foreign_archive_name(const ForeignArchive *archive, size_t index) {
    return archive->members[index].name;
}

long foreign_archive_find(const ForeignArchive *archive, size_t from, const char *start, const char *end) {
    for (size_t i = from; i < archive->count; i++) {
        const char *name = archive->members[i].name, *slash = strrchr(name, '/');
        StrView last = sv(slash ? slash + 1 : name);
        if (last.length >= strlen(start) + strlen(end) && sv_starts(last, sv(start)) &&
            sv_ends(last, sv(end)))
            return (long)i;
    }
    return -1;
}

Status foreign_archive_digest(const ForeignArchive *archive, char hex[65]) {
    Sha256 hash;
    StrBuf content = {0};
    Status status = STATUS_OK;
    sha256_begin(&hash);
    for (size_t i = 0; i < archive->count && status == STATUS_OK; i++) {
        status = foreign_archive_read(archive, i, &content);
        sha256_add(&hash, archive->members[i].name, strlen(archive->members[i].name) + 1);
        sha256_add(&hash, content.data, content.length);
    }
    sha256_end(&hash, hex);
    strbuf_free(&content);
    return status;
}
