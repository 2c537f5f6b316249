/* test_models_file.c - a model to a file and back; and files that are sound safetensors but no sound
 * models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include "base/fileio.h"
#include "base/mem.h"
#include "models/modelfile.h"
#include "models/safetensors.h"
#include "num/kern.h"
#include "text_fixture.h"
#include "unit/variant_cover.h"

#define PROVENANCE "{\"update\": 7}"

static void read_all(const char *path, StrBuf *content) {
    strbuf_clear(content);
    assert_int_equal(file_read(path, 0, content), STATUS_OK);
}

static void assert_same_files(const char *a, const char *b) {
    StrBuf x = {0}, y = {0};
    read_all(a, &x);
    read_all(b, &y);
    assert_int_equal(x.length, y.length);
    assert_memory_equal(x.data, y.data, x.length);
    strbuf_free(&x);
    strbuf_free(&y);
}

static void assert_same_params(const ParamSet *a, const ParamSet *b) {
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const Param *p = a->items[i], *q = params_find(b, p->name);
        assert_non_null(q);
        assert_true(p->rows == q->rows && p->columns == q->columns);
        assert_memory_equal(param_data(a, p), param_data(b, q),
                            (size_t)p->rows * (size_t)p->columns * sizeof(real));
    }
}

static double loss_of(const Seq2Seq *model) {
    TrainingBatch batch = variant_batch(0);
    Tape *tape = tape_new(seq2seq_params(model), false);
    double loss = seq2seq_loss(model, tape, &batch, 0, 1).loss;
    tape_free(tape);
    return loss;
}

/* Logits of two steps. */
static Tensor *logits_of(const Seq2Seq *model, Tape *tape) {
    static const int ROWS[VARIANT_SENTENCES] = {0, 1, 2, 3, 4},
                     TOKENS[2][VARIANT_SENTENCES] = {{2, 2, 2, 2, 2}, {4, 5, 6, 7, 8}};
    TrainingBatch batch = variant_batch(0);
    Encoded *encoded = seq2seq_encode(model, tape, batch.source, batch.B);
    DecoderState state = seq2seq_start(encoded);
    seq2seq_step(model, tape, encoded, ROWS, TOKENS[0], batch.B, &state, NULL);
    return seq2seq_step(model, tape, encoded, ROWS, TOKENS[1], batch.B, &state, NULL);
}

/* Bit for bit. */
static void assert_same_results(const Seq2Seq *a, const Seq2Seq *b) {
    assert_true(loss_of(a) == loss_of(b));
    Tape *tapes[2] = {tape_new(seq2seq_params(a), false), tape_new(seq2seq_params(b), false)};
    Tensor *x = logits_of(a, tapes[0]), *y = logits_of(b, tapes[1]);
    assert_int_equal(tensor_size(x), tensor_size(y));
    assert_memory_equal(x->data, y->data, tensor_size(x) * sizeof(real));
    tape_free(tapes[0]);
    tape_free(tapes[1]);
}

static void test_round_trip(void **state) {
    (void)state;
    for (const ModelVariant *v = cover_variants(); v->name; v++) {
        Seq2Seq *model = variant_new(v, NULL, 6), *loaded;
        const char *one = fixture_path("one.safetensors"), *two = fixture_path("two.safetensors");
        assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, one), STATUS_OK);
        assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, two), STATUS_OK);
        assert_same_files(one, two);
        StrBuf provenance = {0};
        if (modelfile_load(&loaded, one, FORMAT_FLOAT32, &provenance) != STATUS_OK)
            fail_msg("%s: %s", v->name, status_message());
        assert_string_equal(strbuf_text(&provenance), PROVENANCE);
        assert_same_params(seq2seq_params(model), seq2seq_params(loaded));
        assert_true((seq2seq_source(loaded) == seq2seq_target(loaded)) ==
                    (seq2seq_source(model) == seq2seq_target(model)));
        assert_int_equal(modelfile_save(loaded, seq2seq_params(loaded)->data, PROVENANCE, two), STATUS_OK);
        assert_same_files(one, two);

        params_pack_all(seq2seq_params(model)); /* as the loaded one is */
        assert_same_results(model, loaded);
        strbuf_free(&provenance);
        seq2seq_free(model);
        seq2seq_free(loaded);
    }
}

