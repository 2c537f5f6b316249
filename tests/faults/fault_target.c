/* fault_target.c - a small program that replaces and reads files, to be run with faults.
 *
 *     fault_target text PATH WORD      write many lines of WORD through io/fileio.h
 *     fault_target tensors PATH WORD   write tensors computed from WORD
 *     fault_target load PATH           read tensors and print one of their values
 *     fault_target lines PATH          read lines and print their number
 *     fault_target pack PATH           compress the file and print the number of bytes
 *     fault_target accepts PATH...     print 1 for each valid tensor file and 0 for each refused one
 *
 * Errors are printed as "attn-mt: reason"; the exit code is the status, as in attn-mt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/deflate.h"
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "models/safetensors.h"

static void out_of_memory(size_t bytes) {
    (void)bytes;
    file_discard_all();
    fputs("attn-mt: out of memory\n", stderr);
    exit(STATUS_RUNTIME);
}

static Status write_text(const char *path, const char *word) {
    OutFile *file;
    TRY(file_create(&file, path));
    StrBuf line = {0};
    Status status = STATUS_OK;
    for (int i = 0; i < 20000 && status == STATUS_OK; i++) {
        strbuf_clear(&line);
        strbuf_format(&line, "%d %s\n", i, word);
        status = file_write(file, line.data, line.length);
    }
    strbuf_free(&line);
    if (status == STATUS_OK) return file_commit(file);
    file_discard(file);
    return status;
}

static Status write_tensors(const char *path, const char *word) {
    enum { COUNT = 40000 };
    float *numbers = mem_alloc(COUNT, sizeof *numbers);
    for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i * word[0]);
    const SafeTensor tensors[] = {{.name = "w",
                                   .dtype = "F32",
                                   .rank = 2,
                                   .shape = {200, 200},
                                   .data = numbers,
                                   .bytes = COUNT * sizeof *numbers},
                                  {.name = "v",
                                   .dtype = "F32",
                                   .rank = 1,
                                   .shape = {3},
                                   .data = numbers,
                                   .bytes = 3 * sizeof *numbers}};
    const char *const metadata[][2] = {{"word", word}};
    Status status = safetensors_write(path, tensors, 2, metadata, 1);
    mem_free(numbers);
    return status;
}

static Status load(const char *path) {
    SafeFile *file;
    TRY(safetensors_open(&file, path));
    printf("%zu %s %.0f\n", safetensors_count(file), safetensors_metadata(file, "word"),
           (double)((const float *)safetensors_find(file, "w")->data)[39999]);
    Status status = safetensors_check_finite(file);
    safetensors_close(file);
    return status;
}

static Status count_lines(const char *path) {
    LineReader *reader;
    TRY(line_reader_open(&reader, path));
    StrView line;
    bool more = true;
    Status status = STATUS_OK;
    while (status == STATUS_OK && more) status = line_reader_next(reader, &line, &more);
    if (status == STATUS_OK) printf("%ld\n", line_reader_number(reader));
    line_reader_close(reader);
    return status;
}

static Status pack(const char *path) {
    StrBuf content = {0}, packed = {0};
    Status status = file_read(path, 0, &content);
    if (status == STATUS_OK) deflate_add(strbuf_view(&content), &packed);
    if (status == STATUS_OK) printf("%zu\n", packed.length);
    strbuf_free(&content);
    strbuf_free(&packed);
    return status;
}

static Status accepts(char **paths) {
    for (; *paths; paths++) {
        SafeFile *file;
        bool sound = safetensors_open(&file, *paths) == STATUS_OK;
        puts(sound ? "1" : "0");
        if (sound) safetensors_close(file);
    }
    return STATUS_OK;
}

int main(int argc, char **argv) {
    mem_on_exhausted(out_of_memory);
    Status status = STATUS_USAGE;
    if (argc == 4 && strcmp(argv[1], "text") == 0) status = write_text(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "tensors") == 0) status = write_tensors(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "load") == 0) status = load(argv[2]);
    if (argc == 3 && strcmp(argv[1], "lines") == 0) status = count_lines(argv[2]);
    if (argc == 3 && strcmp(argv[1], "pack") == 0) status = pack(argv[2]);
    if (argc >= 3 && strcmp(argv[1], "accepts") == 0) status = accepts(argv + 2);
    if (status != STATUS_OK) log_failure();
    return (int)status;
}
