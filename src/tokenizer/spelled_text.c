/* spelled_text.c - see spelled_text.h. */
#include "tokenizer/spelled_text.h"

#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "text/entities.h"
#include "tokenizer/bpe.h"
#include "tokenizer/respell.h"
#include "tokenizer/unknown_words.h"

typedef struct {
    Tokenizer *tokenizer;
    StrView source;
    const Mark *marks; /* [count] of the source */
    int first, count;  /* first: the number of marks[0] in the line */
    bool literal;      /* entities are text */
    LetterCase letters;
    bool respell;
    size_t *starts; /* [count] of the marks in `text` */
    StrBuf text;
} Spelling;

/* Appends text between marks and entities. */
static void add_text(Spelling *spelling, StrView text) {
    StrBuf lowered = {0};
    text_set_case(text, &spelling->letters, &lowered);
    if (spelling->respell)
        text_respell(spelling->tokenizer, strbuf_view(&lowered), &spelling->text);
    else
        strbuf_add(&spelling->text, strbuf_view(&lowered));
    strbuf_free(&lowered);
}

/* For the text that models read: a space for a mark, the character of an entity. */
static void add_character(Spelling *spelling, StrView text) {
    int c;
    if (entity_decode(text, 0, &c) != text.length) c = ' ';
    utf8_add(&spelling->text, c);
}

static void add_as_is(Spelling *spelling, StrView text) { strbuf_add(&spelling->text, text); }

typedef void (*AddPart)(Spelling *spelling, StrView text);

/* Text between marks: `add` gets the parts without entities, `other` the entities. */
static void add_between(Spelling *spelling, size_t from, size_t to, AddPart add, AddPart other) {
    size_t start = from;
    StrView source = spelling->source;
    for (size_t at = from; at < to && !spelling->literal;) {
        size_t length = source.data[at] == '&' ? entity_length(source, at) : 0;
        if (length == 0) {
            at++;
            continue;
        }
        add(spelling, (StrView){source.data + start, at - start});
        other(spelling, (StrView){source.data + at, length});
        start = at += length;
    }
    add(spelling, (StrView){source.data + start, to - start});
}

/* The whole source in parts: `add` gets those of text, `other` marks and entities. */
static void add_all(Spelling *spelling, AddPart add, AddPart other) {
    size_t from = 0;
    strbuf_clear(&spelling->text);
    for (int m = 0; m < spelling->count; m++) {
        StrView mark = spelling->marks[m].text;
        size_t start = (size_t)(mark.data - spelling->source.data);
        add_between(spelling, from, start, add, other);
        spelling->starts[m] = spelling->text.length;
        other(spelling, mark);
        from = start + mark.length;
    }
    add_between(spelling, from, spelling->source.length, add, other);
}

/* Does the tokenizer know all of the text, in its case? Not U+2581 of subwords, which it reads as another
 * character. */
static bool knows_all(const Spelling *spelling) {
    LetterCase letters = spelling->letters;
    Tokenizer *tokenizer = spelling->tokenizer;
    StrBuf lowered = {0};
    IdList ids = {0};
    text_set_case(strbuf_view(&spelling->text), &letters, &lowered);
    StrView text = strbuf_view(&lowered);
    tokenizer_encode(tokenizer, text, &ids);
    StrView space = SV(BPE_SPACE);
    bool knows =
        !tokenizer_has_subwords(tokenizer) || !memmem(text.data, text.length, space.data, space.length);
    for (size_t i = 0; i < ids.count; i++) knows &= ids.ids[i] != VOCAB_UNK;
    id_list_free(&ids);
    strbuf_free(&lowered);
    return knows;
}

/* Have the two texts the same placeholders in the same order? */
static bool same_placeholders(StrView a, StrView b) {
    PlaceholderScan scans[2] = {{.text = a}, {.text = b}};
    Placeholder placeholders[2];
    for (;;) {
        bool more = placeholder_next(&scans[0], &placeholders[0]);
        if (placeholder_next(&scans[1], &placeholders[1]) != more) return false;
        if (!more) return true;
        bool words = tag_is_word(placeholders[0].text) && tag_is_word(placeholders[1].text);
        if (!words && !sv_equal(placeholders[0].text, placeholders[1].text)) return false;
    }
}

/* Adds the marks of the spelled text: those of the source, and unknown words between them. */
static void add_marks(const Spelling *spelling, StrView text, bool unknown, Markup *markup) {
    int *numbers = mem_alloc((size_t)spelling->count, sizeof *numbers);
    size_t from = 0;
    for (int m = 0; m <= spelling->count; m++) {
        bool last = m == spelling->count;
        size_t to = last ? text.length : spelling->starts[m];
        StrView between = {text.data + from, to - from};
        if (unknown) unknown_words_find(spelling->tokenizer, between, spelling->literal, markup);
        if (last) break;
        Mark mark = spelling->marks[m];
        mark.text.data = text.data + to;
        numbers[m] = markup->count;
        MEM_GROW(markup->items, markup->capacity, (size_t)markup->count + 1);
        markup->items[markup->count++] = mark;
        from = to + mark.text.length;
    }
    for (int m = 0; m < spelling->count; m++) {
        int partner = spelling->marks[m].partner - spelling->first;
        bool inside = spelling->marks[m].partner >= 0 && partner >= 0 && partner < spelling->count;
        markup->items[numbers[m]].partner = inside ? numbers[partner] : -1;
    }
    mem_free(numbers);
}

/* Words in angle brackets that are marks keep their letters. */
static bool has_word_tags(const Spelling *spelling) {
    for (int m = 0; m < spelling->count; m++)
        if (tag_is_word(spelling->marks[m].text)) return true;
    return false;
}

SpelledText spelled_text_make(Tokenizer *tokenizer, const Markup *markup, StrView source, bool respell,
                              Arena *arena) {
    Spelling spelling = {.tokenizer = tokenizer, .source = source, .literal = !markup || markup->literal};
    SpelledText spelled = {.markup.literal = spelling.literal};
    if (markup) {
        spelling.first = markup_first_mark(markup, source.data);
        spelling.marks = markup->items ? markup->items + spelling.first : NULL;
        spelling.count = markup_first_mark(markup, source.data + source.length) - spelling.first;
        spelled.markup.html = markup->html;
        spelled.markup.icu = markup->icu;
    }
    spelling.starts = mem_alloc((size_t)spelling.count, sizeof *spelling.starts);
    add_all(&spelling, add_as_is, add_character);
    if (!has_word_tags(&spelling))
        spelling.letters = text_choose_case(tokenizer, strbuf_view(&spelling.text));
    spelled.capitals = spelling.letters != CASE_AS_IS;
    spelling.respell = respell && !knows_all(&spelling);
    add_all(&spelling, add_text, add_as_is);
    if ((spelled.capitals || spelling.respell) && markup &&
        !same_placeholders(source, strbuf_view(&spelling.text))) {
        spelled.capitals = false;
        add_all(&spelling, add_as_is, add_as_is);
    }
    spelled.text = arena_text(arena, strbuf_view(&spelling.text));
    add_marks(&spelling, spelled.text, spelling.respell && tokenizer_has_subwords(tokenizer),
              &spelled.markup);
    mem_free(spelling.starts);
    strbuf_free(&spelling.text);
    return spelled;
}