/* The block that is given is saved: the average of weights, for instance. */
static void test_other_weights(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[1], NULL, 6), *loaded;
    ParamSet *params = seq2seq_params(model);
    real *weights = params_block(params);
    for (size_t i = 0; i < params->size; i++) weights[i] = (real)i;
    const char *path = fixture_path("average.safetensors");
    assert_int_equal(modelfile_save(model, weights, PROVENANCE, path), STATUS_OK);
    assert_int_equal(modelfile_load(&loaded, path, FORMAT_FLOAT32, NULL), STATUS_OK);
    const Param *last = params->items[params->count - 1],
                *own = params_find(seq2seq_params(loaded), last->name);
    assert_true(param_data(seq2seq_params(loaded), own)[0] == (real)last->offset);
    mem_free(weights);
    seq2seq_free(model);
    seq2seq_free(loaded);
    assert_int_equal(modelfile_load(&loaded, fixture_path("no-such-file"), FORMAT_FLOAT32, NULL),
                     STATUS_RUNTIME);
    assert_null(loaded);
}

/* ---- hostile files ---- */

enum { MOST_TENSORS = 64, MOST_METADATA = 16 };

/* A good file taken apart; a case changes it. */
typedef struct {
    SafeTensor tensors[MOST_TENSORS];
    size_t tensor_count;
    const char *metadata[MOST_METADATA][2];
    size_t metadata_count;
    StrBuf text;   /* of the metadata that was changed */
    real *numbers; /* of the tensor that was changed */
} Draft;

static void take_apart(Draft *draft, const SafeFile *file) {
    *draft = (Draft){.tensor_count = safetensors_count(file)};
    assert_true(draft->tensor_count <= MOST_TENSORS);
    for (size_t i = 0; i < draft->tensor_count; i++) draft->tensors[i] = *safetensors_at(file, i);
    for (size_t i = 0; i < safetensors_metadata_count(file); i++) {
        const char *key, *value;
        safetensors_metadata_at(file, i, &key, &value);
        if (strstr(key, "_sha256")) continue; /* the writer adds them */
        assert_true(draft->metadata_count < MOST_METADATA);
        draft->metadata[draft->metadata_count][0] = key;
        draft->metadata[draft->metadata_count++][1] = value;
    }
}

static const char **metadata_of(Draft *draft, const char *key) {
    for (size_t i = 0; i < draft->metadata_count; i++)
        if (strcmp(draft->metadata[i][0], key) == 0) return &draft->metadata[i][1];
    fail_msg("no metadata '%s'", key);
    return NULL;
}

static void drop_metadata(Draft *draft, const char *key) {
    const char **value = metadata_of(draft, key);
    size_t i = (size_t)((const char *(*)[2])(void *)(value - 1) - draft->metadata);
    memmove(draft->metadata + i, draft->metadata + i + 1,
            (--draft->metadata_count - i) * sizeof *draft->metadata);
}

/* Put `with` in place of the first `part` of a metadata text. */
static void replace(Draft *draft, const char *key, const char *part, const char *with) {
    const char **value = metadata_of(draft, key), *at = strstr(*value, part);
    if (!at) fail_msg("no '%s' in %s", part, *value);
    strbuf_add(&draft->text, (StrView){*value, (size_t)(at - *value)});
    strbuf_add(&draft->text, sv(with));
    strbuf_add(&draft->text, sv(at + strlen(part)));
    *value = strbuf_text(&draft->text);
}

/* The first tensor, with its own numbers. */
static SafeTensor *own_numbers(Draft *draft) {
    SafeTensor *tensor = &draft->tensors[0];
    draft->numbers = mem_alloc(tensor->bytes / sizeof(real), sizeof(real));
    memcpy(draft->numbers, tensor->data, tensor->bytes);
    tensor->data = draft->numbers;
    return tensor;
}

