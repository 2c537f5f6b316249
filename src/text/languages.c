/* languages.c - see languages.h. */
#include "text/languages.h"

#include <string.h>

/* ISO 639-1. */
static const char CODES[] = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co "
                            "cr cs cu cv cy da de dv dz "
                            "ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht "
                            "hu hy hz ia id ie ig ii ik "
                            "io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln "
                            "lo lt lu lv mg mh mi mk ml "
                            "mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt "
                            "qu rm rn ro ru rw sa sc sd "
                            "se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts "
                            "tt tw ty ug uk ur uz ve vi "
                            "vo wa wo xh yi yo za zh zu ";

/* Names of the larger languages in files: English names first, because language_name returns the first one,
 * then ISO 639-2 and 639-3, as in Tatoeba. */
static const char *const NAMES[][2] = {
    {"source", "source"}, {"src", "source"},    {"target", "target"}, {"tgt", "target"},
    {"trg", "target"},    {"arabic", "ar"},     {"bulgarian", "bg"},  {"catalan", "ca"},
    {"chinese", "zh"},    {"croatian", "hr"},   {"czech", "cs"},      {"danish", "da"},
    {"dutch", "nl"},      {"english", "en"},    {"estonian", "et"},   {"finnish", "fi"},
    {"french", "fr"},     {"german", "de"},     {"greek", "el"},      {"hebrew", "he"},
    {"hindi", "hi"},      {"hungarian", "hu"},  {"indonesian", "id"}, {"irish", "ga"},
    {"italian", "it"},    {"japanese", "ja"},   {"korean", "ko"},     {"latin", "la"},
    {"latvian", "lv"},    {"lithuanian", "lt"}, {"norwegian", "no"},  {"persian", "fa"},
    {"polish", "pl"},     {"portuguese", "pt"}, {"romanian", "ro"},   {"russian", "ru"},
    {"serbian", "sr"},    {"slovak", "sk"},     {"slovenian", "sl"},  {"spanish", "es"},
    {"swahili", "sw"},    {"swedish", "sv"},    {"turkish", "tr"},    {"ukrainian", "uk"},
    {"urdu", "ur"},       {"vietnamese", "vi"}, {"mandarin", "zh"},   {"esperanto", "eo"},
    {"thai", "th"},       {"lao", "lo"},        {"khmer", "km"},      {"burmese", "my"},
    {"tibetan", "bo"},    {"cantonese", "yue"}, {"ara", "ar"},        {"bul", "bg"},
    {"cat", "ca"},        {"ces", "cs"},        {"chi", "zh"},        {"cmn", "zh"},
    {"dan", "da"},        {"deu", "de"},        {"dut", "nl"},        {"ell", "el"},
    {"eng", "en"},        {"epo", "eo"},        {"est", "et"},        {"fas", "fa"},
    {"fin", "fi"},        {"fra", "fr"},        {"fre", "fr"},        {"ger", "de"},
    {"heb", "he"},        {"hin", "hi"},        {"hrv", "hr"},        {"hun", "hu"},
    {"ind", "id"},        {"ita", "it"},        {"jpn", "ja"},        {"kor", "ko"},
    {"lat", "la"},        {"lav", "lv"},        {"lit", "lt"},        {"nld", "nl"},
    {"nor", "no"},        {"pol", "pl"},        {"por", "pt"},        {"ron", "ro"},
    {"rus", "ru"},        {"slk", "sk"},        {"slv", "sl"},        {"spa", "es"},
    {"srp", "sr"},        {"swe", "sv"},        {"tur", "tr"},        {"ukr", "uk"},
    {"vie", "vi"},        {"zho", "zh"},        {"tha", "th"},        {"khm", "km"},
    {"mya", "my"},        {"bod", "bo"},        {"yue", "yue"},       {"wuu", "wuu"},
    {"lzh", "lzh"},
};

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static bool equal_ignoring_case(StrView a, StrView b) {
    if (a.length != b.length) return false;
    for (size_t i = 0; i < a.length; i++)
        if (lower(a.data[i]) != lower(b.data[i])) return false;
    return true;
}

/* "en" and "EN", but not "He", which is a word. */
static StrView find_code(StrView name) {
    bool first_upper = name.data[0] >= 'A' && name.data[0] <= 'Z',
         second_upper = name.data[1] >= 'A' && name.data[1] <= 'Z';
    if (first_upper != second_upper) return (StrView){0};
    for (const char *code = CODES; *code; code += 3)
        if (equal_ignoring_case(name, (StrView){code, 2})) return (StrView){code, 2};
    return (StrView){0};
}

/* "en" of "en-US", "zh" of "zh_Hans"; empty if no region or script follows a code. */
static StrView without_region(StrView name) {
    size_t end = 2;
    if (name.length < 5 || name.length > 7 || (name.data[2] != '-' && name.data[2] != '_'))
        return (StrView){0};
    while (++end < name.length)
        if (lower(name.data[end]) < 'a' || lower(name.data[end]) > 'z') return (StrView){0};
    return (StrView){name.data, 2};
}

StrView language_code(StrView name) {
    name = sv_trim(name);
    StrView base = without_region(name);
    if (base.length > 0) return find_code(base);
    if (name.length == 2) return find_code(name);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (equal_ignoring_case(name, sv(NAMES[i][0]))) return sv(NAMES[i][1]);
    return (StrView){0};
}

StrView language_name(StrView code) {
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (sv_equal(code, sv(NAMES[i][1]))) return sv(NAMES[i][0]);
    return code;
}

bool language_same(StrView a, StrView b) {
    StrView code = language_code(a);
    if (equal_ignoring_case(sv_trim(a), sv_trim(b))) return true;
    if (without_region(sv_trim(a)).length > 0 && without_region(sv_trim(b)).length > 0) return false;
    return code.length > 0 && sv_equal(code, language_code(b));
}

bool languages_differ(StrView source, StrView target, StrView a, StrView b) {
    bool known = source.length > 0 && !language_same(source, SV("source"));
    return known && !(language_same(source, a) && language_same(target, b));
}

Status languages_split(const char *value, StrView *source, StrView *target) {
    const char *separators = strpbrk(value, ":,") ? ":," : "-";
    size_t length = strcspn(value, separators);
    *source = (StrView){value, length};
    *target = sv(value + length + (value[length] != 0));
    if (source->length && target->length && !strpbrk(target->data, separators) &&
        !language_same(*source, *target))
        return STATUS_OK;
    status_fail(STATUS_USAGE, "--languages '%s' does not name two languages", value);
    if (source->length && target->length && !strpbrk(target->data, separators))
        return status_hint(STATUS_USAGE,
                           "for simplification or correction a private code names one side: --languages "
                           "%.*s:%.*s-x-simple",
                           SV_ARG(*source), SV_ARG(*source));
    return status_hint(STATUS_USAGE,
                       "write --languages en-de, the language to translate from first, or pt-BR:en");
}
