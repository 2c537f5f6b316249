/* training_data.c - learns tokenizers, reads corpora, and writes pairs as text. */
#include "train/training_data.h"

#include "io/fileio.h"
#include "base/log.h"
#include "formats/escapes.h"

/* The files of the validation pairs, or the training files that have the held-out pairs. */
static const StrList *validation_files(const DataOptions *data) {
    return data->held_out > 0 && !data->valid.count ? &data->train : &data->valid;
}

/* An error if a file is missing or a pipe. */
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
                                         ? "name a file with --set data.valid=FILE, or hold out some of the "
                                           "training pairs: --set data.held_out=0.1"
                                         : "attn-mt train FILE, or data.train in the configuration");
}

/* BPE-dropout needs the parts of each merge in the vocabulary, and the texts to encode them again. */
static TextOptions text_options(const Config *config) {
    TextOptions text = config->text;
    text.all_pieces = config->train.bpe_dropout_source > 0 || config->train.bpe_dropout_target > 0;
    text.reserved = config->data.placeholders;
    return text;
}

static Status check_unigrams(const TrainingData *d, const Config *config) {
    if (config->train.unigram_alpha <= 0) return STATUS_OK;
    if (tokenizer_has_unigrams(d->source) && tokenizer_has_unigrams(d->target)) return STATUS_OK;
    Status s =
        status_fail(STATUS_USAGE, "train.unigram_alpha draws pieces of a unigram model, but this model "
                                  "has pieces of BPE");
    return status_hint(s, "set train.unigram_alpha = 0");
}

Status training_data_learn(TrainingData *d, const Config *config, Workers *workers) {
    TRY(check_files(&config->data));
    TextOptions text = text_options(config);
    if (!d->source)
        TRY(corpus_learn_tokenizers(&config->data.train, &config->data, &text, workers, &d->source,
                                    &d->target));
    return check_unigrams(d, config);
}

Status training_data_read(TrainingData *d, const Config *config, Workers *workers) {
    const DataOptions *data = &config->data;
    TextOptions text = text_options(config);
    bool keep_text = text.all_pieces || text.reserved || config->train.unigram_alpha > 0;
    TRY(corpus_read(&d->train, &data->train, data, d->source, d->target, true, keep_text, workers));
    TRY(corpus_read(&d->valid, validation_files(data), data, d->source, d->target, false, true, workers));
    if (!data->general.count) return STATUS_OK;
    DataOptions whole = *data;
    whole.held_out = 0;
    return corpus_read(&d->general, &data->general, &whole, d->source, d->target, false, true, workers);
}

/* ---- as text ---- */

static Status write_line(OutFile *file, StrBuf *line) {
    strbuf_add_char(line, '\n');
    Status status = file_write(file, line->data, line->length);
    strbuf_clear(line);
    return status;
}

static Status write_pairs(OutFile *file, PairReader *reader, const DataOptions *data) {
    bool escapes = pair_reader_has_escapes(reader);
    StrBuf line = {0};
    StrView source, target;
    pair_join(&line, sv(data->source), sv(data->target));
    if (escapes) strbuf_add(&line, SV("\t" ESCAPES_COLUMN));
    Status status = write_line(file, &line);
    for (bool more = true; status == STATUS_OK && more;) {
        status = pair_reader_next(reader, &source, &target, &more);
        if (status != STATUS_OK || !more) break;
        (escapes ? pair_join_escaped : pair_join)(&line, source, target);
        status = write_line(file, &line);
    }
    strbuf_free(&line);
    return status;
}

Status training_data_write(const DataOptions *data, bool training, const char *path) {
    PairReader *reader;
    OutFile *file;
    TRY(check_files(data));
    TRY(pair_reader_open(&reader, training ? &data->train : validation_files(data), data));
    corpus_set_limit(reader, data, training);
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
