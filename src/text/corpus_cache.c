/* corpus_cache.c - see corpus_cache.h. */
#include "text/corpus_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/tree_hash.h"

/* ---- layout -------------------------------------------------------------------------------------------- */

#define NAME  "attn-mt corpus cache "
#define MAGIC NAME "1\n"
enum { HEX = 64, CORPORA = 2 };
static const uint64_t LAYOUT = UINT64_C(0x0102030405060700) + sizeof(size_t); /* order of bytes, and widths */

enum { SOURCE_JSON, TARGET_JSON, CORPUS_SECTIONS };
enum { SOURCE_START, SOURCE_IDS, SOURCE_TEXT, TARGET_START, TARGET_IDS, TARGET_TEXT, REPORT, PER_CORPUS };
enum { SECTIONS = CORPUS_SECTIONS + CORPORA * PER_CORPUS };

typedef struct {
    uint64_t pairs, too_long, source_wide, target_wide;
    char sha256[HEX];
} CorpusRecord;

/* Without gaps. Texts are strings with their NULs. */
typedef struct {
    char magic[24];
    uint64_t layout;
    char inputs[HEX], learning[HEX]; /* of the key; learning: zeros if the segmenters were given */
    char segmenters[HEX];            /* of their JSON */
    CorpusRecord corpora[CORPORA];
    uint64_t bytes[SECTIONS]; /* the second JSON has none where there is one vocabulary */
    char body[HEX];           /* of all sections */
    char header[HEX];         /* of all before */
} Header;

typedef struct {
    void *data;
    size_t bytes;
} Section;

static Corpus *corpus_of(const CorpusData *data, int number) {
    return (Corpus *)(number == 0 ? &data->train : &data->valid);
}

static void finish(Sha256 *hash, char digest[HEX]) {
    char hex[HEX + 1];
    sha256_end(hash, hex);
    memcpy(digest, hex, HEX);
}

static void hash_header(const Header *header, char digest[HEX]) {
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, header, offsetof(Header, header));
    finish(&hash, digest);
}

static void hash_segmenters(StrView source, StrView target, char digest[HEX]) {
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add_text(&hash, source);
    sha256_add_text(&hash, target);
    finish(&hash, digest);
}

static void write_segmenters(const CorpusData *data, StrBuf json[2]) {
    segmenter_write_json(data->source, &json[0]);
    if (data->target != data->source) segmenter_write_json(data->target, &json[1]);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static Section buffer_section(const StrBuf *buffer) { return (Section){buffer->data, buffer->length}; }

static void list_corpus(const Corpus *c, StrBuf text[2], CorpusRecord *record, Section *section) {
    size_t starts = ((size_t)c->count + 1) * sizeof *c->source.start;
    strlist_join(&c->source_text, &text[0]);
    strlist_join(&c->target_text, &text[1]);
    section[SOURCE_START] = (Section){c->source.start, starts};
    section[SOURCE_IDS] = (Section){c->source.ids, corpus_tokens(c, &c->source) * corpus_id_size(&c->source)};
    section[SOURCE_TEXT] = buffer_section(&text[0]);
    section[TARGET_START] = (Section){c->target.start, starts};
    section[TARGET_IDS] = (Section){c->target.ids, corpus_tokens(c, &c->target) * corpus_id_size(&c->target)};
    section[TARGET_TEXT] = buffer_section(&text[1]);
    section[REPORT] = buffer_section(&c->report);
    record->pairs = (uint64_t)c->count;
    record->too_long = (uint64_t)c->too_long;
    record->source_wide = c->source.wide;
    record->target_wide = c->target.wide;
    memcpy(record->sha256, c->sha256, HEX);
}

static void describe(Header *header, const Section *section, const CorpusCacheKey *key, bool learned,
                     Workers *workers) {
    Sha256 body;
    memcpy(header->magic, MAGIC, sizeof MAGIC);
    header->layout = LAYOUT;
    memcpy(header->inputs, key->inputs, HEX);
    if (learned) memcpy(header->learning, key->learning, HEX);
    hash_segmenters((StrView){section[SOURCE_JSON].data, section[SOURCE_JSON].bytes},
                    (StrView){section[TARGET_JSON].data, section[TARGET_JSON].bytes}, header->segmenters);
    sha256_begin(&body);
    for (int i = 0; i < SECTIONS; i++) {
        header->bytes[i] = section[i].bytes;
        tree_hash_add(&body, section[i].data, section[i].bytes, workers);
    }
    finish(&body, header->body);
    hash_header(header, header->header);
}

/* As much again has to be left: for what a run is about to save. */
static Status check_room(const char *path, const Header *header) {
    double bytes = sizeof *header, room = file_room(path);
    char need[32];
    for (int i = 0; i < SECTIONS; i++) bytes += (double)header->bytes[i];
    if (room < 0 || room >= 2 * bytes) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "'%.700s' would have %s, and the disk is nearly full", path,
                       str_bytes(bytes, need));
}

