/* corpus_cache.c - the cache of encoded pairs gives what it was given, and nothing in any other case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/tree_hash.h"
#include "base/unicode.h"
#include "text/bpe.h"
#include "text/corpus_cache.h"
#include "unit/text_fixture.h"

static const char TRAIN[] =
    "the old dog\tle vieux chien\nthe dog is old\tle chien est vieux\n\tnothing\n"
    "a dog and a cat\tun chien et un chat\nthe cat\tle chat\nan odd one\tU\xFF u\n"
    "the old cat\tle vieux chat\nthe cats are here now\tles chats sont ici maintenant\n";
static const char VALID[] = "a cat\tun chat\nthe old dogs\tles vieux chiens\n";

static Workers *workers;
static char train_path[256], valid_path[256], cache_path[256];
static char *train_items[] = {train_path}, *valid_items[] = {valid_path};

static void write_file(const char *path, const void *data, size_t bytes) {
    assert_int_equal(file_put(path, (StrView){data, bytes}), STATUS_OK);
}

static int set_up(void **state) {
    (void)state;
    strcpy(train_path, fixture_path("train.tsv"));
    strcpy(valid_path, fixture_path("valid.tsv"));
    strcpy(cache_path, fixture_path("some.cache"));
    write_file(train_path, TRAIN, strlen(TRAIN));
    write_file(valid_path, VALID, strlen(VALID));
    remove(cache_path);
    return 0;
}

static DataOptions data_options(void) {
    return (DataOptions){.train = {train_items, 1},
                         .valid = {valid_items, 1},
                         .source = (char *)"en",
                         .target = (char *)"fr",
                         .columns = (char *)"en,fr"};
}

static TextOptions text_options(void) {
    return (TextOptions){.tokenizer = TOKENIZER_BPE,
                         .normalize = NORMALIZE_NFC,
                         .bpe_merges = 20,
                         .joint = true,
                         .min_count = 1};
}

/* As a first start reads them. */
static CorpusData read_data(const DataOptions *data, const TextOptions *text) {
    CorpusData d = {0};
    const StrList *valid = data->valid.count ? &data->valid : &data->train;
    if (corpus_learn_segmenters(&data->train, data, text, workers, &d.source, &d.target) != STATUS_OK ||
        corpus_read(&d.train, &data->train, data, d.source, d.target, true, text->keep_parts, workers) !=
            STATUS_OK ||
        corpus_read(&d.valid, valid, data, d.source, d.target, false, true, workers) != STATUS_OK)
        fail_msg("%s", status_message());
    return d;
}

static void data_free(CorpusData *d) {
    segmenter_free(d->source);
    segmenter_free(d->target);
    corpus_free(&d->train);
    corpus_free(&d->valid);
}

static CorpusCacheKey key_of(const DataOptions *data, const TextOptions *text) {
    CorpusCacheKey key;
    assert_int_equal(corpus_cache_key(&key, data, text, workers), STATUS_OK);
    return key;
}

/* Would a start with these options, which has no segmenters yet, use the cache? */
static bool is_used(const DataOptions *data, const TextOptions *text) {
    CorpusCacheKey key = key_of(data, text);
    CorpusData d = {0};
    bool used = corpus_cache_load(cache_path, &key, &d, workers);
    assert_int_equal(used, d.source != NULL);
    assert_int_equal(used, d.train.count > 0);
    data_free(&d);
    return used;
}

static void save(const DataOptions *data, const TextOptions *text) {
    CorpusCacheKey key = key_of(data, text);
    CorpusData d = read_data(data, text);
    corpus_cache_save(cache_path, &key, &d, true, workers);
    data_free(&d);
}

static void check_texts(const StrList *a, const StrList *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) assert_string_equal(a->items[i], b->items[i]);
}

static void check_side(const CorpusSide *a, const CorpusSide *b, int count) {
    size_t tokens = a->start[count];
    assert_int_equal(a->wide, b->wide);
    assert_memory_equal(a->start, b->start, ((size_t)count + 1) * sizeof *a->start);
    assert_memory_equal(a->ids, b->ids, tokens * (a->wide ? 4 : 2));
}

