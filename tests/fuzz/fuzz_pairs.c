/* fuzz_pairs.c - sentence pairs from files with anything in them.
 *
 * Input: the first byte chooses TSV or two files and the columns; the rest is the content (two files: halves).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/utf8.h"
#include "text/pairs.h"

static char folder[64];

static void require(int condition) {
    if (!condition) abort();
}

static void clean(void) {
    char path[128];
    static const char *const names[] = {"f.tsv", "f.en", "f.fr", ""};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (names[i][0])
            unlink(path);
        else
            rmdir(path);
    }
}

static void put(const char *name, const uint8_t *data, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    require(file != NULL);
    require(fwrite(data, 1, size, file) == size);
    require(fclose(file) == 0);
}

static long read_all(PairReader *reader) {
    for (;;) {
        StrView source, target;
        bool more;
        Status status = pair_reader_next(reader, &source, &target, &more);
        if (status != STATUS_OK) {
            require(status == STATUS_DATA || status == STATUS_RUNTIME);
            require(status_message()[0] != '\0');
            return -1;
        }
        if (!more) return pair_reader_count(reader);
        require(source.length > 0 && target.length > 0);
        require(source.length <= 3 * (size_t)PAIR_MAX_BYTES && target.length <= 3 * (size_t)PAIR_MAX_BYTES);
        require(utf8_valid(source) && utf8_valid(target));
        require(!memchr(source.data, 0, source.length) && !memchr(target.data, 0, target.length));
        require(!memchr(source.data, '\n', source.length) && !memchr(target.data, '\n', target.length));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    if (!folder[0]) {
        strcpy(folder, "/tmp/attn-mt-fuzz-XXXXXX");
        require(mkdtemp(folder) != NULL);
        atexit(clean);
    }
    static char *const columns[] = {"en,fr", "fr,en", "id,en,x,fr", NULL};
    DataOptions options = {.source = "en", .target = "fr", .columns = columns[data[0] / 2 % 4]};
    char entry[128];
    char *items[] = {entry};
    StrList entries = {items, 1};
    size_t half = (size - 1) / 2;
    if (data[0] % 2) {
        put("f.en", data + 1, half);
        put("f.fr", data + 1 + half, size - 1 - half);
        snprintf(entry, sizeof entry, "%s/f.{}", folder);
    } else {
        put("f.tsv", data + 1, size - 1);
        snprintf(entry, sizeof entry, "%s/f.tsv", folder);
    }
    PairReader *reader;
    require(pair_reader_open(&reader, &entries, &options) == STATUS_OK);
    StrBuf first = {0}, second = {0};
    long count = read_all(reader);
    pair_reader_report(reader, &first);
    require(pair_reader_rewind(reader) == STATUS_OK);
    require(read_all(reader) == count);
    pair_reader_report(reader, &second);
    require(strcmp(strbuf_text(&first), strbuf_text(&second)) == 0);
    strbuf_free(&first);
    strbuf_free(&second);
    pair_reader_close(reader);
    return 0;
}
