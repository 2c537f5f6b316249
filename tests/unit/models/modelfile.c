/* modelfile.c - models are the same after saving and loading; valid safetensors files that are not valid
 * models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "models/modelfile.h"
#include "models/safetensors.h"
#include "autograd/quantize.h"
#include "kern/kern.h"
#include "unit/text_fixture.h"
#include "unit/tiny_model.h"
#include "unit/model_variants.h"

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
    Encoded *encoded = seq2seq_encode(model, tape, NULL, batch.source, batch.B, false);
    DecoderState state = seq2seq_start(encoded);
    StepContext step = {tape, encoded, batch.B, ROWS, &state, NULL, NULL};
    seq2seq_step(model, &step, TOKENS[0]);
    return seq2seq_step(model, &step, TOKENS[1]);
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
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = variant_new(v, NULL, 6), *loaded;
        const char *one = fixture_path("one.safetensors"), *two = fixture_path("two.safetensors");
        assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, one), STATUS_OK);
        assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, two), STATUS_OK);
        assert_same_files(one, two);
        StrBuf provenance = {0};
        if (modelfile_load_floats(&loaded, one, &provenance) != STATUS_OK)
            fail_msg("%s: %s", v->name, status_message());
        assert_string_equal(strbuf_text(&provenance), PROVENANCE);
        assert_same_params(seq2seq_params(model), seq2seq_params(loaded));
        assert_true((seq2seq_source(loaded) == seq2seq_target(loaded)) ==
                    (seq2seq_source(model) == seq2seq_target(model)));
        assert_int_equal(modelfile_save(loaded, seq2seq_params(loaded)->data, PROVENANCE, two), STATUS_OK);
        assert_same_files(one, two);

        seq2seq_free(loaded);
        params_pack_all(seq2seq_params(model)); /* as for translation */
        assert_int_equal(modelfile_load(&loaded, one, WEIGHT_FLOAT32, true, NULL), STATUS_OK);
        assert_string_equal(modelfile_precision(loaded), "float32");
        assert_same_results(model, loaded);
        strbuf_free(&provenance);
        seq2seq_free(model);
        seq2seq_free(loaded);
    }
}

/* The tokenizer of a model of SentencePiece and a vocabulary, which it owns. */
static Tokenizer *sentencepiece_tokenizer(const char *path, Vocab *vocab) {
    StrBuf file = {0};
    SentencePiece *pieces;
    assert_int_equal(file_read(path, 0, &file), STATUS_OK);
    assert_int_equal(sentencepiece_read(&pieces, strbuf_view(&file), path), STATUS_OK);
    strbuf_free(&file);
    return tokenizer_from_sentencepiece(pieces, vocab);
}

/* Two models of SentencePiece with one vocabulary and one table of embeddings, as OPUS-MT has them; with a
 * shortlist. */
static Seq2Seq *two_sentencepiece(void) {
    Tokenizer *sides[2];
    for (int side = 0; side < 2; side++) {
        const char *path = side ? "tests/golden/sentencepiece/bpe-keep.model"
                                : "tests/golden/sentencepiece/unigram-bytes.model";
        Vocab *vocab = vocab_new();
        for (const char *const *token = (const char *const[]){"\xE2\x96\x81the", "e", "\xE3\x80\x80", NULL};
             *token; token++)
            vocab_add(vocab, sv(*token));
        sides[side] = sentencepiece_tokenizer(path, vocab);
    }
    Config config;
    config_init(&config);
    config.text.tokenizer = TOKENIZER_SENTENCEPIECE;
    config.model.embedding = config.model.hidden = 4;
    config.model.tie = TIE_ALL;
    Seq2Seq *model = seq2seq_new(&config, sides[0], sides[1]);
    assert_true(seq2seq_shares_vocabulary(model));
    params_initialize(seq2seq_params(model), 3);
    tiny_model_give_lists(model, 3, 0, 2);
    tokenizer_free(sides[0]);
    tokenizer_free(sides[1]);
    config_free(&config);
    return model;
}

static void test_two_sentencepiece(void **state) {
    (void)state;
    Seq2Seq *model = two_sentencepiece(), *loaded;
    const char *one = fixture_path("one.safetensors"), *two = fixture_path("two.safetensors");
    assert_int_equal(modelfile_check(model, PROVENANCE, one), STATUS_OK);
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, one), STATUS_OK);
    if (modelfile_load_floats(&loaded, one, NULL) != STATUS_OK) fail_msg("%s", status_message());
    assert_true(seq2seq_shares_vocabulary(loaded) && seq2seq_source(loaded) != seq2seq_target(loaded));
    assert_int_equal(modelfile_save(loaded, seq2seq_params(loaded)->data, PROVENANCE, two), STATUS_OK);
    assert_same_files(one, two);
    seq2seq_free(model);
    seq2seq_free(loaded);
}

