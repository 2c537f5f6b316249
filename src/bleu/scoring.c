/* scoring.c - counting every system once per metric, then scores, intervals and p-values of the counts. */
#include "bleu/scoring.h"

#include "base/mem.h"
#include "bleu/mean.h"

static Signature make_signature(const Scoring *scoring, ChosenMetric chosen) {
    Signature signature = {.count = 0};
    Test test = scoring->test;
    signature_add(&signature, "nrefs", "#", "%zu", scoring->references->count);
    if (test == TEST_CONFIDENCE || test == TEST_PAIRED_BOOTSTRAP)
        signature_add(&signature, "bs", "bs", "%d", scoring->trials);
    if (test == TEST_PAIRED_RANDOMIZATION) signature_add(&signature, "ar", "ar", "%d", scoring->trials);
    if (test != TEST_NONE)
        signature_add(&signature, "seed", "rs", "%s",
                      test == TEST_CONFIDENCE ? scoring->seed->given : scoring->seed->number);
    chosen.metric->sign(chosen.options, &signature);
    signature_add(&signature, "version", "v", "%s", chosen.metric->version);
    return signature;
}

static Statistics count_system(const Scoring *scoring, ChosenMetric chosen, size_t system) {
    const LineSet *references = scoring->references;
    const LineList *lines = &scoring->systems->lists[system];
    const StrView **columns = mem_alloc(references->count, sizeof *columns);
    for (size_t r = 0; r < references->count; r++) columns[r] = references->lists[r].lines;
    Statistics statistics = statistics_count(chosen, lines->lines, lines->count, columns, references->count);
    mem_free(columns);
    return statistics;
}

static Result make_result(const Statistics *statistics) {
    Result result = {.score = statistics_score(statistics)};
    const ChosenMetric chosen = statistics->chosen;
    if (chosen.metric->describe) {
        double sums[METRIC_MAX_WIDTH];
        statistics_sum(statistics, sums);
        chosen.metric->describe(chosen.options, sums, &result.details);
    }
    return result;
}

/* The results of one metric: that of the first system is at `results`, the next one `stride` further. */
static void score_metric(const Scoring *scoring, ChosenMetric chosen, Result *results, size_t stride) {
    Pcg64 generator = scoring->seed->generator;
    bool paired = scoring->test == TEST_PAIRED_BOOTSTRAP || scoring->test == TEST_PAIRED_RANDOMIZATION;
    Mean mean = scoring->test == TEST_CONFIDENCE ? mean_exact : mean_numpy;
    Statistics baseline = {.count = 0};
    for (size_t s = 0; s < scoring->systems->count; s++) {
        Statistics system = count_system(scoring, chosen, s);
        Result *result = &results[s * stride];
        *result = make_result(&system);
        result->has_p_value = paired && s > 0;
        result->has_interval = scoring->test == TEST_CONFIDENCE || scoring->test == TEST_PAIRED_BOOTSTRAP;
        if (result->has_p_value && result->has_interval)
            result->p_value = resampling_paired_bootstrap(&baseline, &system, generator, scoring->trials,
                                                          &result->interval);
        else if (result->has_p_value)
            result->p_value = resampling_randomized(&baseline, &system, generator, scoring->trials);
        else if (result->has_interval)
            result->interval = resampling_interval(&system, generator, scoring->trials, mean);
        if (s == 0)
            baseline = system;
        else
            statistics_free(&system);
    }
    statistics_free(&baseline);
}

ScoreTable score_systems(const Scoring *scoring) {
    size_t metrics = scoring->metric_count;
    ScoreTable table = {.scoring = *scoring, .result_count = scoring->systems->count * metrics};
    table.signatures = mem_alloc(metrics, sizeof *table.signatures);
    table.results = mem_alloc(table.result_count, sizeof *table.results);
    for (size_t m = 0; m < metrics; m++) {
        table.signatures[m] = make_signature(scoring, scoring->metrics[m]);
        score_metric(scoring, scoring->metrics[m], table.results + m, metrics);
    }
    return table;
}

ScoreTable score_sentences(const Scoring *scoring) {
    Statistics system = count_system(scoring, scoring->metrics[0], 0);
    ScoreTable table = {.scoring = *scoring, .result_count = system.count};
    table.signatures = mem_alloc(1, sizeof *table.signatures);
    table.signatures[0] = make_signature(scoring, scoring->metrics[0]);
    table.results = mem_alloc(system.count, sizeof *table.results);
    for (size_t i = 0; i < system.count; i++) {
        Statistics sentence = system;
        sentence.rows += i * (size_t)system.width;
        sentence.count = 1;
        table.results[i] = make_result(&sentence);
    }
    statistics_free(&system);
    return table;
}

void score_table_free(ScoreTable *table) {
    for (size_t i = 0; i < table->result_count; i++) strbuf_free(&table->results[i].details);
    mem_free(table->results);
    mem_free(table->signatures);
    *table = (ScoreTable){.result_count = 0};
}
