/* archive.h - the files of a model that another program made: a folder, a zip, a tar or a tar.gz.
 *
 * Nothing is unpacked to disk. Folders are read two levels deep; links in a tar are left out. A file that
 * is no archive is an archive of this file alone.
 *
 * Owner   foreign_archive_close
 * Fails   STATUS_DATA for damaged or hostile archives (zip.h), STATUS_RUNTIME if reading fails
 */
#ifndef FOREIGN_ARCHIVE_H
#define FOREIGN_ARCHIVE_H

#include "base/status.h"
#include "base/strview.h"

typedef struct ForeignArchive ForeignArchive;

Status foreign_archive_open(ForeignArchive **archive, const char *path);
/* The same for a zip or tar in memory, which outlives the archive. */
Status foreign_archive_open_bytes(ForeignArchive **archive, StrView bytes);
void foreign_archive_close(ForeignArchive *archive);
size_t foreign_archive_count(const ForeignArchive *archive);
/* The whole file; gzip is decompressed. */
Status foreign_archive_read(const ForeignArchive *archive, size_t index, StrBuf *content);
const char *foreign_archive_name(const ForeignArchive *archive, size_t index); /* with folders */
/* The first file from `from` on whose name, without folders, begins with `start` and ends with `end`; -1:
 * none. */
long foreign_archive_find(const ForeignArchive *archive, size_t from, const char *start, const char *end);
/* SHA-256 of all names and contents, as hexadecimal digits: what the model was made from. */
Status foreign_archive_digest(const ForeignArchive *archive, char hex[65]);

#endif
