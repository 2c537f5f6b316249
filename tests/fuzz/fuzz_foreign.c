/* fuzz_foreign.c - files of other programs' models are refused with a message, or read.
 *
 * Input: one byte, which reader; then the file.
 */
#include "foreign/archive.h"
#include "foreign/shortlist_marian.h"
#include "foreign/tensors.h"
#include "foreign/vocabulary.h"
#include "fuzz/scratch.h"

static void read_tensors(Status (*read)(ForeignTensors *, StrView), StrView file) {
    ForeignTensors tensors = {0};
    if (read(&tensors, file) == STATUS_OK)
        for (size_t i = 0; i < tensors.count; i++) {
            const ForeignTensor *tensor = &tensors.items[i];
            for (size_t k = 0; k < tensor->rows * tensor->columns; k++)
                require(tensor->data[k] - tensor->data[k] == 0);
        }
    else
        require(status_message()[0] && tensors.count == 0);
    foreign_tensors_free(&tensors);
}

static void read_archive(StrView file) {
    ForeignArchive *archive;
    StrBuf content = {0};
    if (foreign_archive_open_bytes(&archive, file) != STATUS_OK) return;
    for (size_t i = 0; i < foreign_archive_count(archive); i++)
        (void)foreign_archive_read(archive, i, &content);
    foreign_archive_close(archive);
    strbuf_free(&content);
}

static void read_tokens(Status (*read)(StrList *, StrView), StrView file) {
    StrList tokens = {0};
    require(read(&tokens, file) == STATUS_OK ? tokens.count > 0 : status_message()[0] != '\0');
    strlist_free(&tokens);
}

static void read_shortlist(StrView file) {
    enum { SIZE = 8 };
    static const int row[SIZE] = {-1, 1, -1, 0, 2, 3, 4, 5};
    Shortlist *shortlist;
    if (foreign_shortlist_read(&shortlist, file, row, SIZE, row, SIZE) != STATUS_OK) return;
    for (size_t i = 0; i < shortlist->start[SIZE + 1]; i++)
        require(shortlist->ids[i] >= VOCAB_SPECIALS && shortlist->ids[i] < SIZE);
    shortlist_free(shortlist);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    StrView file = {(const char *)data + 1, size - 1};
    switch (data[0] % 10) {
    case 0:
        read_archive(file);
        break;
    case 1:
        read_tensors(foreign_read_safetensors, file);
        break;
    case 2:
        read_tensors(foreign_read_torch, file);
        break;
    case 3:
        read_tensors(foreign_read_npz, file);
        break;
    case 4:
        read_tensors(foreign_read_marian, file);
        break;
    case 5:
        read_tensors(foreign_read_ctranslate2, file);
        break;
    case 6:
        read_tokens(foreign_vocabulary_yaml, file);
        break;
    case 7:
        read_tokens(foreign_vocabulary_json, file);
        break;
    case 8:
        read_tokens(foreign_vocabulary_lines, file);
        break;
    default:
        read_shortlist(file);
    }
    return 0;
}
