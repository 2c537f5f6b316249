/* protobuf.c - see protobuf.h. */
#include "io/protobuf.h"

#include <math.h>
#include <string.h>

enum { VARINT_BITS = 7, VARINT_BYTES = 10 };

static Status broken(const ProtobufReader *reader, const char *what) {
    return status_fail(STATUS_DATA, "not a protobuf message: %s at byte %zu", what, reader->at);
}

static Status read_varint(ProtobufReader *reader, uint64_t *value) {
    *value = 0;
    for (int i = 0; i < VARINT_BYTES; i++) {
        if (reader->at == reader->message.length) return broken(reader, "unexpected end");
        uint64_t byte = (unsigned char)reader->message.data[reader->at++];
        if (i == VARINT_BYTES - 1 && byte > 1) break;
        *value |= (byte & 0x7F) << (VARINT_BITS * i);
        if (byte < 0x80) return STATUS_OK;
    }
    return broken(reader, "a number of more than 64 bits");
}

static Status read_fixed(ProtobufReader *reader, size_t size, uint64_t *value) {
    if (reader->message.length - reader->at < size) return broken(reader, "unexpected end");
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)(unsigned char)reader->message.data[reader->at + i] << (8 * i);
    reader->at += size;
    return STATUS_OK;
}

static Status read_bytes(ProtobufReader *reader, StrView *bytes) {
    uint64_t length;
    TRY(read_varint(reader, &length));
    if (reader->message.length - reader->at < length)
        return broken(reader, "a field longer than the message");
    *bytes = (StrView){reader->message.data + reader->at, (size_t)length};
    reader->at += (size_t)length;
    return STATUS_OK;
}

Status protobuf_next(ProtobufReader *reader, ProtobufField *field, bool *found) {
    uint64_t key;
    *field = (ProtobufField){0};
    *found = reader->at < reader->message.length;
    if (!*found) return STATUS_OK;
    TRY(read_varint(reader, &key));
    if (key >> 3 == 0 || key >> 32 != 0) return broken(reader, "an invalid field number");
    field->number = (uint32_t)(key >> 3);
    field->type = (ProtobufType)(key & 7);
    switch (field->type) {
    case PROTOBUF_VARINT:
        return read_varint(reader, &field->value);
    case PROTOBUF_64:
        return read_fixed(reader, 8, &field->value);
    case PROTOBUF_BYTES:
        return read_bytes(reader, &field->bytes);
    case PROTOBUF_32:
        return read_fixed(reader, 4, &field->value);
    default:
        return broken(reader, "an unsupported field type");
    }
}

float protobuf_float(const ProtobufField *field) {
    if (field->type != PROTOBUF_32) return NAN;
    uint32_t bits = (uint32_t)field->value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void add_varint(StrBuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= VARINT_BITS) strbuf_add_char(out, (char)(0x80 | (value & 0x7F)));
    strbuf_add_char(out, (char)value);
}

static void add_key(StrBuf *out, uint32_t number, ProtobufType type) {
    add_varint(out, (uint64_t)number << 3 | (uint64_t)type);
}

void protobuf_add_varint(StrBuf *out, uint32_t number, uint64_t value) {
    add_key(out, number, PROTOBUF_VARINT);
    add_varint(out, value);
}

void protobuf_add_float(StrBuf *out, uint32_t number, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_key(out, number, PROTOBUF_32);
    for (int shift = 0; shift < 32; shift += 8) strbuf_add_char(out, (char)(bits >> shift & 0xFF));
}

void protobuf_add_bytes(StrBuf *out, uint32_t number, StrView bytes) {
    add_key(out, number, PROTOBUF_BYTES);
    add_varint(out, bytes.length);
    strbuf_add(out, bytes);
}
