/* fuzz_metadata.c - a model file with valid tensors and checksums and any metadata: it is refused, or the
 * model is the same after saving and loading.
 *
 * Input: config, source, target, provenance and shortlist, separated by NUL bytes. An empty part stands for
 * the metadata of a valid file, which has neither target nor shortlist. If more follows, it is a file of
 * version 4, and the rest are the tensors of TEXTS: two bytes, how long it is, and the content.
 */
#include "fuzz/small_model.h"
#include "models/modelfile.h"
#include "models/safetensors.h"

enum { PARTS = 5, MOST = 64, TEXTS = 4 };
static const char *const TEXT_NAMES[TEXTS] = {"sentencepiece.source", "vocab.source", "shortlist.lengths",
                                              "shortlist.tokens"};
static const char *const KEYS[PARTS] = {"config", "source", "target", "provenance", "shortlist"};

static SafeFile *sound_file(void) {
    static SafeFile *file;
    if (file) return file;
    Config config;
    config_init(&config);
    Seq2Seq *model = small_model_new(&config);
    ScratchPath path = scratch_path("sound");
    require(modelfile_save(model, seq2seq_params(model)->data, "{\"update\": 1}", path.text) == STATUS_OK);
    require(safetensors_open(&file, path.text) == STATUS_OK);
    seq2seq_free(model);
    config_free(&config);
    return file;
}

/* Two bytes, at most what is left. */
static size_t take_length(StrView *rest) {
    if (rest->length < 2) return rest->length = 0;
    size_t length = (unsigned char)rest->data[0] | (size_t)(unsigned char)rest->data[1] << 8;
    *rest = (StrView){rest->data + 2, rest->length - 2};
    return length < rest->length ? length : rest->length;
}

/* Returns false if the metadata do not fit into a file. */
static bool write_file(const char *path, char *const parts[PARTS], StrView texts) {
    const SafeFile *sound = sound_file();
    SafeTensor tensors[MOST];
    const char *metadata[MOST][2];
    size_t count = safetensors_count(sound), pairs = 0;
    require(count + TEXTS <= MOST && safetensors_metadata_count(sound) < MOST - 4);
    for (size_t i = 0; i < count; i++) tensors[i] = *safetensors_at(sound, i);
    bool has_texts = texts.length > 0;
    for (int t = 0; t < TEXTS && has_texts; t++) {
        int width = t < 2 ? 1 : 2;
        size_t length = take_length(&texts) / (size_t)width;
        if (length == 0) continue;
        tensors[count++] = (SafeTensor){.name = TEXT_NAMES[t],
                                        .dtype = width == 2 ? "U16" : "U8",
                                        .rank = 1,
                                        .shape = {(long long)length},
                                        .data = texts.data,
                                        .bytes = length * (size_t)width};
        texts = (StrView){texts.data + length * (size_t)width, texts.length - length * (size_t)width};
    }
    for (size_t i = 0; i < safetensors_metadata_count(sound); i++) {
        safetensors_metadata_at(sound, i, &metadata[pairs][0], &metadata[pairs][1]);
        if (strstr(metadata[pairs][0], "_sha256")) continue;
        for (int p = 0; p < PARTS; p++)
            if (parts[p][0] && strcmp(metadata[pairs][0], KEYS[p]) == 0) metadata[pairs][1] = parts[p];
        if (has_texts && strcmp(metadata[pairs][0], "format_version") == 0) metadata[pairs][1] = "4";
        pairs++;
    }
    if (has_texts) {
        metadata[pairs][0] = "precision";
        metadata[pairs++][1] = "float32";
    }
    for (int p = 2; p < PARTS; p += 2) /* the valid file has no target and no shortlist */
        if (parts[p][0]) {
            metadata[pairs][0] = KEYS[p];
            metadata[pairs++][1] = parts[p];
        }
    return safetensors_write_unchecked(path, tensors, count, (const char *const(*)[2])metadata, pairs) ==
           STATUS_OK;
}

static void save_and_load(const Seq2Seq *model) {
    Seq2Seq *copy;
    StrBuf provenance = {0};
    ScratchPath path = scratch_path("copy");
    require(modelfile_save(model, seq2seq_params(model)->data, "{}", path.text) == STATUS_OK);
    require(modelfile_load_floats(&copy, path.text, &provenance) == STATUS_OK);
    const ParamSet *a = seq2seq_params(model), *b = seq2seq_params(copy);
    require(a->size == b->size && memcmp(a->data, b->data, a->size * sizeof *a->data) == 0);
    require(!seq2seq_shortlist(model) == !seq2seq_shortlist(copy));
    strbuf_free(&provenance);
    seq2seq_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    StrView rest = {(const char *)data, size};
    char *parts[PARTS];
    ScratchPath path = scratch_path("model");
    for (int p = 0; p < PARTS; p++) parts[p] = part_text(next_part(&rest));
    if (write_file(path.text, parts, rest)) {
        Seq2Seq *model;
        StrBuf provenance = {0};
        Status status = modelfile_load_floats(&model, path.text, &provenance);
        require(status == STATUS_OK || (status == STATUS_DATA && strstr(status_message(), path.text)));
        if (status == STATUS_OK) {
            save_and_load(model);
            seq2seq_free(model);
        }
        strbuf_free(&provenance);
    }
    for (int p = 0; p < PARTS; p++) free(parts[p]);
    return 0;
}
