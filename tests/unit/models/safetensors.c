/* safetensors.c - tensors are the same after writing and reading; damaged and hostile files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "io/sha256.h"
#include "base/strview.h"
#include "models/safetensors.h"
#include "unit/text_fixture.h"

static char folder[64], path[96];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/attn-mt-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/m.safetensors", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void put_file(const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (bytes) assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* ---- round trip ---- */

static const float MATRIX[6] = {1, -2.5f, 3e-38f, 0, -0.0f, 1e38f};
static const float SCALAR[1] = {0.125f};
static const uint64_t COUNTERS[3] = {0, UINT64_MAX, UINT64_C(0x0123456789ABCDEF)};
static const int64_t SIGNED[2] = {INT64_MIN, -1};
static const double DOUBLES[1] = {0.1};
static const unsigned char BYTES[5] = {0, 1, 127, 128, 255};
static const signed char SMALL[3] = {-128, 0, 127};
static const uint16_t HALVES[2] = {0x3f80, 0xff7f};

static const SafeTensor TENSORS[] = {
    {.name = "decoder.w", .dtype = "F32", .rank = 2, .shape = {2, 3}, .data = MATRIX, .bytes = sizeof MATRIX},
    {.name = "bytes", .dtype = "U8", .rank = 1, .shape = {5}, .data = BYTES, .bytes = sizeof BYTES},
    {.name = "a", .dtype = "F32", .rank = 0, .data = SCALAR, .bytes = sizeof SCALAR},
    {.name = "steps",
     .dtype = "U64",
     .rank = 3,
     .shape = {1, 3, 1},
     .data = COUNTERS,
     .bytes = sizeof COUNTERS},
    {.name = "empty", .dtype = "F32", .rank = 2, .shape = {0, 7}, .data = MATRIX, .bytes = 0},
    {.name = "signed", .dtype = "I64", .rank = 1, .shape = {2}, .data = SIGNED, .bytes = sizeof SIGNED},
    {.name = "small", .dtype = "I8", .rank = 2, .shape = {3, 1}, .data = SMALL, .bytes = sizeof SMALL},
    {.name = "z", .dtype = "BF16", .rank = 1, .shape = {2}, .data = HALVES, .bytes = sizeof HALVES},
    {.name = "loss", .dtype = "F64", .rank = 1, .shape = {1}, .data = DOUBLES, .bytes = sizeof DOUBLES},
    {.name = "lengths", .dtype = "U16", .rank = 1, .shape = {2}, .data = HALVES, .bytes = sizeof HALVES},
    {.name = "ids", .dtype = "U32", .rank = 1, .shape = {6}, .data = MATRIX, .bytes = sizeof MATRIX},
};
enum { TENSOR_COUNT = sizeof TENSORS / sizeof *TENSORS };

static const char *const METADATA[][2] = {{"format", "1"},
                                          {"config", "{\"model\": {\"hidden\": 256}}\n"},
                                          {"vocab", "\xC3\xA9t\xC3\xA9\t\x01\\\"\n@@"},
                                          {"empty", ""}};
enum { METADATA_COUNT = sizeof METADATA / sizeof *METADATA };

static void write_sample(void) {
    Status status = safetensors_write(path, TENSORS, TENSOR_COUNT, METADATA, METADATA_COUNT);
    if (status != STATUS_OK) fail_msg("%s", status_message());
}

static SafeFile *open_good(void) {
    SafeFile *file;
    if (safetensors_open(&file, path) != STATUS_OK) fail_msg("%s", status_message());
    return file;
}

