/* pretokenize.c - see pretokenize.h. */
#include "tokenizer/pretokenize.h"

#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/bpe.h"

enum { ZERO_WIDTH_NON_JOINER = 0x200C, ZERO_WIDTH_JOINER = 0x200D, VISIBLE_SPACE = 0x2581 };

typedef struct {
    StrBuf token; /* so far */
    TokenSink sink;
    void *context;
} Splitter;

static void end_token(Splitter *splitter) {
    if (splitter->token.length == 0) return;
    splitter->sink(splitter->context, strbuf_view(&splitter->token));
    strbuf_clear(&splitter->token);
}

void tokenize_words(StrView text, TokenSink sink, void *context) {
    Splitter splitter = {.sink = sink, .context = context};
    for (size_t position = 0; position < text.length;) {
        size_t start = position;
        int c = utf8_next(text, &position);
        if (unicode_is_space(c)) {
            end_token(&splitter);
            continue;
        }
        if (c == ',' || c == '.' || c == '!' || c == '?') end_token(&splitter);
        strbuf_add(&splitter.token, (StrView){text.data + start, position - start});
    }
    end_token(&splitter);
    strbuf_free(&splitter.token);
}

static bool is_apostrophe(int c) { return c == '\'' || c == 0x2019; }

static bool letter_follows(StrView text, size_t position) {
    return position < text.length && unicode_class(utf8_next(text, &position)) == CHAR_LETTER;
}

void tokenize_runs(StrView text, TokenSink sink, void *context) {
    Splitter splitter = {.sink = sink, .context = context};
    CharClass run = CHAR_OTHER; /* class of the run in splitter.token */
    bool marker = true;         /* the next run follows a space */
    for (size_t position = 0; position < text.length;) {
        size_t start = position;
        int c = utf8_next(text, &position);
        CharClass class = unicode_class(c);
        StrView bytes = c == VISIBLE_SPACE ? SV("_") : (StrView){text.data + start, position - start};
        if (class == CHAR_SPACE) {
            end_token(&splitter);
            marker = true;
            continue;
        }
        bool inside = splitter.token.length > 0;
        if (class == CHAR_MARK || c == ZERO_WIDTH_JOINER || c == ZERO_WIDTH_NON_JOINER)
            class = inside ? run : CHAR_OTHER;
        if (inside && class != run) {
            bool elision = run == CHAR_LETTER && is_apostrophe(c) && letter_follows(text, position);
            if (elision) strbuf_add(&splitter.token, bytes);
            end_token(&splitter);
            if (elision) continue;
        }
        if (splitter.token.length == 0) {
            if (marker) strbuf_add(&splitter.token, SV(BPE_SPACE));
            marker = false;
            run = class;
        }
        strbuf_add(&splitter.token, bytes);
    }
    end_token(&splitter);
    strbuf_free(&splitter.token);
}

void tokenize_spaced(StrView text, TokenSink sink, void *context) {
    Splitter splitter = {.sink = sink, .context = context};
    for (size_t position = 0;;) {
        size_t start = position;
        bool space = position == text.length || unicode_class(utf8_next(text, &position)) == CHAR_SPACE;
        if (!space) {
            strbuf_add(&splitter.token, (StrView){text.data + start, position - start});
            continue;
        }
        if (splitter.token.length > 0) strbuf_add(&splitter.token, SV(BPE_WORD_END));
        end_token(&splitter);
        if (start == text.length) break;
    }
    strbuf_free(&splitter.token);
}
