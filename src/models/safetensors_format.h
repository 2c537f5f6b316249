/* safetensors_format.h - the parts of the format that reader and writer share. */
#ifndef MODELS_SAFETENSORS_FORMAT_H
#define MODELS_SAFETENSORS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include "models/safetensors.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors are little-endian, and this code copies numbers as they are"
#endif

enum { SAFETENSORS_MAX_HEADER = 16 << 20, SAFETENSORS_DIGEST = 64 };

#define SAFETENSORS_PAYLOAD_KEY "payload_sha256"
#define SAFETENSORS_HEADER_KEY  "header_sha256"

/* Bytes of one element, or 0 for a dtype we do not use. */
size_t safetensors_element_size(const char *dtype);
/* Place in a file: U32, U16 and U8, then the reference writer's order, widest first. Equal places are ordered
 * by name. */
int safetensors_dtype_order(const char *dtype);
/* Bytes of a tensor of a dtype we use; false if they are too many to count. */
bool safetensors_tensor_bytes(const char *dtype, int rank, const long long *shape, size_t *bytes);
/* Are all floats of a tensor finite? If not, *wrong is the first that is not. */
bool safetensors_all_finite(const SafeTensor *tensor, size_t *wrong);
/* The digits of "header_sha256" inside the text of a header, or NULL. */
char *safetensors_header_digits(char *header, size_t length);

#endif
