/* fileio.h - reading files whole or by lines, and replacing files atomically.
 *
 * Reading   plain files and gzip alike (the content decides, not the name); "-" is standard input.
 * Limits    a line has at most FILE_LINE_BYTES; a text that is kept whole has at most FILE_TEXT_BYTES and
 *           FILE_TEXT_LINES, unpacked. More is STATUS_DATA with the name of the file.
 * Lines     only '\n' ends a line; a last line without it still counts. '\r' before it and a byte-order
 *           mark at the start of the file are removed and counted.
 * Writing   goes to a temporary file in the same folder, opened before the work starts, and replaces the
 *           target by fsync + rename + fsync of the folder. Until file_commit returns STATUS_OK the old
 *           file is untouched. "-" and "/dev/..." are written directly.
 * Fails     STATUS_RUNTIME with path and system error; STATUS_DATA for damaged gzip data and exceeded limits
 */
#ifndef BASE_FILEIO_H
#define BASE_FILEIO_H

#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"
#include "base/strview.h"

enum { FILE_LINE_BYTES = 4000000, FILE_TEXT_BYTES = 256000000, FILE_TEXT_LINES = 4000000 };

/* As open(2), again if a signal interrupts it, and closed where another program is started: -1 with errno. */
int file_open(const char *path, int flags, unsigned mode);
/* The whole file, decompressed; `limit` (bytes, 0 = none) guards against huge files. */
Status file_read(const char *path, size_t limit, StrBuf *content);
/* file_read for lines that become C strings: keys, merge lists. Removes a byte-order mark. STATUS_DATA, with
 * the line, for a NUL byte and for what is not UTF-8. */
Status file_read_text(const char *path, size_t limit, StrBuf *content);
bool file_exists(const char *path);
/* Bytes; -1 for what is no plain file, or not there; "-": standard input. */
long long file_size(const char *path);
bool file_is_same(const char *a, const char *b); /* one file, under whatever names */
bool file_is_stream(const char *path);           /* a pipe or a device: what is read is gone */
/* mkdir -p. *made, if not NULL: this call itself created the last folder. */
Status file_make_dirs(const char *path, bool *made);

/* What packed files that begin so are called, "a zip file"; NULL if this is none. */
const char *file_compressed_kind(StrView start);
/* Is a file in UTF-16 that begins with this line? Without a byte-order mark its Latin letters tell. */
bool file_is_utf16(StrView line);
/* STATUS_DATA if a file that begins with this line is either; `path` is for the message. */
Status file_check_text(const char *path, StrView line);

/* STATUS_DATA if a line is longer than FILE_LINE_BYTES, or there are more lines than FILE_TEXT_LINES. */
Status file_check_lines(const char *path, StrView text);

typedef struct LineReader LineReader;
/* `path` may be "-". */
Status line_reader_open(LineReader **reader, const char *path);
/* The same for a caller that keeps all lines: more than FILE_TEXT_BYTES or FILE_TEXT_LINES is refused. */
Status line_reader_open_limited(LineReader **reader, const char *path);
/* The next line without its end, valid until the next call. *more is false at the end of the file.
 * STATUS_DATA for text in UTF-16 and for packed files, but for gzip, which is unpacked. */
Status line_reader_next(LineReader *reader, StrView *line, bool *more);
/* line_reader_next with the checks of file_read_text. */
Status line_reader_next_text(LineReader *reader, StrView *line, bool *more);
/* True if another line, or the end, can be had without waiting for the other end of a pipe or terminal. Reads
 * ahead, so it too ends the life of the last line. */
bool line_reader_ready(LineReader *reader);
long line_reader_number(const LineReader *reader);           /* of the line just read, from 1 */
const char *line_reader_path(const LineReader *reader);      /* for messages */
long line_reader_carriage_returns(const LineReader *reader); /* lines that ended in '\r' so far */
bool line_reader_has_bom(const LineReader *reader);          /* did the file begin with a byte-order mark */
/* Bytes of the file behind the lines handed out, compressed if it is: for shares of file_size. */
long long line_reader_consumed(const LineReader *reader);
void line_reader_close(LineReader *reader);

typedef struct OutFile OutFile;
Status file_create(OutFile **file, const char *path);
Status file_write(OutFile *file, const void *data, size_t bytes);
/* Hand what was written so far to the system: for readers that wait at the other end of a pipe. */
Status file_flush(OutFile *file);
/* Make it durable and put it in place; releases `file` in any case. */
Status file_commit(OutFile *file);
void file_discard(OutFile *file); /* forget it; NULL is allowed */
/* All of it in one call: the file at `path` has this content, or is as it was. */
Status file_put(const char *path, StrView content);
/* Remove the temporary files that are still open: for exits in the middle of work. */
void file_discard_all(void);

#endif