static void assert_sample(const SafeFile *file) {
    assert_int_equal(safetensors_count(file), TENSOR_COUNT);
    for (size_t i = 0; i < TENSOR_COUNT; i++) {
        const SafeTensor *expected = &TENSORS[i], *tensor = safetensors_find(file, expected->name);
        assert_non_null(tensor);
        assert_string_equal(tensor->name, expected->name);
        assert_string_equal(tensor->dtype, expected->dtype);
        assert_int_equal(tensor->rank, expected->rank);
        for (int j = 0; j < expected->rank; j++) assert_true(tensor->shape[j] == expected->shape[j]);
        assert_int_equal(tensor->bytes, expected->bytes);
        assert_int_equal((uintptr_t)tensor->data % 64, 0);
        if (expected->bytes) assert_memory_equal(tensor->data, expected->data, expected->bytes);
    }
    for (size_t i = 0; i < METADATA_COUNT; i++) {
        const char *value = safetensors_metadata(file, METADATA[i][0]);
        assert_non_null(value);
        assert_string_equal(value, METADATA[i][1]);
    }
    assert_int_equal(safetensors_metadata_count(file), METADATA_COUNT + 2);
}

static void tensors_survive_a_file(void **state) {
    (void)state;
    write_sample();
    SafeFile *file = open_good();
    assert_sample(file);
    assert_null(safetensors_find(file, "A"));
    assert_null(safetensors_find(file, "__metadata__"));
    assert_null(safetensors_metadata(file, "Format"));
    assert_non_null(safetensors_metadata(file, "payload_sha256"));
    const char *key, *value;
    safetensors_metadata_at(file, 2, &key, &value);
    assert_string_equal(key, "format");
    assert_string_equal(value, "1");
    /* Whole numbers without sign, then the widest first, then by name. */
    static const char *const ORDER[] = {"ids", "lengths",   "bytes", "steps", "signed", "loss",
                                        "a",   "decoder.w", "empty", "z",     "small"};
    for (size_t i = 0; i < TENSOR_COUNT; i++) {
        bool zero = strcmp(ORDER[i], "empty") == 0 || strcmp(ORDER[i], "z") == 0; /* the same offset */
        if (!zero) assert_string_equal(safetensors_at(file, i)->name, ORDER[i]);
    }
    assert_int_equal(safetensors_check_finite(file), STATUS_OK);
    safetensors_close(file);
    safetensors_close(NULL);
}

static void the_file_has_the_published_layout(void **state) {
    (void)state;
    char actual[65];
    static const float x[2] = {1, 2}, y[1] = {3};
    const SafeTensor tensors[] = {
        {.name = "y", .dtype = "F32", .rank = 1, .shape = {1}, .data = y, .bytes = 4},
        {.name = "x", .dtype = "F32", .rank = 2, .shape = {2, 1}, .data = x, .bytes = 8}};
    assert_int_equal(safetensors_write(path, tensors, 2, NULL, 0), STATUS_OK);
    StrBuf content = {0};
    assert_int_equal(file_read(path, 0, &content), STATUS_OK);
    uint64_t length;
    memcpy(&length, content.data, 8);
    assert_int_equal(length % 8, 0);
    assert_int_equal(content.length, 8 + length + 12);
    static const char TAIL[] = "\"},\"x\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                               "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}";
    const char *tail = strstr(content.data + 8, TAIL);
    assert_non_null(tail);
    for (const char *c = tail + sizeof TAIL - 1; c < content.data + 8 + length; c++)
        assert_int_equal(*c, ' ');
    assert_memory_equal(content.data + 8 + length, x, 8);
    assert_memory_equal(content.data + 8 + length + 8, y, 4);
    Sha256 hash;
    /* Both checksums as documented. */
    SafeFile *file = open_good();
    sha256_begin(&hash);
    sha256_add(&hash, content.data + 8 + length, 12);
    sha256_end(&hash, actual);
    assert_string_equal(actual, safetensors_metadata(file, "payload_sha256"));
    const char *digest = safetensors_metadata(file, "header_sha256");
    memset(strstr(content.data + 8, digest), '0', 64);
    sha256_begin(&hash);
    sha256_add(&hash, content.data + 8, length);
    sha256_end(&hash, actual);
    assert_string_equal(actual, digest);
    safetensors_close(file);
    strbuf_free(&content);
}

