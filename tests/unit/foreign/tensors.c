/* tensors.c - containers of other programs: safetensors, npz, Marian's binary, CTranslate2's model.bin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "foreign/tensors.h"
#include "unit/bytes_fixture.h"

typedef Status Reader(ForeignTensors *tensors, StrView file);

static void assert_tensor(const ForeignTensors *tensors, const char *name, size_t rows, size_t columns,
                          const float *numbers) {
    const ForeignTensor *tensor = foreign_tensors_find(tensors, name);
    if (!tensor) fail_msg("no tensor '%s'", name);
    assert_int_equal(tensor->rows, rows);
    assert_int_equal(tensor->columns, columns);
    for (size_t i = 0; i < rows * columns; i++)
        if (!(fabsf(tensor->data[i] - numbers[i]) <= 1e-6f * fabsf(numbers[i])))
            fail_msg("%s: number %zu is %g", name, i, (double)tensor->data[i]);
}

static void refuses(Reader *read, StrView file, const char *message) {
    ForeignTensors tensors = {0};
    assert_int_equal(read(&tensors, file), STATUS_DATA);
    assert_int_equal(tensors.count, 0); /* emptied */
    if (!strstr(status_message(), message)) fail_msg("'%s' instead of '%s'", status_message(), message);
}

/* A file that was cut anywhere is refused, and never read beyond its end. */
static void refuses_parts(Reader *read, StrView file) {
    for (size_t length = 0; length < file.length; length++) {
        StrBuf part = {0};
        strbuf_add(&part, (StrView){file.data, length});
        refuses(read, strbuf_view(&part), "");
        strbuf_free(&part);
    }
}

static void test_add(void **state) {
    (void)state;
    ForeignTensors tensors = {0};
    static const uint64_t SHAPE[] = {1, 2, 1, 2}, HUGE[] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    static const float NUMBERS[] = {1, 2, 3, 4}, NOT[] = {NAN};
    StrView bytes = {(const char *)NUMBERS, sizeof NUMBERS}, nan = {(const char *)NOT, sizeof NOT};
    assert_int_equal(foreign_tensors_add(&tensors, SV("a"), 4, SHAPE, FOREIGN_F32, bytes, NULL), STATUS_OK);
    assert_tensor(&tensors, "a", 2, 2, NUMBERS); /* the last dimension is a row */
    assert_int_equal(
        foreign_tensors_add(&tensors, SV("n"), 0, NULL, FOREIGN_F32, (StrView){bytes.data, 4}, NULL),
        STATUS_OK);
    assert_true(foreign_tensors_number(&tensors, "n", 7) == 1 &&
                foreign_tensors_number(&tensors, "m", 7) == 7);
    assert_true(foreign_tensors_number(&tensors, "a", 7) == 7); /* no single number */
    assert_int_equal(foreign_tensors_add(&tensors, SV("a"), 4, SHAPE, FOREIGN_F32, bytes, NULL), STATUS_DATA);
    assert_non_null(strstr(status_message(), "'a' occurs twice"));
    assert_int_equal(foreign_tensors_add(&tensors, SV("b"), 3, SHAPE, FOREIGN_F32, bytes, NULL), STATUS_DATA);
    assert_non_null(strstr(status_message(), "do not fit its shape"));
    assert_int_equal(foreign_tensors_add(&tensors, SV("b"), 2, HUGE, FOREIGN_I8, bytes, NULL), STATUS_DATA);
    assert_int_equal(foreign_tensors_add(&tensors, SV(""), 4, SHAPE, FOREIGN_F32, bytes, NULL), STATUS_DATA);
    assert_int_equal(foreign_tensors_add(&tensors, SV("c"), 0, NULL, FOREIGN_F32, nan, NULL), STATUS_DATA);
    assert_non_null(strstr(status_message(), "number 0 is not finite"));
    foreign_tensors_free(&tensors);
}

/* ---- safetensors ---- */

static void put_safetensors(StrBuf *file, const char *header, StrView data) {
    put_number(file, strlen(header), 8);
    strbuf_add(file, sv(header));
    strbuf_add(file, data);
}

