/* cmd_bleu.c - attn-mt bleu: score translations. Reading, counting, testing and printing are in the bleu_*.c files. */
#include <stdio.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/version.h"
#include "cli/bleu_input.h"
#include "cli/bleu_metric.h"
#include "cli/bleu_options.h"
#include "cli/bleu_report.h"
#include "cli/bleu_seed.h"
#include "cli/bleu_table.h"
#include "cli/command_io.h"
#include "cli/commands.h"

/* Everything one run knows. */
typedef struct {
    BleuCommand command;
    LineSet references, systems;
    ScoreMetric metrics[2];
    int metric_count;
    ReportStyle style;
    BleuSeed seed;
} Run;

static bool is_paired(const Run *run) { return run->command.paired_bs || run->command.paired_ar; }

static Status read_input(Run *run) {
    const BleuCommand *command = &run->command;
    TRY(bleu_input_references(&run->references, &command->references, command->num_refs));
    if (command->models.count > 0)
        TRY(bleu_input_translated(&run->systems, &command->models, command->source, command->threads,
                                  command->beam_size));
    else if (command->inputs.count > 0)
        TRY(bleu_input_files(&run->systems, &command->inputs, is_paired(run)));
    else
        TRY(bleu_input_stdin(&run->systems, is_paired(run)));
    size_t systems = run->systems.count;
    if (systems > 1 && (command->sentence_level || command->d2l))
        return status_fail(STATUS_USAGE, "option '%s' scores one system, but there are %zu",
                           command->d2l ? "--d2l" : "--sentence-level", systems);
    if (is_paired(run) && systems == 1) {
        Status status = status_fail(STATUS_USAGE, "paired tests compare several systems, but there is one");
        return status_hint(status, "name the baseline and the others: -i BASELINE OTHER...");
    }
    if (systems > 1 && command->confidence) {
        Status status =
            status_fail(STATUS_USAGE, "option '--confidence' is for one system, but there are %zu", systems);
        return status_hint(status, "use --paired-bs or --paired-ar");
    }
    return bleu_input_check(&run->systems, &run->references);
}

/* The textbook's score of one line: that of the reference it fits best. */
static double best_d2l(const Run *run, size_t line) {
    double best = 0;
    StrBuf lowered = {0};
    for (size_t r = 0; r < run->references.count; r++) {
        StrView texts[2] = {run->systems.lists[0].lines[line], run->references.lists[r].lines[line]};
        if (run->command.lowercase) {
            strbuf_clear(&lowered);
            unicode_lower(texts[0], &lowered);
            size_t cut = lowered.length;
            unicode_lower(texts[1], &lowered);
            texts[0] = (StrView){strbuf_text(&lowered), cut};
            texts[1] = (StrView){strbuf_text(&lowered) + cut, lowered.length - cut};
        }
        double score = bleu_d2l(texts[0], texts[1], run->command.d2l);
        if (score > best) best = score;
    }
    strbuf_free(&lowered);
    return best;
}

static Signature d2l_signature(const Run *run) {
    Signature signature = {.count = 5};
    SignaturePair *pairs = signature.pairs;
    pairs[0] = (SignaturePair){.key = "nrefs", .abbreviation = "#"};
    snprintf(pairs[0].value, sizeof pairs[0].value, "%zu", run->references.count);
    pairs[1] = (SignaturePair){.key = "case", .abbreviation = "c"};
    snprintf(pairs[1].value, sizeof pairs[1].value, "%s", run->command.lowercase ? "lc" : "mixed");
    pairs[2] = (SignaturePair){.key = "tok", .abbreviation = "tok", .value = "spaces"};
    pairs[3] = (SignaturePair){.key = "k", .abbreviation = "k"};
    snprintf(pairs[3].value, sizeof pairs[3].value, "%d", run->command.d2l);
    pairs[4] = (SignaturePair){.key = "version", .abbreviation = "v", .value = "attn-mt-" ATTN_MT_VERSION};
    return signature;
}

static void score_d2l(Run *run, StrBuf *out) {
    size_t count = run->systems.lists[0].count;
    ScoreReport report = {.name = "BLEU-d2l", .details = "", .signature = d2l_signature(run)};
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        report.score = best_d2l(run, i);
        sum += report.score;
        if (!run->command.sentence_level) continue;
        bleu_report_write(&report, &run->style, out);
        strbuf_add_char(out, '\n');
    }
    if (run->command.sentence_level) return;
    report.score = sum / (double)count;
    bleu_report_write_all(&report, 1, &run->style, out);
}

static void score_sentences(Run *run, StrBuf *out) {
    const ScoreMetric *metric = &run->metrics[0];
    MetricRows rows = bleu_metric_count(metric, &run->systems.lists[0], &run->references);
    ScoreReport report = {.name = metric->name};
    report.signature = bleu_metric_signature(metric, run->references.count, RESAMPLING_NONE, 0, "");
    for (size_t i = 0; i < rows.count; i++) {
        MetricRows one = rows;
        one.rows += i * (size_t)rows.width;
        one.count = 1;
        StrBuf details = {0};
        bleu_metric_write_details(metric, &one, &details);
        report.details = strbuf_text(&details);
        report.score = metric_corpus_score(&one);
        bleu_report_write(&report, &run->style, out);
        strbuf_add_char(out, '\n');
        strbuf_free(&details);
    }
    bleu_metric_release(&rows);
}

