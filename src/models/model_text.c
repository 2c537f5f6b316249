/* model_text.c - see model_text.h. */
#include "models/model_text.h"

#include <string.h>
#include "base/mem.h"

enum { ALIGNMENT = 8 };

static const char *const NAMES[TEXT_PARTS] = {
    [TEXT_SHORTLIST_LENGTHS] = "shortlist.lengths", [TEXT_SHORTLIST_TOKENS] = "shortlist.tokens",
    [TEXT_SOURCE_PIECES] = "sentencepiece.source",  [TEXT_TARGET_PIECES] = "sentencepiece.target",
    [TEXT_SOURCE_VOCAB] = "vocab.source",           [TEXT_TARGET_VOCAB] = "vocab.target",
};

static bool is_list(int part) { return part == TEXT_SHORTLIST_LENGTHS || part == TEXT_SHORTLIST_TOKENS; }

static bool same_text(const StrBuf *a, const StrBuf *b) { return sv_equal(strbuf_view(a), strbuf_view(b)); }

static int part_of(const char *name) {
    int part = 0;
    while (part < TEXT_PARTS && strcmp(NAMES[part], name) != 0) part++;
    return part;
}

bool model_text_has(const char *name) { return part_of(name) < TEXT_PARTS; }

/* ---- writing ---- */

/* side: 0 of the source, 1 of the target */
static void write_tokenizer(ModelText *text, const Tokenizer *tokenizer, int side) {
    StrBuf *pieces = &text->parts[TEXT_SOURCE_PIECES + side], *vocab = &text->parts[TEXT_SOURCE_VOCAB + side];
    tokenizer_write(tokenizer, &text->json[side], pieces, vocab);
    if (pieces->length > 0 && vocab->length == 0) strbuf_add_char(vocab, '\0'); /* a part that is there */
}

static void write_tokenizers(ModelText *text, const Tokenizer *source, const Tokenizer *target) {
    StrBuf *parts = text->parts;
    write_tokenizer(text, source, 0);
    if (source == target) return;
    write_tokenizer(text, target, 1);
    bool same_vocab = same_text(&parts[TEXT_SOURCE_VOCAB], &parts[TEXT_TARGET_VOCAB]);
    if (same_vocab) strbuf_clear(&parts[TEXT_TARGET_VOCAB]);
    if (!same_vocab || !same_text(&text->json[0], &text->json[1]) ||
        !same_text(&parts[TEXT_SOURCE_PIECES], &parts[TEXT_TARGET_PIECES]))
        return;
    strbuf_clear(&text->json[1]); /* tokenizers that are alike become one */
    strbuf_clear(&parts[TEXT_TARGET_PIECES]);
}

void model_text_write(ModelText *text, const Seq2Seq *model) {
    *text = (ModelText){0};
    write_tokenizers(text, seq2seq_source(model), seq2seq_target(model));
    const Shortlist *shortlist = seq2seq_shortlist(model);
    if (shortlist) {
        text->wide = shortlist_width(shortlist->target_size) == 4;
        shortlist_write(shortlist, &text->parts[TEXT_SHORTLIST_LENGTHS], &text->parts[TEXT_SHORTLIST_TOKENS]);
    }
    size_t total = 0;
    StrBuf *last = NULL;
    for (int i = 0; i < TEXT_PARTS; i++) {
        total += text->parts[i].length;
        if (text->parts[i].length > 0) last = &text->parts[i];
    }
    for (; last && total % ALIGNMENT != 0; total++) strbuf_add_char(last, '\0');
}

size_t model_text_tensors(const ModelText *text, SafeTensor *tensors) {
    size_t count = 0;
    for (int i = 0; i < TEXT_PARTS; i++) {
        const StrBuf *part = &text->parts[i];
        if (part->length == 0) continue;
        long long width = is_list(i) ? text->wide ? 4 : 2 : 1;
        tensors[count++] = (SafeTensor){.name = NAMES[i],
                                        .dtype = width == 4   ? "U32"
                                                 : width == 2 ? "U16"
                                                              : "U8",
                                        .rank = 1,
                                        .shape = {(long long)part->length / width},
                                        .data = part->data,
                                        .bytes = part->length};
    }
    return count;
}

void model_text_free(ModelText *text) {
    for (int i = 0; i < 2; i++) strbuf_free(&text->json[i]);
    for (int i = 0; i < TEXT_PARTS; i++) strbuf_free(&text->parts[i]);
}

/* ---- reading ---- */

static Status read_part(ModelText *text, SafeFile *file, const SafeTensor *tensor, int part) {
    bool wide = strcmp(tensor->dtype, "U32") == 0;
    bool fits = is_list(part) ? wide || strcmp(tensor->dtype, "U16") == 0 : strcmp(tensor->dtype, "U8") == 0;
    if (!fits || tensor->rank != 1)
        return status_fail(STATUS_DATA, "tensor '%s' is %s of rank %d, not %s of rank 1", tensor->name,
                           tensor->dtype, tensor->rank, is_list(part) ? "U16 or U32" : "U8");
    if (part == TEXT_SHORTLIST_TOKENS && wide != text->wide)
        return status_fail(STATUS_DATA, "tensor '%s' is %s, the lengths are not", tensor->name,
                           tensor->dtype);
    if (is_list(part)) text->wide = wide;
    StrBuf *bytes = &text->parts[part];
    MEM_GROW(bytes->data, bytes->capacity, tensor->bytes + 1);
    bytes->length = tensor->bytes;
    return safetensors_read_next(file, bytes->data, tensor->bytes);
}

Status model_text_read(ModelText *text, SafeFile *file, size_t *count) {
    *text = (ModelText){0};
    for (*count = 0; *count < safetensors_count(file); ++*count) {
        const SafeTensor *tensor = safetensors_at(file, *count);
        int part = part_of(tensor->name);
        if (part == TEXT_PARTS) return STATUS_OK;
        TRY(read_part(text, file, tensor, part));
    }
    return STATUS_OK;
}