static void test_safetensors(void **state) {
    (void)state;
    static const float ONE[] = {1, -2.5f}, HALF[] = {1, 6.103515625e-05f, 5.9604644775390625e-08f};
    StrBuf file = {0};
    ForeignTensors tensors = {0};
    put_safetensors(
        &file,
        "{\"__metadata__\": {\"format\": \"pt\"}, \"a\": {\"dtype\": \"F32\", \"shape\": [2, 1], "
        "\"data_offsets\": [0, 8]}, \"b\": {\"dtype\": \"BF16\", \"shape\": [2], \"data_offsets\": "
        "[8, 12]}, \"c\": {\"dtype\": \"F16\", \"shape\": [3], \"data_offsets\": [12, 18]}, "
        "\"ids\": {\"dtype\": \"I64\", \"shape\": [1], \"data_offsets\": [18, 26]}}",
        SV("\0\0\x80\x3f\0\0\x20\xc0"
           "\x80\x3f\x20\xc0"
           "\x00\x3c\x00\x04\x01\x00"
           "12345678"));
    assert_int_equal(foreign_read_safetensors(&tensors, strbuf_view(&file)), STATUS_OK);
    assert_int_equal(tensors.count, 3); /* whole numbers are left out */
    assert_tensor(&tensors, "a", 2, 1, ONE);
    assert_tensor(&tensors, "b", 1, 2, ONE);
    assert_tensor(&tensors, "c", 1, 3, HALF); /* the smallest normal and the smallest number */
    foreign_tensors_free(&tensors);
    strbuf_free(&file);
}

static void test_refused_safetensors(void **state) {
    (void)state;
#define ENTRY(shape, from, to)                                                                               \
    "{\"a\": {\"dtype\": \"F32\", \"shape\": " shape ", \"data_offsets\": [" from ", " to "]}}"
    const struct {
        const char *header, *message;
    } CASES[] = {{ENTRY("[1]", "0", "8"), "extends beyond the end of the file"},
                 {ENTRY("[1]", "4", "0"), "extends beyond the end of the file"},
                 {ENTRY("[2]", "0", "4"), "do not fit its shape"},
                 {ENTRY("[0]", "0", "0"), "do not fit its shape"},
                 {ENTRY("[\"1\"]", "0", "4"), "its shape is malformed"},
                 {"{\"a\": 1}", ""},
                 {"{\"a\": ", ""}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrBuf file = {0};
        put_safetensors(&file, CASES[i].header, SV("1234"));
        refuses(foreign_read_safetensors, strbuf_view(&file), CASES[i].message);
        strbuf_free(&file);
    }
    refuses(foreign_read_safetensors, SV("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "truncated");
    refuses(foreign_read_safetensors, SV(""), "truncated");
}

/* ---- npz ---- */

static void put_npy(ZipWriter *zip, const char *name, const char *header, StrView data) {
    StrBuf npy = {0};
    strbuf_add(&npy, SV("\x93NUMPY\x01"));
    put_number(&npy, 0, 1);
    put_number(&npy, strlen(header), 2);
    strbuf_add(&npy, sv(header));
    strbuf_add(&npy, data);
    zip_put(zip, name, strbuf_view(&npy));
    strbuf_free(&npy);
}

static void test_npz(void **state) {
    (void)state;
    static const float NUMBERS[] = {1, -2.5f};
    ZipWriter zip = {.method = 8};
    ForeignTensors tensors = {0};
    put_npy(&zip, "a.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n",
            SV("\0\0\x80\x3f\0\0\x20\xc0"));
    put_npy(&zip, "b.npy", "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }\n",
            SV("\x00\x3c\x00\xc1"));
    put_npy(&zip, "special:model.yml.npy", "{'descr': '|i1', 'fortran_order': False, 'shape': (8,), }\n",
            SV("a: 1\nb\0x"));
    zip_put(&zip, "readme.txt", SV("no array"));
    assert_int_equal(foreign_read_npz(&tensors, zip_end(&zip)), STATUS_OK);
    assert_int_equal(tensors.count, 2);
    assert_tensor(&tensors, "a", 2, 1, NUMBERS);
    assert_tensor(&tensors, "b", 1, 2, NUMBERS);
    assert_string_equal(strbuf_text(&tensors.settings), "a: 1\nb");
    foreign_tensors_free(&tensors);
    refuses_parts(foreign_read_npz, strbuf_view(&zip.bytes));
    zip_writer_free(&zip);
}

static void test_refused_npz(void **state) {
    (void)state;
    const struct {
        const char *header, *message;
    } CASES[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "stored column by column"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "of the type '<i8'"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "of the type '>f4'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "do not fit its shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, x), }", "its shape is malformed"},
        {"{'descr': '<f4', 'fortran_order': False, }", "no shape"},
        {"", "stored column by column"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ZipWriter zip = {0};
        put_npy(&zip, "a.npy", CASES[i].header, SV("\0\0\x80\x3f"));
        refuses(foreign_read_npz, zip_end(&zip), CASES[i].message);
        assert_non_null(strstr(status_message(), "array 'a'"));
        zip_writer_free(&zip);
    }
    ZipWriter zip = {0};
    zip_put(&zip, "a.npy", SV("hello"));
    refuses(foreign_read_npz, zip_end(&zip), "it is not a NumPy array");
    zip_writer_free(&zip);
}

/* ---- Marian ---- */

typedef struct {
    const char *name;
    uint64_t type;
    uint32_t shape[2];
    StrView data;
} MarianTensor;

static void put_marian(StrBuf *file, const MarianTensor *items, size_t count) {
    put_number(file, 1, 8);
    put_number(file, count, 8);
    for (size_t i = 0; i < count; i++) {
        put_number(file, strlen(items[i].name) + 1, 8);
        put_number(file, items[i].type, 8);
        put_number(file, 2, 8);
        put_number(file, items[i].data.length, 8);
    }
    for (size_t i = 0; i < count; i++) strbuf_add(file, (StrView){items[i].name, strlen(items[i].name) + 1});
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) put_number(file, items[i].shape[k], 4);
    put_number(file, 3, 8); /* padding */
    put_number(file, 0, 3);
    for (size_t i = 0; i < count; i++) strbuf_add(file, items[i].data);
}

