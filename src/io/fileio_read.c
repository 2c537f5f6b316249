/* fileio_read.c - bytes from files, pipes and gzip streams, whole or by lines.
 * RFC 1952 (gzip)
 */
#include "io/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/mem.h"
#include "base/utf8.h"

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
enum { RAW_BYTES = 64 * 1024 };

/* A descriptor; a gzip stream is decompressed. Each read returns the bytes that are there, so that a slow
 * pipe does not wait. */
typedef struct {
    int fd;
    bool owns_fd, decided, gzip, member_ended, ended;
    bool out_full; /* the decompressor may hold more than it could hand out */
    const char *path;
    z_stream stream;
    unsigned char raw[RAW_BYTES];
    size_t raw_start, raw_end;
    long long bytes_read; /* bytes read from the descriptor */
} Source;

static bool is_dash(const char *path) { return strcmp(path, "-") == 0; }

static const char *shown_path(const char *path) { return is_dash(path) ? "standard input" : path; }

static Status source_open(Source **opened, const char *path) {
    int fd = STDIN_FILENO;
    if (!is_dash(path)) {
        fd = file_open(path, O_RDONLY, 0);
        if (fd < 0) return status_fail(STATUS_RUNTIME, "cannot open '%.700s': %s", path, strerror(errno));
    }
    Source *source = mem_alloc(1, sizeof *source);
    source->fd = fd;
    source->owns_fd = !is_dash(path);
    source->path = mem_strdup(shown_path(path));
    *opened = source;
    return STATUS_OK;
}

static void source_close(Source *source) {
    if (source->gzip) inflateEnd(&source->stream);
    if (source->owns_fd) close(source->fd);
    mem_free((char *)source->path);
    mem_free(source);
}

