/* reseal.c - changes a model file and updates its checksums, as an attacker would.
 *
 *     reseal IN OUT scale X              multiply every weight by X
 *     reseal IN OUT set TENSOR I X       set value I of a tensor of floats, or of U16, to X
 *     reseal IN OUT text KEY OLD NEW     replace the first OLD in the metadata KEY by NEW
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "models/safetensors.h"

enum { MOST = 256 };

static const char *replace(Arena *arena, const char *text, const char *old, const char *fresh) {
    const char *found = strstr(text, old);
    if (!found) exit(STATUS_USAGE);
    size_t bytes = strlen(text) + strlen(fresh) + 1;
    char *out = arena_alloc(arena, bytes);
    snprintf(out, bytes, "%.*s%s%s", (int)(found - text), text, fresh, found + strlen(old));
    return out;
}

static void change(Arena *arena, SafeTensor *tensor, char **argv) {
    bool chosen = strcmp(argv[3], "set") == 0 && strcmp(argv[4], tensor->name) == 0;
    if (chosen && strcmp(tensor->dtype, "U16") == 0) {
        uint16_t *items = arena_alloc(arena, tensor->bytes + sizeof *items);
        memcpy(items, tensor->data, tensor->bytes);
        items[atoi(argv[5])] = (uint16_t)atoi(argv[6]);
        tensor->data = items;
    }
    if (strcmp(tensor->dtype, "F32") != 0) return;
    float *numbers = arena_alloc(arena, tensor->bytes + sizeof *numbers);
    memcpy(numbers, tensor->data, tensor->bytes);
    if (strcmp(argv[3], "scale") == 0)
        for (size_t i = 0; i < tensor->bytes / sizeof *numbers; i++) numbers[i] *= strtof(argv[4], NULL);
    else if (chosen)
        numbers[atoi(argv[5])] = strtof(argv[6], NULL);
    tensor->data = numbers;
}

static Status reseal(Arena *arena, char **argv) {
    SafeFile *file;
    SafeTensor tensors[MOST];
    const char *metadata[MOST][2];
    size_t count = 0, pairs = 0;
    TRY(safetensors_open(&file, argv[1]));
    for (; count < safetensors_count(file) && count < MOST; count++) {
        tensors[count] = *safetensors_at(file, count);
        if (strcmp(argv[3], "text") != 0) change(arena, &tensors[count], argv);
    }
    for (size_t i = 0; i < safetensors_metadata_count(file); i++) {
        const char **pair = metadata[pairs];
        safetensors_metadata_at(file, i, &pair[0], &pair[1]);
        if (strstr(pair[0], "_sha256")) continue;
        if (strcmp(argv[3], "text") == 0 && strcmp(argv[4], pair[0]) == 0)
            pair[1] = replace(arena, pair[1], argv[5], argv[6]);
        pairs++;
    }
    Status status = safetensors_write(argv[2], tensors, count, (const char *const(*)[2])metadata, pairs);
    safetensors_close(file);
    return status;
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    Status status = argc == 5 || argc == 7 ? reseal(arena, argv) : STATUS_USAGE;
    if (status != STATUS_OK) log_failure();
    arena_free(arena);
    return (int)status;
}
