/* unknown_text.c - see unknown_text.h. */
#include "translate/unknown_text.h"

#include <stdio.h>
#include "base/log.h"
#include "base/mem.h"

void unknown_text_add(UnknownText *unknown, const Translation *translation, const Tokenizer *source,
                      long line) {
    for (size_t i = 0; i < translation->source_unknown.count; i++) {
        static const int unk = VOCAB_UNK;
        StrBuf text = {0};
        tokenizer_decode_spelled(source, &unk, 1, &(StrList){translation->source_unknown.items + i, 1},
                                 &text);
        bool counts = !sv_equal(strbuf_view(&text), SV("\xEF\xBF\xBD"));
        if (counts && unknown->count++ == 0) {
            unknown->first = mem_strdup(strbuf_text(&text));
            unknown->first_line = line;
        }
        strbuf_free(&text);
    }
}

void unknown_text_report(const UnknownText *unknown, const Seq2Seq *model) {
    char count[32], line[48] = "";
    if (unknown->count == 0) return;
    bool words = seq2seq_config(model)->text.tokenizer == TOKENIZER_WORD;
    if (unknown->first_line > 0) snprintf(line, sizeof line, ", line %ld", unknown->first_line);
    log_warn("%s %s%s that the model %s (first: '%.100s'%s): read as <unk>", str_count(unknown->count, count),
             words ? "word" : "character", unknown->count == 1 ? "" : "s",
             words ? "does not know" : "never saw", unknown->first, line);
}

void unknown_text_free(UnknownText *unknown) {
    mem_free(unknown->first);
    *unknown = (UnknownText){0};
}