static void the_same_tensors_give_the_same_bytes(void **state) {
    (void)state;
    StrBuf first = {0}, second = {0};
    write_sample();
    assert_int_equal(file_read(path, 0, &first), STATUS_OK);
    SafeTensor reversed[TENSOR_COUNT];
    for (size_t i = 0; i < TENSOR_COUNT; i++) reversed[i] = TENSORS[TENSOR_COUNT - 1 - i];
    assert_int_equal(safetensors_write(path, reversed, TENSOR_COUNT, METADATA, METADATA_COUNT), STATUS_OK);
    assert_int_equal(file_read(path, 0, &second), STATUS_OK);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.data, second.data, first.length);
    strbuf_free(&first);
    strbuf_free(&second);
    SafeFile *file = open_good();
    assert_sample(file);
    safetensors_close(file);
}

static void a_file_may_be_empty(void **state) {
    (void)state;
    assert_int_equal(safetensors_write(path, NULL, 0, NULL, 0), STATUS_OK);
    SafeFile *file = open_good();
    assert_int_equal(safetensors_count(file), 0);
    assert_int_equal(safetensors_metadata_count(file), 2);
    safetensors_close(file);
}

static void assert_failed(Status status, Status expected, const char *part) {
    assert_int_equal(status, expected);
    if (!strstr(status_message(), part)) fail_msg("'%s' is not in '%s'", part, status_message());
}

static void what_cannot_be_read_is_not_written(void **state) {
    (void)state;
    write_sample();
    SafeTensor twice[2] = {TENSORS[0], TENSORS[0]}, named = TENSORS[0];
    assert_failed(safetensors_write(path, twice, 2, NULL, 0), STATUS_DATA, "key 'decoder.w' occurs twice");
    const char *const reserved[][2] = {{"payload_sha256", "x"}};
    assert_failed(safetensors_write(path, NULL, 0, reserved, 1), STATUS_DATA, "occurs twice");
    named.name = "__metadata__";
    assert_failed(safetensors_write(path, &named, 1, NULL, 0), STATUS_DATA, "occurs twice");
    size_t much = 17 << 20;
    char *text = mem_alloc(much + 1, 1);
    memset(text, 'x', much);
    const char *const big[][2] = {{"vocab", text}};
    assert_failed(safetensors_write(path, NULL, 0, big, 1), STATUS_DATA, "16 MiB");
    mem_free(text);
    SafeFile *file = open_good(); /* the old file is unchanged */
    assert_sample(file);
    safetensors_close(file);
    assert_failed(safetensors_write("/nowhere/m.safetensors", NULL, 0, NULL, 0), STATUS_RUNTIME,
                  "cannot create '/nowhere/m.safetensors'");
}

/* Metadata and numbers larger than a buffer, on a full disk. */
static void without_room_the_old_file_stays(void **state) {
    (void)state;
    enum { MUCH = 1 << 17 };
    char *text = mem_alloc(MUCH + 1, 1);
    memset(text, 'x', MUCH);
    const char *const big[][2] = {{"vocab", text}};
    const SafeTensor tensor = {
        .name = "a", .dtype = "U8", .rank = 1, .shape = {MUCH}, .data = text, .bytes = MUCH};
    write_sample();
    rlim_t usual = fixture_limit_files(1000);
    Status wide = safetensors_write(path, NULL, 0, big, 1),
           large = safetensors_write(path, &tensor, 1, NULL, 0);
    fixture_limit_files(usual);
    assert_int_equal(wide, STATUS_RUNTIME);
    assert_int_equal(large, STATUS_RUNTIME);
    SafeFile *file = open_good();
    assert_sample(file);
    safetensors_close(file);
    mem_free(text);
}

static void tensors_are_required_by_shape(void **state) {
    (void)state;
    write_sample();
    SafeFile *file = open_good();
    const SafeTensor *tensor = NULL;
    assert_int_equal(safetensors_require(file, "decoder.w", "F32", 2, (const long long[]){2, 3}, &tensor),
                     STATUS_OK);
    assert_memory_equal(tensor->data, MATRIX, sizeof MATRIX);
    assert_int_equal(safetensors_require(file, "a", "F32", 0, NULL, &tensor), STATUS_OK);
    assert_failed(safetensors_require(file, "decoder.v", "F32", 2, (const long long[]){2, 3}, &tensor),
                  STATUS_DATA, "m.safetensors': tensor 'decoder.v' is missing");
    assert_failed(safetensors_require(file, "decoder.w", "F32", 2, (const long long[]){3, 2}, &tensor),
                  STATUS_DATA, "tensor 'decoder.w' is F32 [2, 3] instead of F32 [3, 2]");
    assert_failed(safetensors_require(file, "decoder.w", "F32", 1, (const long long[]){2}, &tensor),
                  STATUS_DATA, "instead of F32 [2]");
    assert_failed(safetensors_require(file, "steps", "I64", 3, (const long long[]){1, 3, 1}, &tensor),
                  STATUS_DATA, "is U64 [1, 3, 1] instead of I64");
    safetensors_close(file);
}

