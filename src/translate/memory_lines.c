/* memory_lines.c - see memory_lines.h. */
#include "translate/memory_lines.h"

#include "base/mem.h"
#include "base/unicode.h"
#include "text/placeholders.h"

static bool is_constrained(const LineConstraints *constraints) {
    return constraints && (constraints->prefix.length > 0 || constraints->phrase_count > 0);
}

/* Is the match the translation of the line? With `tags` it must have the line's placeholders. */
static bool is_taken(const TranslatorOptions *options, const MemoryMatch *match,
                     const LineConstraints *constraints) {
    return match->similarity == 1 && !is_constrained(constraints) &&
           (!options->tags || placeholders_agree_in(match->source, match->target));
}

/* The text of a line that the memory has, with the white space around the line. */
static void take_match(Translation *out, StrView line) {
    StrBuf text = {0};
    StrView rest = line, end = unicode_trim_end(line), word;
    if (!unicode_next_word(&rest, &word)) return;
    strbuf_add(&text, (StrView){line.data, (size_t)(word.data - line.data)});
    strbuf_add(&text, out->match.target);
    strbuf_add(&text, (StrView){line.data + end.length, line.length - end.length});
    strbuf_free(&out->items[0].text);
    out->items[0].text = text;
}

MemoryLines memory_lines_find(const TranslatorOptions *options, const StrView *lines,
                              const LineConstraints *constraints, int count) {
    size_t n = (size_t)count;
    MemoryLines m = {mem_alloc(n, sizeof *m.rest), mem_alloc(n, sizeof *m.matches),
                     mem_alloc(n, sizeof *m.taken)};
    for (int i = 0; i < count; i++) {
        m.matches[i] = memory_find(options->memory, lines[i], options->memory_threshold);
        m.taken[i] = is_taken(options, &m.matches[i], constraints ? &constraints[i] : NULL);
        m.rest[i] = m.taken[i] ? SV("") : lines[i];
    }
    return m;
}

void memory_lines_put(const MemoryLines *m, const StrView *lines, int count, Translation *out) {
    for (int i = 0; i < count; i++) {
        out[i].match = m->matches[i];
        if (m->taken[i]) take_match(&out[i], lines[i]);
    }
}

void memory_lines_free(MemoryLines *m) {
    mem_free(m->rest);
    mem_free(m->matches);
    mem_free(m->taken);
}
