/* translate_score.c - see translate_score.h. */
#include "cli/translate_score.h"

#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/report.h"
#include "bleu/scoring.h"

struct TranslateScore {
    StrBuf translations; /* one a line */
    LineSet references;
    OutFile *report; /* or NULL */
};

static const Metric *const SCORED[] = {&METRIC_BLEU, &METRIC_CHRF};
enum { SCORED_COUNT = sizeof SCORED / sizeof *SCORED, DIGITS = 2 };

Status translate_score_open(TranslateScore **score, const StrList *references, const char *report) {
    *score = NULL;
    if (references->count == 0) return STATUS_OK;
    TranslateScore *result = mem_alloc(1, sizeof *result);
    Status status = input_references(&result->references, references, 1);
    if (status == STATUS_OK && report) status = file_create(&result->report, report);
    if (status == STATUS_OK)
        *score = result;
    else
        translate_score_free(result);
    return status;
}

static Status count_lines(const char *path, size_t *count) {
    LineReader *reader;
    StrView line;
    bool more = true;
    TRY(line_reader_open(&reader, path));
    Status status = line_reader_next(reader, &line, &more);
    for (; status == STATUS_OK && more; status = line_reader_next(reader, &line, &more)) ++*count;
    line_reader_close(reader);
    return status;
}

Status translate_score_check(const TranslateScore *score, const StrList *inputs) {
    size_t count = 0;
    if (!score) return STATUS_OK;
    for (size_t i = 0; i < inputs->count; i++) {
        if (strcmp(inputs->items[i], "-") == 0 || file_is_stream(inputs->items[i])) return STATUS_OK;
        TRY(count_lines(inputs->items[i], &count));
    }
    for (size_t i = 0; i < score->references.count && inputs->count > 0; i++) {
        const LineList *list = &score->references.lists[i];
        if (list->count == count) continue;
        status_fail(STATUS_DATA, "the text to translate has %zu lines, but the reference '%s' has %zu", count,
                    list->name, list->count);
        return status_hint(STATUS_DATA, "each line of the text needs its reference translation");
    }
    return STATUS_OK;
}

void translate_score_free(TranslateScore *score) {
    if (!score) return;
    strbuf_free(&score->translations);
    input_free(&score->references);
    file_discard(score->report);
    mem_free(score);
}

void translate_score_add(TranslateScore *score, StrView translation) {
    if (!score) return;
    for (size_t i = 0; i < translation.length; i++) /* line ends come only from JSON */
        strbuf_add_char(&score->translations, translation.data[i] == '\n' ? ' ' : translation.data[i]);
    strbuf_add_char(&score->translations, '\n');
}

/* Prepare both metrics with their default options and that tokenizer; `options` [SCORED_COUNT] receives the
 * options. */
static Status configure_metrics(int tokenizer, ConfiguredMetric *metrics, void **options) {
    for (int m = 0; m < SCORED_COUNT; m++) {
        options[m] = mem_alloc(1, SCORED[m]->options_size);
        const OptionTable tables[] = {{SCORED[m]->rows, options[m]}, {0}};
        options_defaults(tables);
        if (SCORED[m] == &METRIC_BLEU) ((BleuOptions *)options[m])->tokenizer = tokenizer;
        if (SCORED[m]->check_options) TRY(SCORED[m]->check_options(options[m], false));
        metrics[m] = (ConfiguredMetric){SCORED[m], options[m]};
    }
    return STATUS_OK;
}

static Status write_report(TranslateScore *score, const ScoreTable *table) {
    StrBuf json = {0};
    OutFile *file = score->report;
    report_write(table, &(ReportStyle){.format = REPORT_JSON, .width = DIGITS}, &json);
    Status status = file_write(file, json.data, json.length);
    strbuf_free(&json);
    TRY(status);
    score->report = NULL; /* file_commit releases it, also on failure */
    return file_commit(file);
}

static Status write_scores(TranslateScore *score, const ScoreTable *table, bool quiet) {
    StrBuf text = {0};
    report_write(table, &(ReportStyle){.format = REPORT_TEXT, .width = DIGITS}, &text);
    if (!quiet) fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    return score->report ? write_report(score, table) : STATUS_OK;
}

Status translate_score_end(TranslateScore *score, int tokenizer, bool quiet) {
    if (!score) return STATUS_OK;
    ConfiguredMetric metrics[SCORED_COUNT];
    void *options[SCORED_COUNT] = {NULL};
    LineSet system = {0};
    input_text(&system, "translations", &score->translations);
    Status status = input_check(&system, &score->references);
    if (status == STATUS_OK) status = configure_metrics(tokenizer, metrics, options);
    if (status == STATUS_OK) {
        Seed unused = {0}; /* only a significance test draws random numbers */
        ScoringOptions scoring = {&system, &score->references, metrics, SCORED_COUNT, TEST_NONE, 0, &unused};
        ScoreTable table = score_systems(&scoring);
        status = write_scores(score, &table, quiet);
        score_table_free(&table);
    }
    for (int m = 0; m < SCORED_COUNT; m++) {
        if (!options[m]) continue;
        const OptionTable tables[] = {{SCORED[m]->rows, options[m]}, {0}};
        options_free(tables);
        mem_free(options[m]);
    }
    input_free(&system);
    return status;
}