static void check_corpus(const Corpus *a, const Corpus *b) {
    assert_int_equal(a->count, b->count);
    check_side(&a->source, &b->source, a->count);
    check_side(&a->target, &b->target, a->count);
    check_texts(&a->source_text, &b->source_text);
    check_texts(&a->target_text, &b->target_text);
    assert_int_equal(a->too_long, b->too_long);
    assert_string_equal(a->sha256, b->sha256);
    assert_string_equal(strbuf_text(&a->report), strbuf_text(&b->report));
}

static void check_segmenter(const Segmenter *a, const Segmenter *b) {
    StrBuf first = {0}, second = {0};
    segmenter_write_json(a, &first);
    segmenter_write_json(b, &second);
    assert_string_equal(strbuf_text(&first), strbuf_text(&second));
    strbuf_free(&first);
    strbuf_free(&second);
}

/* ---- what is the same ---------------------------------------------------------------------------------- */

static void check_round_trip(const DataOptions *data, const TextOptions *text) {
    remove(cache_path);
    CorpusCacheKey key = key_of(data, text);
    CorpusData first = read_data(data, text), second = {0};
    assert_false(corpus_cache_load(cache_path, &key, &second, workers));
    corpus_cache_save(cache_path, &key, &first, true, workers);
    assert_true(corpus_cache_load(cache_path, &key, &second, workers));
    check_corpus(&first.train, &second.train);
    check_corpus(&first.valid, &second.valid);
    check_segmenter(first.source, second.source);
    check_segmenter(first.target, second.target);
    assert_int_equal(second.source == second.target, text->joint);
    data_free(&first);
    data_free(&second);
}

static void test_round_trip(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    check_round_trip(&data, &text);
    text.joint = false;
    check_round_trip(&data, &text);
    text.tokenizer = TOKENIZER_WORD;
    data.max_length = 3;
    check_round_trip(&data, &text);
    data.valid = (StrList){0};
    data.held_out = 0.5;
    check_round_trip(&data, &text);
    text = text_options();
    text.keep_parts = true; /* with the text of training pairs */
    check_round_trip(&data, &text);
}

/* Whether the training texts are there counts with given segmenters too; those of the validation pairs are
 * never missing. */
static void test_texts(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options(), with_text = text;
    with_text.keep_parts = true;
    CorpusData first = read_data(&data, &text);
    CorpusCacheKey key = key_of(&data, &text);
    for (int kept = 0; kept < 2; kept++) {
        CorpusCacheKey wanted = key_of(&data, kept ? &with_text : &text);
        CorpusData second = {.source = segmenter_retain(first.source),
                             .target = segmenter_retain(first.target)};
        corpus_cache_save(cache_path, &key, &first, false, workers);
        assert_int_equal(corpus_cache_load(cache_path, &wanted, &second, workers), !kept);
        data_free(&second);
    }
    strlist_free(&first.valid.source_text);
    corpus_cache_save(cache_path, &key, &first, true, workers);
    assert_false(is_used(&data, &text));
    data_free(&first);
}

/* More words, and more pairs, than 16 bits count: each pair has a source word of its own. */
enum { MANY = (1 << 16) + 100 };

static CorpusData read_many(const DataOptions *data, const TextOptions *text) {
    StrBuf lines = {0};
    for (int i = 0; i < MANY; i++) strbuf_format(&lines, "w%d\tle chat\n", i);
    write_file(train_path, lines.data, lines.length);
    strbuf_free(&lines);
    CorpusData d = read_data(data, text);
    assert_int_equal(d.train.count, MANY);
    assert_true(d.train.source.wide && !d.train.target.wide);
    return d;
}