/* The tensors of a file; `text` may be NULL. */
static size_t count_tensors(const char *path, const char *name, StrBuf *text) {
    SafeFile *file;
    assert_int_equal(safetensors_open(&file, path), STATUS_OK);
    const SafeTensor *tensor = safetensors_find(file, name);
    size_t found = tensor ? 1 : 0;
    if (tensor && text) strbuf_add(text, (StrView){tensor->data, tensor->bytes});
    safetensors_close(file);
    return found;
}

/* Two tokenizers that are alike become one, as Firefox' models have them. */
static void test_same_tokenizers(void **state) {
    (void)state;
    const char *path = "tests/golden/sentencepiece/unigram-bytes.model";
    Tokenizer *sides[2];
    for (int side = 0; side < 2; side++) {
        Vocab *vocab = vocab_new();
        for (char letter = 'a'; letter <= 'z'; letter++)
            vocab_add(vocab, (StrView){&letter, 1}); /* for loss_of */
        sides[side] = sentencepiece_tokenizer(path, vocab);
    }
    Config config;
    config_init(&config);
    config.text.tokenizer = TOKENIZER_SENTENCEPIECE;
    config.model.embedding = config.model.hidden = 4;
    Seq2Seq *model = seq2seq_new(&config, sides[0], sides[1]), *loaded;
    params_initialize(seq2seq_params(model), 3);
    const char *one = fixture_path("one.safetensors");
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, one), STATUS_OK);
    if (modelfile_load_floats(&loaded, one, NULL) != STATUS_OK) fail_msg("%s", status_message());
    assert_ptr_equal(seq2seq_source(loaded), seq2seq_target(loaded));
    assert_same_results(model, loaded);
    StrBuf pieces = {0}, vocab = {0}; /* once, as they are */
    SentencePiece *read;
    assert_int_equal(count_tensors(one, "sentencepiece.source", &pieces), 1);
    assert_int_equal(count_tensors(one, "vocab.source", &vocab), 1);
    assert_int_equal(count_tensors(one, "sentencepiece.target", NULL), 0);
    assert_int_equal(count_tensors(one, "vocab.target", NULL), 0);
    assert_int_equal(sentencepiece_read(&read, strbuf_view(&pieces), one), STATUS_OK);
    assert_true(vocab.length >= 52 && memcmp(vocab.data, "a\0b\0c", 6) == 0);
    assert_int_equal((pieces.length + vocab.length) % 8, 0);
    sentencepiece_free(read);
    strbuf_free(&pieces);
    strbuf_free(&vocab);
    seq2seq_free(model);
    seq2seq_free(loaded);
    tokenizer_free(sides[0]);
    tokenizer_free(sides[1]);
    config_free(&config);
}

/* ---- rounded weights ---- */

static const WeightFormat ROUNDED[] = {WEIGHT_BF16, WEIGHT_INT8};

/* No number is further from the original than half a unit: in 8 bits of the greatest in its row or column, in
 * 16 of its own last bit. */
static void assert_close(const ParamSet *exact, const ParamSet *rounded, WeightFormat precision) {
    for (int i = 0; i < exact->count; i++) {
        const Param *p = exact->items[i], *q = params_find(rounded, p->name);
        const real *x = param_data(exact, p), *y = param_data(rounded, q);
        const char *end = p->name + strlen(p->name) - (strlen(p->name) > 7 ? 7 : 0);
        bool table = strcmp(p->name, "embedding") == 0 || strcmp(p->name, "source.embedding") == 0 ||
                     strcmp(p->name, "target.embedding") == 0;
        table = table || strcmp(end, ".weight") == 0 || strstr(p->name, ".relative") != NULL;
        if (quantize_applies(p) != table) /* docs/model-format.md */
            fail_msg("%s is %srounded", p->name, quantize_applies(p) ? "" : "not ");
        if (!quantize_applies(p)) assert_memory_equal(x, y, param_size(p) * sizeof *x);
        bool by_row = p->panel_use != PANELS_AFFINE;
        for (int a = 0; a < (by_row ? p->rows : p->columns) && quantize_applies(p); a++) {
            double most = 0, worst = 0;
            for (int b = 0; b < (by_row ? p->columns : p->rows); b++) {
                size_t at = by_row ? (size_t)(a * p->columns + b) : (size_t)(b * p->columns + a);
                double size = fabs((double)x[at]), off = fabs((double)x[at] - (double)y[at]);
                if (precision == WEIGHT_BF16) off = size > 0 ? off / size : off;
                if (size > most) most = size;
                if (off > worst) worst = off;
            }
            double unit = precision == WEIGHT_BF16 ? 1.0 / 128 : most / 127;
            if (!(worst <= unit / 2 * 1.0001)) fail_msg("%s: %g instead of %g", p->name, worst, unit / 2);
        }
    }
}

