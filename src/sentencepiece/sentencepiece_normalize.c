/* sentencepiece_normalize.c - the normal form of a line, with the origin of each byte. */
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "sentencepiece/sentencepiece_parts.h"

/* The length of the well-formed character at the start of `text`, or 0. */
static size_t valid_character(StrView text) {
    size_t length = character_bytes(text.data[0]);
    if (length > text.length || !utf8_valid((StrView){text.data, length})) return 0;
    return length;
}

/* Replaces the longest sequence at the start of `text`, which is not empty; returns its length. */
static size_t replace(const Normalizer *normalizer, StrView text, StrView *replacement) {
    size_t length = normalizer->user_trie ? piece_trie_longest(normalizer->user_trie, text) : 0;
    if (length == 0 && normalizer->map) {
        length = charsmap_find(normalizer->map, text, replacement);
        if (length > 0) return length;
    }
    if (length == 0) length = valid_character(text);
    if (length == 0) {
        *replacement = SV("\xEF\xBF\xBD"); /* U+FFFD for one byte */
        return 1;
    }
    *replacement = (StrView){text.data, length};
    return length;
}

static void add(SentencePieceText *result, StrView text, size_t origin) {
    size_t length = result->normal.length;
    strbuf_add(&result->normal, text);
    MEM_GROW(result->origin, result->origin_capacity, result->normal.length + 1);
    for (size_t i = length; i < result->normal.length; i++) result->origin[i] = origin;
}

static StrView space_of(const Normalizer *normalizer) {
    return normalizer->escape_spaces ? SV(PIECE_SPACE) : SV(" ");
}

static void add_escaped(const Normalizer *normalizer, SentencePieceText *result, StrView text,
                        size_t origin) {
    while (text.length > 0) {
        const char *space = memchr(text.data, ' ', text.length);
        size_t length = space ? (size_t)(space - text.data) : text.length;
        if (length > 0) add(result, (StrView){text.data, length}, origin);
        if (space) add(result, space_of(normalizer), origin);
        size_t bytes = length + (space != NULL);
        text = (StrView){text.data + bytes, text.length - bytes};
    }
}

static size_t skip_spaces(const Normalizer *normalizer, StrView line) {
    size_t at = 0;
    while (at < line.length) {
        StrView replacement;
        size_t length = replace(normalizer, (StrView){line.data + at, line.length - at}, &replacement);
        if (!sv_equal(replacement, SV(" "))) break;
        at += length;
    }
    return at;
}

static void cut_spaces(const Normalizer *normalizer, SentencePieceText *result, size_t *origin) {
    StrView space = space_of(normalizer);
    while (sv_ends(strbuf_view(&result->normal), space)) {
        strbuf_cut(&result->normal, result->normal.length - space.length);
        *origin = result->origin[result->normal.length];
    }
}

void sentencepiece_normalize(const Normalizer *normalizer, StrView line, SentencePieceText *result) {
    size_t at = normalizer->remove_spaces ? skip_spaces(normalizer, line) : 0, origin;
    bool after_space = normalizer->remove_spaces;
    strbuf_clear(&result->normal);
    MEM_GROW(result->origin, result->origin_capacity, 1);
    result->origin[0] = 0;
    if (at == line.length) return;
    if (normalizer->dummy_prefix && !normalizer->space_is_suffix) add(result, space_of(normalizer), at);
    while (at < line.length) {
        StrView text;
        size_t length = replace(normalizer, (StrView){line.data + at, line.length - at}, &text);
        while (after_space && sv_starts(text, SV(" "))) text = (StrView){text.data + 1, text.length - 1};
        add_escaped(normalizer, result, text, at);
        if (text.length > 0) after_space = normalizer->remove_spaces && sv_ends(text, SV(" "));
        at += length;
    }
    origin = line.length;
    if (normalizer->remove_spaces) cut_spaces(normalizer, result, &origin);
    if (normalizer->dummy_prefix && normalizer->space_is_suffix) add(result, space_of(normalizer), origin);
    result->origin[result->normal.length] = origin;
}
