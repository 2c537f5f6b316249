/* corpus_cache_key.c - what the content of a cache follows from. */
#include <string.h>
#include <sys/stat.h>
#include "base/fileio.h"
#include "base/tree_hash.h"
#include "base/unicode.h"
#include "base/version.h"
#include "text/corpus_cache.h"

/* What is written to a file changes its time, or its size, or makes it another file. */
static void stamp_files(const DataOptions *data, char stamp[65]) {
    StrList files = {0};
    Sha256 hash;
    sha256_begin(&hash);
    pair_files(&data->train, data, &files);
    pair_files(&data->valid, data, &files);
    for (size_t i = 0; i < files.count; i++) {
        struct stat about;
        if (stat(files.items[i], &about) != 0) continue;
        const uint64_t facts[] = {(uint64_t)about.st_dev, (uint64_t)about.st_ino, (uint64_t)about.st_size,
                                  (uint64_t)about.st_mtim.tv_sec, (uint64_t)about.st_mtim.tv_nsec};
        sha256_add(&hash, facts, sizeof facts);
    }
    sha256_end(&hash, stamp);
    strlist_free(&files);
}

/* The files' names are not in the digest, but how many there are, and of which kind. */
static Status hash_entries(Sha256 *hash, const StrList *entries, const DataOptions *data, Workers *workers) {
    StrList files = {0};
    Status status = STATUS_OK;
    pair_files(entries, data, &files);
    const uint64_t counts[] = {entries->count, files.count};
    sha256_add(hash, counts, sizeof counts);
    for (size_t i = 0; i < entries->count; i++)
        sha256_add(hash, strstr(entries->items[i], "{}") ? "2" : "1", 1);
    for (size_t i = 0; i < files.count && status == STATUS_OK; i++)
        status = tree_hash_file(hash, files.items[i], workers);
    strlist_free(&files);
    return status;
}

static Status hash_inputs(const DataOptions *data, bool keep_text, Workers *workers, char digest[65]) {
    Sha256 hash;
    StrBuf options = {0};
    const char *const names[] = {ATTN_MT_VERSION, unicode_version(), data->source, data->target,
                                 data->columns ? data->columns : ""};
    sha256_begin(&hash);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) sha256_add_text(&hash, sv(names[i]));
    strbuf_format(&options, "%d %a %a %d %d", data->max_length, data->max_ratio, data->held_out, data->limit,
                  keep_text);
    sha256_add_text(&hash, strbuf_view(&options));
    strbuf_free(&options);
    Status status = hash_entries(&hash, &data->train, data, workers);
    if (status == STATUS_OK) status = hash_entries(&hash, &data->valid, data, workers);
    sha256_end(&hash, digest);
    return status;
}

static Status hash_learning(const TextOptions *text, char digest[65]) {
    Sha256 hash;
    StrBuf codes = {0}, options = {0};
    Status status = STATUS_OK;
    if (text->bpe_codes && text->bpe_codes[0]) status = file_read(text->bpe_codes, FILE_TEXT_BYTES, &codes);
    strbuf_format(&options, "%d %d %d %d %d %d %d %d %d", text->tokenizer, text->normalize, text->lowercase,
                  text->bpe_merges, text->bpe_marker, text->joint, text->min_count, text->max_vocab,
                  codes.length > 0);
    sha256_begin(&hash);
    sha256_add_text(&hash, strbuf_view(&options));
    sha256_add_text(&hash, strbuf_view(&codes));
    sha256_end(&hash, digest);
    strbuf_free(&options);
    strbuf_free(&codes);
    return status;
}

Status corpus_cache_key(CorpusCacheKey *key, const DataOptions *data, const TextOptions *text,
                        Workers *workers) {
    key->keep_text = text->keep_parts; /* BPE-dropout cuts the texts anew */
    stamp_files(data, key->stamp);
    TRY(hash_learning(text, key->learning));
    return hash_inputs(data, key->keep_text, workers, key->inputs);
}

bool corpus_cache_key_holds(const CorpusCacheKey *key, const DataOptions *data) {
    char now[65];
    stamp_files(data, now);
    return strcmp(now, key->stamp) == 0;
}