/* A model from a file of rounded weights equals the original model with --precision. */
static void test_rounded(void **state) {
    (void)state;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++)
        for (size_t i = 0; i < sizeof ROUNDED / sizeof *ROUNDED; i++) {
            Seq2Seq *model = variant_new(v, NULL, 6), *original, *small;
            const char *one = fixture_path("one.safetensors"), *two = fixture_path("two.safetensors");
            StrBuf provenance = {0};
            assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, one), STATUS_OK);
            assert_int_equal(modelfile_save_quantized(model, ROUNDED[i], PROVENANCE, two), STATUS_OK);
            assert_int_equal(modelfile_load(&original, one, ROUNDED[i], true, NULL), STATUS_OK);
            if (modelfile_load(&small, two, WEIGHT_FLOAT32, true, &provenance) != STATUS_OK)
                fail_msg("%s: %s", v->name, status_message());
            assert_string_equal(strbuf_text(&provenance), PROVENANCE);
            assert_string_equal(modelfile_precision(small), ROUNDED[i] == WEIGHT_INT8 ? "int8" : "bf16");
            assert_same_results(original, small);
            seq2seq_free(small);
            assert_int_equal(modelfile_load_floats(&small, two, NULL), STATUS_OK);
            assert_close(seq2seq_params(model), seq2seq_params(small), ROUNDED[i]);
            seq2seq_free(small);
            assert_int_equal(modelfile_load_exact(&small, two, NULL), STATUS_DATA);
            assert_non_null(strstr(status_message(), "were rounded to"));
            assert_null(small);
            strbuf_free(&provenance);
            seq2seq_free(original);
            seq2seq_free(model);
        }
}

/* Zeros, numbers so small that their scale has no inverse, and numbers so great that 16 bits would round them
 * to infinity. */
static void test_extreme_numbers(void **state) {
    (void)state;
    static const real EXTREMES[] = {0, (real)1e-44, (real)3e-38, (real)3.4e38};
    for (size_t i = 0; i < sizeof EXTREMES / sizeof *EXTREMES; i++)
        for (size_t f = 0; f < sizeof ROUNDED / sizeof *ROUNDED; f++) {
            Seq2Seq *model = variant_new(&MODEL_VARIANTS[0], NULL, 6), *small;
            ParamSet *params = seq2seq_params(model);
            const char *path = fixture_path("extreme.safetensors");
            for (int p = 0; p < params->count; p++)
                for (size_t j = 0; j < param_size(params->items[p]); j++)
                    param_data(params, params->items[p])[j] = j % 3 ? EXTREMES[i] : -EXTREMES[i];
            assert_int_equal(modelfile_save_quantized(model, ROUNDED[f], PROVENANCE, path), STATUS_OK);
            if (modelfile_load_floats(&small, path, NULL) != STATUS_OK) fail_msg("%s", status_message());
            for (int p = 0; p < params->count; p++)
                for (size_t j = 0; j < param_size(params->items[p]); j++) {
                    double x = (double)param_data(seq2seq_params(small), seq2seq_params(small)->items[p])[j];
                    double size = (double)EXTREMES[i];
                    assert_true(fabs(fabs(x) - size) <= 0.01 * size || size < 1e-37);
                }
            seq2seq_free(small);
            assert_int_equal(modelfile_load(&small, path, WEIGHT_FLOAT32, true, NULL), STATUS_OK);
            seq2seq_free(small);
            seq2seq_free(model);
        }
}

