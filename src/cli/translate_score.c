/* translate_score.c - see translate_score.h. */
#include "cli/translate_score.h"

#include <stdio.h>
#include "base/fileio.h"
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/report.h"
#include "bleu/scoring.h"

struct TranslateScore {
    StrBuf translations; /* a line for each */
    LineSet references;
    OutFile *report; /* or NULL */
};

static const Metric *const USED[] = {&METRIC_BLEU, &METRIC_CHRF};
enum { USED_COUNT = sizeof USED / sizeof *USED, DIGITS = 2 };

Status translate_score_open(TranslateScore **score, const StrList *references, const char *report) {
    *score = NULL;
    if (references->count == 0) return STATUS_OK;
    TranslateScore *made = mem_alloc(1, sizeof *made);
    Status status = input_references(&made->references, references, 1);
    if (status == STATUS_OK && report) status = file_create(&made->report, report);
    if (status == STATUS_OK)
        *score = made;
    else
        translate_score_free(made);
    return status;
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
    for (size_t i = 0; i < translation.length; i++) /* a line end can only come out of JSON */
        strbuf_add_char(&score->translations, translation.data[i] == '\n' ? ' ' : translation.data[i]);
    strbuf_add_char(&score->translations, '\n');
}

/* Both metrics with their own defaults but for the tokenizer; `options` [USED_COUNT] receives these. */
static Status choose(int tokenizer, ConfiguredMetric *metrics, void **options) {
    for (int m = 0; m < USED_COUNT; m++) {
        options[m] = mem_alloc(1, USED[m]->options_size);
        const OptionTable tables[] = {{USED[m]->rows, options[m]}, {0}};
        options_defaults(tables);
        if (USED[m] == &METRIC_BLEU) ((BleuOptions *)options[m])->tokenizer = tokenizer;
        if (USED[m]->prepare) TRY(USED[m]->prepare(options[m], false));
        metrics[m] = (ConfiguredMetric){USED[m], options[m]};
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
    score->report = NULL; /* released in any case */
    return file_commit(file);
}

static Status give_out(TranslateScore *score, const ScoreTable *table, bool quiet) {
    StrBuf text = {0};
    report_write(table, &(ReportStyle){.format = REPORT_TEXT, .width = DIGITS}, &text);
    if (!quiet) fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    return score->report ? write_report(score, table) : STATUS_OK;
}

Status translate_score_end(TranslateScore *score, int tokenizer, bool quiet) {
    if (!score) return STATUS_OK;
    ConfiguredMetric metrics[USED_COUNT];
    void *options[USED_COUNT] = {NULL};
    LineSet system = {0};
    input_text(&system, "translations", &score->translations);
    Status status = input_check(&system, &score->references);
    if (status == STATUS_OK) status = choose(tokenizer, metrics, options);
    if (status == STATUS_OK) {
        Seed unused = {0}; /* without a test nothing is drawn */
        Scoring scoring = {&system, &score->references, metrics, USED_COUNT, TEST_NONE, 0, &unused};
        ScoreTable table = score_systems(&scoring);
        status = give_out(score, &table, quiet);
        score_table_free(&table);
    }
    for (int m = 0; m < USED_COUNT; m++) {
        if (!options[m]) continue;
        const OptionTable tables[] = {{USED[m]->rows, options[m]}, {0}};
        options_free(tables);
        mem_free(options[m]);
    }
    input_free(&system);
    return status;
}
