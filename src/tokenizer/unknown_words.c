/* unknown_words.c - see unknown_words.h. */
#include "tokenizer/unknown_words.h"

#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/entities.h"

static bool is_unknown(Tokenizer *tokenizer, int c) {
    IdList ids = {0};
    StrBuf character = {0};
    bool unknown = c == 0x2581;
    utf8_add(&character, c);
    tokenizer_encode(tokenizer, strbuf_view(&character), &ids);
    for (size_t i = 0; i < ids.count; i++) unknown |= ids.ids[i] == VOCAB_UNK;
    id_list_free(&ids);
    strbuf_free(&character);
    return unknown;
}

/* Characters of words stay together; ignorable ones belong to the word or the symbol before them. */
typedef enum { RUN_SPACE, RUN_WORD, RUN_SYMBOL } RunKind;

static RunKind run_kind(int c, RunKind before) {
    CharClass class = unicode_class(c);
    if (unicode_is_space(c)) return RUN_SPACE;
    if (before != RUN_SPACE && (class == CHAR_MARK || unicode_is_ignorable(c))) return before;
    return class == CHAR_LETTER || class == CHAR_DIGIT || class == CHAR_MARK ? RUN_WORD : RUN_SYMBOL;
}

static void add_mark(Markup *markup, StrView text) {
    MEM_GROW(markup->items, markup->capacity, (size_t)markup->count + 1);
    markup->items[markup->count++] =
        (Mark){.text = text, .kind = MARK_SINGLE, .type = PLACEHOLDER_EMOJI, .partner = -1};
}

void unknown_words_find(Tokenizer *tokenizer, StrView text, bool literal, Markup *markup) {
    RunKind kind = RUN_SPACE;
    bool unknown = false; /* the run so far has an unknown character */
    size_t start = 0;     /* of the run */
    for (size_t at = 0, next = 0; at <= text.length; at = next) {
        int c = ' ';
        size_t length = literal || at == text.length ? 0 : entity_decode(text, at, &c);
        next = at + (at == text.length ? 1 : length);
        if (next == at) c = utf8_next(text, &next);
        RunKind here = run_kind(c, kind);
        bool is_new = here != RUN_SPACE && is_unknown(tokenizer, c);
        /* A run of symbols has unknown ones only. */
        bool ends = here != kind || (here == RUN_SYMBOL && is_new != unknown);
        if (ends && unknown) add_mark(markup, (StrView){text.data + start, at - start});
        if (ends) {
            start = at;
            unknown = false;
        }
        unknown |= is_new;
        kind = here;
    }
}
