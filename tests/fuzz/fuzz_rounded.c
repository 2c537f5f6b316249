/* fuzz_rounded.c - a model file of bf16 or int8 weights with any bytes in its tensors and a valid checksum:
 * it is refused, or the model can be run.
 *
 * Input: a byte that selects the precision, an offset into each tensor of weights or scales (modulo its
 * size), then the bytes to write there.
 */
#include "fuzz/small_model.h"
#include "models/modelfile.h"
#include "models/safetensors.h"

enum { MOST = 128 };

static SafeFile *sound_file(WeightFormat precision) {
    static SafeFile *files[WEIGHT_FORMAT_COUNT];
    if (files[precision]) return files[precision];
    Config config;
    config_init(&config);
    Seq2Seq *model = small_model_new(&config);
    ScratchPath path = scratch_path("sound");
    require(modelfile_save_quantized(model, precision, "{\"update\": 1}", path.text) == STATUS_OK);
    require(safetensors_open(&files[precision], path.text) == STATUS_OK);
    seq2seq_free(model);
    config_free(&config);
    return files[precision];
}

static void put_bytes(SafeTensor *tensor, size_t place, StrView bytes) {
    bool scales = strstr(tensor->name, ".scale") != NULL;
    if (!scales && tensor->dtype[0] == 'F') return;
    unsigned char *copy = malloc(tensor->bytes);
    require(copy != NULL);
    memcpy(copy, tensor->data, tensor->bytes);
    for (size_t i = 0; i < bytes.length; i++)
        copy[(place + i) % tensor->bytes] = (unsigned char)bytes.data[i];
    tensor->data = copy;
}

static void write_file(const char *path, const SafeFile *sound, size_t place, StrView bytes) {
    SafeTensor tensors[MOST];
    const char *metadata[MOST][2];
    size_t count = safetensors_count(sound), pairs = 0;
    require(count <= MOST && safetensors_metadata_count(sound) < MOST);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *safetensors_at(sound, i);
        put_bytes(&tensors[i], place, bytes);
    }
    for (size_t i = 0; i < safetensors_metadata_count(sound); i++) {
        safetensors_metadata_at(sound, i, &metadata[pairs][0], &metadata[pairs][1]);
        pairs += strstr(metadata[pairs][0], "_sha256") == NULL;
    }
    require(safetensors_write_unchecked(path, tensors, count, (const char *const(*)[2])metadata, pairs) ==
            STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (tensors[i].data != safetensors_at(sound, i)->data) free((void *)(uintptr_t)tensors[i].data);
}

static void run(const Seq2Seq *model) {
    static const int IDS[3] = {4, 5, 6};
    Tokens line = {.ids = IDS, .length = 3};
    Tape *tape = tape_new(seq2seq_params(model), false);
    Tensor *logits = seq2seq_forced(model, tape, line, line);
    require(logits->rows == 4);
    tape_free(tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    WeightFormat precision = data[0] % 2 ? WEIGHT_INT8 : WEIGHT_BF16;
    ScratchPath path = scratch_path("model");
    write_file(path.text, sound_file(precision), data[1], (StrView){(const char *)data + 2, size - 2});
    for (int packed = 0; packed < 2; packed++) {
        Seq2Seq *model;
        Status status = packed ? modelfile_load(&model, path.text, WEIGHT_FLOAT32, true, NULL)
                               : modelfile_load_floats(&model, path.text, NULL);
        require(status == STATUS_OK || (status == STATUS_DATA && strstr(status_message(), path.text)));
        if (status == STATUS_OK && packed) run(model);
        if (status == STATUS_OK) seq2seq_free(model);
    }
    return 0;
}
