/* pair_clean.c - see pair_clean.h. */
#include "data/pair_clean.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "formats/escapes.h"
#include "io/deflate.h"

/* ---- files ---- */

typedef struct {
    OutFile *file;
    StrBuf text; /* not written yet */
    bool gzip;
} Output;

static Status output_open(Output *output, const char *path) {
    output->gzip = sv_ends(sv(path), SV(".gz"));
    return file_create(&output->file, path);
}

static Status output_flush(Output *output) {
    StrBuf packed = {0};
    if (output->gzip) gzip_add(strbuf_view(&output->text), &packed);
    StrView bytes = strbuf_view(output->gzip ? &packed : &output->text);
    Status status = file_write(output->file, bytes.data, bytes.length);
    strbuf_free(&packed);
    strbuf_clear(&output->text);
    return status;
}

static Status output_end_line(Output *output) {
    enum { BLOCK = 1 << 20 };
    strbuf_add_char(&output->text, '\n');
    return output->text.length < BLOCK ? STATUS_OK : output_flush(output);
}

static Status output_commit(Output *output) {
    Status status = output_flush(output);
    if (status != STATUS_OK) return status;
    OutFile *file = output->file;
    output->file = NULL;
    return file_commit(file);
}

static void output_free(Output *output) {
    file_discard(output->file);
    strbuf_free(&output->text);
}

/* ---- the work ---- */

enum { REST = PAIR_PARTS, DROPPED, OUTPUTS }; /* before them: the parts */

typedef struct {
    const PairStats *stats;
    const StrList *files;
    const PairCleanOptions *options;
    const DataOptions *data;
    PairCleanCounts *counts;
    PairReader *reader;
    Output outputs[OUTPUTS];
    bool escapes;
    uint64_t *keys;             /* [stats->pairs] hashes of the sources; NULL without parts */
    uint64_t bound[PAIR_PARTS]; /* a part has the keys below its bound */
    Status dropping;            /* the first error of write_unusable */
} PairCleaner;

static void add_names(const PairCleaner *cleaner, Output *output, StrView others) {
    pair_join(&output->text, sv(cleaner->data->source), sv(cleaner->data->target));
    strbuf_add(&output->text, others);
    if (cleaner->escapes || others.length) strbuf_add(&output->text, SV("\t" ESCAPES_COLUMN));
}

static Status open_outputs(PairCleaner *cleaner) {
    const PairCleanOptions *options = cleaner->options;
    for (size_t part = 0; part < options->parts.count; part++)
        TRY(output_open(&cleaner->outputs[part], options->parts.items[part]));
    TRY(output_open(&cleaner->outputs[REST], options->output));
    TRY(output_open(&cleaner->outputs[DROPPED], options->dropped));
    for (int i = 0; i < OUTPUTS; i++) {
        if (!cleaner->outputs[i].file) continue;
        StrView others = cleaner->files->count > 1 ? SV("\treason\tline\tfile") : SV("\treason\tline");
        add_names(cleaner, &cleaner->outputs[i], i == DROPPED ? others : SV(""));
        TRY(output_end_line(&cleaner->outputs[i]));
    }
    return STATUS_OK;
}

/* The dropped pairs come first: if a later file fails, nothing is lost. */
static Status commit_outputs(PairCleaner *cleaner) {
    for (int i = OUTPUTS - 1; i >= 0; i--)
        if (cleaner->outputs[i].file) TRY(output_commit(&cleaner->outputs[i]));
    return STATUS_OK;
}

static Status write_dropped(PairCleaner *cleaner, StrView source, StrView target, StrView reasons) {
    Output *output = &cleaner->outputs[DROPPED];
    pair_join_escaped(&output->text, source, target);
    PairLocation location = pair_reader_location(cleaner->reader);
    strbuf_format(&output->text, "\t%.*s\t%ld", SV_ARG(reasons), location.line);
    if (cleaner->files->count > 1) {
        strbuf_add_char(&output->text, '\t');
        escapes_add(sv(cleaner->files->items[location.entry]), &output->text);
    }
    cleaner->counts->dropped++;
    return output_end_line(output);
}

/* A line that the reader drops; a PairDropHandler. */
static void write_unusable(void *context, PairIssueKind kind, StrView source, StrView target) {
    PairCleaner *cleaner = context;
    cleaner->counts->unusable[kind]++;
    Status status = write_dropped(cleaner, source, target, sv(pair_issue_name(kind)));
    if (cleaner->dropping == STATUS_OK) cleaner->dropping = status;
}

static Status write_suspect(PairCleaner *cleaner, FindingSet findings, StrView source, StrView target) {
    StrBuf reasons = {0};
    for (FindingKind kind = 0; kind < FINDING_KINDS; kind++) {
        if (!(findings & finding_bit(kind))) continue;
        strbuf_format(&reasons, "%s%s", reasons.length ? "," : "", finding_name(kind));
        cleaner->counts->reasons[kind]++;
    }
    Status status = write_dropped(cleaner, source, target, strbuf_view(&reasons));
    strbuf_free(&reasons);
    return status;
}

static Status write_kept(PairCleaner *cleaner, long index, StrView source, StrView target) {
    int part = 0, parts = (int)cleaner->options->parts.count;
    while (part < parts && cleaner->keys[index] >= cleaner->bound[part]) part++;
    Output *output = &cleaner->outputs[part < parts ? part : REST];
    ++*(part < parts ? &cleaner->counts->part[part] : &cleaner->counts->kept);
    (cleaner->escapes ? pair_join_escaped : pair_join)(&output->text, source, target);
    return output_end_line(output);
}