static void no_format(Draft *d) { drop_metadata(d, "format"); }
static void other_format(Draft *d) { *metadata_of(d, "format") = "pt"; }
static void no_version(Draft *d) { drop_metadata(d, "format_version"); }
static void new_version(Draft *d) { *metadata_of(d, "format_version") = "3"; }
static void no_config(Draft *d) { drop_metadata(d, "config"); }
static void no_source(Draft *d) { drop_metadata(d, "source"); }
static void broken_config(Draft *d) { *metadata_of(d, "config") = "{\"model\": {"; }
static void list_config(Draft *d) { *metadata_of(d, "config") = "[1, 2]"; }
static void unknown_key(Draft *d) { replace(d, "config", "\"hidden\"", "\"hiden\""); }
static void text_for_number(Draft *d) { replace(d, "config", "\"hidden\": 4", "\"hidden\": \"four\""); }
static void negative(Draft *d) { replace(d, "config", "\"hidden\": 4", "\"hidden\": -4"); }
static void huge_hidden(Draft *d) { replace(d, "config", "\"hidden\": 4", "\"hidden\": 65536"); }
static void huge_embedding(Draft *d) { replace(d, "config", "\"embedding\": 4", "\"embedding\": 65536"); }
static void huge_attention(Draft *d) {
    replace(d, "config", "\"attention_size\": 0", "\"attention_size\": 65536");
}
static void overflow(Draft *d) { replace(d, "config", "\"hidden\": 4", "\"hidden\": 99999999999999999999"); }
static void more_layers(Draft *d) { replace(d, "config", "\"layers\": 1", "\"layers\": 8"); }
static void too_many_layers(Draft *d) { replace(d, "config", "\"layers\": 1", "\"layers\": 9"); }
static void other_hidden(Draft *d) { replace(d, "config", "\"hidden\": 4", "\"hidden\": 5"); }
static void other_attention(Draft *d) {
    replace(d, "config", "\"attention\": \"additive\"", "\"attention\": \"nobody\"");
}
static void contradiction(Draft *d) { replace(d, "config", "\"joint\": true", "\"joint\": false"); }
static void broken_vocabulary(Draft *d) { *metadata_of(d, "source") = "{\"vocab\": 3}"; }
static void repeated_word(Draft *d) { replace(d, "source", "\"s1\"", "\"s0\""); }
static void missing_word(Draft *d) { replace(d, "source", "\"s1\",", ""); }
static void further_word(Draft *d) { replace(d, "source", "\"s1\",", "\"s1\",\"s7\","); }
static void two_vocabularies(Draft *d) {
    d->metadata[d->metadata_count][0] = "target";
    d->metadata[d->metadata_count++][1] = *metadata_of(d, "source");
}
static void missing_tensor(Draft *d) { d->tensors[0] = d->tensors[--d->tensor_count]; }
static void no_tensors(Draft *d) { d->tensor_count = 0; }
static void further_tensor(Draft *d) {
    d->tensors[d->tensor_count] = d->tensors[0];
    d->tensors[d->tensor_count++].name = "zzz";
}
static void renamed_tensor(Draft *d) { d->tensors[0].name = "embeddings"; }
static void flat_tensor(Draft *d) {
    SafeTensor *t = &d->tensors[0];
    t->shape[0] *= t->shape[1];
    t->rank = 1;
}
static void turned_tensor(Draft *d) {
    for (size_t i = 0; i < d->tensor_count; i++) {
        SafeTensor *t = &d->tensors[i];
        if (t->shape[0] == t->shape[1]) continue;
        long long rows = t->shape[0];
        t->shape[0] = t->shape[1];
        t->shape[1] = rows;
        return;
    }
}
static void integers(Draft *d) {
    SafeTensor *t = &d->tensors[0];
    t->dtype = "U8";
    t->shape[1] *= 4;
}
static void not_a_number(Draft *d) { ((real *)(uintptr_t)own_numbers(d)->data)[3] = (real)NAN; }
static void infinite(Draft *d) { ((real *)(uintptr_t)own_numbers(d)->data)[0] = -(real)INFINITY; }

static const struct {
    const char *name;
    void (*change)(Draft *draft);
    const char *message; /* part of it */
} HOSTILE[] = {
    {"no format", no_format, "not a model of attn-mt"},
    {"another format", other_format, "not a model of attn-mt"},
    {"no format version", no_version, "'format_version'"},
    {"a newer format version", new_version, "version is 3"},
    {"no configuration", no_config, "'config'"},
    {"no vocabulary", no_source, "'source'"},
    {"configuration cut short", broken_config, "configuration"},
    {"configuration is a list", list_config, "configuration"},
    {"unknown key", unknown_key, "hiden"},
    {"text for a number", text_for_number, "model.hidden"},
    {"negative size", negative, "model.hidden"},
    {"huge hidden", huge_hidden, "parameters"},
    {"huge embedding", huge_embedding, "parameters"},
    {"huge attention", huge_attention, "parameters"},
    {"size that does not fit a number", overflow, "model.hidden"},
    {"layers that are not there", more_layers, "tensors"},
    {"too many layers", too_many_layers, "model.encoder.layers"},
    {"another size", other_hidden, "parameters"},
    {"unknown attention", other_attention, "model.attention"},
    {"options that exclude each other", contradiction, "model.tie"},
    {"vocabulary of the wrong type", broken_vocabulary, "metadata 'source'"},
    {"word twice", repeated_word, "metadata 'source'"},
    {"word missing", missing_word, "parameters"},
    {"word too many", further_word, "parameters"},
    {"two vocabularies for one table", two_vocabularies, "shared"},
    {"tensor missing", missing_tensor, "tensors"},
    {"no tensors", no_tensors, "0 tensors"},
    {"tensor too many", further_tensor, "tensors"},
    {"tensor renamed", renamed_tensor, "is missing"},
    {"tensor of another rank", flat_tensor, "[32] instead of"},
    {"tensor turned", turned_tensor, "[4, 8] instead of F32 [8, 4]"},
    {"tensor of bytes", integers, "U8 [8, 16] instead of"},
    {"NaN", not_a_number, "not finite"},
    {"infinity", infinite, "not finite"},
};

