/* pair_checks.c - findings about one pair: what each check finds, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "data/pair_checks.h"

#define FOUND(kind) ((FindingSet)1 << FINDING_##kind)

static void test_checks(void **state) {
    (void)state;
    static const struct {
        const char *source, *target;
        FindingSet found;
    } CASES[] = {
        {"Open %s", "Öffne", FOUND(PLACEHOLDERS)},
        {"Open %s", "Öffne %s", 0},
        {"%s of %d", "%d von %s", FOUND(PLACEHOLDERS)},
        {"%s of %d", "%2$d von %1$s", 0},
        {"%s of %d", "%1$d von %2$s", FOUND(PLACEHOLDERS)},
        {"%s of %s", "%1$s von %1$s", FOUND(PLACEHOLDERS)},
        {"Hi {name}", "Hallo {Name}", FOUND(PLACEHOLDERS)},
        {"{n, plural, one {# {x}} other {# {x}}}", "{n, plural, other {# {x}}}", 0},
        {"<b>a</b>", "<b>a</b>", FOUND(MARKUP)},
        {"<b>a</b>", "<i>a</i>", FOUND(TAGS) | FOUND(MARKUP)},
        {"a<br>b", "a b", FOUND(TAGS) | FOUND(MARKUP)},
        {"add <file>", "füge <Datei> zu", 0},
        {"in <cycle %d>", "im <Zyklus %d>", 0},
        {"&File", "&Datei", 0},
        {"_File", "Datei", FOUND(ACCELERATORS)},
        {"R&D", "Forschung", 0},
        {"12 of 30", "30 von 12", 0},
        {"12 of 30", "12 von 31", FOUND(NUMBERS)},
        {"twelve", "12", FOUND(NUMBERS)},
        {"1,234,567.5", "1.234.567,5", 0},
        {"1234567", "1\u202F234\u202F567", 0},
        {"1234 567", "1234567", FOUND(NUMBERS)},
        {"5 and 05", "٥ und 5", 0},
        {"0 and 00", "0", FOUND(NUMBERS)},
        {"%2$s %1$s", "%2$s %1$s", 0},
        {"v1.2.3", "v1.2.4", FOUND(NUMBERS)},
        {"Yes.", "Ja", FOUND(PUNCTUATION)},
        {"Yes.", "是。", 0},
        {"Why?", "Warum!", FOUND(PUNCTUATION)},
        {"Wait...", "Warten…", 0},
        {"Wait...", "Warten.", FOUND(PUNCTUATION)},
        {"\"Yes.\"", "„Ja.“", 0},
        {"Name:", "Nom\u00A0:", 0},
        {"Name: ", "Name:", FOUND(BLANKS)},
        {" Name", "\u00A0Name", FOUND(BLANKS)},
        {"a\n", "b\n", 0},
        {"a &amp; b", "a &amp; b", FOUND(ENTITIES)},
        {"so\u00ADft", "weich", FOUND(SOFT_HYPHENS)},
        {"at a@example.org", "bei a@example.org", FOUND(ADDRESSES)},
        {"well @-@ known", "wohlbekannt", FOUND(TOKENIZED)},
        {"a @ b", "a @ b", 0},
    };
    PairChecker checker = {0};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        FindingSet found = pair_check(&checker, sv(CASES[i].source), sv(CASES[i].target));
        if (found == CASES[i].found) continue;
        for (FindingKind kind = 0; kind < FINDING_KINDS; kind++)
            if ((found ^ CASES[i].found) & finding_bit(kind))
                print_error("%s | %s: %s\n", CASES[i].source, CASES[i].target, finding_name(kind));
        fail();
    }
    pair_checker_free(&checker);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_checks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
