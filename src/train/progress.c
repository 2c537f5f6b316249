/* progress.c - train.jsonl and curve.svg, the best model, and the end of a run. */
#include "train/progress.h"

#include <math.h>
#include <stdio.h>
#include "io/fileio.h"
#include "io/json.h"
#include "io/json_write.h"
#include "base/mem.h"
#include "viz/plot.h"

void progress_free(Progress *progress) { mem_free(progress->records); }

void progress_add(Progress *progress, const ProgressRecord *record) {
    MEM_GROW(progress->records, progress->capacity, progress->count + 1);
    progress->records[progress->count++] = *record;
}

/* The numbers of a record that are written and read under their names. */
#define RECORD_FIELDS(FIELD)                                                                                 \
    FIELD(update)                                                                                            \
    FIELD(epoch)                                                                                             \
    FIELD(seconds)                                                                                           \
    FIELD(tokens_per_second)                                                                                 \
    FIELD(train_loss)                                                                                        \
    FIELD(valid_loss)                                                                                        \
    FIELD(valid_perplexity)                                                                                  \
    FIELD(valid_bleu)                                                                                        \
    FIELD(learning_rate)                                                                                     \
    FIELD(gradient_norm)

void progress_write_json(const ProgressRecord *record, StrBuf *out) {
    json_open_object(out);
#define WRITE(field) json_put_number(out, #field, (double)record->field);
    RECORD_FIELDS(WRITE)
#undef WRITE
    if (isfinite(record->valid_chrf)) json_put_number(out, "valid_chrf", record->valid_chrf);
    json_put_bool(out, "best", record->best);
    strbuf_add(out, SV("}\n"));
}

static void write_line(const ProgressRecord *r, const char *gap, StrBuf *out) {
    char time[32];
    int train_digits = r->train_loss < 9.9995 ? 3 : 2, valid_digits = r->valid_loss < 9.9995 ? 3 : 2;
    strbuf_format(out, "epoch %d update %lld%strain %.*f valid %.*f%s", r->epoch, r->update, gap,
                  train_digits, r->train_loss, valid_digits, r->valid_loss, gap);
    if (isfinite(r->valid_chrf))
        strbuf_format(out, "BLEU %.1f chrF %.1f", r->valid_bleu, r->valid_chrf);
    else
        strbuf_format(out, "BLEU %.2f", r->valid_bleu);
    strbuf_format(out, "%s%s%s", gap, str_duration(r->seconds, time), r->best ? " best" : "");
}

void progress_write_line(const ProgressRecord *record, StrBuf *out) {
    size_t start = out->length;
    write_line(record, "  ", out);
    if (out->length - start <= 80) return;
    strbuf_cut(out, start);
    write_line(record, " ", out);
}

static double number_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && json_type(value) == JSON_NUMBER ? json_number(value) : NAN;
}

static Status read_record(Progress *progress, StrView line, long long last_update) {
    Json *object;
    TRY(json_parse(&object, line, false));
    ProgressRecord record = {0};
    double update = number_of(object, "update"), epoch = number_of(object, "epoch");
    const Json *best = json_get(object, "best");
    bool valid = update >= 0 && update < 1e15 && epoch >= 0 && epoch < 1e9;
    if (valid) {
#define READ(field) record.field = (__typeof__(record.field))number_of(object, #field);
        RECORD_FIELDS(READ)
#undef READ
        record.valid_chrf = number_of(object, "valid_chrf");
        record.best = best && json_type(best) == JSON_BOOL && json_bool(best);
        if (record.update <= last_update) progress_add(progress, &record);
    }
    json_free(object);
    return valid ? STATUS_OK : status_fail(STATUS_DATA, "not a line of a training log");
}

static Status read_records(Progress *progress, const char *path, long long last_update) {
    LineReader *reader;
    TRY(line_reader_open_limited(&reader, path));
    StrView line;
    bool more;
    Status status;
    while ((status = line_reader_next(reader, &line, &more)) == STATUS_OK && more) {
        if ((status = read_record(progress, line, last_update)) != STATUS_OK) {
            status_context(status, "%s: line %ld", path, line_reader_number(reader));
            break;
        }
    }
    line_reader_close(reader);
    return status;
}

Status progress_read(Progress *progress, const char *path, long long last_update) {
    if (!file_exists(path)) return STATUS_OK;
    /* A read from a pipe could wait forever. */
    Status status = file_size(path) < 0 ? status_fail(STATUS_DATA, "'%.700s': not a regular file", path)
                                        : read_records(progress, path, last_update);
    if (status != STATUS_DATA) return status;
    return status_hint(status,
                       "only the curve needs this log of earlier validations: move the file away, and the "
                       "run continues without it");
}

static Status save_text(const char *dir, const char *name, const StrBuf *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return file_write_whole(path, strbuf_view(text));
}

/* The two losses are different quantities. The training loss is the mean over the updates since the last
 * validation, with dropout and label smoothing. The validation loss is that of the current weights without
 * them. */