static void test_many(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = {.tokenizer = TOKENIZER_WORD, .min_count = 1};
    CorpusData first = read_many(&data, &text), second = {0};
    CorpusCacheKey key = key_of(&data, &text);
    corpus_cache_save(cache_path, &key, &first, true, workers);
    assert_true(corpus_cache_load(cache_path, &key, &second, workers));
    check_corpus(&first.train, &second.train);
    data_free(&second);
    /* What lies in memory far behind the ids is not looked at. */
    size_t *start = first.train.source.start, *middle = &start[1 << 16], *end = &start[MANY], at = *middle;
    *middle = *end + (1 << 28);
    corpus_cache_save(cache_path, &key, &first, true, workers);
    assert_false(is_used(&data, &text));
    *end += (size_t)1 << 62; /* so many of 4 bytes each are none */
    corpus_cache_save(cache_path, &key, &first, true, workers);
    assert_false(is_used(&data, &text));
    *end -= (size_t)1 << 62;
    *middle = at;
    ((uint32_t *)first.train.source.ids)[*end - 1] = UINT32_MAX;
    corpus_cache_save(cache_path, &key, &first, true, workers);
    assert_false(is_used(&data, &text));
    /* A disk that is full long before the end. */
    remove(cache_path);
    rlim_t usual = fixture_limit_files(1000);
    corpus_cache_save(cache_path, &key, &first, true, workers);
    fixture_limit_files(usual);
    assert_false(file_exists(cache_path));
    data_free(&first);
}

static void test_names_do_not_matter(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    data.columns = NULL; /* the languages in their order */
    save(&data, &text);
    char moved[256];
    strcpy(moved, fixture_path("moved.tsv"));
    assert_int_equal(rename(train_path, moved), 0);
    char *items[] = {moved};
    data.train.items = items;
    assert_true(is_used(&data, &text));
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    StrBuf first = {0}, now = {0};
    Workers *usual = workers;
    save(&data, &text);
    assert_int_equal(file_read(cache_path, 0, &first), STATUS_OK);
    for (int threads = 1; threads < 6; threads += 2) {
        workers = workers_new(threads);
        assert_true(is_used(&data, &text));
        save(&data, &text);
        assert_int_equal(file_read(cache_path, 0, &now), STATUS_OK);
        assert_int_equal(now.length, first.length);
        assert_memory_equal(now.data, first.data, first.length);
        workers_free(workers);
    }
    workers = usual;
    strbuf_free(&first);
    strbuf_free(&now);
}

/* ---- what is not --------------------------------------------------------------------------------------- */

static void test_other_options(void **state) {
    (void)state;
    DataOptions data = data_options(), other = data;
    TextOptions text = text_options(), texts = text;
    save(&data, &text);
#define UNUSED_IF(change)                                                                                    \
    do {                                                                                                     \
        other = data, texts = text;                                                                          \
        change;                                                                                              \
        assert_false(is_used(&other, &texts));                                                               \
    } while (0)
    UNUSED_IF(other.max_length = 5);
    UNUSED_IF(other.max_ratio = 5);
    UNUSED_IF(other.held_out = 0.5);
    UNUSED_IF(other.limit = 3);
    UNUSED_IF((other.source = (char *)"fr", other.target = (char *)"en"));
    UNUSED_IF(other.columns = (char *)"en,fr,de");
    UNUSED_IF(other.valid = other.train);
    UNUSED_IF(other.valid = (StrList){0});
    UNUSED_IF(texts.bpe_merges = 19);
    UNUSED_IF(texts.joint = false);
    UNUSED_IF(texts.lowercase = true);
    UNUSED_IF(texts.normalize = NORMALIZE_NFKC);
    UNUSED_IF(texts.bpe_marker = BPE_SUFFIX);
    UNUSED_IF(texts.min_count = 2);
    UNUSED_IF(texts.max_vocab = 30);
    UNUSED_IF(texts.keep_parts = true);
    UNUSED_IF(texts.tokenizer = TOKENIZER_WORD);
    assert_true(is_used(&data, &text));
}

/* The same name, size and time. */
static void test_other_bytes(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    char other[sizeof TRAIN];
    struct stat before;
    save(&data, &text);
    assert_int_equal(stat(train_path, &before), 0);
    strcpy(other, TRAIN);
    other[4] = 'O';
    FILE *file = fopen(train_path, "r+");
    assert_non_null(file);
    assert_int_equal(fwrite(other, 1, strlen(other), file), strlen(other));
    assert_int_equal(fclose(file), 0);
    const struct timespec times[] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, train_path, times, 0), 0);
    assert_false(is_used(&data, &text));
    write_file(train_path, TRAIN, strlen(TRAIN));
    assert_true(is_used(&data, &text));
}

