/* torch.c - pytorch_model.bin in both forms, and pickles that want something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "foreign/tensors.h"
#include "unit/bytes_fixture.h"

/* ---- parts of pickles ---- */

static void put(StrBuf *pickle, const char *code) { strbuf_add(pickle, sv(code)); }

static void put_text(StrBuf *pickle, const char *text) {
    strbuf_add_char(pickle, 'X');
    put_number(pickle, strlen(text), 4);
    put(pickle, text);
}

static void put_small(StrBuf *pickle, int number) {
    strbuf_add_char(pickle, 'K');
    put_number(pickle, (uint64_t)number, 1);
}

static void put_pair(StrBuf *pickle, const int pair[2]) { /* [1] 0: a tuple of one */
    put_small(pickle, pair[0]);
    if (pair[1]) put_small(pickle, pair[1]);
    put(pickle, pair[1] ? "\x86" : "\x85");
}

typedef struct {
    const char *storage; /* "FloatStorage" */
    const char *key;
    int elements, offset, shape[2], strides[2];
} TorchTensor;

/* _rebuild_tensor_v2(storage, offset, shape, strides, False, OrderedDict()) */
static void put_tensor(StrBuf *pickle, const TorchTensor *tensor) {
    put(pickle, "ctorch._utils\n_rebuild_tensor_v2\n((");
    put_text(pickle, "storage");
    put(pickle, "ctorch\n");
    put(pickle, tensor->storage);
    put(pickle, "\n");
    put_text(pickle, tensor->key);
    put_text(pickle, "cpu");
    put_small(pickle, tensor->elements);
    put(pickle, "tQ");
    put_small(pickle, tensor->offset);
    put_pair(pickle, tensor->shape);
    put_pair(pickle, tensor->strides);
    put(pickle, "\x89"
                "ccollections\nOrderedDict\n)RtR");
}

static void put_item(StrBuf *pickle, const char *name, const TorchTensor *tensor) {
    put_text(pickle, name);
    put_tensor(pickle, tensor);
    put(pickle, "s");
}

static StrView floats(StrBuf *bytes, int count) {
    for (int i = 0; i < count; i++) put_float(bytes, (float)i + 0.5f);
    return strbuf_view(bytes);
}

static Status read_pickle(ForeignTensors *tensors, const StrBuf *pickle, StrView storage) {
    ZipWriter zip = {0};
    zip_put(&zip, "archive/data.pkl", strbuf_view(pickle));
    zip_put(&zip, "archive/data/0", storage);
    Status status = foreign_read_torch(tensors, zip_end(&zip));
    zip_writer_free(&zip);
    return status;
}

/* ---- tests ---- */

static void test_zip_form(void **state) {
    (void)state;
    StrBuf pickle = {0}, numbers = {0};
    ForeignTensors tensors = {0};
    put(&pickle, "\x80\x02}");
    put_item(&pickle, "matrix", &(TorchTensor){"FloatStorage", "0", 8, 1, {2, 3}, {3, 1}});
    put_item(&pickle, "vector", &(TorchTensor){"FloatStorage", "0", 8, 6, {2, 0}, {1, 0}});
    put(&pickle, ".");
    assert_int_equal(read_pickle(&tensors, &pickle, floats(&numbers, 8)), STATUS_OK);
    assert_int_equal(tensors.count, 2);
    const ForeignTensor *matrix = foreign_tensors_find(&tensors, "matrix"),
                        *vector = foreign_tensors_find(&tensors, "vector");
    assert_true(matrix->rows == 2 && matrix->columns == 3 && vector->rows == 1 && vector->columns == 2);
    for (int i = 0; i < 6; i++) assert_true(matrix->data[i] == (float)i + 1.5f);
    assert_true(vector->data[0] == 6.5f && vector->data[1] == 7.5f);
    foreign_tensors_free(&tensors);
    strbuf_free(&pickle);
    strbuf_free(&numbers);
}

static void test_halves(void **state) {
    (void)state;
    StrBuf pickle = {0};
    ForeignTensors tensors = {0};
    put(&pickle, "\x80\x02}");
    put_item(&pickle, "half", &(TorchTensor){"HalfStorage", "0", 2, 0, {2, 0}, {1, 0}});
    put(&pickle, ".");
    assert_int_equal(read_pickle(&tensors, &pickle, SV("\x00\x3c\x00\xc1")), STATUS_OK);
    assert_true(tensors.items[0].data[0] == 1 && tensors.items[0].data[1] == -2.5f);
    foreign_tensors_free(&tensors);
    strbuf_free(&pickle);
}

