/* fuzz_pairs.c - sentence pairs from files with any content.
 *
 * Input: a byte that selects the columns and one TSV file or two files; then the content, half for each file.
 */
#include "base/utf8.h"
#include "fuzz/scratch.h"
#include "data/pairs.h"

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
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    static char *const columns[] = {"en,fr", "fr,en", "id,en,x,fr", NULL};
    DataOptions options = {.source = "en", .target = "fr", .columns = columns[data[0] / 2 % 4]};
    char entry[128];
    char *items[] = {entry};
    StrList entries = {items, 1};
    StrView text = {(const char *)data + 1, size - 1}, half = {text.data, text.length / 2};
    if (data[0] % 2) {
        scratch_put("f.en", half);
        scratch_put("f.fr", (StrView){half.data + half.length, text.length - half.length});
        snprintf(entry, sizeof entry, "%s/f.{}", scratch());
    } else {
        snprintf(entry, sizeof entry, "%s", scratch_put("f.tsv", text).text);
    }
    PairReader *reader;
    require(pair_reader_open(&reader, &entries, &options) == STATUS_OK);
    StrBuf first = {0}, second = {0};
    long count = read_all(reader);
    pair_reader_report(reader, &first);
    pair_reader_rewind(reader);
    require(read_all(reader) == count);
    pair_reader_report(reader, &second);
    require(strcmp(strbuf_text(&first), strbuf_text(&second)) == 0);
    strbuf_free(&first);
    strbuf_free(&second);
    pair_reader_close(reader);
    return 0;
}