/* Merges that are read from a file count by what is in it. */
static void test_other_codes(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    char codes[256] = "";
    save(&data, &text);
    text.bpe_codes = codes; /* none, too */
    assert_true(is_used(&data, &text));
    strcpy(codes, fixture_write("codes", "#version: 0.2\nt h\n", 18));
    text.bpe_codes = codes;
    save(&data, &text);
    assert_true(is_used(&data, &text));
    write_file(codes, "#version: 0.2\nh e\n", 18);
    assert_false(is_used(&data, &text));
    remove(codes);
    CorpusCacheKey key;
    assert_int_equal(corpus_cache_key(&key, &data, &text, workers), STATUS_RUNTIME);
}

/* Which of the files stand for two columns counts, although they are all alike. */
static void test_two_files(void **state) {
    (void)state;
    char pattern[256];
    char *first[] = {pattern, train_path}, *last[] = {train_path, pattern};
    DataOptions data = data_options();
    TextOptions text = text_options();
    fixture_write("pairs.en", TRAIN, strlen(TRAIN));
    fixture_write("pairs.fr", TRAIN, strlen(TRAIN));
    strcpy(pattern, fixture_path("pairs.{}"));
    data.train = (StrList){.items = first, .count = 2};
    save(&data, &text);
    assert_true(is_used(&data, &text));
    data.train.items = last;
    assert_false(is_used(&data, &text));
}

