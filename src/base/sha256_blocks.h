/* sha256_blocks.h - the two ways to take blocks of 64 bytes into the state of a SHA-256. */
#ifndef BASE_SHA256_BLOCKS_H
#define BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t SHA256_ROUND_CONSTANTS[64];

void sha256_plain_compress(uint32_t state[8], const unsigned char *block, size_t blocks);
/* By x86's own instructions, five times as fast; false, with nothing done, if this processor lacks them. */
bool sha256_x86_compress(uint32_t state[8], const unsigned char *block, size_t blocks);

#endif