static void score_system(Run *run, StrBuf *out) {
    int samples = run->command.confidence ? run->command.confidence_n : 1;
    ScoreReport reports[2];
    StrBuf details[2] = {{0}, {0}};
    for (int m = 0; m < run->metric_count; m++) {
        const ScoreMetric *metric = &run->metrics[m];
        MetricRows rows = bleu_metric_count(metric, &run->systems.lists[0], &run->references);
        bleu_metric_write_details(metric, &rows, &details[m]);
        reports[m] = (ScoreReport){.name = metric->name,
                                   .score = metric_corpus_score(&rows),
                                   .has_interval = samples > 1,
                                   .details = strbuf_text(&details[m])};
        if (samples > 1)
            reports[m].interval = bootstrap_interval(&rows, run->seed.generator, samples, MEAN_EXACT);
        reports[m].signature = bleu_metric_signature(metric, run->references.count,
                                                     samples > 1 ? RESAMPLING_BOOTSTRAP : RESAMPLING_NONE,
                                                     samples, run->seed.given);
        bleu_metric_release(&rows);
    }
    bleu_report_write_all(reports, (size_t)run->metric_count, &run->style, out);
    strbuf_free(&details[0]);
    strbuf_free(&details[1]);
}

/* Fill the column of one metric: `cells` is the first system's cell, the next one is `stride` further. */
static void compare_systems(Run *run, const ScoreMetric *metric, TableCell *cells, size_t stride) {
    const BleuCommand *command = &run->command;
    MetricRows baseline = bleu_metric_count(metric, &run->systems.lists[0], &run->references);
    cells[0].score = metric_corpus_score(&baseline);
    cells[0].has_interval = command->paired_bs;
    if (command->paired_bs)
        cells[0].interval =
            bootstrap_interval(&baseline, run->seed.generator, command->paired_bs_n, MEAN_NUMPY);
    for (size_t s = 1; s < run->systems.count; s++) {
        TableCell *cell = &cells[s * stride];
        MetricRows rows = bleu_metric_count(metric, &run->systems.lists[s], &run->references);
        cell->score = metric_corpus_score(&rows);
        cell->has_p_value = is_paired(run);
        cell->has_interval = command->paired_bs;
        if (command->paired_bs)
            cell->p_value = bootstrap_paired(&baseline, &rows, run->seed.generator, command->paired_bs_n,
                                             &cell->interval);
        else if (command->paired_ar)
            cell->p_value = bootstrap_randomized(&baseline, &rows, run->seed.generator, command->paired_ar_n);
        bleu_metric_release(&rows);
    }
    bleu_metric_release(&baseline);
}

static void score_systems(Run *run, StrBuf *out) {
    const BleuCommand *command = &run->command;
    size_t systems = run->systems.count, metrics = (size_t)run->metric_count;
    Resampling test = command->paired_bs   ? RESAMPLING_BOOTSTRAP
                      : command->paired_ar ? RESAMPLING_RANDOMIZATION
                                           : RESAMPLING_NONE;
    int trials = command->paired_bs ? command->paired_bs_n : command->paired_ar_n;
    const char **names = mem_alloc(systems, sizeof *names);
    const char *metric_names[2] = {NULL, NULL};
    Signature signatures[2];
    TableCell *cells = mem_alloc(systems * metrics, sizeof *cells);
    log_info("%zu systems", systems);
    for (size_t s = 0; s < systems; s++) names[s] = run->systems.lists[s].name;
    for (size_t m = 0; m < metrics; m++) {
        metric_names[m] = run->metrics[m].name;
        signatures[m] =
            bleu_metric_signature(&run->metrics[m], run->references.count, test, trials, run->seed.number);
        compare_systems(run, &run->metrics[m], cells + m, metrics);
    }
    ScoreTable table = {names, systems, metric_names, signatures, metrics, cells, test, trials};
    bleu_table_write(&table, &run->style, (BleuFormat)command->format, out);
    mem_free(names);
    mem_free(cells);
}

static Status score(Run *run, StrBuf *out) {
    const BleuCommand *command = &run->command;
    if (command->quiet) log_set_level(LOG_WARN);
    bool json = command->format == BLEU_FORMAT_JSON && !command->sentence_level;
    run->style = (ReportStyle){.width = command->width, .score_only = command->score_only, .json = json};
    run->style.abbreviated = command->short_signature;
    run->style.colour = !json && !command->no_color && log_may_colour(STDOUT_FILENO);
    run->metric_count = bleu_metric_list(command, run->metrics);
    if (command->sentence_level && run->metric_count > 1)
        return status_fail(STATUS_USAGE, "option '--sentence-level' goes with one metric");
    TRY(bleu_seed_read(&run->seed));
    TRY(read_input(run));
    if (command->d2l)
        score_d2l(run, out);
    else if (command->sentence_level)
        score_sentences(run, out);
    else if (run->systems.count == 1)
        score_system(run, out);
    else
        score_systems(run, out);
    return STATUS_OK;
}

Status cmd_bleu(int argc, char **argv) {
    Run run = {.metric_count = 0};
    StrBuf out = {0};
    bool help = false;
    Status status = bleu_options_parse(&run.command, argc, argv, &help);
    if (status == STATUS_OK && help) {
        status = bleu_options_print_help();
    } else if (status == STATUS_OK) {
        status = score(&run, &out);
        if (status == STATUS_OK) status = command_print(strbuf_view(&out));
    }
    strbuf_free(&out);
    bleu_input_free(&run.references);
    bleu_input_free(&run.systems);
    bleu_options_free(&run.command);
    return status;
}