static void test_given_segmenters(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options(), other = text;
    other.bpe_merges = 10;
    CorpusCacheKey key = key_of(&data, &text);
    CorpusData mine = read_data(&data, &text), theirs = read_data(&data, &other);
    corpus_cache_save(cache_path, &key, &mine, true, workers);
    CorpusData now = {.source = mine.source, .target = mine.target};
    assert_true(corpus_cache_load(cache_path, &key, &now, workers));
    assert_ptr_equal(now.source, mine.source);
    check_corpus(&now.train, &mine.train);
    corpus_free(&now.train);
    corpus_free(&now.valid);
    now = (CorpusData){.source = theirs.source, .target = theirs.target};
    assert_false(corpus_cache_load(cache_path, &key, &now, workers));
    assert_ptr_equal(now.source, theirs.source);
    /* Segmenters that were not learned here do not pass for those that would be. */
    corpus_cache_save(cache_path, &key, &mine, false, workers);
    assert_false(is_used(&data, &text));
    now = (CorpusData){.source = mine.source, .target = mine.target};
    assert_true(corpus_cache_load(cache_path, &key, &now, workers));
    corpus_free(&now.train);
    corpus_free(&now.valid);
    data_free(&mine);
    data_free(&theirs);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static void test_every_byte_counts(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    StrBuf content = {0};
    save(&data, &text);
    assert_int_equal(file_read(cache_path, 0, &content), STATUS_OK);
    for (size_t i = 0; i < content.length; i++) {
        content.data[i] ^= 0x10;
        write_file(cache_path, content.data, content.length);
        if (is_used(&data, &text)) fail_msg("byte %zu of %zu was changed", i, content.length);
        content.data[i] ^= 0x10;
    }
    strbuf_free(&content);
}

static void test_cut_off(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    StrBuf content = {0};
    save(&data, &text);
    assert_int_equal(file_read(cache_path, 0, &content), STATUS_OK);
    for (size_t length = 0; length < content.length; length += 1 + length / 40) {
        write_file(cache_path, content.data, length);
        if (is_used(&data, &text)) fail_msg("%zu bytes of %zu", length, content.length);
    }
    strbuf_add(&content, SV("more"));
    write_file(cache_path, content.data, content.length);
    assert_false(is_used(&data, &text));
    strbuf_free(&content);
}

/* Digests fit, numbers do not: a file that somebody made. */
static void test_made_up(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    CorpusCacheKey key = key_of(&data, &text);
    CorpusData d = read_data(&data, &text);
    uint16_t *ids = d.train.source.ids, id = ids[1];
    ids[1] = (uint16_t)vocab_size(segmenter_vocab(d.source));
    corpus_cache_save(cache_path, &key, &d, true, workers);
    assert_false(is_used(&data, &text));
    ids[1] = id;
    size_t *start = d.train.target.start, second = start[1];
    start[1] = SIZE_MAX - 7;
    corpus_cache_save(cache_path, &key, &d, true, workers);
    assert_false(is_used(&data, &text));
    start[1] = second;
    start[0] = 1;
    corpus_cache_save(cache_path, &key, &d, true, workers);
    assert_false(is_used(&data, &text));
    start[0] = 0;
    char *last = d.valid.source_text.items[--d.valid.source_text.count];
    corpus_cache_save(cache_path, &key, &d, true, workers);
    assert_false(is_used(&data, &text));
    d.valid.source_text.items[d.valid.source_text.count++] = last;
    last = d.valid.target_text.items[--d.valid.target_text.count];
    corpus_cache_save(cache_path, &key, &d, true, workers);
    assert_false(is_used(&data, &text));
    d.valid.target_text.items[d.valid.target_text.count++] = last;
    corpus_cache_save(cache_path, &key, &d, true, workers);
    assert_true(is_used(&data, &text));
    data_free(&d);
}

/* The parts of a file that is put together anew, with digests that fit. */
enum { SECTIONS = 16, TRAIN_START = 2, TRAIN_TARGET_START = 5, VALID_START = 9 };

typedef struct {
    struct {
        char magic[24];
        uint64_t layout;
        char key[3][64];
        struct {
            uint64_t pairs, about[3];
            char sha256[64];
        } corpora[2];
        uint64_t bytes[SECTIONS];
        char body[64], header[64];
    } header;
    const char *section[SECTIONS];
} Parts;

static Parts take_apart(const StrBuf *content) {
    Parts parts;
    memcpy(&parts.header, content->data, sizeof parts.header);
    const char *at = content->data + sizeof parts.header;
    for (int i = 0; i < SECTIONS; at += parts.header.bytes[i++]) parts.section[i] = at;
    assert_ptr_equal(at, content->data + content->length);
    return parts;
}

static void set_section(Parts *parts, int section, const char *text) {
    parts->section[section] = text;
    parts->header.bytes[section] = strlen(text);
}

static void empty_valid(Parts *parts) {
    parts->header.corpora[1].pairs = 0;
    for (int i = VALID_START; i < SECTIONS; i++) parts->header.bytes[i] = 0;
    parts->header.bytes[VALID_START] = parts->header.bytes[VALID_START + 3] = sizeof(size_t);
}

static void put_together(Parts *parts, const uint64_t *bytes) {
    StrBuf content = {0};
    Sha256 hash;
    char digest[65];
    sha256_begin(&hash);
    for (int i = 0; i < SECTIONS; i++) tree_hash_add(&hash, parts->section[i], bytes[i], workers);
    sha256_end(&hash, digest);
    memcpy(parts->header.body, digest, 64);
    sha256_begin(&hash);
    sha256_add(&hash, &parts->header, sizeof parts->header - 64);
    sha256_end(&hash, digest);
    memcpy(parts->header.header, digest, 64);
    strbuf_add(&content, (StrView){(const char *)&parts->header, sizeof parts->header});
    for (int i = 0; i < SECTIONS; i++) strbuf_add(&content, (StrView){parts->section[i], bytes[i]});
    write_file(cache_path, content.data, content.length);
    strbuf_free(&content);
}

static void test_put_together(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    StrBuf content = {0};
    text.joint = false; /* two segmenters */
    save(&data, &text);
    assert_int_equal(file_read(cache_path, 0, &content), STATUS_OK);
#define USED_IF(used, change)                                                                                \
    do {                                                                                                     \
        Parts parts = take_apart(&content);                                                                  \
        uint64_t *bytes = parts.header.bytes;                                                                \
        change;                                                                                              \
        put_together(&parts, bytes);                                                                         \
        if (is_used(&data, &text) != (used)) fail_msg("%s", #change);                                        \
    } while (0)
    USED_IF(true, (void)bytes);
    USED_IF(false, parts.header.layout ^= 1);
    USED_IF(false, parts.header.corpora[0].pairs += UINT64_C(1) << 61); /* starts of 8 bytes: none more */
    USED_IF(false, empty_valid(&parts));
    USED_IF(false, bytes[TRAIN_START] += 8);
    USED_IF(false, bytes[TRAIN_TARGET_START] += 8);
    USED_IF(false, bytes[TRAIN_START + 1] += 2); /* an id more */
    for (int i = 0; i < 2; i++) {
        USED_IF(false, set_section(&parts, i, "{"));
        USED_IF(false, set_section(&parts, i, "{}"));
    }
    /* Sizes that count the file's bytes if they wrap around. */
    Parts parts = take_apart(&content);
    uint64_t bytes[SECTIONS];
    memcpy(bytes, parts.header.bytes, sizeof bytes);
    parts.header.bytes[0] += bytes[1] + 8;
    parts.header.bytes[1] = UINT64_MAX - 7;
    put_together(&parts, bytes);
    assert_false(is_used(&data, &text));
    strbuf_free(&content);
}

/* A disk that is full leaves the old file, and no other. */
static void test_no_room(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    save(&data, &text);
    TextOptions other = text;
    other.bpe_merges = 5;
    rlim_t usual = fixture_limit_files(1000);
    save(&data, &other);
    fixture_limit_files(usual);
    assert_false(is_used(&data, &other));
    assert_true(is_used(&data, &text));
}

static void test_odd_places(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    strcpy(cache_path, "/no/such/folder/cache");
    save(&data, &text);
    assert_false(is_used(&data, &text));
    strcpy(cache_path, "/dev/full");
    save(&data, &text);
    assert_false(is_used(&data, &text));
    strcpy(cache_path, fixture_path("pipe"));
    assert_int_equal(mkfifo(cache_path, 0600), 0);
    save(&data, &text); /* would wait for a reader */
    assert_false(is_used(&data, &text));
    snprintf(cache_path, sizeof cache_path, "%.200s/cache", train_path);
    save(&data, &text);
    assert_false(is_used(&data, &text));
}

static void test_files_change(void **state) {
    (void)state;
    DataOptions data = data_options();
    TextOptions text = text_options();
    CorpusCacheKey key = key_of(&data, &text);
    assert_true(corpus_cache_key_holds(&key, &data));
    write_file(train_path, VALID, strlen(VALID));
    assert_false(corpus_cache_key_holds(&key, &data));
    remove(train_path);
    assert_int_equal(corpus_cache_key(&key, &data, &text, workers), STATUS_RUNTIME);
    char *both[] = {train_path, valid_path};
    data.train = (StrList){both, 2};
    assert_int_equal(corpus_cache_key(&key, &data, &text, workers), STATUS_RUNTIME);
    assert_non_null(strstr(status_message(), train_path)); /* the first is told */
}

int main(void) {
    log_set_level(LOG_QUIET);
    workers = workers_new(2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trip, set_up),
        cmocka_unit_test_setup(test_texts, set_up),
        cmocka_unit_test_setup(test_many, set_up),
        cmocka_unit_test_setup(test_names_do_not_matter, set_up),
        cmocka_unit_test_setup(test_threads_do_not_matter, set_up),
        cmocka_unit_test_setup(test_other_options, set_up),
        cmocka_unit_test_setup(test_other_bytes, set_up),
        cmocka_unit_test_setup(test_other_codes, set_up),
        cmocka_unit_test_setup(test_two_files, set_up),
        cmocka_unit_test_setup(test_given_segmenters, set_up),
        cmocka_unit_test_setup(test_every_byte_counts, set_up),
        cmocka_unit_test_setup(test_cut_off, set_up),
        cmocka_unit_test_setup(test_made_up, set_up),
        cmocka_unit_test_setup(test_put_together, set_up),
        cmocka_unit_test_setup(test_no_room, set_up),
        cmocka_unit_test_setup(test_odd_places, set_up),
        cmocka_unit_test_setup(test_files_change, set_up),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    workers_free(workers);
    return failed;
}
