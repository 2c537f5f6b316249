/* segmenter_json.c - a segmenter as one JSON object.
 *
 *     {"tokenizer": "bpe", "normalize": "nfc", "lowercase": false, "marker": "prefix",
 *      "merges": ["t h", "th e", ...], "vocab": ["the", ...]}
 *
 * "marker" and "merges" are there for bpe only. Any other key, type or value is refused: the object may come
 * from a file that nobody checked.
 */
#include <string.h>
#include "base/options_value.h"
#include "text/segmenter_parts.h"

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

void segmenter_write_json(const Segmenter *segmenter, StrBuf *out) {
    strbuf_add_char(out, '{');
    write_choice(out, "tokenizer", TOKENIZER_CHOICES, (int)segmenter->tokenizer);
    write_choice(out, "normalize", NORMALIZE_CHOICES, (int)segmenter->normalize);
    strbuf_format(out, "\"lowercase\":%s,", segmenter->lowercase ? "true" : "false");
    if (segmenter->bpe) {
        write_choice(out, "marker", BPE_MARKER_CHOICES, (int)bpe_marker(segmenter->bpe));
        write_merges(segmenter->bpe, out);
    }
    strbuf_add(out, SV("\"vocab\":"));
    vocab_write_json(segmenter->vocab, out);
    strbuf_add_char(out, '}');
}

bool segmenter_write_codes(const Segmenter *segmenter, StrBuf *out) {
    if (!segmenter->bpe) return false;
    bpe_write(segmenter->bpe, out);
    return true;
}

/* ---- reading ---- */

static Status get(const Json *object, const char *key, JsonType type, const Json **value) {
    *value = json_get(object, key);
    if (!*value) return status_fail(STATUS_DATA, "segmenter: '%s' is missing", key);
    if (json_type(*value) != type) return status_fail(STATUS_DATA, "segmenter: '%s' has the wrong type", key);
    return STATUS_OK;
}

static Status get_choice(const Json *object, const char *key, const char *choices, int *index) {
    const Json *value;
    TRY(get(object, key, JSON_STRING, &value));
    *index = option_choice(choices, sv(json_string(value)));
    if (*index >= 0) return STATUS_OK;
    return status_fail(STATUS_DATA, "segmenter: '%s' is '%.40s', not one of %s", key, json_string(value),
                       choices);
}

static Status check_keys(const Json *object) {
    static const char *const known[] = {"tokenizer", "normalize", "lowercase", "marker", "merges", "vocab"};
    for (const Json *member = json_first(object); member; member = json_after(member)) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found |= strcmp(json_key(member), known[i]) == 0;
        if (!found) return status_fail(STATUS_DATA, "segmenter: unknown key '%.40s'", json_key(member));
    }
    return STATUS_OK;
}

static Status read_merges(Segmenter *segmenter, const Json *object) {
    int marker;
    const Json *merges;
    TRY(get_choice(object, "marker", BPE_MARKER_CHOICES, &marker));
    TRY(get(object, "merges", JSON_ARRAY, &merges));
    segmenter->bpe = bpe_new((BpeMarker)marker);
    long number = 1;
    for (const Json *item = json_first(merges); item; item = json_after(item), number++) {
        if (json_type(item) != JSON_STRING)
            return status_fail(STATUS_DATA, "segmenter: merge %ld is not a string", number);
        TRY(bpe_add_line(segmenter->bpe, sv(json_string(item)), "merges", number));
    }
    return STATUS_OK;
}

static Status read_parts(Segmenter *segmenter, const Json *object) {
    int tokenizer, normalize;
    const Json *lowercase, *vocab;
    TRY(check_keys(object));
    TRY(get_choice(object, "tokenizer", TOKENIZER_CHOICES, &tokenizer));
    TRY(get_choice(object, "normalize", NORMALIZE_CHOICES, &normalize));
    TRY(get(object, "lowercase", JSON_BOOL, &lowercase));
    TRY(get(object, "vocab", JSON_ARRAY, &vocab));
    segmenter->tokenizer = (TokenizerKind)tokenizer;
    segmenter->normalize = (NormalForm)normalize;
    segmenter->lowercase = json_bool(lowercase);
    if (tokenizer == TOKENIZER_BPE)
        TRY(read_merges(segmenter, object));
    else if (json_get(object, "merges") || json_get(object, "marker"))
        return status_fail(STATUS_DATA, "segmenter: a word tokenizer has no merges");
    return vocab_read_json(&segmenter->vocab, vocab);
}

static Status read_object(Segmenter **segmenter, const Json *object) {
    if (json_type(object) != JSON_OBJECT) return status_fail(STATUS_DATA, "segmenter is not an object");
    Segmenter *result = segmenter_new();
    Status status = read_parts(result, object);
    if (status == STATUS_OK)
        *segmenter = result;
    else
        segmenter_free(result);
    return status;
}

Status segmenter_read_json(Segmenter **segmenter, StrView text) {
    Json *root;
    *segmenter = NULL;
    TRY(json_parse(&root, text, false));
    Status status = read_object(segmenter, root);
    json_free(root);
    return status;
}