/* modelfile_save saves the block of the argument, for example averaged weights. */
static void test_other_weights(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[1], NULL, 6), *loaded;
    ParamSet *params = seq2seq_params(model);
    real *weights = params_block(params);
    for (size_t i = 0; i < params->size; i++) weights[i] = (real)i;
    const char *path = fixture_path("average.safetensors");
    assert_int_equal(modelfile_save(model, weights, PROVENANCE, path), STATUS_OK);
    assert_int_equal(modelfile_load_floats(&loaded, path, NULL), STATUS_OK);
    const Param *last = params->items[params->count - 1],
                *own = params_find(seq2seq_params(loaded), last->name);
    assert_true(param_data(seq2seq_params(loaded), own)[0] == (real)last->offset);
    mem_free(weights);
    seq2seq_free(model);
    seq2seq_free(loaded);
    assert_int_equal(modelfile_load_floats(&loaded, fixture_path("no-such-file"), NULL), STATUS_RUNTIME);
    assert_null(loaded);
}

static void test_too_deep(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[5], "model.embedding=32769", 6);
    const char *path = fixture_path("deep.safetensors");
    assert_int_equal(modelfile_save_quantized(model, WEIGHT_INT8, PROVENANCE, path), STATUS_DATA);
    assert_non_null(strstr(status_message(), "more than 8-bit arithmetic can"));
    assert_false(file_exists(path));
    seq2seq_free(model);
}

/* ---- hostile files ---- */

enum { MAX_TENSORS = 64, MAX_METADATA = 16 };

/* The parts of a valid file; each case changes one. */
typedef struct {
    SafeTensor tensors[MAX_TENSORS];
    size_t tensor_count;
    const char *metadata[MAX_METADATA][2];
    size_t metadata_count;
    StrBuf text;   /* of the metadata that was changed */
    real *numbers; /* of the tensor that was changed */
} Draft;

