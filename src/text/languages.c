/* languages.c - see languages.h. */
#include "text/languages.h"

#include <ctype.h>
#include <string.h>
#include "base/mem.h"
#include "text/language_table.h"

static const char *const NEUTRAL[][2] = {
    {"source", "source"}, {"src", "source"}, {"target", "target"}, {"tgt", "target"}, {"trg", "target"}};

/* Codes of programs for a language with a script or region. */
static const struct {
    const char *name, *code, *script, *region;
} PRIVATE_CODES[] = {{"zt", "zh", "Hant", ""}, {"pb", "pt", "", "BR"}};

/* ISO 15924: the scripts of living languages. */
static const char SCRIPTS[] =
    "Adlm Arab Armn Beng Bopo Cans Cher Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hans Hant Hebr Hira "
    "Java "
    "Jpan Kana Khmr Knda Kore Laoo Latn Lisu Mlym Mong Mtei Mymr Nkoo Olck Orya Sinh Sund Syrc Taml Telu "
    "Tfng Thaa Thai Tibt Vaii ";

/* Regions that imply a script. */
static const char *const REGION_SCRIPTS[][3] = {{"zh", "CN", "Hans"}, {"zh", "SG", "Hans"},
                                                {"zh", "MY", "Hans"}, {"zh", "TW", "Hant"},
                                                {"zh", "HK", "Hant"}, {"zh", "MO", "Hant"}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static bool equal_ignoring_case(StrView a, StrView b) {
    if (a.length != b.length) return false;
    for (size_t i = 0; i < a.length; i++)
        if (lower(a.data[i]) != lower(b.data[i])) return false;
    return true;
}

/* Is it one of the items between separators? */
static bool is_one_of(StrView name, const char *items, char separator) {
    StrView rest = sv(items), item;
    while (sv_next(&rest, separator, &item))
        if (item.length > 0 && equal_ignoring_case(name, item)) return true;
    return false;
}

/* ---- codes and names ---- */

/* "en" and "EN", but not "He", which is a word. */
static bool has_case_of_code(StrView name) {
    for (size_t i = 1; i < name.length; i++)
        if (is_upper(name.data[i]) != is_upper(name.data[0])) return false;
    return true;
}

static StrView find_code(StrView name) {
    if (name.length == 2 && !has_case_of_code(name)) return (StrView){0};
    for (size_t i = 0; i < COUNT(LANGUAGES); i++)
        if (equal_ignoring_case(name, sv(LANGUAGES[i].code)) ||
            is_one_of(name, LANGUAGES[i].other_codes, ' '))
            return sv(LANGUAGES[i].code);
    return (StrView){0};
}

static StrView find_name(StrView name) {
    for (size_t i = 0; i < COUNT(NEUTRAL); i++)
        if (equal_ignoring_case(name, sv(NEUTRAL[i][0]))) return sv(NEUTRAL[i][1]);
    for (size_t i = 0; i < COUNT(LANGUAGES); i++)
        if (is_one_of(name, LANGUAGES[i].names, ',')) return sv(LANGUAGES[i].code);
    return (StrView){0};
}

static bool set_private_code(StrView name, Language *language) {
    for (size_t i = 0; i < COUNT(PRIVATE_CODES); i++) {
        if (!equal_ignoring_case(name, sv(PRIVATE_CODES[i].name)) || !has_case_of_code(name)) continue;
        language->code = sv(PRIVATE_CODES[i].code);
        strcpy(language->script, PRIVATE_CODES[i].script);
        strcpy(language->region, PRIVATE_CODES[i].region);
        return true;
    }
    return false;
}

/* ---- scripts and regions ---- */

static bool all_letters(StrView text) {
    for (size_t i = 0; i < text.length; i++)
        if (lower(text.data[i]) < 'a' || lower(text.data[i]) > 'z') return false;
    return true;
}

static bool all_digits(StrView text) {
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < '0' || text.data[i] > '9') return false;
    return true;
}

static void set_script(Language *language, StrView script) {
    for (size_t i = 0; i < 4; i++) language->script[i] = lower(script.data[i]);
    language->script[0] = (char)(language->script[0] - 32);
}

