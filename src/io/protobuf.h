/* protobuf.h - the fields of a protobuf message, one after the other.
 * Protocol Buffers, "Encoding": protobuf.dev/programming-guides/encoding
 *
 * Only the wire format is read. The caller knows the numbers and types of the fields, and skips other fields.
 *
 * Owner   fields are views into the message
 * Fails   STATUS_DATA with the offset: a field that ends after the message, a group, a number of more than 64
 *         bits
 */
#ifndef IO_PROTOBUF_H
#define IO_PROTOBUF_H

#include <stdint.h>
#include "base/status.h"
#include "base/strview.h"

typedef enum { PROTOBUF_VARINT, PROTOBUF_64, PROTOBUF_BYTES, PROTOBUF_32 = 5 } ProtobufType;

typedef struct {
    uint32_t number; /* of the field; > 0 */
    ProtobufType type;
    uint64_t value; /* PROTOBUF_VARINT, _64, _32 */
    StrView bytes;  /* PROTOBUF_BYTES: a string or a message */
} ProtobufField;

typedef struct {
    StrView message;
    size_t at;
} ProtobufReader;

/* *found is false at the end of the message. */
Status protobuf_next(ProtobufReader *reader, ProtobufField *field, bool *found);
/* A field of the type float; NaN if the field has another type. */
float protobuf_float(const ProtobufField *field);

/* Appends a field. */
void protobuf_add_varint(StrBuf *out, uint32_t number, uint64_t value);
void protobuf_add_float(StrBuf *out, uint32_t number, float value);
void protobuf_add_bytes(StrBuf *out, uint32_t number, StrView bytes);

#endif
