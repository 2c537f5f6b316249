/* tokenizer_json.c - tokenizers as JSON.
 *
 *     {"tokenizer": "bpe", "normalize": "nfc", "lowercase": false, "marker": "prefix",
 *      "merges": ["t h", "th e", ...], "vocab": ["the", ...], "languages": [">>fra<<"], "banned": [...]}
 *     {"tokenizer": "unigram", "normalize": "nfc", "lowercase": false, "model": BASE64, "vocab": [...]}
 *     {"tokenizer": "sentencepiece", "model": BASE64, "vocab": [...]}
 *
 * Only bpe has "marker" and "merges". "model" is the model file of SentencePiece. "languages" and "banned"
 * are there if they are not empty, for all kinds. Any other key, type or value is an error, because the
 * object may come from an untrusted file. */
#include <string.h>
#include "io/json_write.h"
#include "io/options.h"
#include "tokenizer/tokenizer_parts.h"

static void write_choice(StrBuf *out, const char *key, const char *choices, int index) {
    strbuf_format(out, "\"%s\":", key);
    json_write_string(out, option_choice_name(choices, index));
    strbuf_add_char(out, ',');
}

static void write_merges(const Bpe *bpe, StrBuf *out) {
    StrBuf line = {0};
    strbuf_add(out, SV("\"merges\":["));
    for (size_t rank = 0; rank < bpe_count(bpe); rank++) {
        StrView left, right;
        bpe_merge(bpe, rank, &left, &right);
        strbuf_clear(&line);
        strbuf_add(&line, left);
        strbuf_add_char(&line, ' ');
        strbuf_add(&line, right);
        if (rank > 0) strbuf_add_char(out, ',');
        json_write_string(out, strbuf_view(&line));
    }
    strbuf_add(out, SV("],"));
    strbuf_free(&line);
}

static const char *const ROLES[] = {[TOKENIZER_LANGUAGES] = "languages", [TOKENIZER_BANNED] = "banned"};

static void write_role(const Tokenizer *tokenizer, TokenRole role, StrBuf *out) {
    const IdList *ids = &tokenizer->roles[role];
    if (ids->count == 0) return;
    strbuf_format(out, ",\"%s\":", ROLES[role]);
    for (size_t i = 0; i < ids->count; i++) {
        strbuf_add_char(out, i == 0 ? '[' : ',');
        json_write_string(out, vocab_token(tokenizer->vocab, ids->ids[i]));
    }
    strbuf_add_char(out, ']');
}

/* Everything but pieces and vocabulary; `pieces`: also those. */
static void write_json(const Tokenizer *tokenizer, bool pieces, StrBuf *out) {
    strbuf_add_char(out, '{');
    write_choice(out, "tokenizer", TOKENIZER_CHOICES, (int)tokenizer->kind);
    if (tokenizer->kind != TOKENIZER_SENTENCEPIECE) {
        write_choice(out, "normalize", NORMALIZE_CHOICES, (int)tokenizer->normalize);
        strbuf_format(out, "\"lowercase\":%s,", tokenizer->lowercase ? "true" : "false");
    }
    if (tokenizer->bpe) {
        write_choice(out, "marker", BPE_MARKER_CHOICES, (int)bpe_marker(tokenizer->bpe));
        write_merges(tokenizer->bpe, out);
    }
    if (tokenizer->pieces && pieces) tokenizer_write_pieces(tokenizer, out);
    if (!tokenizer->pieces || pieces) {
        strbuf_add(out, SV("\"vocab\":"));
        vocab_write_json(tokenizer->vocab, out);
    } else {
        strbuf_cut(out, out->length - 1); /* the comma */
    }
    for (int r = 0; r < TOKENIZER_ROLES; r++) write_role(tokenizer, (TokenRole)r, out);
    strbuf_add_char(out, '}');
}

void tokenizer_write_json(const Tokenizer *tokenizer, StrBuf *out) { write_json(tokenizer, true, out); }

void tokenizer_write(const Tokenizer *tokenizer, StrBuf *json, StrBuf *model, StrBuf *vocab) {
    write_json(tokenizer, false, json);
    if (!tokenizer->pieces) return;
    sentencepiece_write(tokenizer->pieces, model);
    vocab_write(tokenizer->vocab, vocab);
}

bool tokenizer_write_codes(const Tokenizer *tokenizer, StrBuf *out) {
    if (!tokenizer->bpe) return false;
    bpe_write(tokenizer->bpe, out);
    return true;
}

static Status get(const Json *object, const char *key, JsonType type, const Json **value) {
    *value = json_get(object, key);
    if (!*value) return status_fail(STATUS_DATA, "tokenizer: '%s' is missing", key);
    if (json_type(*value) != type) return status_fail(STATUS_DATA, "tokenizer: '%s' has the wrong type", key);
    return STATUS_OK;
}

static Status get_choice(const Json *object, const char *key, const char *choices, int *index) {
    const Json *value;
    TRY(get(object, key, JSON_STRING, &value));
    *index = option_choice(choices, sv(json_string(value)));
    if (*index >= 0) return STATUS_OK;
    return status_fail(STATUS_DATA, "tokenizer: '%s' is '%.40s', not one of %s", key, json_string(value),
                       choices);
}

/* `own`: the keys of a kind, ended by NULL. */
static Status check_keys(const Json *object, const char *const *own) {
    for (const Json *member = json_first(object); member; member = json_after(member)) {
        const char *key = json_key(member);
        bool is_known = strcmp(key, "tokenizer") == 0 || strcmp(key, "vocab") == 0;
        for (int r = 0; r < TOKENIZER_ROLES; r++) is_known |= strcmp(key, ROLES[r]) == 0;
        for (size_t i = 0; own[i]; i++) is_known |= strcmp(key, own[i]) == 0;
        if (!is_known) return status_fail(STATUS_DATA, "tokenizer: unknown key '%.40s'", key);
    }
    return STATUS_OK;
}

