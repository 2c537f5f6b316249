/* fuzz_main.c - runs a fuzz target on files, without libFuzzer.
 *
 *     fuzz_json FILE...              runs each file once
 *     fuzz_json -mutate=N FILE...    also runs N random mutations of each file, always the same
 *
 * Prints the name of each file and at last the number of inputs. A failing input aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t random_state;

/* xorshift64* */
static uint32_t draw(uint32_t below) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

typedef struct {
    uint8_t *data;
    size_t size;
} Input;

static Input read_input(const char *path) {
    Input input = {0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open '%s'\n", path);
        exit(1);
    }
    for (int c; (c = fgetc(file)) != EOF; input.size++) {
        if ((input.size & (input.size - 1)) == 0)
            input.data = realloc(input.data, input.size ? 2 * input.size : 1);
        if (!input.data) exit(1);
        input.data[input.size] = (uint8_t)c;
    }
    fclose(file);
    return input;
}

/* Runs a copy in a block of exactly `size` bytes, so that the sanitizer detects reads beyond the end. */
static void run(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) exit(1);
    if (size) memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static size_t change(uint8_t *data, size_t size) {
    static const uint8_t LIKELY[] = "0123456789\"\"\\{}[],,:-+.eE/*u \n\0\xFF\x80";
    size_t at = draw((uint32_t)size), other = draw((uint32_t)size), length = 1 + draw(8);
    switch (draw(6)) {
    case 0:
        data[at] ^= (uint8_t)(1 << draw(8));
        break;
    case 1:
        data[at] = LIKELY[draw(sizeof LIKELY)];
        break;
    case 2:
        data[at] = (uint8_t)draw(256);
        break;
    case 3: /* remove some bytes */
        if (length > size - at) length = size - at;
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    case 4: /* copy some bytes to another position */
        if (length > size - at) length = size - at;
        if (length > size - other) length = size - other;
        memmove(data + at, data + other, length);
        break;
    default:
        return draw(4) ? size : at; /* truncate */
    }
    return size;
}

int main(int argc, char **argv) {
    unsigned long mutations = 0, runs = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-mutate=", 8) == 0) {
            mutations = strtoul(argv[i] + 8, NULL, 10);
            continue;
        }
        Input input = read_input(argv[i]);
        fprintf(stderr, "%s\n", argv[i]);
        run(input.data, input.size);
        runs++;
        uint8_t *copy = malloc(input.size + 1);
        for (unsigned long m = 1; copy && input.size && m <= mutations; m++, runs++) {
            random_state = m * UINT64_C(0x9E3779B97F4A7C15);
            memcpy(copy, input.data, input.size);
            size_t size = input.size;
            for (uint32_t changes = 1 + draw(4); changes > 0 && size > 0; changes--)
                size = change(copy, size);
            run(copy, size);
        }
        free(copy);
        free(input.data);
    }
    printf("%lu inputs\n", runs);
    return runs > 0 ? 0 : 1;
}