static void take_apart(Draft *draft, const SafeFile *file) {
    *draft = (Draft){.tensor_count = safetensors_count(file)};
    assert_true(draft->tensor_count <= MAX_TENSORS);
    for (size_t i = 0; i < draft->tensor_count; i++) draft->tensors[i] = *safetensors_at(file, i);
    for (size_t i = 0; i < safetensors_metadata_count(file); i++) {
        const char *key, *value;
        safetensors_metadata_at(file, i, &key, &value);
        if (strstr(key, "_sha256")) continue; /* the writer adds them */
        assert_true(draft->metadata_count < MAX_METADATA);
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

/* Replaces the first `part` of a metadata text by `with`. */
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
    draft->numbers = mem_alloc(tensor->bytes, 1);
    memcpy(draft->numbers, tensor->data, tensor->bytes);
    tensor->data = draft->numbers;
    return tensor;
}

static void no_format(Draft *d) { drop_metadata(d, "format"); }
static void other_format(Draft *d) { *metadata_of(d, "format") = "pt"; }
static void no_version(Draft *d) { drop_metadata(d, "format_version"); }
static void new_version(Draft *d) { *metadata_of(d, "format_version") = "5"; }
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
static void too_many_layers(Draft *d) { replace(d, "config", "\"layers\": 1", "\"layers\": 33"); }
static void other_hidden(Draft *d) { replace(d, "config", "\"hidden\": 4", "\"hidden\": 5"); }
static void other_attention(Draft *d) {
    replace(d, "config", "\"attention\": \"additive\"", "\"attention\": \"nobody\"");
}
static void contradiction(Draft *d) { replace(d, "config", "\"joint\": true", "\"joint\": false"); }
static void broken_vocabulary(Draft *d) { *metadata_of(d, "source") = "{\"vocab\": 3}"; }
static void repeated_word(Draft *d) { replace(d, "source", "\"s1\"", "\"s0\""); }
static void missing_word(Draft *d) { replace(d, "source", "\"s1\",", ""); }
static void further_word(Draft *d) { replace(d, "source", "\"s1\",", "\"s1\",\"s7\","); }
/* A tokenizer of the target, whose first `part` is replaced. */
static void add_target(Draft *d, const char *part, const char *with) {
    d->metadata[d->metadata_count][0] = "target";
    d->metadata[d->metadata_count++][1] = *metadata_of(d, "source");
    replace(d, "target", part, with);
}
static void two_vocabularies(Draft *d) { add_target(d, "\"s1\"", "\"s7\""); }
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
static void transposed_tensor(Draft *d) {
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

/* The first tensor of rounded numbers, or of their scales; with its own numbers. */
static SafeTensor *own_rounded(Draft *d, bool scales) {
    for (size_t i = 0; i < d->tensor_count; i++) {
        const char *name = d->tensors[i].name;
        bool is_scales = strlen(name) > 6 && strcmp(name + strlen(name) - 6, ".scale") == 0;
        if (scales ? !is_scales : strcmp(d->tensors[i].dtype, "I8") != 0) continue;
        SafeTensor first = d->tensors[i];
        d->tensors[i] = d->tensors[0];
        d->tensors[0] = first;
        return own_numbers(d);
    }
    fail_msg("no rounded numbers");
    return NULL;
}
static void no_precision(Draft *d) { drop_metadata(d, "precision"); }
static void other_precision(Draft *d) { *metadata_of(d, "precision") = "int4"; }
static void float_precision(Draft *d) { *metadata_of(d, "precision") = "float32"; }
static void half_precision(Draft *d) { *metadata_of(d, "precision") = "bf16"; }
static void old_version(Draft *d) { *metadata_of(d, "format_version") = "2"; }
static void beyond_127(Draft *d) { ((int8_t *)(uintptr_t)own_rounded(d, false)->data)[1] = -128; }
static void wide_numbers(Draft *d) {
    SafeTensor *t = own_rounded(d, false);
    t->dtype = "U8";
}
static void scale_is_no_number(Draft *d) { ((real *)(uintptr_t)own_rounded(d, true)->data)[0] = (real)NAN; }
static void negative_scale(Draft *d) { ((real *)(uintptr_t)own_rounded(d, true)->data)[0] = -1; }
static void huge_scale(Draft *d) { ((real *)(uintptr_t)own_rounded(d, true)->data)[0] = (real)3e38; }
static void no_scales(Draft *d) { own_rounded(d, true)->name = "zzz"; }
static void transposed_scales(Draft *d) {
    SafeTensor *t = own_rounded(d, true);
    long long rows = t->shape[0];
    t->shape[0] = t->shape[1];
    t->shape[1] = rows;
}

typedef struct {
    const char *name;
    void (*change)(Draft *draft);
    const char *message; /* part of it */
} Hostile;

static const Hostile HOSTILE_INT8[] = {
    {"no precision", no_precision, "'precision'"},
    {"unknown precision", other_precision, "precision is 'int4'"},
    {"no rounded precision", float_precision, "precision is 'float32'"},
    {"another precision", half_precision, "tensors"},
    {"rounded weights as floats", old_version, "tensors"},
    {"a number beyond 127", beyond_127, "it has a -128"},
    {"numbers without sign", wide_numbers, "is U8 ["},
    {"a scale that is no number", scale_is_no_number, "not finite"},
    {"a negative scale", negative_scale, "is not a valid scale"},
    {"a scale too great", huge_scale, "is not a valid scale"},
    {"scales missing", no_scales, ".scale' is missing"},
    {"scales transposed", transposed_scales, ".scale' is F32 ["},
    {"hidden of another size", other_hidden, "parameters"},
    {NULL, NULL, NULL},
};

static const Hostile HOSTILE[] = {
    {"no format", no_format, "not a model of attn-mt"},
    {"another format", other_format, "not a model of attn-mt"},
    {"no format version", no_version, "'format_version'"},
    {"a newer format version", new_version, "version is 5, this program reads 2 to 4"},
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
    {"tensor transposed", transposed_tensor, "[4, 8] instead of F32 [8, 4]"},
    {"tensor of bytes", integers, "U8 [8, 16] instead of"},
    {"NaN", not_a_number, "not finite"},
    {"infinity", infinite, "not finite"},
    {NULL, NULL, NULL},
};

static SafeTensor *tensor_of(Draft *d, const char *name) {
    for (size_t i = 0; i < d->tensor_count; i++)
        if (strcmp(d->tensors[i].name, name) == 0) return &d->tensors[i];
    fail_msg("no tensor '%s'", name);
    return NULL;
}
static void cut_tensor(Draft *d, const char *name, long long by) {
    SafeTensor *t = tensor_of(d, name);
    t->bytes -= (size_t)by * (t->bytes / (size_t)t->shape[0]);
    t->shape[0] -= by;
}
static void change_byte(Draft *d, const char *name, size_t at, unsigned char byte) {
    SafeTensor *t = tensor_of(d, name);
    unsigned char *bytes = mem_alloc(t->bytes, 1);
    memcpy(bytes, t->data, t->bytes);
    bytes[at] = byte;
    t->data = bytes;
    d->numbers = (real *)(void *)bytes;
}
static void no_texts(Draft *draft) {
    size_t kept = 0;
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (draft->tensors[i].dtype[0] != 'U') draft->tensors[kept++] = draft->tensors[i];
    draft->tensor_count = kept;
}
static void texts_of_version_3(Draft *d) {
    *metadata_of(d, "format_version") = "3";
    *metadata_of(d, "precision") = "bf16";
}
static void lists_of_bytes(Draft *d) {
    SafeTensor *t = tensor_of(d, "shortlist.lengths");
    t->dtype = "U8";
    t->shape[0] *= 2;
}
static void text_of_rank_2(Draft *d) {
    SafeTensor *t = tensor_of(d, "vocab.source");
    t->rank = 2;
    t->shape[1] = 1;
}
static void cut_vocab(Draft *d) { cut_tensor(d, "vocab.source", 8); }
static void broken_vocab(Draft *d) { change_byte(d, "vocab.source", 0, 0xFF); }
static void empty_token(Draft *d) { change_byte(d, "vocab.source", 7, 0); }
static void cut_pieces(Draft *d) { cut_tensor(d, "sentencepiece.source", 1); }
static void no_pieces(Draft *d) { tensor_of(d, "sentencepiece.source")->name = "vocab.target"; }
static void pieces_of_bpe(Draft *d) {
    *metadata_of(d, "source") = "{\"tokenizer\":\"bpe\",\"normalize\":\"nfc\",\"lowercase\":false,"
                                "\"marker\":\"prefix\",\"merges\":[],\"vocab\":[\"a\",\"b\",\"c\"]}";
}
static void vocab_twice(Draft *d) {
    *metadata_of(d, "source") = "{\"tokenizer\":\"sentencepiece\",\"vocab\":[\"a\"]}";
}
static void cut_lengths(Draft *d) { cut_tensor(d, "shortlist.lengths", 1); }
static void cut_tokens(Draft *d) { cut_tensor(d, "shortlist.tokens", 9); }
static void wide_tokens(Draft *d) {
    SafeTensor *t = tensor_of(d, "shortlist.tokens");
    t->dtype = "U32";
    t->shape[0] /= 2;
}
static void foreign_token(Draft *d) { change_byte(d, "shortlist.tokens", 3, 1); }

static const Hostile HOSTILE_TEXT[] = {
    {"no tensors but weights", no_texts, "'vocab' is missing"},
    {"a version without text", texts_of_version_3, "'vocab' is missing"},
    {"lists of bytes", lists_of_bytes, "is U8 of rank 1, not U16 or U32"},
    {"text of two dimensions", text_of_rank_2, "is U8 of rank 2, not U8 of rank 1"},
    {"vocabulary cut off", cut_vocab, "no NUL after the last token"},
    {"vocabulary with other bytes", broken_vocab, "byte 0 is not UTF-8"},
    {"an empty token", empty_token, "token 5 is empty"},
    {"pieces cut off", cut_pieces, "metadata 'source': SentencePiece model 'model'"},
    {"pieces missing", no_pieces, "'vocab' is missing"},
    {"pieces of another tokenizer", pieces_of_bpe, "its kind has no model of SentencePiece"},
    {"vocabulary twice", vocab_twice, "is there twice"},
    {"a list missing", cut_lengths, "shortlist: 7 lists for 7 source tokens"},
    {"lists cut off", cut_tokens, "shortlist: 7 tokens for lists of 16"},
    {"lists of wide numbers", wide_tokens, "the lengths are not"},
    {"a list with another token", foreign_token, "is no target token from 4 to 6"},
    {NULL, NULL, NULL},
};

static Status put_together(const Draft *draft, const char *path) {
    return safetensors_write_unchecked(path, draft->tensors, draft->tensor_count,
                                       (const char *const(*)[2])draft->metadata, draft->metadata_count);
}

static long peak_kilobytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Limits memory to a gigabyte, so that a huge allocation fails. Sanitizers reserve more than
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

enum { WAYS = 2 }; /* to load a model */
static Status load_somehow(int way, Seq2Seq **model, const char *path, StrBuf *provenance) {
    return way == 0 ? modelfile_load_floats(model, path, provenance)
                    : modelfile_load(model, path, WEIGHT_INT8, true, provenance);
}

/* `precision` WEIGHT_FLOAT32: a file as training writes it. */
static void save_good(WeightFormat precision, const char *path) {
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[0], NULL, 6);
    if (precision == WEIGHT_FLOAT32)
        assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, path), STATUS_OK);
    else
        assert_int_equal(modelfile_save_quantized(model, precision, PROVENANCE, path), STATUS_OK);
    seq2seq_free(model);
}

