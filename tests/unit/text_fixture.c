/* text_fixture.c - see text_fixture.h. */
#include "text_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/fileio.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "unit/learn.h"

const TextOptions FIXTURE_WORD = {
    .tokenizer = TOKENIZER_WORD, .normalize = NORMALIZE_NFC, .lowercase = true, .min_count = 1};
const TextOptions FIXTURE_PREFIX = {.tokenizer = TOKENIZER_BPE,
                                    .normalize = NORMALIZE_NFC,
                                    .bpe_merges = 60,
                                    .bpe_marker = BPE_PREFIX,
                                    .min_count = 1};
const TextOptions FIXTURE_SUFFIX = {.tokenizer = TOKENIZER_BPE,
                                    .normalize = NORMALIZE_NFC,
                                    .bpe_merges = 60,
                                    .bpe_marker = BPE_SUFFIX,
                                    .min_count = 1};

Tokenizer *fixture_learn(const TextOptions *options, const char *const *lines) {
    Tokenizer *tokenizer;
    StrBuf text = {0};
    for (; *lines; lines++) strbuf_format(&text, "%s\n", *lines);
    Status status = learn_tokenizer(&tokenizer, options, strbuf_view(&text));
    if (status != STATUS_OK) fail_msg("learning failed: %s", status_message());
    strbuf_free(&text);
    return tokenizer;
}

IdList fixture_encode(Tokenizer *tokenizer, StrView line) {
    IdList ids = {0};
    tokenizer_encode(tokenizer, line, &ids);
    return ids;
}

void fixture_round_trip(Tokenizer *tokenizer, StrView line, StrBuf *back) {
    IdList ids = fixture_encode(tokenizer, line);
    strbuf_clear(back);
    tokenizer_decode(tokenizer, ids.ids, ids.count, back);
    id_list_free(&ids);
}

/* ---- files ---- */

static char folder[64];

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "cannot remove '%s'\n", folder);
}

const char *fixture_path(const char *name) {
    static char paths[8][256];
    static int turn;
    if (!folder[0]) {
        strcpy(folder, "/tmp/attn-mt-text-XXXXXX");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    turn = (turn + 1) % 8;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

const char *fixture_write(const char *name, const void *data, size_t bytes) {
    const char *path = fixture_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

rlim_t fixture_limit_files(rlim_t most) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN); /* the signal would end the program */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return before;
}

/* ---- cases ---- */

static void resolve(StrView text, StrBuf *out) {
    const char *at = text.data, *end = text.data + text.length;
    while (at < end) {
        char *after = NULL;
        if (*at != '\\') {
            strbuf_add_char(out, *at++);
        } else if (at[1] == 'x') {
            char digits[3] = {at[2], at[3], 0};
            strbuf_add_char(out, (char)strtol(digits, &after, 16));
            assert_true(after == digits + 2);
            at += 4;
        } else if (at[1] == 'u') {
            utf8_add(out, (int)strtol(at + 3, &after, 16));
            assert_true(at[2] == '{' && *after == '}');
            at = after + 1;
        } else if (at[1] == 'e') { /* nothing: for an empty line */
            at += 2;
        } else {
            char kind = at[1];
            strbuf_add_char(out, kind == 's'   ? ' '
                                 : kind == 't' ? '\t'
                                 : kind == 'r' ? '\r'
                                 : kind == 'n' ? '\n'
                                               : '\\');
            assert_non_null(strchr("strn\\", kind));
            at += 2;
        }
    }
}

static void finish(FixtureCase *block, StrBuf *texts, void (*check)(const FixtureCase *)) {
    if (block->count == 0) return;
    for (int i = 0; i < block->count; i++)
        block->line[i] = texts[i].length ? strbuf_view(&texts[i]) : (StrView){"", 0};
    check(block);
    for (int i = 0; i < block->count; i++) strbuf_clear(&texts[i]);
    *block = (FixtureCase){0};
}

void fixture_cases(const char *path, void (*check)(const FixtureCase *block)) {
    LineReader *reader;
    assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
    FixtureCase block = {0};
    StrBuf texts[8] = {{0}}, name = {0};
    int blocks = 0;
    for (;;) {
        StrView line;
        bool more;
        assert_int_equal(line_reader_next(reader, &line, &more), STATUS_OK);
        if (more && line.length > 0 && line.data[0] == '#') {
            strbuf_clear(&name);
            strbuf_add(&name, sv_trim((StrView){line.data + 1, line.length - 1}));
            continue;
        }
        if (!more || line.length == 0) {
            blocks += block.count > 0;
            block.name = name.length ? strbuf_view(&name) : SV("");
            finish(&block, texts, check);
            strbuf_clear(&name);
            if (!more) break;
            continue;
        }
        assert_true(block.count < 8);
        if (block.count == 0) block.number = (int)line_reader_number(reader);
        resolve(line, &texts[block.count++]);
    }
    assert_true(blocks > 0);
    for (int i = 0; i < 8; i++) strbuf_free(&texts[i]);
    strbuf_free(&name);
    line_reader_close(reader);
}
