/* safetensors_format.c - dtypes, sizes, finite numbers and the place of the header's digest. */
#include "models/safetensors_format.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* First text and lists, which a reader needs before the numbers. Then the order of the reference writer, the
 * widest first. */
static const struct {
    const char *name;
    size_t size;
} DTYPES[] = {{"U32", 4}, {"U16", 2}, {"U8", 1},   {"U64", 8}, {"I64", 8},
              {"F64", 8}, {"F32", 4}, {"BF16", 2}, {"I8", 1}};

enum { DTYPE_COUNT = sizeof DTYPES / sizeof *DTYPES };

int safetensors_dtype_order(const char *dtype) {
    int place = 0;
    while (place < DTYPE_COUNT && strcmp(DTYPES[place].name, dtype) != 0) place++;
    return place;
}

size_t safetensors_element_size(const char *dtype) {
    int place = safetensors_dtype_order(dtype);
    return place < DTYPE_COUNT ? DTYPES[place].size : 0;
}

bool safetensors_tensor_bytes(const char *dtype, int rank, const long long *shape, size_t *bytes) {
    size_t product = safetensors_element_size(dtype);
    assert(product > 0);
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(product, (unsigned long long)shape[i], &product)) return false;
    *bytes = product;
    return product <= PTRDIFF_MAX;
}

char *safetensors_header_digits(char *header, size_t length) {
    /* Unescaped quotes cannot occur inside a string, so this is a key and the start of its value. */
    static const char PATTERN[] = "\"" SAFETENSORS_HEADER_KEY "\":\"";
    enum { PATTERN_LENGTH = sizeof PATTERN - 1 };
    for (size_t i = 0; i + PATTERN_LENGTH + SAFETENSORS_DIGEST <= length; i++)
        if (memcmp(header + i, PATTERN, PATTERN_LENGTH) == 0) return header + i + PATTERN_LENGTH;
    return NULL;
}

/* A number is not finite if all bits of its exponent are set. Whole blocks first, in loops that become vector
 * code. */
#define ALL_FINITE(name, Bits, exponent)                                                                     \
    static bool name(const Bits *bits, size_t count) {                                                       \
        Bits wrong = 0;                                                                                      \
        _Pragma("omp simd reduction(| : wrong)") for (size_t i = 0; i < count; i++) wrong |=                 \
            (bits[i] & (exponent)) == (exponent);                                                            \
        return !wrong;                                                                                       \
    }
ALL_FINITE(all_finite_16, uint16_t, 0x7f80)
ALL_FINITE(all_finite_32, uint32_t, UINT32_C(0x7f800000))
ALL_FINITE(all_finite_64, uint64_t, UINT64_C(0x7ff) << 52)

static bool range_is_finite(const SafeTensor *tensor, size_t size, size_t first, size_t count) {
    if (size == 2) return all_finite_16((const uint16_t *)tensor->data + first, count);
    if (size == 4) return all_finite_32((const uint32_t *)tensor->data + first, count);
    return all_finite_64((const uint64_t *)tensor->data + first, count);
}

bool safetensors_all_finite(const SafeTensor *tensor, size_t *wrong) {
    enum { BLOCK = 4096 };
    if (!strchr(tensor->dtype, 'F')) return true;
    size_t element = safetensors_element_size(tensor->dtype), count = tensor->bytes / element;
    for (size_t j = 0, size; j < count; j += size) {
        size = count - j < BLOCK ? count - j : BLOCK;
        if (range_is_finite(tensor, element, j, size)) continue;
        while (range_is_finite(tensor, element, j, 1)) j++;
        *wrong = j;
        return false;
    }
    return true;
}
