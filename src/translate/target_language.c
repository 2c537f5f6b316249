/* target_language.c - see target_language.h. */
#include "translate/target_language.h"

#include "base/log.h"

/* The language tokens of a model, as a list for people. */
static void list_languages(const Tokenizer *source, StrBuf *out) {
    enum { MOST = 20 };
    const IdList *languages = tokenizer_role(source, TOKENIZER_LANGUAGES);
    for (size_t i = 0; i < languages->count && i < MOST; i++) {
        strbuf_add(out, i ? SV(", ") : SV(""));
        tokenizer_label(source, languages->ids[i], out);
    }
    if (languages->count > MOST) strbuf_add(out, SV(", ..."));
}

Status target_language_check(const Seq2Seq *model, const char *name) {
    const Tokenizer *source = seq2seq_source(model);
    Status status = STATUS_USAGE;
    if (!name || tokenizer_language(source, sv(name)) >= 0) return STATUS_OK;
    if (tokenizer_role(source, TOKENIZER_LANGUAGES)->count == 0) {
        status_fail(status, "the model translates to one language: it has no tokens for target languages");
        return status_hint(status, "leave the target language out");
    }
    StrBuf list = {0};
    list_languages(source, &list);
    status_fail(status, "the model has no token for the target language '%.40s'", name);
    status_hint(status, "it has %s", strbuf_text(&list));
    strbuf_free(&list);
    return status;
}

StrView target_language_take(const Tokenizer *source, const TranslatorOptions *options, StrView *line,
                             long number, bool *warned) {
    const IdList *languages = tokenizer_role(source, TOKENIZER_LANGUAGES);
    int id = tokenizer_leading_language(source, *line);
    if (id >= 0) {
        size_t length = vocab_token(tokenizer_vocab(source), id).length;
        while (length < line->length && line->data[length] == ' ') length++;
        *line = (StrView){line->data + length, line->length - length};
    }
    if (id < 0 && options->target_language) return sv(options->target_language);
    if (id < 0 && languages->count == 1) id = languages->ids[0];
    if (id >= 0) return vocab_token(tokenizer_vocab(source), id);
    if (languages->count > 0 && !*warned && !options->quiet) {
        StrBuf list = {0};
        list_languages(source, &list);
        *warned = true;
        log_warn("line %ld names no target language, and the model has several: %s", number,
                 strbuf_text(&list));
        strbuf_free(&list);
    }
    return (StrView){0};
}