static void name_losses(const Config *config, StrBuf *train, StrBuf *valid) {
    double smoothing = config->train.label_smoothing;
    bool dropout = config_has_dropout(&config->model), average = config->train.average > 0;
    strbuf_add(train, SV("training loss: mean since the last validation"));
    if (dropout) strbuf_add(train, SV(", with dropout"));
    if (smoothing > 0)
        strbuf_format(train, "%s label smoothing %.3g", dropout ? " and" : ", with", smoothing);
    strbuf_add(valid, average ? SV("validation loss: averaged weights") : SV("validation loss"));
    const char *without = !dropout ? "smoothing" : smoothing > 0 ? "either" : "dropout";
    if (dropout || smoothing > 0) strbuf_format(valid, "%s without %s", average ? "," : ":", without);
}

static void draw_curves(const Progress *progress, const Config *config, StrBuf *svg) {
    size_t n = progress->count;
    double *x = mem_alloc(5 * n + 1, sizeof *x), *train = x + n, *valid = train + n, *bleu = valid + n,
           *chrf = bleu + n;
    bool has_chrf = false;
    for (size_t i = 0; i < n; i++) {
        const ProgressRecord *r = &progress->records[i];
        x[i] = (double)r->update;
        train[i] = r->train_loss;
        valid[i] = r->valid_loss;
        bleu[i] = r->valid_bleu;
        chrf[i] = r->valid_chrf;
        has_chrf |= isfinite(r->valid_chrf);
    }
    StrBuf train_name = {0}, valid_name = {0};
    name_losses(config, &train_name, &valid_name);
    PlotSeries series[] = {{strbuf_text(&train_name), x, train, (int)n, false},
                           {strbuf_text(&valid_name), x, valid, (int)n, false},
                           {"validation BLEU", x, bleu, (int)n, true},
                           {"validation chrF", x, chrf, (int)n, true}};
    Plot plot = {.title = "Training",
                 .x = {.title = "update", .whole = true},
                 .left = {.title = "loss per token"},
                 .right = {.title = has_chrf ? "BLEU, chrF" : "BLEU"},
                 .series = series,
                 .count = has_chrf ? 4 : 3};
    plot_write_svg(&plot, svg);
    strbuf_free(&train_name);
    strbuf_free(&valid_name);
    mem_free(x);
}

Status progress_save(const Progress *progress, const Config *config, const char *dir) {
    StrBuf text = {0};
    for (size_t i = 0; i < progress->count; i++) progress_write_json(&progress->records[i], &text);
    Status status = save_text(dir, "train.jsonl", &text);
    if (status == STATUS_OK) {
        strbuf_clear(&text);
        draw_curves(progress, config, &text);
        status = save_text(dir, "curve.svg", &text);
    }
    strbuf_free(&text);
    return status;
}

/* ---- the best model ----------------------------------------------------------------------------------- */

/* By train.stop_on. If the scores are equal, the lower loss is better: short targets may have BLEU 0
 * throughout. */
static bool is_best(const Progress *p, double loss, double bleu, double chrf, StopOn stop_on) {
    double score = -loss, best = -p->best_loss;
    if (stop_on == STOP_ON_BLEU) score = bleu, best = p->best_bleu;
    if (stop_on == STOP_ON_CHRF) score = chrf, best = p->best_chrf;
    return score > best || (score == best && loss < p->loss_of_best);
}

bool progress_update_best(Progress *p, double loss, double bleu, double chrf, const TrainOptions *options) {
    bool best = is_best(p, loss, bleu, chrf, (StopOn)options->stop_on);
    p->best_bleu = fmax(p->best_bleu, bleu);
    p->best_chrf = fmax(p->best_chrf, chrf);
    p->best_loss = fmin(p->best_loss, loss);
    if (best) p->loss_of_best = loss;
    p->stalled = best ? 0 : p->stalled + 1;
    p->stalled_for_cut = best ? 0 : p->stalled_for_cut + 1;
    if (p->stalled_for_cut >= options->decay_patience) {
        p->cuts++;
        p->stalled_for_cut = 0;
    }
    return best;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

double progress_fraction(const Progress *p, const TrainOptions *o, int batches) {
    double fraction = 0, epochs = (double)p->epoch;
    if (batches) epochs += (double)p->batch / batches;
    if (o->epochs) fraction = epochs / o->epochs;
    if (o->max_updates) fraction = fmax(fraction, (double)p->update / o->max_updates);
    return fraction;
}

const char *progress_find_end(const Progress *p, const TrainOptions *o, char extension[PROGRESS_EXTENSION]) {
    enum { SIZE = PROGRESS_EXTENSION };
    if (o->epochs && p->epoch >= o->epochs)
        return snprintf(extension, SIZE, "--epochs %lld", 2 * p->epoch), "all epochs are done";
    if (o->max_updates && p->update >= o->max_updates)
        return snprintf(extension, SIZE, "--max-updates %lld", 2 * p->update), "all updates are done";
    if (o->max_minutes > 0 && p->seconds >= 60 * o->max_minutes)
        return snprintf(extension, SIZE, "--set train.max_minutes=%g",
                        2 * fmax(o->max_minutes, fmax(1, floor(p->seconds / 60)))),
               "the time is over";
    if (o->patience && p->stalled >= o->patience)
        return snprintf(extension, SIZE, "--patience %lld", 2 * p->stalled), "it no longer improved";
    return NULL;
}