static Status put_together(const Draft *draft, const char *path) {
    return safetensors_write(path, draft->tensors, draft->tensor_count,
                             (const char *const(*)[2])draft->metadata, draft->metadata_count);
}

static long peak_kilobytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A gigabyte is plenty: who asks for more gets an end, not the machine's memory. Sanitizers reserve more than
 * that. */
static void limit_memory(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
    struct rlimit limit = {1l << 30, 1l << 30};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

static void test_hostile(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[0], NULL, 6), *loaded;
    const char *good = fixture_path("good.safetensors");
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, good), STATUS_OK);
    seq2seq_free(model);
    SafeFile *file;
    Draft draft;
    assert_int_equal(safetensors_open(&file, good), STATUS_OK);
    const char *path = fixture_path("hostile.safetensors");
    long before = peak_kilobytes();
    for (size_t i = 0; i < sizeof HOSTILE / sizeof *HOSTILE; i++) {
        take_apart(&draft, file);
        HOSTILE[i].change(&draft);
        if (put_together(&draft, path) != STATUS_OK) fail_msg("%s: %s", HOSTILE[i].name, status_message());
        strbuf_free(&draft.text);
        mem_free(draft.numbers);
        StrBuf provenance = {0};
        loaded = (Seq2Seq *)&draft;
        Status status = modelfile_load(&loaded, path, FORMAT_FLOAT32, &provenance);
        if (status != STATUS_DATA)
            fail_msg("%s: status %d %s", HOSTILE[i].name, (int)status, status_message());
        assert_null(loaded);
        if (!strstr(status_message(), HOSTILE[i].message) || !strstr(status_message(), path))
            fail_msg("%s: the message is '%s'", HOSTILE[i].name, status_message());
        strbuf_free(&provenance);
    }
    assert_true(peak_kilobytes() - before < 64 * 1024);
    take_apart(&draft, file); /* unchanged it is fine */
    assert_int_equal(put_together(&draft, path), STATUS_OK);
    assert_int_equal(modelfile_load(&loaded, path, FORMAT_FLOAT32, NULL), STATUS_OK);
    seq2seq_free(loaded);
    safetensors_close(file);
}

/* Cut short anywhere, or with a byte changed, it is refused. */
static void test_damaged(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[0], NULL, 6), *loaded;
    const char *good = fixture_path("good.safetensors"), *path = fixture_path("damaged.safetensors");
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, good), STATUS_OK);
    seq2seq_free(model);
    StrBuf content = {0};
    read_all(good, &content);
    for (size_t length = 0; length < content.length; length += 1 + content.length / 97) {
        fixture_write("damaged.safetensors", content.data, length);
        assert_int_equal(modelfile_load(&loaded, path, FORMAT_FLOAT32, NULL), STATUS_DATA);
        assert_null(loaded);
    }
    for (size_t at = 0; at < content.length; at += 1 + content.length / 211) {
        content.data[at] ^= 4;
        fixture_write("damaged.safetensors", content.data, content.length);
        Status status = modelfile_load(&loaded, path, FORMAT_FLOAT32, NULL);
        if (status != STATUS_DATA) fail_msg("byte %zu changed: status %d", at, (int)status);
        content.data[at] ^= 4;
    }
    fixture_write("damaged.safetensors", content.data, content.length);
    assert_int_equal(modelfile_load(&loaded, path, FORMAT_FLOAT32, NULL), STATUS_OK);
    seq2seq_free(loaded);
    strbuf_free(&content);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_other_weights),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_damaged),
    };
    limit_memory();
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