static void set_region(Language *language, StrView region) {
    for (size_t i = 0; i < region.length; i++)
        language->region[i] =
            (char)(region.data[i] >= 'a' && region.data[i] <= 'z' ? region.data[i] - 32 : region.data[i]);
}

/* A subtag after the language: a script, a region, a variant; and the language itself in "zh-yue". */
static bool read_subtag(Language *language, StrView tag) {
    bool first = !language->script[0] && !language->region[0];
    if (tag.length == 4 && first && is_one_of(tag, SCRIPTS, ' ')) {
        set_script(language, tag);
        return true;
    }
    bool is_region = (tag.length == 2 && all_letters(tag)) || (tag.length == 3 && all_digits(tag));
    if (is_region && !language->region[0]) {
        set_region(language, tag);
        return true;
    }
    if (tag.length == 3 && first && all_letters(tag)) {
        StrView code = find_code(tag);
        language->code = code.length > 0 ? code : language->code;
        return code.length > 0;
    }
    return (tag.length == 4 && all_digits(tag)) || equal_ignoring_case(tag, SV("valencia"));
}

/* Cuts what follows '.' and '@' in the name of a locale off: "sr_RS.UTF-8@latin". */
static StrView cut_modifier(StrView *name) {
    StrView modifier = {0};
    for (size_t i = 0; i < name->length; i++) {
        if (name->data[i] == '@') modifier = (StrView){name->data + i + 1, name->length - i - 1};
        if (name->data[i] == '@' || name->data[i] == '.') {
            if (name->data[i] == '.') {
                const char *at = memchr(name->data + i, '@', name->length - i);
                if (at) modifier = (StrView){at + 1, (size_t)(name->data + name->length - at) - 1};
            }
            name->length = i;
            break;
        }
    }
    return modifier;
}

/* "en-US", "zho_Hans", "sr@latin". */
static bool read_tag(StrView name, Language *language) {
    StrView modifier = cut_modifier(&name), tag;
    size_t end = 0;
    while (end < name.length && name.data[end] != '-' && name.data[end] != '_') end++;
    StrView base = {name.data, end};
    if (base.length != 2 && base.length != 3) return false;
    if (!set_private_code(base, language)) language->code = find_code(base);
    if (language->code.length == 0) return false;
    for (size_t next = end; next < name.length; next = end) {
        for (end = next + 1; end < name.length && name.data[end] != '-' && name.data[end] != '_';) end++;
        tag = (StrView){name.data + next + 1, end - next - 1};
        if (!read_subtag(language, tag)) return false;
    }
    if (equal_ignoring_case(modifier, SV("latin"))) strcpy(language->script, "Latn");
    if (equal_ignoring_case(modifier, SV("cyrillic"))) strcpy(language->script, "Cyrl");
    return true;
}

/* "Chinese (Simplified)", "Portuguese (Brazil)". */
static bool read_name(StrView name, Language *language) {
    StrView note = {0};
    const char *open =
        name.length > 2 && name.data[name.length - 1] == ')' ? memchr(name.data, '(', name.length) : NULL;
    if (open) {
        note = (StrView){open + 1, (size_t)(name.data + name.length - open) - 2};
        name = sv_trim((StrView){name.data, (size_t)(open - name.data)});
    }
    language->code = find_name(name);
    if (language->code.length == 0) return false;
    if (!open) return true;
    if (equal_ignoring_case(note, SV("simplified")) || equal_ignoring_case(note, SV("traditional")))
        strcpy(language->script, lower(note.data[0]) == 's' ? "Hans" : "Hant");
    else if (equal_ignoring_case(note, SV("brazil")))
        strcpy(language->region, "BR");
    else if (note.length == 4 && is_one_of(note, SCRIPTS, ' '))
        set_script(language, note);
    else if (note.length == 2 && all_letters(note))
        set_region(language, note);
    return true;
}