/* Bytes, and the multiplier 2. */
#define INTGEMM8 "\x02\xfe\x04\x80\x06\x7f\0\0\0\x40"

static void test_marian(void **state) {
    (void)state;
    static const float FLOATS[] = {1, -2.5f}, TABLE[] = {1, -1, 2, -63.5f, 3, 63.5f},
                       MATRIX[] = {1, 2, 3, -1, -63.5f, 63.5f};
    const MarianTensor ITEMS[] = {
        {"b",
         0x404,
         {1, 2},
         SV("\0\0\x80\x3f\0\0\x20\xc0"
            "pad")},
        {"h", 0x402, {2, 1}, SV("\x00\x3c\x00\xc1")},
        {"Wemb", 0x4101, {3, 2}, SV(INTGEMM8)},
        {"encoder_l1_ffn_W1", 0x10001, {2, 3}, SV(INTGEMM8)},
        {"encoder_l1_ffn_W1_QuantMultA", 0x404, {1, 1}, SV("\0\0\x80\x3f")},
        {"special:model.yml", 0x101, {1, 6}, SV("a: 1\n\0")},
        {"special:model.yml", 0x101, {1, 1}, SV("")},
    };
    StrBuf file = {0};
    ForeignTensors tensors = {0};
    put_marian(&file, ITEMS, sizeof ITEMS / sizeof *ITEMS);
    if (foreign_read_marian(&tensors, strbuf_view(&file)) != STATUS_OK) fail_msg("%s", status_message());
    assert_int_equal(tensors.count, 4);
    assert_tensor(&tensors, "b", 1, 2, FLOATS);
    assert_tensor(&tensors, "h", 2, 1, FLOATS);
    assert_tensor(&tensors, "Wemb", 3, 2, TABLE);               /* -128 is -127 */
    assert_tensor(&tensors, "encoder_l1_ffn_W1", 2, 3, MATRIX); /* stored column by column */
    assert_true(foreign_tensors_find(&tensors, "Wemb")->quantized);
    assert_true(foreign_tensors_find(&tensors, "Wemb")->scale == 0.5f);
    assert_string_equal(strbuf_text(&tensors.settings), "a: 1\n");
    foreign_tensors_free(&tensors);
    refuses_parts(foreign_read_marian, strbuf_view(&file));
    strbuf_free(&file);
}

