/* fuzz_lines.c - lines of JSON for `translate`: one result per line, a text or an error.
 *
 * Input: a byte for the number of lines in a window, then the file.
 */
#include "base/log.h"
#include "base/utf8.h"
#include "translate/input_lines.h"
#include "fuzz/scratch.h"

static void check_constraints(const LineConstraints *constraints) {
    require(utf8_valid(constraints->prefix));
    for (int i = 0; i < constraints->phrase_count; i++) require(utf8_valid(constraints->phrases[i]));
}

static void check(const InputLines *input) {
    require(input->count >= 0 && input->count <= input->window.max_lines);
    for (int i = 0; i < input->count; i++) {
        require(!memchr(input->window.lines[0][i].data, '\n', input->window.lines[0][i].length));
        if (input->json && input->errors[i]) {
            require(input->errors[i][0] && utf8_valid(sv(input->errors[i])));
        } else {
            require(input->texts[i].length <= 3 * input->window.lines[0][i].length);
            if (input->json) require(utf8_valid(input->texts[i]));
            if (input->constrained) check_constraints(&input->constraints[i]);
        }
    }
}

static int count_lines(StrView text) {
    int lines = text.length > 0 && text.data[text.length - 1] != '\n';
    for (size_t i = 0; i < text.length; i++) lines += text.data[i] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    StrView text = {(const char *)data + 1, size - 1};
    InputLines input = {.window.max_lines = 1 + data[0] % 8, .json = true};
    LineReader *reader;
    Status status = STATUS_OK;
    bool more = true;
    int lines = 0;
    log_set_level(LOG_QUIET);
    require(line_reader_open(&reader, scratch_put("lines", text).text) == STATUS_OK);
    while (status == STATUS_OK && more) {
        status = input_lines_read(&input, reader, &more);
        if (status != STATUS_OK) break;
        check(&input);
        lines += input.count;
    }
    /* compressed files and UTF-16 are not lines of text */
    StrView rest = text, first = {"", 0};
    sv_next(&rest, '\n', &first);
    bool other = file_compressed_kind(text) || sv_starts(text, SV("\x1f\x8b")) || file_is_utf16(first);
    require(other || (status == STATUS_OK && lines == count_lines(text)));
    input_lines_free(&input);
    line_reader_close(reader);
    return 0;
}