static Status write_pairs(PairCleaner *cleaner) {
    StrView source, target;
    for (bool more = true;;) {
        TRY(pair_reader_next(cleaner->reader, &source, &target, &more));
        TRY(cleaner->dropping);
        if (!more) return STATUS_OK;
        long index = pair_reader_count(cleaner->reader) - 1;
        FindingSet findings = cleaner->stats->found_in_pair[index] & cleaner->options->drop;
        TRY(findings ? write_suspect(cleaner, findings, source, target)
                     : write_kept(cleaner, index, source, target));
    }
}

/* ---- parts ---- */

/* The hash of a source without case and with single spaces. */
static uint64_t source_key(StrView source, StrBuf *words, StrBuf *lower) {
    static const uint64_t SALT = 0x73706C6974 /* "split" */;
    StrView word;
    strbuf_clear(words);
    strbuf_clear(lower);
    while (unicode_next_word(&source, &word)) {
        if (words->length) strbuf_add_char(words, ' ');
        strbuf_add(words, word);
    }
    unicode_lower(strbuf_view(words), lower);
    return pair_source_hash(strbuf_view(lower), SALT);
}

static Status read_keys(PairCleaner *cleaner) {
    StrBuf words = {0}, lower = {0};
    StrView source, target;
    Status status;
    for (bool more = true;;) {
        status = pair_reader_next(cleaner->reader, &source, &target, &more);
        if (status != STATUS_OK || !more) break;
        cleaner->keys[pair_reader_count(cleaner->reader) - 1] = source_key(source, &words, &lower);
    }
    strbuf_free(&words);
    strbuf_free(&lower);
    pair_reader_rewind(cleaner->reader);
    return status;
}

static int by_value(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The end of a part in the sorted keys: where a source ends, as near as possible to start + wanted. */
static long part_end(const uint64_t *sorted, long count, long start, long target) {
    long down = start + target, up = down;
    while (down > start && sorted[down] == sorted[down - 1]) down--;
    while (up < count && sorted[up] == sorted[up - 1]) up++;
    return up < count && up - (start + target) < start + target - down ? up : down;
}

static Status fail_part(const PairCleanOptions *options, int part, long got, long group) {
    status_fail(STATUS_DATA, "'%s' would have %ld pairs instead of %ld: %ld pairs have the same source",
                options->parts.items[part], got, options->sizes[part], group);
    return status_hint(STATUS_DATA,
                       "pairs of one source stay together; --drop other_translations keeps one of them");
}

static Status find_bounds(PairCleaner *cleaner, const uint64_t *sorted, long count) {
    const PairCleanOptions *options = cleaner->options;
    long start = 0;
    for (int part = 0; part < (int)options->parts.count; part++) {
        long target = options->sizes[part];
        if (target >= count - start) {
            status_fail(STATUS_DATA, "the parts need all %ld pairs: none is left for '%s'", count,
                        options->output);
            return status_hint(STATUS_DATA, "split off fewer pairs");
        }
        long end = part_end(sorted, count, start, target), group = 1;
        while (end + group < count && sorted[end + group] == sorted[end]) group++;
        if (2 * (end - start) < target) return fail_part(options, part, end - start, group);
        cleaner->bound[part] = sorted[end];
        start = end;
    }
    return STATUS_OK;
}

static Status choose_parts(PairCleaner *cleaner) {
    const PairStats *stats = cleaner->stats;
    if (cleaner->options->parts.count == 0) return STATUS_OK;
    cleaner->keys = mem_alloc((size_t)stats->pairs, sizeof *cleaner->keys);
    TRY(read_keys(cleaner));
    uint64_t *sorted = mem_alloc((size_t)stats->pairs, sizeof *sorted);
    long count = 0;
    for (long i = 0; i < stats->pairs; i++)
        if (!(stats->found_in_pair[i] & cleaner->options->drop)) sorted[count++] = cleaner->keys[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    Status status = find_bounds(cleaner, sorted, count);
    mem_free(sorted);
    return status;
}

/* ---- all of it ---- */

static Status run(PairCleaner *cleaner) {
    TRY(choose_parts(cleaner));
    pair_reader_on_drop(cleaner->reader, write_unusable, cleaner);
    TRY(open_outputs(cleaner));
    TRY(write_pairs(cleaner));
    if (cleaner->counts->kept > 0) return commit_outputs(cleaner);
    status_fail(STATUS_DATA, "no pair is left: --drop applies to all of them");
    return status_hint(STATUS_DATA, "drop fewer of them with --drop");
}

Status pair_clean(const PairStats *stats, const StrList *files, const DataOptions *data,
                  const PairCleanOptions *options, PairCleanCounts *counts) {
    PairCleaner cleaner = {
        .stats = stats, .files = files, .options = options, .data = data, .counts = counts};
    *counts = (PairCleanCounts){0};
    TRY(pair_reader_open(&cleaner.reader, files, data));
    pair_reader_allow_other_encodings(cleaner.reader);
    cleaner.escapes = pair_reader_has_escapes(cleaner.reader);
    Status status = run(&cleaner);
    for (int i = 0; i < OUTPUTS; i++) output_free(&cleaner.outputs[i]);
    mem_free(cleaner.keys);
    pair_reader_close(cleaner.reader);
    return status;
}