static void save_text(const char *path) {
    Seq2Seq *model = two_sentencepiece();
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, path), STATUS_OK);
    seq2seq_free(model);
}

static void refuse(const Hostile *hostile, const char *path, int way) {
    StrBuf provenance = {0};
    Seq2Seq *loaded = (Seq2Seq *)&provenance;
    Status status = load_somehow(way, &loaded, path, &provenance);
    if (status != STATUS_DATA) fail_msg("%s: status %d %s", hostile->name, (int)status, status_message());
    assert_null(loaded);
    if (!strstr(status_message(), hostile->message) || !strstr(status_message(), path))
        fail_msg("%s: the message is '%s'", hostile->name, status_message());
    strbuf_free(&provenance);
}

/* The provenance is optional. */
static void test_without_provenance(void **state) {
    (void)state;
    Draft draft;
    Seq2Seq *model;
    SafeFile *file;
    StrBuf provenance = {0};
    const char *path = fixture_path("silent.safetensors");
    save_good(WEIGHT_FLOAT32, path);
    assert_int_equal(safetensors_open(&file, path), STATUS_OK);
    take_apart(&draft, file);
    drop_metadata(&draft, "provenance");
    assert_int_equal(put_together(&draft, path), STATUS_OK);
    safetensors_close(file);
    assert_int_equal(modelfile_load(&model, path, WEIGHT_FLOAT32, true, &provenance), STATUS_OK);
    assert_int_equal(provenance.length, 0);
    seq2seq_free(model);
}

