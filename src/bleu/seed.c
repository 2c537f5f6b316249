/* seed.c - a decimal number of any size as 32-bit words. */
#include "bleu/seed.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SEED_WORDS = 9 }; /* 79 digits are less than 2^263 */

/* words = words * 10 + digit; returns the new count. */
static size_t append_digit(uint32_t *words, size_t count, unsigned digit) {
    uint64_t carry = digit;
    for (size_t i = 0; i < count; i++) {
        carry += (uint64_t)words[i] * 10;
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) words[count++] = (uint32_t)carry;
    return count;
}

static Status seed_from_system(Seed *seed) {
    uint32_t words[4];
    FILE *source = fopen("/dev/urandom", "rb");
    size_t got = source ? fread(words, sizeof *words, 4, source) : 0;
    if (source) fclose(source);
    if (got != 4) return status_fail(STATUS_RUNTIME, "cannot read random numbers from '/dev/urandom'");
    seed->generator = pcg64_seed(words, 4);
    strcpy(seed->given, "none");
    strcpy(seed->number, "none");
    return STATUS_OK;
}

Status seed_read(Seed *seed, const char *text) {
    if (!text) text = "12345";
    if (strcasecmp(text, "none") == 0) return seed_from_system(seed);
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof seed->given || strspn(text, "0123456789") != length) {
        Status status = status_fail(STATUS_USAGE, "SACREBLEU_SEED: '%.100s' is not a whole number", text);
        return status_hint(status, "use digits, or none for a different seed every time");
    }
    uint32_t words[SEED_WORDS] = {0};
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count = append_digit(words, count, (unsigned)(text[i] - '0'));
    seed->generator = pcg64_seed(words, count ? count : 1);
    snprintf(seed->given, sizeof seed->given, "%s", text);
    size_t zeros = strspn(text, "0");
    snprintf(seed->number, sizeof seed->number, "%s", zeros == length ? "0" : text + zeros);
    return STATUS_OK;
}