static void numbers_must_be_finite(void **state) {
    (void)state;
    static const float WRONG[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        float values[4] = {0, 1, WRONG[i], 2};
        double wide[1] = {1};
        SafeTensor tensors[] = {
            {.name = "fine", .dtype = "F64", .rank = 1, .shape = {1}, .data = wide, .bytes = 8},
            {.name = "enc.w", .dtype = "F32", .rank = 1, .shape = {4}, .data = values, .bytes = 16}};
        assert_failed(safetensors_write(path, tensors, 2, NULL, 0), STATUS_DATA,
                      "tensor 'enc.w': number 2 is not finite");
        assert_int_equal(safetensors_write_unchecked(path, tensors, 2, NULL, 0), STATUS_OK);
        SafeFile *file = open_good();
        assert_failed(safetensors_check_finite(file), STATUS_DATA, "tensor 'enc.w': number 2 is not finite");
        safetensors_close(file);
        uint16_t halves[2] = {0x3f80, (uint16_t)(i ? 0xff80 : 0x7fc1)};
        SafeTensor half = {.name = "h", .dtype = "BF16", .rank = 1, .shape = {2}, .data = halves, .bytes = 4};
        assert_failed(safetensors_write(path, &half, 1, NULL, 0), STATUS_DATA,
                      "tensor 'h': number 1 is not finite");
        assert_int_equal(safetensors_write_unchecked(path, &half, 1, NULL, 0), STATUS_OK);
        file = open_good();
        assert_failed(safetensors_check_finite(file), STATUS_DATA, "tensor 'h': number 1 is not finite");
        safetensors_close(file);
        wide[0] = (double)WRONG[i];
        assert_failed(safetensors_write(path, tensors, 1, NULL, 0), STATUS_DATA,
                      "tensor 'fine': number 0 is not finite");
        assert_int_equal(safetensors_write_unchecked(path, tensors, 1, NULL, 0), STATUS_OK);
        file = open_good();
        assert_failed(safetensors_check_finite(file), STATUS_DATA, "tensor 'fine': number 0 is not finite");
        safetensors_close(file);
    }
}

/* ---- crafted files ---- */

/* Length, header and `payload` bytes of data. */
static void put_crafted(uint64_t length, StrView header, size_t payload) {
    char *data = mem_alloc(8 + header.length + payload, 1);
    memcpy(data, &length, 8);
    memcpy(data + 8, header.data, header.length);
    put_file(data, 8 + header.length + payload);
    mem_free(data);
}

static void refuse_file(const char *part, const char *what) {
    SafeFile *file = (SafeFile *)folder;
    Status status = safetensors_open(&file, path);
    if (status != STATUS_DATA) fail_msg("accepted: %s", what);
    assert_null(file);
    if (strncmp(status_message(), "'", 1) != 0 || strncmp(status_message() + 1, path, strlen(path)) != 0)
        fail_msg("no path: %s", status_message());
    if (!strstr(status_message(), part)) fail_msg("%s: '%s' is not in '%s'", what, part, status_message());
}

static void refuse_header(const char *header, size_t payload, const char *part) {
    put_crafted(strlen(header), sv(header), payload);
    refuse_file(part, header);
}

#define T(dtype, shape, begin, end)                                                                          \
    "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"

