/* accelerator_place.c - see accelerator_place.h. */
#include "postprocess/accelerator_place.h"

#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/whole_words.h"

/* The number of the word of the line that has the accelerator. */
static int source_word(const Accelerator *accelerator, StrView line) {
    StrView rest = {line.data, accelerator->position + 1}, word;
    int words = 0;
    while (unicode_next_word(&rest, &word)) words++;
    return words - 1;
}

/* The mean attention of each word [item->words] of the translation to a word of the source. */
static double *word_weights(const Translation *translation, const TranslationItem *item, int word) {
    double *weights = mem_alloc((size_t)item->words, sizeof *weights);
    int *tokens = mem_alloc((size_t)item->words, sizeof *tokens);
    for (int t = 0; t < item->length; t++) tokens[item->word[t]]++;
    for (int t = 0; t < item->length; t++) {
        AttentionRow row = translation_attention(item, t);
        for (int s = 0; s < row.count; s++) {
            int source = row.first + s;
            if (source >= translation->source_length || translation->source_word[source] != word) continue;
            weights[item->word[t]] += (double)row.weights[s] / tokens[item->word[t]];
        }
    }
    mem_free(tokens);
    return weights;
}

static bool has_letter(StrView text) {
    StrView rest = text;
    for (size_t at = 0; at < rest.length;) {
        CharClass class = unicode_class(utf8_next(rest, &at));
        if (class == CHAR_LETTER || class == CHAR_DIGIT) return true;
    }
    return false;
}

/* Appends word w of the item. */
static void spell_word(const TranslationItem *item, int w, const Tokenizer *target, StrBuf *out) {
    int first = 0, end;
    while (first < item->length && item->word[first] < w) first++;
    for (end = first; end < item->length && item->word[end] == w; end++) continue;
    tokenizer_decode(target, item->ids + first, (size_t)(end - first), out);
}

/* The best word of the item, spelled; empty without attention. */
static void best_word(const Translation *translation, const TranslationItem *item, int source,
                      const Tokenizer *target, StrBuf *best) {
    if (!item->attention) return;
    double *weights = word_weights(translation, item, source), most = 0;
    for (int w = 0; w < item->words; w++) {
        StrBuf word = {0};
        spell_word(item, w, target, &word);
        if (weights[w] > most && has_letter(strbuf_view(&word))) {
            most = weights[w];
            strbuf_clear(best);
            strbuf_add(best, strbuf_view(&word));
        }
        strbuf_free(&word);
    }
    mem_free(weights);
}

/* Where the word is in the text; the text's end if it is not there, or empty. */
static size_t find_word(StrView text, StrView word) {
    for (size_t at = 0; word.length > 0 && at + word.length <= text.length; at++)
        if (memcmp(text.data + at, word.data, word.length) == 0 && text_is_whole_words(text, at, word.length))
            return at;
    return text.length;
}

static void place(const Accelerator *accelerator, StrView line, const Translation *translation,
                  TranslationItem *item, const Tokenizer *target) {
    StrView text = strbuf_view(&item->text);
    StrBuf word = {0}, out = {0};
    size_t at = 0, length = text.length;
    if (translation->chunks == 0 && translation->match.similarity < 1) { /* the text is the line */
        at = accelerator->position;
        length = 1;
    } else {
        best_word(translation, item, source_word(accelerator, line), target, &word);
        size_t found = find_word(text, strbuf_view(&word));
        if (found < text.length) {
            at = found;
            length = word.length;
        }
    }
    accelerator_put(accelerator, text, at, length, &out);
    strbuf_free(&item->text);
    strbuf_free(&word);
    item->text = out;
}

void accelerator_place(const Accelerator *accelerator, StrView line, Translation *translation,
                       const Tokenizer *target) {
    for (int i = 0; i < translation->count; i++)
        place(accelerator, line, translation, &translation->items[i], target);
}

AcceleratorLines accelerator_lines_take(const StrView *lines, int count, AcceleratorKind kind) {
    size_t n = (size_t)count;
    if (kind == ACCELERATOR_NONE) return (AcceleratorLines){.rest = lines};
    StrView *rest = mem_alloc(n, sizeof *rest);
    AcceleratorLines a = {rest, mem_alloc(n, sizeof *a.texts), mem_alloc(n, sizeof *a.accelerators)};
    for (int i = 0; i < count; i++) {
        bool taken =
            utf8_valid(lines[i]) && accelerator_take(lines[i], kind, &a.texts[i], &a.accelerators[i]);
        rest[i] = taken ? strbuf_view(&a.texts[i]) : lines[i];
    }
    return a;
}

void accelerator_lines_put(const AcceleratorLines *a, int count, Translation *out, const Tokenizer *target) {
    for (int i = 0; a->texts && i < count; i++)
        if (a->accelerators[i].mark) accelerator_place(&a->accelerators[i], a->rest[i], &out[i], target);
}

void accelerator_lines_free(AcceleratorLines *a, int count) {
    if (!a->texts) return;
    for (int i = 0; i < count; i++) strbuf_free(&a->texts[i]);
    mem_free((StrView *)a->rest);
    mem_free(a->texts);
    mem_free(a->accelerators);
}
