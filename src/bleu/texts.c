/* texts.c - one array of symbols with the starts of the texts in it. */
#include "bleu/texts.h"

#include <assert.h>
#include "base/hashmap.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

struct Texts {
    HashMap *words;
    uint32_t *symbols;
    size_t count, capacity;
    size_t *starts;
    size_t texts, starts_capacity;
};

Texts *texts_new(void) {
    Texts *texts = mem_alloc(1, sizeof *texts);
    texts->words = hashmap_new();
    return texts;
}

void texts_free(Texts *texts) {
    if (!texts) return;
    hashmap_free(texts->words);
    mem_free(texts->symbols);
    mem_free(texts->starts);
    mem_free(texts);
}

void texts_clear(Texts *texts) { texts->count = texts->texts = 0; }

void texts_begin(Texts *texts) {
    MEM_GROW(texts->starts, texts->starts_capacity, texts->texts + 1);
    texts->starts[texts->texts++] = texts->count;
}

static void add_symbol(Texts *texts, uint32_t symbol) {
    MEM_GROW(texts->symbols, texts->capacity, texts->count + 1);
    texts->symbols[texts->count++] = symbol;
}

void texts_add_word(Texts *texts, StrView word) {
    add_symbol(texts, (uint32_t)*hashmap_slot(texts->words, word, (int)hashmap_count(texts->words)));
}

void texts_add_words(Texts *texts, StrView text) {
    StrView word;
    while (unicode_next_word(&text, &word)) texts_add_word(texts, word);
}

void texts_add_characters(Texts *texts, StrView text, bool whitespace) {
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        if (whitespace || !unicode_is_space(c)) add_symbol(texts, (uint32_t)c);
    }
}

Symbols texts_get(const Texts *texts, size_t index) {
    assert(index < texts->texts);
    size_t start = texts->starts[index];
    size_t end = index + 1 < texts->texts ? texts->starts[index + 1] : texts->count;
    return (Symbols){texts->symbols ? texts->symbols + start : NULL, end - start};
}