static void accept_header(const char *header, size_t payload, size_t count) {
    put_crafted(strlen(header), sv(header), payload);
    SafeFile *file = open_good();
    assert_int_equal(safetensors_count(file), count);
    assert_null(safetensors_metadata(file, "payload_sha256")); /* no checksum */
    assert_true(safetensors_metadata_count(file) == (strstr(header, "\"pt\"") ? 1 : 0));
    for (size_t i = 0; i < count; i++) assert_int_equal((uintptr_t)safetensors_at(file, i)->data % 64, 0);
    safetensors_close(file);
}

/* Files of other programs. */
static void sound_headers_are_accepted(void **state) {
    (void)state;
    accept_header("{}", 0, 0);
    accept_header("{}      ", 0, 0);
    accept_header("{} \n\t\r", 0, 0);
    accept_header("{\"__metadata__\":{}}", 0, 0);
    accept_header("{\"__metadata__\":{\"format\":\"pt\"},\"a\":" T("F32", "", 0, 4) "}", 4, 1);
    accept_header("{\"a\":" T("F32", "2,3", 0, 24) "}", 24, 1);
    accept_header("{\"a\":" T("U8", "3", 0, 3) ",\"b\":" T("F32", "1", 3, 7) "}", 7,
                  2); /* not aligned in the file */
    accept_header("{\"b\":" T("F32", "1", 4, 8) ",\"a\":" T("F32", "1", 0, 4) "}", 8,
                  2); /* any order of names */
    accept_header("{\"a\":" T("F32", "0", 0, 0) ",\"b\":" T("F32", "5,0", 0, 0) ",\"c\":" T(
                      "F32", "1", 0, 4) ",\"d\":" T("U8", "0", 4, 4) "}",
                  4, 4);
    accept_header("{\"a\":{\"data_offsets\":[0,4],\"shape\":[1],\"dtype\":\"F32\"}}", 4, 1);
    accept_header("{ \"a\" : { \"dtype\" : \"F32\" , \"shape\" : [ 1 ] , \"data_offsets\" : [ 0 , 4 ] } }", 4,
                  1);
    accept_header("{\"a\":" T("U8", "1,1,1,1,1,1,1,1", 0, 1) "}", 1, 1);
    accept_header("{\"\xC3\xA9\":" T("U8", "1", 0, 1) "}", 1, 1);
    accept_header("{\"a\":" T("U8", "1", 0, 1) ",\"A\":" T("U8", "1", 1, 2) "}", 2, 2);
}

