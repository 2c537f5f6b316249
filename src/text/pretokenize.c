/* pretokenize.c - see pretokenize.h. */
#include "text/pretokenize.h"

#include "base/unicode.h"
#include "base/utf8.h"
#include "text/bpe.h"

enum { ZERO_WIDTH_NON_JOINER = 0x200C, ZERO_WIDTH_JOINER = 0x200D, VISIBLE_SPACE = 0x2581 };

typedef struct {
    StrBuf token; /* being built */
    TokenSink sink;
    void *context;
} Cutter;

static void cut(Cutter *cutter) {
    if (cutter->token.length == 0) return;
    cutter->sink(cutter->context, strbuf_view(&cutter->token));
    strbuf_clear(&cutter->token);
}

void tokenize_words(StrView text, TokenSink sink, void *context) {
    Cutter cutter = {.sink = sink, .context = context};
    for (size_t position = 0; position < text.length;) {
        size_t start = position;
        int c = utf8_next(text, &position);
        if (unicode_is_space(c)) {
            cut(&cutter);
            continue;
        }
        if (c == ',' || c == '.' || c == '!' || c == '?') cut(&cutter);
        strbuf_add(&cutter.token, (StrView){text.data + start, position - start});
    }
    cut(&cutter);
    strbuf_free(&cutter.token);
}

static bool is_apostrophe(int c) { return c == '\'' || c == 0x2019; }

static bool letter_follows(StrView text, size_t position) {
    return position < text.length && unicode_class(utf8_next(text, &position)) == CHAR_LETTER;
}

void tokenize_runs(StrView text, TokenSink sink, void *context) {
    Cutter cutter = {.sink = sink, .context = context};
    CharClass run = CHAR_OTHER; /* class of the run in cutter.token */
    bool marker = true;         /* the next run follows a space */
    for (size_t position = 0; position < text.length;) {
        size_t start = position;
        int c = utf8_next(text, &position);
        CharClass class = unicode_class(c);
        StrView bytes = c == VISIBLE_SPACE ? SV("_") : (StrView){text.data + start, position - start};
        if (class == CHAR_SPACE) {
            cut(&cutter);
            marker = true;
            continue;
        }
        bool inside = cutter.token.length > 0;
        if (class == CHAR_MARK || c == ZERO_WIDTH_JOINER || c == ZERO_WIDTH_NON_JOINER)
            class = inside ? run : CHAR_OTHER;
        if (inside && class != run) {
            bool elision = run == CHAR_LETTER && is_apostrophe(c) && letter_follows(text, position);
            if (elision) strbuf_add(&cutter.token, bytes);
            cut(&cutter);
            if (elision) continue;
        }
        if (cutter.token.length == 0) {
            if (marker) strbuf_add(&cutter.token, SV(BPE_SPACE));
            marker = false;
            run = class;
        }
        strbuf_add(&cutter.token, bytes);
    }
    cut(&cutter);
    strbuf_free(&cutter.token);
}

void tokenize_spaced(StrView text, TokenSink sink, void *context) {
    Cutter cutter = {.sink = sink, .context = context};
    for (size_t position = 0;;) {
        size_t start = position;
        bool space = position == text.length || unicode_class(utf8_next(text, &position)) == CHAR_SPACE;
        if (!space) {
            strbuf_add(&cutter.token, (StrView){text.data + start, position - start});
            continue;
        }
        if (cutter.token.length > 0) strbuf_add(&cutter.token, SV(BPE_WORD_END));
        cut(&cutter);
        if (start == text.length) break;
    }
    strbuf_free(&cutter.token);
}
