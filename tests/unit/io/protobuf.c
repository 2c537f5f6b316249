/* protobuf.c - fields of each type, and messages that are broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "io/protobuf.h"

static ProtobufField next(ProtobufReader *reader) {
    ProtobufField field;
    bool found;
    assert_int_equal(protobuf_next(reader, &field, &found), STATUS_OK);
    assert_true(found);
    return field;
}

static void test_fields(void **state) {
    (void)state;
    StrBuf out = {0};
    ProtobufField field;
    bool found;
    protobuf_add_varint(&out, 1, UINT64_MAX);
    protobuf_add_float(&out, 2, -1.5F);
    protobuf_add_bytes(&out, 300, SV("abc"));
    protobuf_add_varint(&out, 3, 0);
    strbuf_add(&out, SV("\x21"
                        "12345678")); /* field 4: 64 bits */
    ProtobufReader reader = {strbuf_view(&out), 0};
    field = next(&reader);
    assert_true(field.number == 1 && field.type == PROTOBUF_VARINT && field.value == UINT64_MAX);
    assert_true(isnan(protobuf_float(&field)));
    field = next(&reader);
    assert_true(field.number == 2 && field.type == PROTOBUF_32 && protobuf_float(&field) == -1.5F);
    field = next(&reader);
    assert_true(field.number == 300 && sv_equal(field.bytes, SV("abc")));
    field = next(&reader);
    assert_true(field.number == 3 && field.value == 0);
    field = next(&reader);
    assert_true(field.number == 4 && field.type == PROTOBUF_64 && field.value == 0x3837363534333231);
    assert_int_equal(protobuf_next(&reader, &field, &found), STATUS_OK);
    assert_false(found);
    strbuf_free(&out);
}

static void check_broken(StrView message, const char *expected) {
    ProtobufReader reader = {message, 0};
    ProtobufField field;
    bool found;
    assert_int_equal(protobuf_next(&reader, &field, &found), STATUS_DATA);
    assert_non_null(strstr(status_message(), expected));
}

static void test_broken(void **state) {
    (void)state;
    check_broken(SV("\x08"), "unexpected end at byte 1");
    check_broken(SV("\x08\x80\x80"), "unexpected end at byte 3");
    check_broken(SV("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"), "more than 64 bits");
    check_broken(SV("\x0A\x05zzzz"), "longer than the message");
    check_broken(SV("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01zz"), "longer than the message");
    check_broken(SV("\x0Dzzz"), "unexpected end");
    check_broken(SV("\x09zzzzzzz"), "unexpected end");
    check_broken(SV("\x0Bzz"), "unsupported field type");
    check_broken(SV("\x0Ezz"), "unsupported field type");
    check_broken((StrView){"\0z", 2}, "invalid field number");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_broken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
