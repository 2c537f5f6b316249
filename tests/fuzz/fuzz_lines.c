/* fuzz_lines.c - lines of JSON that are to be translated: as many come out as go in, each a text or an error.
 *
 * Input: the first byte says how many lines are taken together; then the file.
 */
#include "base/log.h"
#include "base/utf8.h"
#include "translate/line_window.h"
#include "fuzz/scratch.h"

static void check_constraints(const LineConstraints *constraints) {
    require(utf8_valid(constraints->prefix));
    for (int i = 0; i < constraints->phrase_count; i++) require(utf8_valid(constraints->phrases[i]));
}

static void check(const LineWindow *window) {
    require(window->count >= 0 && window->count <= window->most_lines);
    for (int i = 0; i < window->count; i++) {
        require(!memchr(window->raw[i].data, '\n', window->raw[i].length));
        if (window->json && window->errors[i]) {
            require(window->errors[i][0] && utf8_valid(sv(window->errors[i])));
        } else {
            require(window->lines[i].length <= 3 * window->raw[i].length);
            if (window->json) require(utf8_valid(window->lines[i]));
            if (window->constrained) check_constraints(&window->constraints[i]);
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
    LineWindow window = {.most_lines = 1 + data[0] % 8, .json = true};
    LineReader *reader;
    Status status = STATUS_OK;
    bool more = true;
    int lines = 0;
    log_set_level(LOG_QUIET);
    require(line_reader_open(&reader, scratch_put("lines", text).text) == STATUS_OK);
    while (status == STATUS_OK && more) {
        status = line_window_read(&window, reader, &more);
        if (status != STATUS_OK) break;
        check(&window);
        lines += window.count;
    }
    /* packed files and UTF-16, or what begins like them, are more than lines of text */
    StrView rest = text, first = {"", 0};
    sv_next(&rest, '\n', &first);
    bool other = file_compressed_kind(text) || sv_starts(text, SV("\x1f\x8b")) || file_is_utf16(first);
    require(other || (status == STATUS_OK && lines == count_lines(text)));
    line_window_free(&window);
    line_reader_close(reader);
    return 0;
}
