/* training_data.c - see training_data.h. */
#include "train/training_data.h"

#include <string.h>
#include "base/comm.h"
#include "base/fileio.h"
#include "base/log.h"

static const double CACHED_BYTES = 32e6; /* less is read as quickly as a cache */

/* The files of validation pairs, or those that they are held out of. */
static const StrList *validation_files(const DataOptions *data) {
    return data->held_out > 0 && !data->valid.count ? &data->train : &data->valid;
}

/* That files are there, and none of them a pipe. */
static Status check_entries(const StrList *entries, const DataOptions *data) {
    PairReader *reader;
    TRY(pair_reader_open(&reader, entries, data));
    pair_reader_close(reader);
    return STATUS_OK;
}

static Status check_files(const DataOptions *data) {
    if (data->train.count && validation_files(data)->count) {
        TRY(check_entries(&data->train, data));
        return check_entries(validation_files(data), data);
    }
    status_fail(STATUS_USAGE, "no %s data is configured", data->train.count ? "validation" : "training");
    return status_hint(STATUS_USAGE, data->train.count
                                         ? "name it with --set data.valid=FILE, or hold some of the training "
                                           "pairs out: --set data.held_out=0.1"
                                         : "attn-mt train FILE, or data.train in the configuration");
}

/* Pieces that a merge may be left out of are in the vocabulary, and texts are kept to be cut anew. */
static TextOptions text_options(const Config *config) {
    TextOptions text = config->text;
    text.keep_parts = config->train.bpe_dropout_source > 0 || config->train.bpe_dropout_target > 0;
    return text;
}

static Status read_files(CorpusData *d, const Config *config, Workers *workers) {
    const DataOptions *data = &config->data;
    TextOptions text = text_options(config);
    if (!d->source) TRY(corpus_learn_segmenters(&data->train, data, &text, workers, &d->source, &d->target));
    TRY(corpus_read(&d->train, &data->train, data, d->source, d->target, true, text.keep_parts, workers));
    return corpus_read(&d->valid, validation_files(data), data, d->source, d->target, false, true, workers);
}

static double count_bytes(const DataOptions *data) {
    StrList files = {0};
    double bytes = 0;
    pair_files(&data->train, data, &files);
    for (size_t i = 0; i < files.count; i++) bytes += (double)file_size(files.items[i]);
    strlist_free(&files);
    return bytes;
}

/* Where the cache is; false if there shall be none. */
static bool find_cache(const DataOptions *data, const char *dir, StrBuf *path) {
    bool named = data->cache && data->cache[0];
    if (named && strcmp(data->cache, "none") == 0) return false;
    if (!named && count_bytes(data) < CACHED_BYTES) return false;
    if (named)
        strbuf_add(path, sv(data->cache));
    else
        strbuf_format(path, "%s/data.cache", dir);
    return true;
}

static Status read_cached(CorpusData *d, const Config *config, const char *path, Workers *workers) {
    CorpusCacheKey key;
    TextOptions text = text_options(config);
    bool learned = d->source == NULL;
    TRY(corpus_cache_key(&key, &config->data, &text, workers));
    if (corpus_cache_load(path, &key, d, workers)) return STATUS_OK;
    TRY(read_files(d, config, workers));
    if (!comm_is_root()) return STATUS_OK; /* the run directory is the first rank's */
    if (corpus_cache_key_holds(&key, &config->data))
        corpus_cache_save(path, &key, d, learned, workers);
    else
        log_warn("no cache is written: the data changed while they were read");
    return STATUS_OK;
}

Status training_data_read(CorpusData *data, const Config *config, const char *dir, Workers *workers) {
    TRY(check_files(&config->data));
    StrBuf cache = {0};
    Status status = find_cache(&config->data, dir, &cache)
                        ? read_cached(data, config, strbuf_text(&cache), workers)
                        : read_files(data, config, workers);
    strbuf_free(&cache);
    return status;
}

/* ---- as text ---- */

static Status write_line(OutFile *file, StrBuf *line, StrView source, StrView target) {
    strbuf_clear(line);
    pair_join(line, source, target);
    strbuf_add_char(line, '\n');
    return file_write(file, line->data, line->length);
}

static Status write_pairs(OutFile *file, PairReader *reader, const DataOptions *data) {
    StrBuf line = {0};
    StrView source, target;
    Status status = write_line(file, &line, sv(data->source), sv(data->target));
    for (bool more = true; status == STATUS_OK && more;) {
        status = pair_reader_next(reader, &source, &target, &more);
        if (status == STATUS_OK && more) status = write_line(file, &line, source, target);
    }
    strbuf_free(&line);
    return status;
}

Status training_data_write(const DataOptions *data, bool training, const char *path) {
    PairReader *reader;
    OutFile *file;
    TRY(check_files(data));
    TRY(pair_reader_open(&reader, training ? &data->train : validation_files(data), data));
    corpus_take(reader, data, training);
    StrBuf report = {0};
    Status status = file_create(&file, path);
    if (status == STATUS_OK) {
        status = write_pairs(file, reader, data);
        if (status == STATUS_OK)
            status = file_commit(file);
        else
            file_discard(file);
    }
    if (status == STATUS_OK) pair_reader_report(reader, &report);
    corpus_warn(strbuf_view(&report));
    strbuf_free(&report);
    pair_reader_close(reader);
    return status;
}
