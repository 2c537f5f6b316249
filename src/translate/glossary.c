/* glossary.c - see glossary.h. */
#include "translate/glossary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/accelerators.h"
#include "text/languages.h"
#include "text/whole_words.h"

typedef struct {
    StrView source, target; /* source in normal form */
    size_t position;        /* in the files */
    bool forms;             /* other forms of the words count, too */
} Term;

struct Glossary {
    const TextOptions *text;
    StrView languages[2]; /* of source and target while reading */
    bool forms;           /* of the file that is read */
    Term *terms;          /* longest source first */
    size_t count, capacity;
    Arena *arena;
};

/* Appends a term as it is in the file, without its accelerator. */
static void add_plain(StrView text, StrBuf *out) {
    Accelerator accelerator;
    if (!accelerator_take(sv_trim(text), ACCELERATOR_AUTO, out, &accelerator)) strbuf_add(out, sv_trim(text));
}

static void add_normal_form(const Glossary *glossary, StrView text, StrBuf *out) {
    text_normalize_words(text, (NormalForm)glossary->text->normalize, glossary->text->lowercase, out);
}

/* ---- the file ---- */

/* Longer terms come first, because they hide shorter ones; terms of equal length stay in the file's order. */
static int term_compare(const void *a, const void *b) {
    const Term *x = a, *y = b;
    if (x->source.length != y->source.length) return x->source.length > y->source.length ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static Status add_term(Glossary *glossary, StrView line, const LineReader *reader) {
    StrView source = {0}, target = {0};
    StrBuf plain = {0}, plain_target = {0}, normal = {0};
    if (unicode_is_blank(line)) return STATUS_OK;
    bool tab = memchr(line.data, '\t', line.length);
    if (tab) sv_next(&line, '\t', &source);
    if (tab) sv_next(&line, '\t', &target);
    if (unicode_is_blank(source) || unicode_is_blank(target)) {
        status_fail(STATUS_DATA, "glossary '%s', line %ld: not SOURCE TAB TARGET", line_reader_path(reader),
                    line_reader_number(reader));
        return status_hint(STATUS_DATA, "a term and its translation on each line, with a TAB between them");
    }
    add_plain(source, &plain);
    add_plain(target, &plain_target);
    add_normal_form(glossary, strbuf_view(&plain), &normal);
    MEM_GROW(glossary->terms, glossary->capacity, glossary->count + 1);
    glossary->terms[glossary->count] =
        (Term){arena_text(glossary->arena, strbuf_view(&normal)),
               arena_text(glossary->arena, strbuf_view(&plain_target)), glossary->count, glossary->forms};
    glossary->count++;
    strbuf_free(&normal);
    strbuf_free(&plain);
    strbuf_free(&plain_target);
    return STATUS_OK;
}

/* "en TAB de" of the languages that are translated, or "en TAB de TAB forms". */
static bool is_header(const Glossary *glossary, StrView line, bool *forms) {
    StrView source = {0}, target = {0};
    sv_next(&line, '\t', &source);
    sv_next(&line, '\t', &target);
    *forms = sv_equal(sv_trim(line), SV("forms"));
    return glossary->languages[0].length > 0 && glossary->languages[1].length > 0 &&
           language_names_match(sv_trim(source), glossary->languages[0]) &&
           language_names_match(sv_trim(target), glossary->languages[1]);
}

static Status read_terms(Glossary *glossary, const char *path) {
    LineReader *reader;
    size_t before = glossary->count;
    TRY(line_reader_open_limited(&reader, path));
    Status status = STATUS_OK;
    for (bool more = true; status == STATUS_OK;) {
        StrView line;
        status = line_reader_next_text(reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        if (line_reader_number(reader) == 1) {
            bool forms, header = is_header(glossary, line, &forms);
            glossary->forms = header && forms;
            if (header) continue;
        }
        status = add_term(glossary, line, reader);
    }
    line_reader_close(reader);
    if (status == STATUS_OK && glossary->count == before)
        status = status_fail(STATUS_DATA, "glossary '%s' has no terms", path);
    return status;
}

static int source_compare(const void *a, const void *b) {
    const Term *x = a, *y = b;
    size_t length = x->source.length < y->source.length ? x->source.length : y->source.length;
    int order = memcmp(x->source.data, y->source.data, length);
    return order ? order : term_compare(a, b);
}

/* Keep only the first of several terms with the same source. */
static void drop_duplicates(Glossary *glossary) {
    Term *terms = glossary->terms, *other = NULL;
    size_t count = 0, contradictions = 0;
    qsort(terms, glossary->count, sizeof *terms, source_compare);
    for (size_t t = 0; t < glossary->count; t++) {
        if (count == 0 || !sv_equal(terms[count - 1].source, terms[t].source))
            terms[count++] = terms[t];
        else if (!sv_equal(terms[count - 1].target, terms[t].target) && contradictions++ == 0)
            other = &terms[count - 1];
    }
    glossary->count = count;
    if (other)
        log_warn("glossary: %zu line%s with another target for a source that came before, such as '%.*s', "
                 "left out",
                 contradictions, contradictions == 1 ? "" : "s", SV_ARG(other->source));
}

Status glossary_read(Glossary **glossary, const StrList *paths, const TextOptions *text, StrView source,
                     StrView target) {
    Glossary *result = mem_alloc(1, sizeof *result);
    *result = (Glossary){.text = text, .languages = {source, target}, .arena = arena_new()};
    *glossary = NULL;
    Status status = STATUS_OK;
    for (size_t i = 0; i < paths->count && status == STATUS_OK; i++)
        status = read_terms(result, paths->items[i]);
    if (status != STATUS_OK) {
        glossary_free(result);
        return status;
    }
    assert(result->terms); /* a glossary has terms */
    drop_duplicates(result);
    qsort(result->terms, result->count, sizeof *result->terms, term_compare);
    *glossary = result;
    return STATUS_OK;
}

void glossary_free(Glossary *glossary) {
    if (!glossary) return;
    arena_free(glossary->arena);
    mem_free(glossary->terms);
    mem_free(glossary);
}

/* ---- a text ---- */

/* The length of the term at text.data[at]; 0: it is not there. */
static size_t term_at(StrView text, size_t at, const Term *term) {
    StrView source = term->source;
    if (term->forms) return text_match_word_forms(text, at, source);
    return text_match_words(text, at, source);
}

/* Is the term in the text, and not hidden by a longer one? Its bytes become hidden; *found: the first of
 * them. */
static bool take_term(StrView text, const Term *term, bool *hidden, StrView *found) {
    found->length = 0;
    for (size_t at = 0; at < text.length; utf8_next(text, &at)) {
        size_t length = term_at(text, at, term);
        if (length == 0 || memchr(hidden + at, 1, length)) continue;
        memset(hidden + at, true, length);
        if (found->length == 0) *found = (StrView){text.data + at, length};
    }
    return found->length > 0;
}

static bool is_listed(const GlossaryTerm *list, int count, StrView target) {
    for (int i = 0; i < count; i++)
        if (sv_equal(list[i].target, target)) return true;
    return false;
}

/* A filter for large glossaries: a text contains a term only if it contains all pairs of its bytes. */
enum { BYTE_PAIRS = 1 << 16 };

static unsigned pair_at(StrView text, size_t at) {
    return (unsigned)(unsigned char)text.data[at] << 8 | (unsigned char)text.data[at + 1];
}

static bool may_have(const bool *pairs, StrView term) {
    for (size_t at = 0; at + 1 < term.length; at++)
        if (!pairs[pair_at(term, at)]) return false;
    return true;
}

int glossary_find(const Glossary *glossary, StrView text, GlossaryTerm *terms, int count, int most) {
    StrBuf normal = {0};
    add_normal_form(glossary, text, &normal);
    bool *hidden = mem_alloc(normal.length + 1, sizeof *hidden); /* bytes of terms */
    bool *pairs = mem_alloc(BYTE_PAIRS, sizeof *pairs);
    for (size_t at = 0; at + 1 < normal.length; at++) pairs[pair_at(strbuf_view(&normal), at)] = true;
    for (size_t t = 0; t < glossary->count && count < most; t++) {
        const Term *term = &glossary->terms[t];
        StrView found;
        if ((!term->forms && !may_have(pairs, term->source)) ||
            !take_term(strbuf_view(&normal), term, hidden, &found))
            continue;
        if (!is_listed(terms, count, term->target))
            terms[count++] = (GlossaryTerm){term->source, term->target, term->forms};
    }
    mem_free(hidden);
    mem_free(pairs);
    strbuf_free(&normal);
    return count;
}