/* One read into `raw`, which must be empty or have a single byte. Sets `ended`. */
static Status source_fill(Source *source) {
    if (source->raw_start > 0) {
        source->raw_end -= source->raw_start;
        memmove(source->raw, source->raw + source->raw_start, source->raw_end);
        source->raw_start = 0;
    }
    ssize_t got;
    do got = read(source->fd, source->raw + source->raw_end, RAW_BYTES - source->raw_end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return status_fail(STATUS_RUNTIME, "cannot read '%.700s': %s", source->path, strerror(errno));
    source->ended = got == 0;
    source->raw_end += (size_t)got;
    source->bytes_read += got;
    return STATUS_OK;
}

static bool is_gzip(const Source *source) {
    return source->raw_end - source->raw_start >= 2 && source->raw[source->raw_start] == 0x1F &&
           source->raw[source->raw_start + 1] == 0x8B;
}

/* After a read: decides by the first two bytes whether this is gzip. A single byte is enough unless it is
 * 0x1F. */
static Status source_detect_gzip(Source *source, bool *waiting) {
    size_t held = source->raw_end - source->raw_start;
    *waiting = !source->ended && held == 1 && source->raw[source->raw_start] == 0x1F;
    if (*waiting) return STATUS_OK;
    source->decided = true;
    source->gzip = is_gzip(source);
    if (source->gzip && inflateInit2(&source->stream, 15 + 16) != Z_OK) {
        source->gzip = false;
        return status_fail(STATUS_RUNTIME, "cannot read '%.700s': no memory to decompress it", source->path);
    }
    return STATUS_OK;
}

/* After the end of a gzip member: another one may follow, or zeros up to the end. */
static Status source_next_member(Source *source) {
    while (source->raw_start < source->raw_end && source->raw[source->raw_start] == 0) source->raw_start++;
    size_t held = source->raw_end - source->raw_start;
    if (held == 0) return STATUS_OK;
    if (is_gzip(source)) {
        source->member_ended = false;
        inflateReset(&source->stream);
        return STATUS_OK;
    }
    if (held == 1 && source->raw[source->raw_start] == 0x1F && !source->ended) return STATUS_OK;
    return status_fail(STATUS_DATA, "'%.700s': other bytes follow the gzip data", source->path);
}

static Status source_inflate(Source *source, char *out, size_t *got) {
    z_stream *stream = &source->stream;
    stream->next_in = source->raw + source->raw_start;
    stream->avail_in = (uInt)(source->raw_end - source->raw_start);
    stream->next_out = (Bytef *)out;
    stream->avail_out = RAW_BYTES;
    int result = inflate(stream, Z_NO_FLUSH);
    source->raw_start = source->raw_end - stream->avail_in;
    *got = RAW_BYTES - stream->avail_out;
    source->out_full = stream->avail_out == 0 && result == Z_OK;
    if (result == Z_STREAM_END) {
        source->member_ended = true;
    } else if (result == Z_MEM_ERROR) {
        return status_fail(STATUS_RUNTIME, "cannot read '%.700s': no memory to decompress it", source->path);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return status_fail(STATUS_DATA, "'%.700s': damaged gzip data (%s)", source->path, stream->msg);
    }
    return STATUS_OK;
}

/* Must the next source_read read the descriptor? Uncompressed bytes are passed on at once, never kept. */
static bool source_needs_input(const Source *source) {
    size_t held = source->raw_end - source->raw_start;
    if (!source->decided || held == 0) return !source->out_full;
    return source->member_ended && held == 1;
}

/* Up to RAW_BYTES bytes after at most one read of the descriptor. *got may be 0 before the end: call
 * again. */
static Status source_read(Source *source, char *out, size_t *got, bool *end) {
    *got = 0;
    *end = false;
    if (source_needs_input(source)) TRY(source_fill(source));
    if (!source->decided) {
        bool waiting;
        TRY(source_detect_gzip(source, &waiting));
        if (waiting) return STATUS_OK;
    }
    if (source->gzip && source->member_ended) TRY(source_next_member(source));
    if (!source->gzip) {
        *got = source->raw_end - source->raw_start;
        memcpy(out, source->raw + source->raw_start, *got);
        source->raw_start = source->raw_end;
    } else if (!source
                    ->member_ended) { /* all decompressed bytes were passed on before the end of the member */
        if (source->ended)
            return status_fail(STATUS_DATA, "'%.700s': the gzip data is cut off", source->path);
        TRY(source_inflate(source, out, got));
    }
    *end = source->ended;
    return STATUS_OK;
}

static Status fail_long_line(const char *path, long number) {
    char limit[32];
    return status_fail(STATUS_DATA, "'%.700s': line %ld is longer than %s", path, number,
                       str_bytes(FILE_LINE_BYTES, limit));
}

static Status fail_many_lines(const char *path) {
    char limit[32];
    return status_fail(STATUS_DATA, "'%.700s' has more than %s lines", path,
                       str_count(FILE_TEXT_LINES, limit));
}

static Status fail_large(const char *path, size_t limit) {
    char allowed[32];
    return status_fail(STATUS_DATA, "'%.700s' is larger than %s", path, str_bytes((double)limit, allowed));
}

Status file_read(const char *path, size_t limit, StrBuf *content) {
    Source *source;
    TRY(source_open(&source, path));
    strbuf_clear(content);
    Status status = STATUS_OK;
    for (bool end = false; !end && status == STATUS_OK;) {
        MEM_GROW(content->data, content->capacity, content->length + RAW_BYTES + 1);
        size_t got;
        status = source_read(source, content->data + content->length, &got, &end);
        content->length += got;
        if (status == STATUS_OK && limit > 0 && content->length > limit)
            status = fail_large(source->path, limit);
    }
    content->data[content->length] = '\0';
    source_close(source);
    return status;
}

long long file_size(const char *path) {
    struct stat about;
    int failed = is_dash(path) ? fstat(STDIN_FILENO, &about) : stat(path, &about);
    return failed == 0 && S_ISREG(about.st_mode) ? (long long)about.st_size : -1;
}

bool file_exists(const char *path) {
    struct stat about;
    return stat(path, &about) == 0;
}

bool file_is_same(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool file_is_stream(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

Status file_make_dirs(const char *path, bool *made) {
    char *part = mem_strdup(path);
    bool last_made = false;
    Status status = STATUS_OK;
    for (char *end = part; status == STATUS_OK && *end; end++) {
        /* Stop at the end of each component; the first byte may be the root's slash. */
        if (end[0] == '/' ? end == part : end[1] != '\0') continue;
        char saved = *end;
        if (saved == '/') *end = '\0';
        struct stat about;
        last_made = mkdir(part, 0777) == 0;
        if (!last_made) {
            int error = errno;
            if (stat(part, &about) != 0)
                status =
                    status_fail(STATUS_RUNTIME, "cannot create folder '%.700s': %s", part, strerror(error));
            else if (!S_ISDIR(about.st_mode))
                status =
                    status_fail(STATUS_RUNTIME, "cannot create folder '%.700s': a file has that name", part);
        }
        *end = saved;
    }
    mem_free(part);
    if (made) *made = last_made;
    return status;
}

struct LineReader {
    Source *source;
    StrBuf held;        /* bytes read and not yet handed out, from `start` */
    size_t start, seen; /* `seen`: no line feed before it */
    long number, returns;
    bool ended, marked;
    bool limited;         /* the caller keeps all lines */
    size_t bytes;         /* of all lines so far */
    StatusRecord failure; /* from line_reader_ready, for line_reader_next */
};

Status line_reader_open(LineReader **opened, const char *path) {
    Source *source = NULL;
    TRY(source_open(&source, path));
    LineReader *reader = mem_alloc(1, sizeof *reader);
    reader->source = source;
    *opened = reader;
    return STATUS_OK;
}

Status line_reader_open_limited(LineReader **opened, const char *path) {
    TRY(line_reader_open(opened, path));
    (*opened)->limited = true;
    return STATUS_OK;
}

void line_reader_close(LineReader *reader) {
    if (!reader) return;
    source_close(reader->source);
    strbuf_free(&reader->held);
    mem_free(reader);
}

Status file_check_lines(const char *path, StrView text) {
    StrView line;
    for (long number = 1; text.length > 0 && sv_next(&text, '\n', &line); number++) {
        if (line.length > FILE_LINE_BYTES) return fail_long_line(path, number);
        if (number > FILE_TEXT_LINES) return fail_many_lines(path);
    }
    return STATUS_OK;
}

/* Appends the bytes of one read to the buffer. */
static Status lines_fill(LineReader *reader) {
    StrBuf *held = &reader->held;
    if (reader->start > 0) {
        held->length -= reader->start;
        memmove(held->data, held->data + reader->start, held->length);
        reader->seen -= reader->start;
        reader->start = 0;
    }
    if (held->length > FILE_LINE_BYTES) return fail_long_line(reader->source->path, reader->number + 1);
    MEM_GROW(held->data, held->capacity, held->length + RAW_BYTES);
    size_t got;
    Status status = source_read(reader->source, held->data + held->length, &got, &reader->ended);
    held->length += got;
    return status;
}

/* Position of the next line feed among the bytes held, or NULL. */
static const char *lines_find(LineReader *reader) {
    size_t remaining = reader->held.length - reader->seen;
    const char *end = remaining ? memchr(reader->held.data + reader->seen, '\n', remaining) : NULL;
    if (!end) reader->seen = reader->held.length;
    return end;
}

const char *file_compressed_kind(StrView start) {
    static const struct {
        const char *magic, *name;
    } KINDS[] = {{"PK\3\4", "a zip file, or a spreadsheet"},
                 {"\37\213\10", "a gzip file"},
                 {"\3757zXZ", "an xz file"},
                 {"BZh91AY&SY", "a bzip2 file"},
                 {"\50\265\57\375", "a zstd file"},
                 {"7z\274\257\47", "a 7-Zip file"}};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (sv_starts(start, sv(KINDS[i].magic))) return KINDS[i].name;
    return NULL;
}

/* Editors on Windows call it "Unicode". Its byte-order mark never occurs in UTF-8. The line after the mark
 * has a NUL or, in Chinese, an even number of bytes; otherwise the file may be anything. Without a mark, one
 * byte of most Latin letters is 0: always the first or always the second. */
bool file_is_utf16(StrView line) {
    enum { LETTERS_MAX = 32 };
    size_t letters = line.length / 2 < LETTERS_MAX ? line.length / 2 : LETTERS_MAX, zeros[2] = {0};
    if (sv_starts(line, SV("\xFF\xFE")) || sv_starts(line, SV("\xFE\xFF")))
        return memchr(line.data, 0, line.length) || line.length % 2 == 0;
    for (size_t i = 0; i < 2 * letters; i++) zeros[i % 2] += line.data[i] == 0;
    return letters > 1 && !(zeros[0] && zeros[1]) && 4 * (zeros[0] + zeros[1]) >= 3 * letters;
}

Status file_check_text(const char *path, StrView line) {
    const char *kind = file_compressed_kind(line);
    if (file_is_utf16(line)) {
        status_fail(STATUS_DATA, "'%.700s' is UTF-16, not UTF-8", path);
        return status_hint(STATUS_DATA, "iconv -f UTF-16 -t UTF-8 FILE > NEW, or save the file as UTF-8");
    }
    if (!kind) return STATUS_OK;
    status_fail(STATUS_DATA, "'%.700s' is %s, not text", path, kind);
    return status_hint(STATUS_DATA, "unpack it, or save it as text with tabs; gzip alone is read as it is");
}

/* A NUL would end a C string early, so that the rest of the line is lost without a message. */
static Status check_line(const char *path, long number, StrView line) {
    const char *nul = line.length > 0 ? memchr(line.data, 0, line.length) : NULL;
    if (!nul && utf8_valid(line)) return STATUS_OK;
    return status_fail(STATUS_DATA, "'%.700s', line %ld: %s", path, number, nul ? "a NUL byte" : "not UTF-8");
}

Status file_read_text(const char *path, size_t limit, StrBuf *content) {
    TRY(file_read(path, limit, content));
    StrView rest = strbuf_view(content), line;
    TRY(file_check_text(shown_path(path), rest));
    for (long number = 1; sv_next(&rest, '\n', &line); number++)
        TRY(check_line(shown_path(path), number, line));
    if (!sv_starts(strbuf_view(content), SV(BYTE_ORDER_MARK))) return STATUS_OK;
    content->length -= sizeof BYTE_ORDER_MARK - 1;
    memmove(content->data, content->data + sizeof BYTE_ORDER_MARK - 1, content->length + 1);
    return STATUS_OK;
}

Status line_reader_next(LineReader *reader, StrView *line, bool *more) {
    *more = false;
    *line = (StrView){"", 0};
    if (reader->failure.code != STATUS_OK) return status_restore(&reader->failure);
    const char *end;
    while (!(end = lines_find(reader)) && !reader->ended) TRY(lines_fill(reader));
    size_t length =
        end ? (size_t)(end - reader->held.data) - reader->start : reader->held.length - reader->start;
    if (!end && length == 0) return STATUS_OK;
    if (length > FILE_LINE_BYTES) return fail_long_line(reader->source->path, reader->number + 1);
    reader->bytes += length;
    if (reader->limited && reader->bytes > FILE_TEXT_BYTES)
        return fail_large(reader->source->path, FILE_TEXT_BYTES);
    if (reader->limited && reader->number >= FILE_TEXT_LINES) return fail_many_lines(reader->source->path);
    *line = (StrView){reader->held.data + reader->start, length};
    reader->start += length + (end != NULL);
    reader->seen = reader->start;
    if (reader->number == 0) TRY(file_check_text(reader->source->path, *line));
    if (reader->number++ == 0 && sv_starts(*line, SV(BYTE_ORDER_MARK))) {
        reader->marked = true;
        line->data += sizeof BYTE_ORDER_MARK - 1;
        line->length -= sizeof BYTE_ORDER_MARK - 1;
    }
    if (sv_ends(*line, SV("\r"))) {
        line->length--;
        reader->returns++;
    }
    *more = true;
    return STATUS_OK;
}

/* Reads on to the end of the longer file, to name both numbers of lines. */
static Status fail_line_counts(LineReader *const readers[2], bool first_is_longer) {
    StrView line;
    for (bool more = true; more;) TRY(line_reader_next(readers[first_is_longer ? 0 : 1], &line, &more));
    long lines = readers[0]->number;
    status_fail(STATUS_DATA, "'%s' has %ld line%s but '%s' has %ld", readers[0]->source->path, lines,
                lines == 1 ? "" : "s", readers[1]->source->path, readers[1]->number);
    return status_hint(STATUS_DATA, "line n of one file must be the translation of line n of the other");
}

Status line_readers_next(LineReader *const readers[2], StrView lines[2], bool *more) {
    bool more_of_second;
    TRY(line_reader_next(readers[0], &lines[0], more));
    TRY(line_reader_next(readers[1], &lines[1], &more_of_second));
    return *more == more_of_second ? STATUS_OK : fail_line_counts(readers, *more);
}

Status line_reader_next_text(LineReader *reader, StrView *line, bool *more) {
    TRY(line_reader_next(reader, line, more));
    return check_line(reader->source->path, reader->number, *line);
}

bool line_reader_ready(LineReader *reader) {
    for (;;) {
        if (reader->ended || reader->failure.code != STATUS_OK || lines_find(reader)) return true;
        struct pollfd question = {.fd = reader->source->fd, .events = POLLIN};
        if (source_needs_input(reader->source) && poll(&question, 1, 0) <= 0) return false;
        Status status = lines_fill(reader);
        if (status != STATUS_OK) status_save(&reader->failure, status);
    }
}

Status line_reader_peek(LineReader *reader, size_t bytes, StrView *start) {
    while (reader->held.length - reader->start < bytes && !reader->ended) TRY(lines_fill(reader));
    size_t held = reader->held.length - reader->start;
    *start = held > 0 ? (StrView){reader->held.data + reader->start, held} : SV("");
    return STATUS_OK;
}

Status line_reader_take(LineReader *reader, char *out, size_t most, size_t *got) {
    StrView held;
    TRY(line_reader_peek(reader, 1, &held));
    *got = held.length < most ? held.length : most;
    memcpy(out, held.data, *got);
    reader->start += *got;
    if (reader->seen < reader->start) reader->seen = reader->start;
    return STATUS_OK;
}

long line_reader_number(const LineReader *reader) { return reader->number; }

const char *line_reader_path(const LineReader *reader) { return reader->source->path; }

long line_reader_carriage_returns(const LineReader *reader) { return reader->returns; }

bool line_reader_has_bom(const LineReader *reader) { return reader->marked; }

long long line_reader_consumed(const LineReader *reader) {
    const Source *source = reader->source;
    size_t held = source->gzip ? 0 : reader->held.length - reader->start;
    return source->bytes_read - (long long)(source->raw_end - source->raw_start + held);
}
