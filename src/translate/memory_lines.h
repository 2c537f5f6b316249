/* memory_lines.h - takes lines from the translation memory: see "Memory" in translator.h. */
#ifndef TRANSLATE_MEMORY_LINES_H
#define TRANSLATE_MEMORY_LINES_H

#include "translate/translator.h"

typedef struct {
    const StrView *lines; /* [count] all of them; NULL: there is no memory, and `rest` is the lines */
    const StrView *rest;  /* [count] lines to translate; empty: taken from the memory */
    StrBuf *texts;        /* [count] translations of those that are taken */
    MemoryMatch *matches; /* [count] */
    bool *taken;          /* [count] */
} MemoryLines;

/* Finds lines [count] in options->memory, which may be NULL. They must outlive the result. `constraints`
 * [count], or NULL. */
MemoryLines memory_lines_find(const TranslatorOptions *options, const StrView *lines,
                              const LineConstraints *constraints, int count);
/* Completes the translations of the rest: sets their matches, and the texts of lines that are taken. */
void memory_lines_put(const MemoryLines *m, int count, Translation *out);
void memory_lines_free(MemoryLines *m, int count);

#endif