static Status read_merges(Tokenizer *tokenizer, const Json *object) {
    int marker;
    const Json *merges;
    TRY(get_choice(object, "marker", BPE_MARKER_CHOICES, &marker));
    TRY(get(object, "merges", JSON_ARRAY, &merges));
    tokenizer->bpe = bpe_new((BpeMarker)marker);
    long number = 1;
    for (const Json *item = json_first(merges); item; item = json_after(item), number++) {
        if (json_type(item) != JSON_STRING)
            return status_fail(STATUS_DATA, "tokenizer: merge %ld is not a string", number);
        TRY(bpe_add_line(tokenizer->bpe, sv(json_string(item)), "merges", number));
    }
    return STATUS_OK;
}

static Status read_role(Tokenizer *tokenizer, TokenRole role, const Json *object) {
    const Json *tokens;
    if (!json_get(object, ROLES[role])) return STATUS_OK;
    TRY(get(object, ROLES[role], JSON_ARRAY, &tokens));
    for (const Json *item = json_first(tokens); item; item = json_after(item)) {
        if (json_type(item) != JSON_STRING)
            return status_fail(STATUS_DATA, "tokenizer: '%s' contains values that are not strings",
                               ROLES[role]);
        TRY(tokenizer_set_role(tokenizer, role, sv(json_string(item))));
    }
    return STATUS_OK;
}

static Status read_normalization(Tokenizer *tokenizer, const Json *object) {
    int normalize;
    const Json *lowercase;
    TRY(get_choice(object, "normalize", NORMALIZE_CHOICES, &normalize));
    TRY(get(object, "lowercase", JSON_BOOL, &lowercase));
    tokenizer->normalize = (NormalForm)normalize;
    tokenizer->lowercase = json_bool(lowercase);
    return STATUS_OK;
}

Status tokenizer_read_model(Tokenizer *tokenizer, StrView model) {
    SentencePiece *pieces;
    TRY(sentencepiece_read(&pieces, model, "model"));
    tokenizer_set_pieces(tokenizer, pieces, tokenizer->vocab);
    return STATUS_OK;
}

/* Of a model that others have trained, the vocabulary may have any tokens. `vocab`: empty if it is in the
 * object, with the model */
static Status read_pieces(Tokenizer *tokenizer, const Json *object, StrView vocab) {
    const Json *model, *tokens;
    SentencePiece *pieces;
    bool own = tokenizer->kind == TOKENIZER_UNIGRAM;
    static const char *const keys[] = {"model", "normalize", "lowercase", NULL}, *const few[] = {"model",
                                                                                                 NULL};
    TRY(check_keys(object, own ? keys : few));
    if (own) TRY(read_normalization(tokenizer, object));
    if (vocab.length > 0) {
        if (json_get(object, "model") || json_get(object, "vocab"))
            return status_fail(STATUS_DATA, "tokenizer: its model or its vocabulary is there twice");
        return vocab_read(&tokenizer->vocab, vocab, !own);
    }
    TRY(get(object, "vocab", JSON_ARRAY, &tokens));
    TRY(get(object, "model", JSON_STRING, &model));
    TRY(vocab_read_json(&tokenizer->vocab, tokens, !own));
    TRY(tokenizer_read_pieces(&pieces, sv(json_string(model))));
    tokenizer_set_pieces(tokenizer, pieces, tokenizer->vocab);
    return STATUS_OK;
}

static Status read_other(Tokenizer *tokenizer, const Json *object) {
    const Json *vocab;
    TRY(check_keys(object, (const char *const[]){"normalize", "lowercase", "marker", "merges", NULL}));
    TRY(read_normalization(tokenizer, object));
    TRY(get(object, "vocab", JSON_ARRAY, &vocab));
    if (tokenizer->kind == TOKENIZER_BPE)
        TRY(read_merges(tokenizer, object));
    else if (json_get(object, "merges") || json_get(object, "marker"))
        return status_fail(STATUS_DATA, "tokenizer: a word tokenizer has no merges");
    return vocab_read_json(&tokenizer->vocab, vocab, false);
}

static Status read_object(Tokenizer **tokenizer, const Json *object, StrView vocab) {
    int kind;
    if (json_type(object) != JSON_OBJECT) return status_fail(STATUS_DATA, "tokenizer is not an object");
    TRY(get_choice(object, "tokenizer", TOKENIZER_CHOICES, &kind));
    bool pieces = kind == TOKENIZER_SENTENCEPIECE || kind == TOKENIZER_UNIGRAM;
    if (!pieces && vocab.length > 0)
        return status_fail(STATUS_DATA,
                           "tokenizer: its kind has no model of SentencePiece, but there is one");
    *tokenizer = tokenizer_new();
    (*tokenizer)->kind = (TokenizerKind)kind;
    Status status = pieces ? read_pieces(*tokenizer, object, vocab) : read_other(*tokenizer, object);
    for (int r = 0; r < TOKENIZER_ROLES && status == STATUS_OK; r++)
        status = read_role(*tokenizer, (TokenRole)r, object);
    if (status != STATUS_OK) {
        tokenizer_free(*tokenizer);
        *tokenizer = NULL;
    }
    return status;
}

Status tokenizer_read(Tokenizer **tokenizer, StrView json, StrView vocab) {
    Json *root;
    *tokenizer = NULL;
    TRY(json_parse(&root, json, false));
    Status status = read_object(tokenizer, root, vocab);
    json_free(root);
    return status;
}

Status tokenizer_read_json(Tokenizer **tokenizer, StrView text) {
    return tokenizer_read(tokenizer, text, SV(""));
}
