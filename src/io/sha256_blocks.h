/* sha256_blocks.h - SHA-256 of whole blocks of 64 bytes, in plain C and with x86 instructions. */
#ifndef IO_SHA256_BLOCKS_H
#define IO_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t SHA256_ROUND_CONSTANTS[64];

void sha256_plain_compress(uint32_t state[8], const unsigned char *block, size_t blocks);
/* With the SHA instructions of x86, five times as fast. False, and nothing done, if the processor lacks
 * them. */
bool sha256_x86_compress(uint32_t state[8], const unsigned char *block, size_t blocks);

#endif
