/* memory_lines.c - see memory_lines.h. */
#include "translate/memory_lines.h"

#include "base/mem.h"
#include "base/unicode.h"

static bool is_constrained(const LineConstraints *constraints) {
    return constraints->prefix.length > 0 || constraints->phrase_count > 0;
}

/* The text of a line that the memory has, with the white space around the line. */
static void take_text(Translation *out, StrView line, StrView translation) {
    StrBuf text = {0};
    StrView rest = line, end = unicode_trim_end(line), word;
    if (!unicode_next_word(&rest, &word)) return;
    strbuf_add(&text, (StrView){line.data, (size_t)(word.data - line.data)});
    strbuf_add(&text, translation);
    strbuf_add(&text, (StrView){line.data + end.length, line.length - end.length});
    strbuf_free(&out->items[0].text);
    out->items[0].text = text;
    out->from_memory = true;
}

MemoryLines memory_lines_find(const TranslatorOptions *options, const StrView *lines,
                              const LineConstraints *constraints, int count) {
    size_t n = (size_t)count;
    if (!options->memory) return (MemoryLines){.rest = lines};
    StrView *rest = mem_alloc(n, sizeof *rest);
    MemoryLines m = {lines, rest, mem_alloc(n, sizeof *m.texts), mem_alloc(n, sizeof *m.matches),
                     mem_alloc(n, sizeof *m.taken)};
    for (int i = 0; i < count; i++) {
        m.taken[i] = !(constraints && is_constrained(&constraints[i])) &&
                     memory_translate(options->memory, lines[i], options->tags, &m.matches[i], &m.texts[i]);
        if (!m.taken[i]) m.matches[i] = memory_find(options->memory, lines[i], options->memory_threshold);
        rest[i] = m.taken[i] ? SV("") : lines[i];
    }
    return m;
}

void memory_lines_put(const MemoryLines *m, int count, Translation *out) {
    for (int i = 0; m->lines && i < count; i++) {
        out[i].match = m->matches[i];
        if (m->taken[i]) take_text(&out[i], m->lines[i], strbuf_view(&m->texts[i]));
    }
}

void memory_lines_free(MemoryLines *m, int count) {
    if (!m->lines) return;
    for (int i = 0; i < count; i++) strbuf_free(&m->texts[i]);
    mem_free(m->texts);
    mem_free((StrView *)m->rest);
    mem_free(m->matches);
    mem_free(m->taken);
}
