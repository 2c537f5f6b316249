/* segmenter.c - see segmenter.h. Learning is in segmenter_learn.c. */
#include "text/segmenter.h"

#include <string.h>
#include "base/mem.h"
#include "base/options_value.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/segmenter_parts.h"

enum {
    CACHED_WORDS = 100000, /* when there are more, the cache starts afresh */
    CACHED_IDS = 1000000,
    CACHED_WORD_BYTES = 100, /* longer words are not worth keeping */
};

void id_list_add(IdList *list, int id) {
    MEM_GROW(list->ids, list->capacity, list->count + 1);
    list->ids[list->count++] = id;
}

void id_list_free(IdList *list) {
    mem_free(list->ids);
    *list = (IdList){0};
}

Segmenter *segmenter_new(void) {
    Segmenter *segmenter = mem_alloc(1, sizeof *segmenter);
    segmenter->references = 1;
    return segmenter;
}

Segmenter *segmenter_retain(Segmenter *segmenter) {
    segmenter->references++;
    return segmenter;
}

Segmenter *segmenter_view(const Segmenter *segmenter) {
    Segmenter *view = segmenter_new();
    view->tokenizer = segmenter->tokenizer;
    view->normalize = segmenter->normalize;
    view->lowercase = segmenter->lowercase;
    view->vocab = segmenter->vocab;
    view->bpe = segmenter->bpe ? bpe_view(segmenter->bpe) : NULL;
    view->is_view = true;
    return view;
}

void segmenter_free(Segmenter *segmenter) {
    if (!segmenter || --segmenter->references > 0) return;
    if (!segmenter->is_view) vocab_free(segmenter->vocab);
    bpe_free(segmenter->bpe);
    if (segmenter->known) hashmap_free(segmenter->known);
    id_list_free(&segmenter->pool);
    strbuf_free(&segmenter->repaired);
    strbuf_free(&segmenter->normal);
    mem_free(segmenter);
}

const Vocab *segmenter_vocab(const Segmenter *segmenter) { return segmenter->vocab; }

void segmenter_cut(Segmenter *segmenter, StrView line, TokenSink sink, void *context) {
    if (line.length == 0) return;
    if (!utf8_valid(line) || memchr(line.data, 0, line.length)) {
        strbuf_clear(&segmenter->repaired);
        utf8_repair(line, &segmenter->repaired);
        line = strbuf_view(&segmenter->repaired);
    }
    strbuf_clear(&segmenter->normal);
    unicode_normalize(line, segmenter->normalize, segmenter->lowercase, &segmenter->normal);
    StrView text = strbuf_view(&segmenter->normal);
    if (segmenter->tokenizer == TOKENIZER_WORD)
        tokenize_words(text, sink, context);
    else if (bpe_marker(segmenter->bpe) == BPE_PREFIX)
        tokenize_runs(text, sink, context);
    else
        tokenize_spaced(text, sink, context);
}

bool segmenter_is_special(StrView token) {
    return sv_equal(token, SV("<pad>")) || sv_equal(token, SV("<unk>")) || sv_equal(token, SV("<s>")) ||
           sv_equal(token, SV("</s>"));
}

/* ---- encoding ---- */

typedef struct {
    Segmenter *segmenter;
    IdList *ids;
    StrList *unknown; /* or NULL */
    double dropout;   /* with random numbers of `rng` */
    Rng *rng;
} Encoder;

static int known_id(const Segmenter *segmenter, StrView token) {
    int id = vocab_id(segmenter->vocab, token);
    return id < VOCAB_SPECIALS ? VOCAB_UNK : id; /* text that spells a special token is just unknown text */
}

static void encode_id(Encoder *encoder, int id, StrView text) {
    id_list_add(encoder->ids, id);
    if (id == VOCAB_UNK && encoder->unknown) strlist_add(encoder->unknown, text);
}

/* A piece that is not in the vocabulary is taken apart again: only single characters can be unknown. */
static void encode_piece(void *context, StrView piece) {
    Encoder *encoder = context;
    StrView left, right;
    int id = known_id(encoder->segmenter, piece);
    if (id == VOCAB_UNK && bpe_split(encoder->segmenter->bpe, piece, &left, &right)) {
        encode_piece(context, left);
        encode_piece(context, right);
    } else {
        encode_id(encoder, id, piece);
    }
}

/* Ids from the cache; false if they do not say all that is wanted. */
static bool encode_known(Encoder *encoder, const int *ids, int count) {
    for (int i = 0; i < count && encoder->unknown; i++)
        if (ids[i] == VOCAB_UNK) return false;
    for (int i = 0; i < count; i++) id_list_add(encoder->ids, ids[i]);
    return true;
}

static void remember(Segmenter *segmenter, StrView token, const int *ids, size_t count) {
    if (token.length > CACHED_WORD_BYTES) return;
    if (segmenter->known &&
        (hashmap_count(segmenter->known) >= CACHED_WORDS || segmenter->pool.count >= CACHED_IDS)) {
        hashmap_free(segmenter->known);
        segmenter->known = NULL;
        segmenter->pool.count = 0;
    }
    if (!segmenter->known) segmenter->known = hashmap_new();
    hashmap_set(segmenter->known, token, (int)segmenter->pool.count);
    id_list_add(&segmenter->pool, (int)count);
    for (size_t i = 0; i < count; i++) id_list_add(&segmenter->pool, ids[i]);
}

