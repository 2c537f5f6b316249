/* line_window.c - see line_window.h. */
#include "io/line_window.h"

#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"

enum { MAX_BYTES = 32 << 20 };

static void add_line(LineWindow *window, int column, StrView line, long number) {
    MEM_GROW(window->lines[column], window->capacity[column], (size_t)window->count + 1);
    window->lines[column][window->count] = arena_text(window->arena, line);
    bool is_text = line.length == 0 || (!memchr(line.data, 0, line.length) && utf8_valid(line));
    if (!is_text && window->repaired++ == 0) window->first_repaired = number;
}

void line_window_empty(LineWindow *window) {
    window->count = 0;
    if (!window->arena) window->arena = arena_new();
    arena_reset(window->arena);
}

void line_window_add(LineWindow *window, StrView line) {
    line_window_add_numbered(window, line, window->count + 1);
}

void line_window_add_numbered(LineWindow *window, StrView line, long number) {
    if (!window->arena) window->arena = arena_new();
    add_line(window, 0, line, number);
    window->count++;
}

bool line_window_is_full(const LineWindow *window) {
    return window->count >= window->max_lines || arena_used(window->arena) >= MAX_BYTES;
}

Status line_window_read(LineWindow *window, LineReader *first, LineReader *second, bool *more) {
    LineReader *readers[LINE_COLUMNS] = {first, second};
    line_window_empty(window);
    window->first_number = line_reader_number(first) + 1;
    do {
        StrView lines[LINE_COLUMNS];
        if (second)
            TRY(line_readers_next(readers, lines, more));
        else
            TRY(line_reader_next(first, &lines[0], more));
        if (!*more) break;
        for (int i = 0; i < (second ? LINE_COLUMNS : 1); i++)
            add_line(window, i, lines[i], line_reader_number(first));
        window->count++;
    } while (!line_window_is_full(window) && line_reader_ready(first));
    return STATUS_OK;
}

Status line_window_read_all(LineWindow *window, LineReader *reader) {
    for (StrView line;;) {
        bool more;
        TRY(line_reader_next(reader, &line, &more));
        if (!more) return STATUS_OK;
        line_window_add(window, line);
    }
}

void line_window_free(LineWindow *window) {
    for (int i = 0; i < LINE_COLUMNS; i++) mem_free(window->lines[i]);
    arena_free(window->arena);
    *window = (LineWindow){0};
}
