/* fuzz_formats.c - files of pairs in all formats, with anything in them.
 *
 * Input: the first byte chooses the languages; the rest is the file, whose content decides about its format.
 */
#include "formats/table.h"
#include "fuzz/scratch.h"

/* The number of lines, or -1 after an error. */
static long read_all(const char *path, StrView source, StrView target) {
    TableReader *table;
    StrBuf text = {0};
    Status status = table_open(&table, path, source, target);
    long lines = 0;
    for (bool more = true; status == STATUS_OK;) {
        StrView line, cell;
        status = table_next(table, &line, &more);
        if (status != STATUS_OK || !more) break;
        lines++;
        require(lines == 1 || table_number(table) > 0); /* the row of names is of no line */
        require(!memchr(line.data, '\n', line.length));
        while (sv_next(&line, '\t', &cell)) require(table_text(table, cell, &text).length <= cell.length);
    }
    require(status == STATUS_OK || status == STATUS_DATA || status == STATUS_RUNTIME ||
            status == STATUS_USAGE);
    require(status == STATUS_OK || status_message()[0] != '\0');
    table_close(table);
    strbuf_free(&text);
    return status == STATUS_OK ? lines : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const LANGUAGES[][2] = {{"", ""}, {"en", "de"}, {"de-AT", "en"}, {"source", "target"}};
    if (size == 0) return 0;
    ScratchPath path = scratch_put("f", (StrView){(const char *)data + 1, size - 1});
    const char *const *names = LANGUAGES[data[0] % 4];
    long lines = read_all(path.text, sv(names[0]), sv(names[1]));
    require(read_all(path.text, sv(names[0]), sv(names[1])) == lines);
    return 0;
}
