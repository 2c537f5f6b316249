/* zip.h - the entries of a zip file in memory: packages of models, .npz, pytorch_model.bin.
 * PKWARE's APPNOTE.TXT, sections 4.3 to 4.5 (zip64)
 *
 * Reads   entries that are stored or deflated, by the central directory; checks sizes and CRC-32
 * Refuses encrypted entries, names that lead out of the archive, more than ZIP_ENTRIES entries, more than
 *         ZIP_BYTES in all, entries that claim to be much greater than their compressed form
 * Owner   a Zip borrows its bytes and owns the list; zip_free
 * Fails   STATUS_DATA
 */
#ifndef IO_ZIP_H
#define IO_ZIP_H

#include "base/status.h"
#include "base/strview.h"

enum { ZIP_ENTRIES = 65536 };
#define ZIP_BYTES ((uint64_t)8 << 30)

typedef struct {
    StrView name; /* in the bytes of the file */
    bool deflated;
    uint32_t crc;
    uint64_t packed, size, header;
} ZipEntry;

typedef struct {
    StrView bytes;
    ZipEntry *entries; /* without folders */
    size_t count, capacity;
} Zip;

bool zip_starts(StrView bytes); /* does a zip file begin so? */
Status zip_open(Zip *zip, StrView bytes);
void zip_free(Zip *zip);
/* Appends the bytes of an entry. */
Status zip_read(const Zip *zip, size_t index, StrBuf *content);
/* STATUS_DATA for a name of an entry that is absolute, has a "..", or no printable text. */
Status zip_check_name(StrView name);

#endif
