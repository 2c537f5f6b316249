/* sha256.c - SHA-256 in plain C. FIPS 180-4, sections 4.1.2, 5 and 6.2. */
#include "io/sha256.h"

#include <string.h>
#include "io/sha256_blocks.h"

const uint32_t SHA256_ROUND_CONSTANTS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTATE(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

static uint32_t load_be32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One round; the caller rotates the names instead of moving eight values. */
#define ROUND(a, b, c, d, e, f, g, h, i, word)                                                               \
    do {                                                                                                     \
        uint32_t t1_ = (h) + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((g) ^ ((e) & ((f) ^ (g)))) +  \
                       SHA256_ROUND_CONSTANTS[i] + (word);                                                   \
        (d) += t1_;                                                                                          \
        (h) = t1_ + (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + (((a) & (b)) | ((c) & ((a) | (b))));    \
    } while (0)

/* The message schedule in a ring of 16 words. */
#define NEXT_WORD(w, i)                                                                                      \
    ((w)[(i)&15] +=                                                                                          \
     (ROTATE((w)[((i) + 14) & 15], 17) ^ ROTATE((w)[((i) + 14) & 15], 19) ^ ((w)[((i) + 14) & 15] >> 10)) +  \
     (w)[((i) + 9) & 15] +                                                                                   \
     (ROTATE((w)[((i) + 1) & 15], 7) ^ ROTATE((w)[((i) + 1) & 15], 18) ^ ((w)[((i) + 1) & 15] >> 3)))

#define EIGHT_ROUNDS(i, W)                                                                                   \
    ROUND(a, b, c, d, e, f, g, h, (i) + 0, W((i) + 0));                                                      \
    ROUND(h, a, b, c, d, e, f, g, (i) + 1, W((i) + 1));                                                      \
    ROUND(g, h, a, b, c, d, e, f, (i) + 2, W((i) + 2));                                                      \
    ROUND(f, g, h, a, b, c, d, e, (i) + 3, W((i) + 3));                                                      \
    ROUND(e, f, g, h, a, b, c, d, (i) + 4, W((i) + 4));                                                      \
    ROUND(d, e, f, g, h, a, b, c, (i) + 5, W((i) + 5));                                                      \
    ROUND(c, d, e, f, g, h, a, b, (i) + 6, W((i) + 6));                                                      \
    ROUND(b, c, d, e, f, g, h, a, (i) + 7, W((i) + 7))

void sha256_plain_compress(uint32_t state[8], const unsigned char *block, size_t blocks) {
#define READ_WORD(i) (w[i] = load_be32(block + 4 * (i)))
#define MORE_WORD(i) NEXT_WORD(w, i)
    for (; blocks > 0; blocks--, block += 64) {
        uint32_t w[16];
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        EIGHT_ROUNDS(0, READ_WORD);
        EIGHT_ROUNDS(8, READ_WORD);
        for (int i = 16; i < 64; i += 16) {
            EIGHT_ROUNDS(i, MORE_WORD);
            EIGHT_ROUNDS(i + 8, MORE_WORD);
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

static void compress(uint32_t state[8], const unsigned char *block, size_t blocks) {
    if (!sha256_x86_compress(state, block, blocks)) sha256_plain_compress(state, block, blocks);
}

void sha256_begin(Sha256 *hash) {
    static const uint32_t START[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, START, sizeof START);
}

void sha256_add(Sha256 *hash, const void *data, size_t bytes) {
    if (bytes == 0) return;
    const unsigned char *next = data;
    size_t held = hash->bytes % 64;
    hash->bytes += bytes;
    if (held > 0) {
        size_t take = bytes < 64 - held ? bytes : 64 - held;
        memcpy(hash->block + held, next, take);
        next += take;
        bytes -= take;
        if (held + take < 64) return;
        compress(hash->state, hash->block, 1);
    }
    compress(hash->state, next, bytes / 64);
    if (bytes % 64 > 0) memcpy(hash->block, next + bytes / 64 * 64, bytes % 64);
}

void sha256_end(Sha256 *hash, char hex[65]) {
    static const char DIGITS[] = "0123456789abcdef";
    uint64_t bits = hash->bytes * 8;
    unsigned char padding[72] = {0x80};
    size_t held = hash->bytes % 64;
    size_t length = (held < 56 ? 56 : 120) - held;
    for (int i = 0; i < 8; i++) padding[length + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, padding, length + 8);
    for (int i = 0; i < 64; i++) hex[i] = DIGITS[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = '\0';
}
