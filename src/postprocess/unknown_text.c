/* unknown_text.c - see unknown_text.h. */
#include "postprocess/unknown_text.h"

#include <stdio.h>
#include "base/log.h"
#include "base/mem.h"

static void add(UnknownTexts *texts, const char *text, long line) {
    if (sv_equal(sv(text), SV("\xEF\xBF\xBD")) || texts->count++ > 0) return;
    texts->first = mem_strdup(text);
    texts->first_line = line;
}

void unknown_text_add(UnknownText *unknown, const Translation *translation, const Tokenizer *source,
                      long line) {
    for (size_t i = 0; i < translation->source_unknown.count; i++) {
        static const int unk = VOCAB_UNK;
        StrBuf text = {0};
        tokenizer_decode_spelled(source, &unk, 1, &(StrList){translation->source_unknown.items + i, 1},
                                 &text);
        add(&unknown->read, strbuf_text(&text), line);
        strbuf_free(&text);
    }
    for (size_t i = 0; i < translation->copied.count; i++)
        add(&unknown->copied, translation->copied.items[i], line);
}

static void warn(const UnknownTexts *texts, bool words, const char *what, const char *fate) {
    char count[32], line[48] = "";
    if (texts->count == 0) return;
    if (texts->first_line > 0) snprintf(line, sizeof line, ", line %ld", texts->first_line);
    log_warn("%s %s%s that the model %s (first: '%.100s'%s): %s", str_count(texts->count, count),
             words ? "word" : "character", texts->count == 1 ? "" : "s", what, texts->first, line, fate);
}

void unknown_text_report(const UnknownText *unknown, const Seq2Seq *model) {
    bool words = seq2seq_config(model)->text.tokenizer == TOKENIZER_WORD;
    warn(&unknown->copied, true, "cannot spell", "copied");
    warn(&unknown->read, words, words ? "does not know" : "never saw", "read as <unk>");
}

void unknown_text_free(UnknownText *unknown) {
    mem_free(unknown->read.first);
    mem_free(unknown->copied.first);
    *unknown = (UnknownText){0};
}