/* Is something there that is no cache, of this version or another? */
static bool is_other_file(const char *path) {
    char start[sizeof NAME - 1];
    int fd = file_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0) return false; /* writing says what is wrong */
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    return got > 0 && memcmp(start, NAME, (size_t)got) != 0;
}

static Status write_file(const char *path, const Header *header, const Section *section) {
    OutFile *file;
    if (file_is_stream(path)) return status_fail(STATUS_RUNTIME, "'%.700s' is not a regular file", path);
    if (is_other_file(path))
        return status_fail(STATUS_RUNTIME, "'%.700s' is another file, which stays as it is", path);
    TRY(check_room(path, header));
    TRY(file_create(&file, path));
    Status status = file_write(file, header, sizeof *header);
    for (int i = 0; i < SECTIONS && status == STATUS_OK; i++)
        status = file_write(file, section[i].data, section[i].bytes);
    if (status == STATUS_OK) return file_commit(file);
    file_discard(file);
    return status;
}

void corpus_cache_save(const char *path, const CorpusCacheKey *key, const CorpusData *data, bool learned,
                       Workers *workers) {
    Header *header = mem_alloc(1, sizeof *header);
    Section section[SECTIONS] = {{0}};
    StrBuf json[2] = {{0}}, text[CORPORA][2] = {{{0}}};
    write_segmenters(data, json);
    section[SOURCE_JSON] = buffer_section(&json[0]);
    section[TARGET_JSON] = buffer_section(&json[1]);
    for (int i = 0; i < CORPORA; i++)
        list_corpus(corpus_of(data, i), text[i], &header->corpora[i],
                    section + CORPUS_SECTIONS + i * PER_CORPUS);
    describe(header, section, key, learned, workers);
    if (write_file(path, header, section) != STATUS_OK) log_warn("no cache is written: %s", status_message());
    for (int i = 0; i < 2; i++) {
        strbuf_free(&json[i]);
        for (int c = 0; c < CORPORA; c++) strbuf_free(&text[c][i]);
    }
    mem_free(header);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef enum { USABLE, STALE, DAMAGED } Verdict;

/* Does the header count what the file has? Then nothing that it says needs more memory than that. */
static bool counts_match(const Header *header, uint64_t size) {
    uint64_t left = size - sizeof *header;
    for (int i = 0; i < SECTIONS; i++) {
        if (header->bytes[i] > left) return false;
        left -= header->bytes[i];
    }
    for (int i = 0; i < CORPORA; i++) {
        const CorpusRecord *record = &header->corpora[i];
        const uint64_t *bytes = header->bytes + CORPUS_SECTIONS + i * PER_CORPUS;
        uint64_t starts = (record->pairs + 1) * sizeof(size_t);
        if (record->pairs == 0 || record->pairs >= INT_MAX) return false;
        if (bytes[SOURCE_START] != starts || bytes[TARGET_START] != starts) return false;
    }
    return left == 0;
}

static Verdict judge_header(const Header *header, uint64_t size, const CorpusCacheKey *key,
                            const CorpusData *data) {
    char digest[HEX];
    if (memcmp(header->magic, MAGIC, sizeof MAGIC) != 0) return DAMAGED;
    hash_header(header, digest);
    if (memcmp(digest, header->header, HEX) != 0 || !counts_match(header, size)) return DAMAGED;
    if (header->layout != LAYOUT || memcmp(header->inputs, key->inputs, HEX) != 0) return STALE;
    if (!data->source) return memcmp(header->learning, key->learning, HEX) == 0 ? USABLE : STALE;
    StrBuf json[2] = {{0}};
    write_segmenters(data, json);
    hash_segmenters(strbuf_view(&json[0]), strbuf_view(&json[1]), digest);
    strbuf_free(&json[0]);
    strbuf_free(&json[1]);
    return memcmp(digest, header->segmenters, HEX) == 0 ? USABLE : STALE;
}

static Verdict read_sections(int fd, const char *path, const Header *header, Section *section,
                             Workers *workers) {
    Sha256 body;
    char digest[HEX];
    uint64_t offset = sizeof *header;
    sha256_begin(&body);
    for (int i = 0; i < SECTIONS; offset += section[i++].bytes) {
        section[i].bytes = (size_t)header->bytes[i];
        section[i].data = mem_realloc(NULL, section[i].bytes + 1, 1);
        ((char *)section[i].data)[section[i].bytes] = 0;
        if (tree_hash_read(&body, fd, path, offset, section[i].data, section[i].bytes, workers) != STATUS_OK)
            return DAMAGED;
    }
    finish(&body, digest);
    return memcmp(digest, header->body, HEX) == 0 ? USABLE : DAMAGED;
}

/* A digest says that the file is as it was written, not by whom: numbers that index memory are looked at. */
typedef struct {
    const CorpusSide *side;
    int pairs, vocab;
    atomic_bool wrong;
} Check;

enum { CHECKED_PAIRS = 1 << 16 };

static void check_pairs(void *context, int task, int thread) {
    Check *check = context;
    const CorpusSide *side = check->side;
    const size_t *start = side->start;
    (void)thread;
    int first = task * CHECKED_PAIRS, left = check->pairs - first;
    int end = first + (left < CHECKED_PAIRS ? left : CHECKED_PAIRS);
    bool wrong = false;
    for (int i = first; i < end; i++)
        wrong |= start[i] >= start[i + 1] || start[i + 1] - start[i] > INT_MAX / 4;
    wrong = wrong || start[end] > start[check->pairs];
    uint32_t most = 0;
    for (size_t i = start[first]; i < start[end] && !wrong; i++) {
        uint32_t id = corpus_id(side, i);
        most = id > most ? id : most;
    }
    if (wrong || most >= (uint32_t)check->vocab) atomic_store(&check->wrong, true);
}

static bool is_sound(const CorpusSide *side, int pairs, size_t bytes, const Segmenter *segmenter,
                     Workers *workers) {
    if (side->start[0] != 0 || side->start[pairs] > bytes ||
        side->start[pairs] * corpus_id_size(side) != bytes)
        return false;
    Check check = {.side = side, .pairs = pairs, .vocab = vocab_size(segmenter_vocab(segmenter))};
    atomic_init(&check.wrong, false);
    workers_run(workers, pairs / CHECKED_PAIRS + 1, check_pairs, &check);
    return !atomic_load(&check.wrong);
}

static StrView text_of(const Section *section) { return (StrView){section->data, section->bytes}; }

/* There is a NUL behind the section, so that its last text ends. */
static bool take_texts(StrList *texts, const Section *section, int count) {
    strlist_split(texts, text_of(section));
    return texts->count == (size_t)count;
}

/* The corpus takes the memory of its sections over. */
static void *take(Section *section) {
    void *data = section->data;
    section->data = NULL;
    return data;
}

static bool take_corpus(Corpus *corpus, const CorpusRecord *record, Section *section, bool has_text,
                        const CorpusData *data, Workers *workers) {
    int texts = has_text ? (int)record->pairs : 0;
    corpus->count = (int)record->pairs;
    corpus->too_long = (long)record->too_long;
    memcpy(corpus->sha256, record->sha256, HEX);
    corpus->source =
        (CorpusSide){take(&section[SOURCE_START]), take(&section[SOURCE_IDS]), record->source_wide};
    corpus->target =
        (CorpusSide){take(&section[TARGET_START]), take(&section[TARGET_IDS]), record->target_wide};
    strbuf_add(&corpus->report, text_of(&section[REPORT]));
    return is_sound(&corpus->source, corpus->count, section[SOURCE_IDS].bytes, data->source, workers) &&
           is_sound(&corpus->target, corpus->count, section[TARGET_IDS].bytes, data->target, workers) &&
           take_texts(&corpus->source_text, &section[SOURCE_TEXT], texts) &&
           take_texts(&corpus->target_text, &section[TARGET_TEXT], texts);
}

static bool take_segmenters(CorpusData *data, const Section *section) {
    if (segmenter_read_json(&data->source, text_of(&section[SOURCE_JSON])) != STATUS_OK) return false;
    if (section[TARGET_JSON].bytes == 0)
        data->target = segmenter_retain(data->source);
    else if (segmenter_read_json(&data->target, text_of(&section[TARGET_JSON])) != STATUS_OK)
        return false;
    return true;
}

/* Everything of the file, into `data`, which may be filled in part if it is not usable. */
static Verdict read_file(int fd, const char *path, const CorpusCacheKey *key, CorpusData *data,
                         Workers *workers) {
    struct stat about;
    Header header;
    Sha256 unused;
    sha256_begin(&unused);
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < (off_t)sizeof header ||
        tree_hash_read(&unused, fd, path, 0, &header, sizeof header, workers) != STATUS_OK)
        return DAMAGED;
    Verdict verdict = judge_header(&header, (uint64_t)about.st_size, key, data);
    if (verdict != USABLE) return verdict;
    Section section[SECTIONS] = {{0}};
    verdict = read_sections(fd, path, &header, section, workers);
    if (verdict == USABLE && !data->source && !take_segmenters(data, section)) verdict = DAMAGED;
    for (int i = 0; i < CORPORA && verdict == USABLE; i++) {
        Corpus *corpus = corpus_of(data, i);
        if (!take_corpus(corpus, &header.corpora[i], section + CORPUS_SECTIONS + i * PER_CORPUS,
                         corpus == &data->valid || key->keep_text, data, workers))
            verdict = DAMAGED;
    }
    for (int i = 0; i < SECTIONS; i++) mem_free(section[i].data);
    return verdict;
}

static void say(Verdict verdict, const char *path) {
    if (verdict == USABLE) log_info("cache    the encoded data are read from '%s'", path);
    if (verdict == STALE) log_info("cache    '%s' is of other data or options: it is made anew", path);
    if (verdict == DAMAGED)
        log_warn("'%s' is no cache of encoded data, or damaged: they are encoded anew", path);
}

bool corpus_cache_load(const char *path, const CorpusCacheKey *key, CorpusData *data, Workers *workers) {
    int fd = file_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 && errno == ENOENT) return false;
    CorpusData found = {.source = data->source, .target = data->target};
    Verdict verdict = fd < 0 ? DAMAGED : read_file(fd, path, key, &found, workers);
    if (fd >= 0) close(fd);
    say(verdict, path);
    if (verdict == USABLE) {
        *data = found;
        corpus_warn(strbuf_view(&data->train.report));
        corpus_warn(strbuf_view(&data->valid.report));
        return true;
    }
    if (!data->source) {
        segmenter_free(found.source);
        segmenter_free(found.target);
    }
    corpus_free(&found.train);
    corpus_free(&found.valid);
    return false;
}