static void encode_token(void *context, StrView token) {
    Encoder *encoder = context;
    Segmenter *segmenter = encoder->segmenter;
    if (segmenter->tokenizer == TOKENIZER_WORD) {
        encode_id(encoder, known_id(segmenter, token), token);
        return;
    }
    if (encoder->dropout > 0) {
        bpe_apply_dropout(segmenter->bpe, token, encoder->dropout, encoder->rng, encode_piece, encoder);
        return;
    }
    int at = segmenter->known ? (int)hashmap_get(segmenter->known, token, -1) : -1;
    if (at >= 0 && encode_known(encoder, segmenter->pool.ids + at + 1, segmenter->pool.ids[at])) return;
    size_t before = encoder->ids->count;
    bpe_apply(segmenter->bpe, token, encode_piece, encoder);
    if (at < 0) remember(segmenter, token, encoder->ids->ids + before, encoder->ids->count - before);
}

void segmenter_encode_spelled(Segmenter *segmenter, StrView line, IdList *ids, StrList *unknown) {
    Encoder encoder = {.segmenter = segmenter, .ids = ids, .unknown = unknown};
    segmenter_cut(segmenter, line, encode_token, &encoder);
}

void segmenter_encode_dropout(Segmenter *segmenter, StrView line, double p, Rng *rng, IdList *ids) {
    Encoder encoder = {.segmenter = segmenter, .ids = ids, .dropout = p, .rng = rng};
    segmenter_cut(segmenter, line, encode_token, &encoder);
}

void segmenter_encode(Segmenter *segmenter, StrView line, IdList *ids) {
    segmenter_encode_spelled(segmenter, line, ids, NULL);
}

/* ---- decoding ---- */

bool segmenter_marks_ends(const Segmenter *segmenter) {
    return segmenter->tokenizer == TOKENIZER_BPE && bpe_marker(segmenter->bpe) == BPE_SUFFIX;
}

static void add_space(StrBuf *line, size_t start) {
    if (line->length > start && line->data[line->length - 1] != ' ') strbuf_add_char(line, ' ');
}

/* Copy a piece, turning markers into spaces. */
static void add_prefixed(StrView piece, StrBuf *line, size_t start) {
    StrView space = SV(BPE_SPACE);
    while (piece.length > 0) {
        size_t take = 1;
        if (sv_starts(piece, space)) {
            add_space(line, start);
            take = space.length;
        } else {
            strbuf_add_char(line, piece.data[0]);
        }
        piece = (StrView){piece.data + take, piece.length - take};
    }
}

void segmenter_decode(const Segmenter *segmenter, const int *ids, size_t count, StrBuf *line) {
    segmenter_decode_spelled(segmenter, ids, count, NULL, line);
}

void segmenter_decode_spelled(const Segmenter *segmenter, const int *ids, size_t count,
                              const StrList *unknown, StrBuf *line) {
    size_t start = line->length, spelled = 0;
    StrView end = SV(BPE_WORD_END);
    for (size_t i = 0; i < count && ids[i] != VOCAB_EOS; i++) {
        if (ids[i] == VOCAB_PAD || ids[i] == VOCAB_BOS) continue;
        StrView token = vocab_token(segmenter->vocab, ids[i]);
        if (ids[i] == VOCAB_UNK && unknown && spelled < unknown->count) token = sv(unknown->items[spelled++]);
        if (segmenter->tokenizer == TOKENIZER_WORD) {
            strbuf_add(line, token);
            add_space(line, start);
        } else if (!segmenter_marks_ends(segmenter)) {
            add_prefixed(token, line, start);
        } else if (sv_ends(token, end)) {
            strbuf_add(line, (StrView){token.data, token.length - end.length});
            add_space(line, start);
        } else {
            strbuf_add(line, token);
        }
    }
    if (line->length > start && line->data[line->length - 1] == ' ') line->data[--line->length] = '\0';
}

void unknown_pass(StrList *unknown, const int *ids, int count) {
    for (int i = 0; i < count && unknown->count > 0; i++) {
        if (ids[i] != VOCAB_UNK) continue;
        unknown->items++;
        unknown->count--;
    }
}

/* `first`: it is the first of the sentence, or the one before it ended a word. */
static bool starts_word(const Segmenter *segmenter, int id, bool first) {
    if (first || id == VOCAB_PAD || id == VOCAB_BOS || id == VOCAB_EOS) return true;
    if (segmenter->tokenizer == TOKENIZER_WORD) return true;
    return !segmenter_marks_ends(segmenter) && sv_starts(vocab_token(segmenter->vocab, id), SV(BPE_SPACE));
}

int segmenter_words(const Segmenter *segmenter, const int *ids, size_t count, int *word) {
    int words = 0;
    bool ended = true; /* the piece before was the last of its word */
    for (size_t i = 0; i < count; i++) {
        if (starts_word(segmenter, ids[i], ended)) words++;
        word[i] = words - 1;
        bool special = ids[i] == VOCAB_PAD || ids[i] == VOCAB_BOS || ids[i] == VOCAB_EOS;
        bool last = segmenter_marks_ends(segmenter) &&
                    sv_ends(vocab_token(segmenter->vocab, ids[i]), SV(BPE_WORD_END));
        ended = special || last;
    }
    return words;
}

static void add_label(StrView token, StrBuf *label) {
    for (size_t position = 0; position < token.length;) {
        int c = utf8_next(token, &position);
        utf8_add(label, unicode_is_control(c) ? UTF8_REPLACEMENT : c);
    }
}

void segmenter_label(const Segmenter *segmenter, int id, StrBuf *label) {
    add_label(vocab_token(segmenter->vocab, id), label);
}

void segmenter_label_unknown(const char *unknown, StrBuf *label) { add_label(sv(unknown), label); }

/* ---- as JSON ----
 *
 *     {"tokenizer": "bpe", "normalize": "nfc", "lowercase": false, "marker": "prefix",
 *      "merges": ["t h", "th e", ...], "vocab": ["the", ...]}
 *
 * "marker" and "merges" are there for bpe only. Any other key, type or value is refused: the object may come
 * from a file that nobody checked. */

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
