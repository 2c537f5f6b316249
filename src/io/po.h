/* po.h - catalogues of gettext (PO files), and the only user of libgettextpo.
 *
 * The library reads a file as a whole: memory grows with the catalogue, about twice its size. A file has at
 * most FILE_TEXT_BYTES after decompression. Its text is converted to UTF-8 from the charset of its header.
 * Errors of the library end in a Status. Its memory of that file is lost then: it offers no way to get
 * it back. It has global state: one thread at a time reads a catalogue; the other functions work in any.
 *
 * Owner   the LineReader stays the caller's; views live as long as the catalogue
 * Fails   STATUS_DATA with file and line; STATUS_USAGE if the program was built without libgettextpo
 */
#ifndef IO_PO_H
#define IO_PO_H

#include "io/fileio.h"

typedef struct PoCatalogue PoCatalogue;

typedef struct {
    StrView context;    /* msgctxt; empty without */
    StrView id, plural; /* msgid, msgid_plural; plural is empty without */
    bool fuzzy, obsolete;
    int forms;     /* translations: 1, or the number of msgstr[] */
    long line;     /* of the msgid in the file */
    void *message; /* for po_entry_form */
} PoEntry;

Status po_catalogue_read(PoCatalogue **catalogue, LineReader *bytes);
/* A field of the header entry, appended: "Language"; nothing if it is absent. */
void po_catalogue_field(const PoCatalogue *catalogue, const char *name, StrBuf *value);
/* The next entry in the order of the file, without the header; false at the end. */
bool po_catalogue_next(PoCatalogue *catalogue, PoEntry *entry);
/* Translation `form`, from 0 to entry->forms - 1; empty if there is none. */
StrView po_entry_form(const PoEntry *entry, int form);
void po_catalogue_free(PoCatalogue *catalogue);

#endif