/* Version 2: tokenizers and shortlist are text in the metadata. */
static void test_earlier_release(void **state) {
    (void)state;
    Draft draft;
    SafeFile *file;
    StrBuf json[2] = {{0}};
    Seq2Seq *model = two_sentencepiece(), *loaded;
    const char *path = fixture_path("new.safetensors"), *old = fixture_path("old.safetensors"),
               *again = fixture_path("again.safetensors");
    assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, path), STATUS_OK);
    assert_int_equal(safetensors_open(&file, path), STATUS_OK);
    take_apart(&draft, file);
    no_texts(&draft);
    assert_int_equal(safetensors_count(file) - draft.tensor_count, 5);
    drop_metadata(&draft, "precision");
    tokenizer_write_json(seq2seq_source(model), &json[0]);
    tokenizer_write_json(seq2seq_target(model), &json[1]);
    *metadata_of(&draft, "format_version") = "2";
    *metadata_of(&draft, "source") = strbuf_text(&json[0]);
    *metadata_of(&draft, "target") = strbuf_text(&json[1]);
    draft.metadata[draft.metadata_count][0] = "shortlist";
    draft.metadata[draft.metadata_count++][1] = "4 5;5 6;6 4;4 5;5 6;6 4;4 5;5 6;";
    assert_int_equal(put_together(&draft, old), STATUS_OK);
    safetensors_close(file);
    if (modelfile_load_floats(&loaded, old, NULL) != STATUS_OK) fail_msg("%s", status_message());
    assert_int_equal(modelfile_save(loaded, seq2seq_params(loaded)->data, PROVENANCE, again), STATUS_OK);
    assert_same_files(path, again);
    strbuf_free(&json[0]);
    strbuf_free(&json[1]);
    seq2seq_free(model);
    seq2seq_free(loaded);
}

/* One table serves two tokenizers if they have the same tokens. */
static void test_two_tokenizers(void **state) {
    (void)state;
    Draft draft;
    Seq2Seq *model;
    SafeFile *file;
    const char *path = fixture_path("two.safetensors");
    save_good(WEIGHT_FLOAT32, path);
    assert_int_equal(safetensors_open(&file, path), STATUS_OK);
    take_apart(&draft, file);
    add_target(&draft, "\"lowercase\":false", "\"lowercase\":true");
    assert_int_equal(put_together(&draft, path), STATUS_OK);
    strbuf_free(&draft.text);
    safetensors_close(file);
    for (int round = 0; round < 2; round++) { /* written again, too */
        assert_int_equal(modelfile_load_floats(&model, path, NULL), STATUS_OK);
        assert_true(seq2seq_source(model) != seq2seq_target(model));
        assert_true(seq2seq_shares_vocabulary(model));
        assert_non_null(params_find(seq2seq_params(model), "embedding"));
        assert_int_equal(modelfile_save(model, seq2seq_params(model)->data, PROVENANCE, path), STATUS_OK);
        seq2seq_free(model);
    }
}

