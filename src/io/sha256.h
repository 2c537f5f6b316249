/* sha256.h - the SHA-256 digest. FIPS 180-4. */
#ifndef IO_SHA256_H
#define IO_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} Sha256;

void sha256_begin(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *data, size_t bytes);
void sha256_end(Sha256 *hash, char hex[65]); /* 64 lower-case digits and NUL */

#endif