static void wrong_tensors_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *header;
        size_t payload;
        const char *part;
    } CASES[] = {
        /* the cover */
        {"{}", 1, "1 bytes of data where the tensors need 0"},
        {"{\"a\":" T("F32", "1", 0, 4) "}", 5, "5 bytes of data where the tensors need 4"},
        {"{\"a\":" T("F32", "1", 0, 4) "}", 3, "not inside the file's 3 bytes"},
        {"{\"a\":" T("F32", "1", 0, 4) "}", 0, "not inside the file's 0 bytes"},
        {"{\"a\":" T("F32", "1", 4, 8) "}", 8, "a gap before it"},
        {"{\"a\":" T("F32", "1", 0, 4) ",\"b\":" T("F32", "1", 8, 12) "}", 12, "'b': a gap"},
        {"{\"a\":" T("F32", "2", 0, 8) ",\"b\":" T("F32", "1", 4, 8) "}", 8, "'b': an overlap"},
        {"{\"a\":" T("F32", "1", 0, 4) ",\"b\":" T("F32", "1", 0, 4) "}", 4, "an overlap"},
        {"{\"a\":" T("F32", "1", 4, 0) "}", 4, "data_offsets 4 to 0"},
        {"{\"a\":" T("U8", "0", 1, 1) "}", 0, "not inside"},
        {"{\"a\":" T("U8", "0", 1, 1) ",\"b\":" T("U8", "2", 0, 2) "}", 2, "an overlap before it"},
        {"{\"a\":" T("U8", "1", 0, 1) ",\"b\":" T("U8", "0", 0, 0) ",\"c\":" T("U8", "0", 2, 2) "}", 2,
         "a gap"},
        /* sizes */
        {"{\"a\":" T("F32", "2", 0, 4) "}", 4, "shape does not fit its 4 bytes"},
        {"{\"a\":" T("F32", "", 0, 8) "}", 8, "shape does not fit its 8 bytes"},
        {"{\"a\":" T("F64", "1", 0, 4) "}", 4, "shape does not fit"},
        {"{\"a\":" T("F32", "0", 0, 4) "}", 4, "shape does not fit"},
        {"{\"a\":" T("F32", "4294967296,4294967296", 0, 0) "}", 0, "shape does not fit"}, /* 2^64 */
        {"{\"a\":" T("F32", "4294967296,1073741824", 0, 0) "}", 0, "shape does not fit"}, /* 2^62 * 4 */
        {"{\"a\":" T("U8", "4294967296,2147483648", 0, 0) "}", 0, "shape does not fit"},  /* 2^63 */
        {"{\"a\":" T("F32", "4294967297,1073741824", 0, 16) "}", 16, "shape does not fit"},
        {"{\"a\":" T("U8", "9007199254740991", 0, 8) "}", 8, "shape does not fit"},
        {"{\"a\":" T("F32", "9007199254740991,9007199254740991,0", 0, 0) "}", 0, "shape does not fit"},
        {"{\"a\":" T("U8", "1", 0, 9007199254740991) "}", 1, "not inside"},
        {"{\"a\":" T("U8", "1,1,1,1,1,1,1,1,1", 0, 1) "}", 1, "at most 8 sizes"},
        /* numbers */
        {"{\"a\":" T("F32", "-1", 0, 4) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "1.0", 0, 4) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "1e0", 0, 4) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "1", 0, 4.0) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "1", -0, 4) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "1", 0, 18446744073709551620) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "18446744073709551617", 0, 4) "}", 4, "expected an integer"},
        {"{\"a\":" T("F32", "01", 0, 4) "}", 4, "leading zero"},
        {"{\"a\":" T("F32", "\"1\"", 0, 4) "}", 4, "a size is not a number"},
        {"{\"a\":" T("F32", "null", 0, 4) "}", 4, "a size is not a number"},
        {"{\"a\":" T("F32", "[1]", 0, 4) "}", 4, "a size is not a number"},
        {"{\"a\":" T("F32", "1", "0", 4) "}", 4, "are not two numbers"},
        {"{\"a\":" T("F32", "1", 0, true) "}", 4, "are not two numbers"},
        /* shape of an entry */
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "not an object of dtype, shape and data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"offsets\":[0,4]}}", 4, "are not two numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4],\"x\":1}}", 4, "not a list of at most 8"},
        {"{\"a\":{\"type\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "not an object of dtype"},
        {"{\"a\":{\"Dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "not an object of dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4,
         "not an object of dtype"},
        {"{\"a\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "not an object of dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4, "not a list of at most 8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":{\"0\":1},\"data_offsets\":[0,4]}}", 4,
         "not a list of at most 8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "are not two numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[]}}", 4, "are not two numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}", 4, "are not two numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":{\"a\":0,\"b\":4}}}", 4,
         "are not two numbers"},
        {"{\"a\":[]}", 0, "not an object of dtype"},
        {"{\"a\":null}", 0, "not an object of dtype"},
        {"{\"a\":{}}", 0, "not an object of dtype"},
        {"{\"\":" T("U8", "1", 0, 1) "}", 1, "without a name"},
        /* dtypes */
        {"{\"a\":" T("F16", "2", 0, 4) "}", 4, "dtype 'F16' is not supported"},
        {"{\"a\":" T("BF16", "1", 0, 4) "}", 4, "its shape does not fit its 4 bytes"},
        {"{\"a\":" T("f32", "1", 0, 4) "}", 4, "dtype 'f32' is not supported"},
        {"{\"a\":" T("", "1", 0, 4) "}", 4, "dtype '' is not supported"},
        {"{\"a\":" T("F32 ", "1", 0, 4) "}", 4, "dtype 'F32 ' is not supported"},
        /* keys */
        {"{\"a\":" T("F32", "1", 0, 4) ",\"a\":" T("F32", "1", 0, 4) "}", 4, "key 'a' occurs twice"},
        {"{\"a\":" T("F32", "1", 0, 4) ",\"\\u0061\":" T("F32", "1", 4, 8) "}", 8, "key 'a' occurs twice"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "occurs twice"},
        {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "key 'k' occurs twice"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "occurs twice"},
        /* metadata */
        {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
        {"{\"__metadata__\":\"x\"}", 0, "__metadata__ is not an object"},
        {"{\"__metadata__\":null}", 0, "__metadata__ is not an object"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__ 'k' is not a string"},
        {"{\"__metadata__\":{\"k\":{\"l\":\"x\"}}}", 0, "__metadata__ 'k' is not a string"},
        {"{\"__metadata__\":{\"k\":null}}", 0, "__metadata__ 'k' is not a string"},
        {"{\"__metadata__\":{\"k\":\"a\\u0000b\"}}", 0, "NUL"},
        {"{\"__metadata__\":{\"k\":\"\n\"}}", 0, "control character"},
        {"{\"__metadata__\":{\"k\":\"\xC3\"}}", 0, "invalid UTF-8"},
        {"{\"__metadata__\":{\"k\":\"\\ud800\"}}", 0, "surrogate"},
        /* text */
        {" {}", 0, "does not begin with '{'"},
        {"\xEF\xBB\xBF{}", 0, "does not begin with '{'"},
        {"[]", 0, "does not begin with '{'"},
        {"{]", 0, "the header"},
        {"{}x", 0, "text after"},
        {"{}{}", 0, "text after"},
        {"{} // c", 0, "text after"},
        {"{\"a\":" T("F32", "1", 0, 4), 4, "ends too early"},
        {"{\"a\":{\"a\":[[[1]]]}}", 0, "nested too deeply"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        refuse_header(CASES[i].header, CASES[i].payload, CASES[i].part);
}

static void wrong_lengths_are_refused(void **state) {
    (void)state;
    put_file("", 0);
    refuse_file("too short", "empty");
    put_file("\2\0\0\0\0\0\0\0{", 9);
    refuse_file("too short", "9 bytes");
    static const uint64_t LENGTHS[] = {
        0, 1, 3, 4, 255, (16 << 20) + 1, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX - 7, UINT64_MAX};
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
        put_crafted(LENGTHS[i], SV("{}"), 0);
        refuse_file("not a safetensors file, or truncated", "length");
    }
    put_crafted(2, SV("{}\0"), 0);
    refuse_file("1 bytes of data", "one byte more");
    put_crafted(3, SV("{}\0"), 0);
    refuse_file("NUL", "NUL padding");
    /* A header above the limit in a file of sufficient size. */
    size_t big = (16 << 20) + 8;
    char *text = mem_alloc(big, 1);
    memset(text, ' ', big);
    memcpy(text, "{}", 2);
    put_crafted(big, (StrView){text, big}, 0);
    refuse_file("a header of 16777224 bytes", "too long a header");
    put_crafted(16 << 20, (StrView){text, 16 << 20}, 0);
    SafeFile *file = open_good();
    safetensors_close(file);
    /* Many values in a header of valid size. */
    text[1] = '"', text[2] = 'a', text[3] = '"', text[4] = ':', text[5] = '[';
    for (size_t i = 6; i + 2 < (16 << 20); i += 2) text[i] = '1', text[i + 1] = ',';
    put_crafted(16 << 20, (StrView){text, 16 << 20}, 0);
    refuse_file("too many values", "eight million values");
    mem_free(text);
}

static void other_things_are_refused(void **state) {
    (void)state;
    SafeFile *file;
    assert_failed(safetensors_open(&file, "/nowhere/x"), STATUS_RUNTIME,
                  "cannot open '/nowhere/x': No such file");
    assert_failed(safetensors_open(&file, folder), STATUS_DATA, "it is a folder");
    char slash[sizeof folder + 1];
    snprintf(slash, sizeof slash, "%s/", folder);
    assert_failed(safetensors_open(&file, slash), STATUS_DATA, "it is a folder");
    assert_failed(safetensors_open(&file, "/dev/null"), STATUS_DATA, "not a regular file");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuse_file("not a regular file", "pipe");
    unlink(path);
    put_file("PK\3\4 this is an archive, not a tensor file", 42);
    refuse_file("not a model file: it is a zip file", "zip");
    put_file("\x1f\x8b\x08\0\0\0\0\0\0\3 gzip", 15);
    refuse_file("not a model file: it is a gzip file", "gzip");
    static const char *const TEXTS[] = {"Go.\tVa !\nHi!", "{\"model\": {}}",
                                        "\xE4\xBD\xA0\xE5\xA5\xBD \xE4\xBD\xA0"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        put_file(TEXTS[i], strlen(TEXTS[i]));
        refuse_file("not a model file: it looks like text", TEXTS[i]);
    }
}

static void checksums_come_in_pairs(void **state) {
    (void)state;
    char digest[65], text[400];
    memset(digest, 'a', 64);
    digest[64] = '\0';
    static const char *const KEYS[] = {"payload_sha256", "header_sha256"};
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "{\"__metadata__\":{\"%s\":\"%s\"}}", KEYS[i], digest);
        refuse_header(text, 0, "checksums are missing or malformed");
    }
    snprintf(text, sizeof text, "{\"__metadata__\":{\"header_sha256\":\"%s\",\"payload_sha256\":\"%s\"}}",
             digest, digest);
    refuse_header(text, 0, "the checksum of the header is wrong");
    snprintf(text, sizeof text, "{\"__metadata__\":{\"header_sha256\" :\"%s\",\"payload_sha256\":\"%s\"}}",
             digest, digest);
    refuse_header(text, 0, "cannot be found");
    snprintf(text, sizeof text, "{\"__metadata__\":{\"header_sha256\":\"\",\"payload_sha256\":\"%s\"}}",
             digest);
    refuse_header(text, 0, "malformed");
    digest[3] = 'A';
    snprintf(text, sizeof text, "{\"__metadata__\":{\"header_sha256\":\"%s\",\"payload_sha256\":\"%s\"}}",
             digest, digest);
    refuse_header(text, 0, "malformed");
}