static void check_hostile(const char *good, const Hostile *cases) {
    SafeFile *file;
    Draft draft;
    Seq2Seq *loaded;
    const char *path = fixture_path("hostile.safetensors");
    assert_int_equal(safetensors_open(&file, good), STATUS_OK);
    long before = peak_kilobytes();
    for (const Hostile *h = cases; h->name; h++) {
        take_apart(&draft, file);
        h->change(&draft);
        if (put_together(&draft, path) != STATUS_OK) fail_msg("%s: %s", h->name, status_message());
        strbuf_free(&draft.text);
        mem_free(draft.numbers);
        for (int way = 0; way < WAYS; way++) refuse(h, path, way);
    }
    assert_true(peak_kilobytes() - before < 64 * 1024);
    take_apart(&draft, file); /* unchanged, it is accepted */
    assert_int_equal(put_together(&draft, path), STATUS_OK);
    for (int way = 0; way < WAYS; way++) {
        assert_int_equal(load_somehow(way, &loaded, path, NULL), STATUS_OK);
        seq2seq_free(loaded);
    }
    safetensors_close(file);
}

static void test_hostile(void **state) {
    (void)state;
    const char *good = fixture_path("good.safetensors");
    save_good(WEIGHT_FLOAT32, good);
    check_hostile(good, HOSTILE);
    save_good(WEIGHT_INT8, good);
    check_hostile(good, HOSTILE_INT8);
    save_text(good);
    check_hostile(good, HOSTILE_TEXT);
}

/* A truncated file and a file with a changed byte are refused. */
static void check_damaged(const char *good) {
    Seq2Seq *loaded;
    const char *path = fixture_path("damaged.safetensors");
    StrBuf content = {0};
    read_all(good, &content);
    uint64_t header;
    memcpy(&header, content.data, sizeof header);
    header += sizeof header;
    for (size_t length = 0; length < content.length; length += 1 + content.length / 97)
        for (int way = 0; way < WAYS; way++) {
            fixture_write("damaged.safetensors", content.data, length);
            assert_int_equal(load_somehow(way, &loaded, path, NULL), STATUS_DATA);
            assert_null(loaded);
        }
    for (size_t at = 0; at < content.length; at += 1 + content.length / 211) {
        content.data[at] ^= 4;
        fixture_write("damaged.safetensors", content.data, content.length);
        for (int way = 0; way < WAYS; way++) {
            Status status = load_somehow(way, &loaded, path, NULL);
            if (status != STATUS_DATA) fail_msg("byte %zu changed: status %d", at, (int)status);
            if (at >= header && !strstr(status_message(), "damaged: the checksum of the data is wrong"))
                fail_msg("byte %zu changed: %s", at, status_message());
        }
        content.data[at] ^= 4;
    }
    fixture_write("damaged.safetensors", content.data, content.length);
    assert_int_equal(load_somehow(1, &loaded, path, NULL), STATUS_OK);
    seq2seq_free(loaded);
    /* A NaN weight as well: the message reports the damage. */
    memcpy(content.data + content.length - 4, "\0\0\x80\x7f", 4);
    fixture_write("damaged.safetensors", content.data, content.length);
    assert_int_equal(modelfile_load(&loaded, path, WEIGHT_FLOAT32, true, NULL), STATUS_DATA);
    assert_null(loaded);
    assert_non_null(strstr(status_message(), "checksum"));
    strbuf_free(&content);
}

static void test_damaged(void **state) {
    (void)state;
    const char *good = fixture_path("good.safetensors");
    for (int precision = WEIGHT_FLOAT32; precision <= WEIGHT_INT8; precision++) {
        save_good((WeightFormat)precision, good);
        check_damaged(good);
    }
    save_text(good);
    check_damaged(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_extreme_numbers), cmocka_unit_test(test_other_weights),
        cmocka_unit_test(test_hostile),         cmocka_unit_test(test_earlier_release),
        cmocka_unit_test(test_damaged),         cmocka_unit_test(test_without_provenance),
        cmocka_unit_test(test_two_tokenizers),  cmocka_unit_test(test_two_sentencepiece),
        cmocka_unit_test(test_same_tokenizers), cmocka_unit_test(test_too_deep),
    };
    limit_memory();
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
