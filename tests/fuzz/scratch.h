/* scratch.h - for fuzz targets: files in a folder that is removed when the program ends. */
#ifndef FUZZ_SCRATCH_H
#define FUZZ_SCRATCH_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/strview.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition) {
    if (!condition) abort();
}

static char scratch_folder[32];

static inline void scratch_remove(void) {
    DIR *entries = opendir(scratch_folder);
    char path[320];
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%s", scratch_folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (entries) closedir(entries);
    rmdir(scratch_folder);
}

/* The folder is in memory if possible, because fsync on disks is slow. */
static inline const char *scratch(void) {
    if (scratch_folder[0]) return scratch_folder;
    strcpy(scratch_folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
    require(mkdtemp(scratch_folder) != NULL);
    atexit(scratch_remove);
    return scratch_folder;
}

typedef struct {
    char text[64];
} ScratchPath;

static inline ScratchPath scratch_path(const char *name) {
    ScratchPath path;
    snprintf(path.text, sizeof path.text, "%s/%s", scratch(), name);
    return path;
}

static inline ScratchPath scratch_put(const char *name, StrView content) {
    ScratchPath path = scratch_path(name);
    FILE *file = fopen(path.text, "wb");
    require(file && fwrite(content.data, 1, content.length, file) == content.length && fclose(file) == 0);
    return path;
}

/* The input up to the next NUL byte; empty at the end of the input. */
static inline StrView next_part(StrView *rest) {
    StrView part = {"", 0};
    sv_next(rest, '\0', &part);
    return part;
}

/* A copy that ends with a NUL byte; release with free. */
static inline char *part_text(StrView part) {
    char *text = calloc(part.length + 1, 1);
    require(text != NULL);
    if (part.length) memcpy(text, part.data, part.length);
    return text;
}

#endif