/* ---- damage ---- */

static void every_truncation_is_refused(void **state) {
    (void)state;
    write_sample();
    StrBuf content = {0};
    assert_int_equal(file_read(path, 0, &content), STATUS_OK);
    for (size_t length = 0; length < content.length; length++) {
        put_file(content.data, length);
        refuse_file("", "cut off");
    }
    strbuf_add_char(&content, '\0');
    put_file(content.data, content.length);
    refuse_file("bytes of data where the tensors need", "one byte more");
    put_file(content.data, content.length - 1);
    SafeFile *file = open_good();
    assert_sample(file);
    safetensors_close(file);
    strbuf_free(&content);
}

static void every_flipped_bit_is_refused(void **state) {
    (void)state;
    write_sample();
    StrBuf content = {0};
    assert_int_equal(file_read(path, 0, &content), STATUS_OK);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    for (size_t bit = 0; bit < 8 * content.length; bit++) {
        assert_int_equal(fseek(file, (long)(bit / 8), SEEK_SET), 0);
        fputc(content.data[bit / 8] ^ 1 << bit % 8, file);
        refuse_file("", "flipped bit");
        assert_int_equal(fseek(file, (long)(bit / 8), SEEK_SET), 0);
        fputc(content.data[bit / 8], file);
    }
    fclose(file);
    SafeFile *good = open_good();
    assert_sample(good);
    safetensors_close(good);
    strbuf_free(&content);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_survive_a_file),
        cmocka_unit_test(the_file_has_the_published_layout),
        cmocka_unit_test(the_same_tensors_give_the_same_bytes),
        cmocka_unit_test(a_file_may_be_empty),
        cmocka_unit_test(what_cannot_be_read_is_not_written),
        cmocka_unit_test(without_room_the_old_file_stays),
        cmocka_unit_test(tensors_are_required_by_shape),
        cmocka_unit_test(numbers_must_be_finite),
        cmocka_unit_test(sound_headers_are_accepted),
        cmocka_unit_test(wrong_tensors_are_refused),
        cmocka_unit_test(wrong_lengths_are_refused),
        cmocka_unit_test(other_things_are_refused),
        cmocka_unit_test(checksums_come_in_pairs),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