/* Five pickles, then the storages; before torch 1.6. */
static void test_old_form(void **state) {
    (void)state;
    StrBuf file = {0};
    ForeignTensors tensors = {0};
    strbuf_add(&file, SV("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."));
    strbuf_add(&file, SV("\x80\x02M\xe9\x03.\x80\x02}.\x80\x02}"));
    put_text(&file, "a");
    /* The storage of the old form has a sixth part, the view of another one: None. */
    put(&file, "ctorch._utils\n_rebuild_tensor_v2\n((");
    put_text(&file, "storage");
    put(&file, "ctorch\nFloatStorage\n");
    put_text(&file, "k");
    put_text(&file, "cpu");
    put(&file, "K\x02NtQ");
    strbuf_add(&file, SV("K\0K\x02\x85K\x01\x85\x89"
                         "ccollections\nOrderedDict\n)RtRs."));
    strbuf_add(&file, SV("\x80\x02]"));
    put_text(&file, "k");
    put(&file, "a.");
    put_number(&file, 2, 8);
    put_float(&file, 3);
    put_float(&file, -4);
    if (foreign_read_torch(&tensors, strbuf_view(&file)) != STATUS_OK) fail_msg("%s", status_message());
    assert_int_equal(tensors.count, 1);
    assert_true(tensors.items[0].data[0] == 3 && tensors.items[0].data[1] == -4);
    foreign_tensors_free(&tensors);
    for (size_t length = 0; length < file.length; length++)
        assert_int_equal(foreign_read_torch(&tensors, (StrView){file.data, length}), STATUS_DATA);
    strbuf_free(&file);
}

static void test_refused_pickles(void **state) {
    (void)state;
    const struct {
        StrView pickle;
        const char *message;
    } CASES[] = {
        {SV("\x80\x02"
            "cos\nsystem\nX\x04\0\0\0true\x85R."),
         "imports 'os.system'"},
        {SV("\x80\x02"
            "cbuiltins\neval\n."),
         "imports 'builtins.eval'"},
        {SV("\x80\x02"
            "ctorch\nload\n."),
         "imports 'torch.load'"},
        {SV("\x80\x02"
            "ccollections\nOrderedDict\nK\x01\x85R."),
         "a call that tensors do not need"},
        {SV("\x80\x02\x93."), "the opcode 0x93 at byte 2"},
        {SV("\x80\x04}."), "protocol is not 2"},
        {SV("\x80\x02}q"), "truncated"},
        {SV("\x80\x02R."), "damaged at byte 3"},
        {SV("\x80\x02j\xff\xff\xff\xff."), "damaged"},
        {SV("\x80\x02t."), "damaged"},
        {SV("\x80\x02]."), "not a dictionary of tensors"},
        {SV("\x80\x02}X\x01\0\0\0aK\x01s."), "'a' in the pickle is not a tensor"},
        {SV("."), "damaged"},
        {SV(""), "truncated"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ForeignTensors tensors = {0};
        StrBuf pickle = {0};
        strbuf_add(&pickle, CASES[i].pickle);
        assert_int_equal(read_pickle(&tensors, &pickle, SV("1234")), STATUS_DATA);
        assert_int_equal(tensors.count, 0);
        if (!strstr(status_message(), CASES[i].message))
            fail_msg("%s: %s", CASES[i].message, status_message());
        strbuf_free(&pickle);
    }
}

static void test_refused_tensors(void **state) {
    (void)state;
    const struct {
        TorchTensor tensor;
        const char *message;
    } CASES[] = {
        {{"FloatStorage", "0", 8, 0, {2, 3}, {1, 2}}, "is not stored row by row"},
        {{"FloatStorage", "0", 8, 3, {2, 3}, {3, 1}}, "extends beyond its storage"},
        {{"FloatStorage", "0", 8, 0, {200, 3}, {3, 1}}, "extends beyond its storage"},
        {{"FloatStorage", "7", 8, 0, {2, 3}, {3, 1}}, "storage '7' is missing"},
        {{"QUInt8Storage", "0", 8, 0, {2, 3}, {3, 1}}, "imports 'torch.QUInt8Storage'"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ForeignTensors tensors = {0};
        StrBuf pickle = {0}, numbers = {0};
        put(&pickle, "\x80\x02}");
        put_item(&pickle, "a", &CASES[i].tensor);
        put(&pickle, ".");
        assert_int_equal(read_pickle(&tensors, &pickle, floats(&numbers, 8)), STATUS_DATA);
        if (!strstr(status_message(), CASES[i].message))
            fail_msg("%s: %s", CASES[i].message, status_message());
        strbuf_free(&pickle);
        strbuf_free(&numbers);
    }
    ForeignTensors tensors = {0};
    assert_int_equal(foreign_read_torch(&tensors, SV("hello")), STATUS_DATA);
    assert_non_null(strstr(status_message(), "torch did not write it"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip_form), cmocka_unit_test(test_halves), cmocka_unit_test(test_old_form),
        cmocka_unit_test(test_refused_pickles), cmocka_unit_test(test_refused_tensors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
