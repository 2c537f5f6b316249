/* cases.c - see cases.h. */
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* The run in progress: fixture_cases passes no context. */
static struct {
    const char *path, *keys;
    CaseFunction run;
    StrBuf texts[8]; /* of the section */
    CaseSection section;
    int count, failed;
} now;

StrView case_option(const CaseSection *section, const char *key) {
    for (int i = 0; i < section->count; i++) {
        StrView value = section->options[i], name;
        if (sv_next(&value, ' ', &name) && sv_equal(name, sv(key))) return value;
    }
    return SV("");
}

static void take_section(const FixtureCase *block) {
    now.section = (CaseSection){0};
    for (int i = 0; i < block->count; i++) {
        strbuf_clear(&now.texts[i]);
        strbuf_add(&now.texts[i], block->line[i]);
        StrView line = strbuf_view(&now.texts[i]), rest = line, name, keys = sv(now.keys), key;
        if (i == 0) {
            now.section.title = line;
            continue;
        }
        bool known = false;
        assert_true(sv_next(&rest, ' ', &name));
        while (sv_next_word(&keys, &key)) known |= sv_equal(key, name);
        if (!known) fail_msg("%s:%d: unknown option '%.*s'", now.path, block->number + i, SV_ARG(name));
        now.section.options[now.section.count++] = line;
    }
}

/* As it is written in the file. */
static void print_text(const char *what, StrView text) {
    fprintf(stderr, "    %-9s ", what);
    if (text.length == 0) fprintf(stderr, "\\e");
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '\n' || c == '\t' || c == '\r')
            fprintf(stderr, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < 32 || (c == ' ' && (i == 0 || i + 1 == text.length)))
            fprintf(stderr, c == ' ' ? "\\s" : "\\x%02X", c);
        else
            fputc(c, stderr);
    }
    fputc('\n', stderr);
}

static void check_block(const FixtureCase *block) {
    StrBuf got = {0};
    if (sv_starts(block->line[0], SV("== "))) {
        take_section(block);
        return;
    }
    if (block->count != 2) fail_msg("%s:%d: not an input and an output", now.path, block->number);
    now.count++;
    now.run(&now.section, block->line[0], &got);
    if (!sv_equal(strbuf_view(&got), block->line[1])) {
        now.failed++;
        fprintf(stderr, "%s:%d: %.*s\n", now.path, block->number, SV_ARG(block->name));
        print_text("input", block->line[0]);
        print_text("expected", block->line[1]);
        print_text("got", strbuf_view(&got));
    }
    strbuf_free(&got);
}

void cases_run(const char *path, const char *keys, CaseFunction run) {
    memset(&now, 0, sizeof now);
    now.path = path;
    now.keys = keys;
    now.run = run;
    fixture_cases(path, check_block);
    for (int i = 0; i < 8; i++) strbuf_free(&now.texts[i]);
    assert_true(now.count > 0);
    if (now.failed > 0) fail_msg("%s: %d of %d cases fail", path, now.failed, now.count);
}
