/* reseal.c - changes a model file and gives it sound digests again, as somebody with bad intentions would.
 *
 *     reseal IN OUT scale X              every weight times X
 *     reseal IN OUT set TENSOR I X       number I of a tensor
 *     reseal IN OUT text KEY OLD NEW     OLD in the metadata KEY, where it is found first, becomes NEW
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/strview.h"
#include "models/safetensors.h"

enum { MOST = 256 };

static const char *replace(const char *text, const char *old, const char *fresh) {
    const char *found = strstr(text, old);
    StrBuf out = {0};
    if (!found) exit(STATUS_USAGE);
    strbuf_format(&out, "%.*s%s%s", (int)(found - text), text, fresh, found + strlen(old));
    return strbuf_text(&out);
}

static void change(SafeTensor *tensor, char **argv) {
    float *numbers = mem_alloc(tensor->bytes / sizeof *numbers + 1, sizeof *numbers);
    memcpy(numbers, tensor->data, tensor->bytes);
    if (strcmp(argv[3], "scale") == 0)
        for (size_t i = 0; i < tensor->bytes / sizeof *numbers; i++) numbers[i] *= strtof(argv[4], NULL);
    else if (strcmp(argv[4], tensor->name) == 0)
        numbers[atoi(argv[5])] = strtof(argv[6], NULL);
    tensor->data = numbers;
}

static Status reseal(char **argv) {
    SafeFile *file;
    SafeTensor tensors[MOST];
    const char *metadata[MOST][2];
    size_t count = 0, pairs = 0;
    TRY(safetensors_open(&file, argv[1]));
    for (; count < safetensors_count(file) && count < MOST; count++) {
        tensors[count] = *safetensors_at(file, count);
        if (strcmp(argv[3], "text") != 0) change(&tensors[count], argv);
    }
    for (size_t i = 0; i < safetensors_metadata_count(file); i++) {
        const char **pair = metadata[pairs];
        safetensors_metadata_at(file, i, &pair[0], &pair[1]);
        if (strstr(pair[0], "_sha256")) continue;
        if (strcmp(argv[3], "text") == 0 && strcmp(argv[4], pair[0]) == 0)
            pair[1] = replace(pair[1], argv[5], argv[6]);
        pairs++;
    }
    return safetensors_write(argv[2], tensors, count, (const char *const(*)[2])metadata, pairs);
}

int main(int argc, char **argv) {
    Status status = argc == 5 || argc == 7 ? reseal(argv) : STATUS_USAGE;
    if (status != STATUS_OK) log_failure();
    return (int)status;
}
