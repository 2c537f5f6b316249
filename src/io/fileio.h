/* fileio.h - reading files whole or by lines, and replacing files atomically.
 *
 * Reading   plain files and gzip files; the content decides, not the name. "-" is standard input.
 * Limits    a line has at most FILE_LINE_BYTES. A text that the caller keeps whole has at most
 *           FILE_TEXT_BYTES and FILE_TEXT_LINES after decompression. A longer one is STATUS_DATA with the
 *           name of the file.
 * Lines     only '\n' ends a line; the last line does not need it. A '\r' before it and a byte-order mark at
 *           the start of the file are removed and counted.
 * Writing   goes to a temporary file in the same folder, opened before the work starts. file_commit replaces
 *           the target by fsync + rename + fsync of the folder; until it returns STATUS_OK the old file is
 *           untouched. "-" and "/dev/..." are written directly.
 * Fails     STATUS_RUNTIME with path and system error; STATUS_DATA for damaged gzip data and exceeded limits
 */
#ifndef IO_FILEIO_H
#define IO_FILEIO_H

#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"
#include "base/strview.h"

enum { FILE_LINE_BYTES = 64000000, FILE_TEXT_BYTES = 256000000, FILE_TEXT_LINES = 4000000 };

/* open(2), repeated if a signal interrupts it, with O_CLOEXEC. -1 with errno on failure. */
int file_open(const char *path, int flags, unsigned mode);
/* The whole file, decompressed. More than `limit` bytes are STATUS_DATA; 0 = no limit. */
Status file_read(const char *path, size_t limit, StrBuf *content);
/* file_read for lines that become C strings: keys, merge lists. Removes a byte-order mark. A NUL byte and
 * bytes that are not UTF-8 are STATUS_DATA with the number of the line. */
Status file_read_text(const char *path, size_t limit, StrBuf *content);
bool file_exists(const char *path);
/* Bytes, or -1 if there is no plain file at `path`. "-" is standard input. */
long long file_size(const char *path);
bool file_is_same(const char *a, const char *b); /* do both names lead to one file? */
bool file_is_stream(const char *path);           /* a pipe or a device: it can be read only once */
/* mkdir -p. *made, if not NULL, tells whether this call created the last folder. */
Status file_make_dirs(const char *path, bool *made);

/* The kind of compressed file that begins with these bytes, "a zip file"; NULL if it is none. */
const char *file_compressed_kind(StrView start);
/* Is a file that begins with this line UTF-16? Without a byte-order mark, zero bytes of Latin letters show
 * it. */
bool file_is_utf16(StrView line);
/* STATUS_DATA if a file that begins with this line is compressed or UTF-16; `path` is for the message. */
Status file_check_text(const char *path, StrView line);

/* STATUS_DATA if a line is longer than FILE_LINE_BYTES, or there are more lines than FILE_TEXT_LINES. */
Status file_check_lines(const char *path, StrView text);

typedef struct LineReader LineReader;
/* `path` may be "-". */
Status line_reader_open(LineReader **reader, const char *path);
/* For a caller that keeps all lines: more than FILE_TEXT_BYTES or FILE_TEXT_LINES are STATUS_DATA. */
Status line_reader_open_limited(LineReader **reader, const char *path);
/* The next line without its end, valid until the next call. *more is false at the end of the file. Text in
 * UTF-16 and compressed files except gzip are STATUS_DATA. */
Status line_reader_next(LineReader *reader, StrView *line, bool *more);
/* The next line of each of two files. STATUS_DATA, with both numbers of lines, if one file ends before the
 * other. */
Status line_readers_next(LineReader *const readers[2], StrView lines[2], bool *more);
/* line_reader_next with the checks of file_read_text. */
Status line_reader_next_text(LineReader *reader, StrView *line, bool *more);
/* True if the next line, or the end of the file, is there without waiting for the other end of a pipe or
 * terminal. It reads ahead: the last line is no longer valid. */
bool line_reader_ready(LineReader *reader);
/* At least `bytes` of the bytes that come next, or all up to the end of the file, without taking them. Valid
 * until the next call. */
Status line_reader_peek(LineReader *reader, size_t bytes, StrView *start);
/* Takes up to `most` bytes as they are; none at the end of the file. Not to be mixed with lines. */
Status line_reader_take(LineReader *reader, char *out, size_t most, size_t *got);
long line_reader_number(const LineReader *reader);           /* of the line just read, from 1 */
const char *line_reader_path(const LineReader *reader);      /* for messages */
long line_reader_carriage_returns(const LineReader *reader); /* lines that ended in '\r' so far */
bool line_reader_has_bom(const LineReader *reader);          /* did the file begin with a byte-order mark? */
/* Bytes of the file that the lines so far came from, before decompression: to compare with file_size. */
long long line_reader_consumed(const LineReader *reader);
void line_reader_close(LineReader *reader);

typedef struct OutFile OutFile;
Status file_create(OutFile **file, const char *path);
Status file_write(OutFile *file, const void *data, size_t bytes);
/* Passes the bytes written so far to the system: for readers that wait at the other end of a pipe. */
Status file_flush(OutFile *file);
/* Makes the file durable and puts it in place. Releases `file` on failure too. */
Status file_commit(OutFile *file);
void file_discard(OutFile *file); /* leaves the target as it was; NULL is allowed */
/* file_create, file_write and file_commit: the file at `path` has this content, or is as it was. */
Status file_write_whole(const char *path, StrView content);
/* Removes the temporary files that are still open: for an exit in the middle of work. */
void file_discard_all(void);

#endif