bool language_read(StrView name, Language *language) {
    name = sv_trim(name);
    *language = (Language){0};
    bool known = read_tag(name, language);
    if (!known) *language = (Language){0};
    known = known || read_name(name, language);
    for (size_t i = 0; i < COUNT(REGION_SCRIPTS) && known && !language->script[0]; i++)
        if (sv_equal(language->code, sv(REGION_SCRIPTS[i][0])) &&
            strcmp(language->region, REGION_SCRIPTS[i][1]) == 0)
            strcpy(language->script, REGION_SCRIPTS[i][2]);
    return known;
}

StrView language_code(StrView name) {
    Language language;
    return language_read(name, &language) ? language.code : (StrView){0};
}

StrView language_name(StrView code) {
    StrView names, name;
    for (size_t i = 0; i < COUNT(NEUTRAL); i++)
        if (sv_equal(code, sv(NEUTRAL[i][1]))) return code;
    for (size_t i = 0; i < COUNT(LANGUAGES); i++) {
        if (!sv_equal(code, sv(LANGUAGES[i].code))) continue;
        names = sv(LANGUAGES[i].names);
        sv_next(&names, ',', &name);
        return name;
    }
    return code;
}

static bool parts_differ(const char *a, const char *b) { return a[0] && b[0] && strcmp(a, b) != 0; }

bool languages_match(const Language *a, const Language *b) {
    return sv_equal(a->code, b->code) && !parts_differ(a->script, b->script) &&
           !parts_differ(a->region, b->region);
}

bool language_names_match(StrView a, StrView b) {
    Language one, other;
    if (equal_ignoring_case(sv_trim(a), sv_trim(b))) return true;
    if (!language_read(a, &one) || !language_read(b, &other)) return false;
    return languages_match(&one, &other);
}

bool languages_match_but_region(const Language *a, const Language *b) {
    return sv_equal(a->code, b->code) && !parts_differ(a->script, b->script);
}

int language_rank(StrView requested, StrView name) {
    Language one, other;
    if (equal_ignoring_case(sv_trim(requested), sv_trim(name))) return 3;
    if (language_names_match(requested, name)) return 2;
    if (!language_read(requested, &one) || !language_read(name, &other)) return 0;
    return languages_match_but_region(&one, &other);
}

char *language_nearest(StrView name) {
    StrList candidates = {0};
    StrView names, one;
    StrBuf lower = {0};
    Language language;
    if (name.length < 4 || language_read(name, &language)) return NULL; /* codes are all near each other */
    for (size_t i = 0; i < COUNT(LANGUAGES); i++) {
        names = sv(LANGUAGES[i].names);
        while (sv_next(&names, ',', &one)) strlist_add(&candidates, one);
    }
    for (size_t i = 0; i < name.length; i++)
        strbuf_add_char(&lower, (char)tolower((unsigned char)name.data[i]));
    const char *nearest = str_nearest(lower.data, (const char *const *)candidates.items, candidates.count);
    char *copy = nearest ? mem_strdup(nearest) : NULL;
    strbuf_free(&lower);
    strlist_free(&candidates);
    return copy;
}

bool directions_differ(StrView source, StrView target, StrView a, StrView b) {
    bool known = source.length > 0 && !language_names_match(source, SV("source"));
    return known && !(language_names_match(source, a) && language_names_match(target, b));
}

Status languages_split(const char *value, StrView *source, StrView *target) {
    const char *separators = strpbrk(value, ":,") ? ":," : "-";
    size_t length = strcspn(value, separators);
    *source = (StrView){value, length};
    *target = sv(value + length + (value[length] != 0));
    if (source->length && target->length && !strpbrk(target->data, separators) &&
        !language_names_match(*source, *target))
        return STATUS_OK;
    status_fail(STATUS_USAGE, "--languages '%s' does not name two languages", value);
    if (source->length && target->length && !strpbrk(target->data, separators))
        return status_hint(
            STATUS_USAGE,
            "to simplify or correct text of one language, give one side a private code: --languages "
            "%.*s:%.*s-x-simple",
            SV_ARG(*source), SV_ARG(*source));
    return status_hint(STATUS_USAGE,
                       "write --languages en-de, the language to translate from first, or pt-BR:en");
}