static void test_refused_marian(void **state) {
    (void)state;
    const struct {
        MarianTensor item;
        const char *message;
    } CASES[] = {
        {{"a", 0x10201, {1, 2}, SV("12")}, "its type 0x10201 is not supported"},
        {{"a", 0x404, {1, 3}, SV("12345678")}, "its bytes do not fit its shape"},
        {{"a", 0x404, {0, 3}, SV("1234")}, "its list of tensors cannot be read"},
        {{"a", 0x4101, {3, 3}, SV(INTGEMM8)}, "do not fit its shape"},
        {{"a", 0x4101, {3, 2}, SV("123456\0\0\0\0")}, "its multiplier is not a positive number"},
        {{"a", 0x4101, {3, 2}, SV("123456\0\0\x80\xff")}, "its multiplier is not a positive number"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrBuf file = {0};
        put_marian(&file, &CASES[i].item, 1);
        refuses(foreign_read_marian, strbuf_view(&file), CASES[i].message);
        strbuf_free(&file);
    }
    StrBuf file = {0};
    put_number(&file, 2, 8);
    put_number(&file, 1, 8);
    refuses(foreign_read_marian, strbuf_view(&file), "encrypted");
    strbuf_clear(&file);
    put_number(&file, 1, 8);
    put_number(&file, UINT64_C(1) << 60, 8);
    refuses(foreign_read_marian, strbuf_view(&file), "not a binary file of Marian");
    strbuf_free(&file);
}

/* ---- CTranslate2 ---- */

static void put_name(StrBuf *file, const char *name) {
    put_number(file, strlen(name) + 1, 2);
    strbuf_add(file, (StrView){name, strlen(name) + 1});
}

typedef struct {
    const char *name;
    int rank;
    uint32_t shape[2];
    unsigned type;
    StrView data;
} Variable;

static void put_ct2(StrBuf *file, unsigned version, const char *spec, const Variable *variables,
                    size_t count) {
    put_number(file, version, 4);
    put_name(file, spec);
    put_number(file, 7, 4); /* the revision */
    put_number(file, count, 4);
    for (size_t i = 0; i < count; i++) {
        const Variable *v = &variables[i];
        put_name(file, v->name);
        put_number(file, (uint64_t)v->rank, 1);
        for (int k = 0; k < v->rank; k++) put_number(file, v->shape[k], 4);
        put_number(file, v->type, 1);
        put_number(file, version < 4 ? v->data.length / v->type : v->data.length, 4);
        strbuf_add(file, v->data);
    }
}

static void test_ctranslate2(void **state) {
    (void)state;
    static const float FLOATS[] = {1, -2.5f}, ROWS[] = {1, 2, 0.75f, -1}, WORDS[] = {0.5f, -0.5f};
    const Variable VARIABLES[] = {
        {"a", 1, {2}, 0, SV("\0\0\x80\x3f\0\0\x20\xc0")},
        {"h", 2, {2, 1}, 4, SV("\x00\x3c\x00\xc1")},
        {"b", 1, {2}, 5, SV("\x80\x3f\x20\xc0")},
        {"w", 2, {2, 2}, 1, SV("\x02\x04\x03\xfc")},
        {"w_scale", 1, {2}, 0, SV("\0\0\0\x40\0\0\x80\x40")}, /* 2 and 4 */
        {"i", 1, {2}, 2, SV("\x01\0\xff\xff")},
        {"i_scale", 0, {0}, 0, SV("\0\0\0\x40")}, /* one for all rows */
        {"heads", 0, {0}, 1, SV("\x08")},
    };
    StrBuf file = {0};
    ForeignTensors tensors = {0};
    put_ct2(&file, 6, "TransformerSpec", VARIABLES, sizeof VARIABLES / sizeof *VARIABLES);
    put_number(&file, 1, 4);
    put_name(&file, "alias");
    put_name(&file, "a");
    if (foreign_read_ctranslate2(&tensors, strbuf_view(&file)) != STATUS_OK) fail_msg("%s", status_message());
    assert_tensor(&tensors, "a", 1, 2, FLOATS);
    assert_tensor(&tensors, "alias", 1, 2, FLOATS);
    assert_tensor(&tensors, "h", 2, 1, FLOATS);
    assert_tensor(&tensors, "b", 1, 2, FLOATS);
    assert_tensor(&tensors, "w", 2, 2, ROWS);
    assert_tensor(&tensors, "i", 1, 2, WORDS);
    assert_true(foreign_tensors_find(&tensors, "w")->quantized);
    assert_false(foreign_tensors_find(&tensors, "heads")->quantized);
    assert_true(foreign_tensors_number(&tensors, "heads", 0) == 8);
    assert_int_equal(tensors.revision, 7);
    foreign_tensors_free(&tensors);
    refuses_parts(foreign_read_ctranslate2, strbuf_view(&file));
    /* Version 3 has the size of an element and their number. */
    const Variable OLD[] = {{"a", 1, {2}, 4, SV("\0\0\x80\x3f\0\0\x20\xc0")}};
    strbuf_clear(&file);
    put_ct2(&file, 3, "TransformerSpec", OLD, 1);
    put_number(&file, 0, 4);
    assert_int_equal(foreign_read_ctranslate2(&tensors, strbuf_view(&file)), STATUS_OK);
    assert_tensor(&tensors, "a", 1, 2, FLOATS);
    foreign_tensors_free(&tensors);
    strbuf_free(&file);
}

static void test_refused_ctranslate2(void **state) {
    (void)state;
    const struct {
        unsigned version;
        const char *spec;
        Variable variables[2];
        const char *message;
    } CASES[] = {
        {9, "TransformerSpec", {{"a", 0, {0}, 1, SV("1")}}, "not a model.bin of CTranslate2, version 3 to 6"},
        {6, "WhisperSpec", {{"a", 0, {0}, 1, SV("1")}}, "is a 'WhisperSpec', not a TransformerSpec"},
        {6, "TransformerDecoderModelSpec", {{"a", 0, {0}, 1, SV("1")}}, "not a TransformerSpec"},
        {6, "TransformerSpec", {{"a", 0, {0}, 6, SV("1")}}, "its type 6 is not known"},
        {6, "TransformerSpec", {{"a", 1, {2}, 1, SV("1")}}, "do not fit its shape"},
        {6,
         "TransformerSpec",
         {{"w", 1, {1}, 1, SV("1")}, {"w_scale", 1, {2}, 1, SV("12")}},
         "does not fit its weight"},
        {6,
         "TransformerSpec",
         {{"w", 1, {1}, 1, SV("1")}, {"w_scale", 1, {1}, 1, SV("\0")}},
         "number 0 is not a valid scale"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrBuf file = {0};
        put_ct2(&file, CASES[i].version, CASES[i].spec, CASES[i].variables,
                CASES[i].variables[1].name ? 2 : 1);
        put_number(&file, 0, 4);
        refuses(foreign_read_ctranslate2, strbuf_view(&file), CASES[i].message);
        strbuf_free(&file);
    }
    StrBuf file = {0};
    put_ct2(&file, 6, "TransformerSpec", NULL, 0);
    refuses(foreign_read_ctranslate2, strbuf_view(&file), "model.bin has no variables");
    strbuf_clear(&file);
    put_ct2(&file, 6, "TransformerSpec", &(Variable){"a", 0, {0}, 1, SV("1")}, 1);
    put_number(&file, 1, 4);
    put_name(&file, "alias");
    put_name(&file, "nothing");
    refuses(foreign_read_ctranslate2, strbuf_view(&file), "alias 'alias' leads to nothing");
    strbuf_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_add),
                                       cmocka_unit_test(test_safetensors),
                                       cmocka_unit_test(test_npz),
                                       cmocka_unit_test(test_refused_safetensors),
                                       cmocka_unit_test(test_refused_npz),
                                       cmocka_unit_test(test_marian),
                                       cmocka_unit_test(test_ctranslate2),
                                       cmocka_unit_test(test_refused_marian),
                                       cmocka_unit_test(test_refused_ctranslate2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
