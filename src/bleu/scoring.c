/* scoring.c - counts each system once per metric, then computes scores, intervals and p-values. */
#include "bleu/scoring.h"

#include "base/mem.h"

static Signature make_signature(const ScoringOptions *scoring, ConfiguredMetric configured) {
    Signature signature = {.count = 0};
    signature_add(&signature, "nrefs", "#", "%zu", scoring->references->count);
    if (scoring->test != TEST_NONE) {
        const char *seed = scoring->seed->text;
        if (scoring->test == TEST_PAIRED_BOOTSTRAP) /* sacreBLEU prints a number here: no leading zeros */
            while (seed[0] == '0' && seed[1]) seed++;
        signature_add(&signature, "bs", "bs", "%d", scoring->trials);
        signature_add(&signature, "seed", "rs", "%s", seed);
    }
    configured.metric->sign(configured.options, &signature);
    signature_add(&signature, "version", "v", "%s", configured.metric->version);
    return signature;
}

static Statistics count_system(const ScoringOptions *scoring, ConfiguredMetric configured, size_t system) {
    const LineSet *references = scoring->references;
    const LineList *lines = &scoring->systems->lists[system];
    const StrView **columns = mem_alloc(references->count, sizeof *columns);
    for (size_t r = 0; r < references->count; r++) columns[r] = references->lists[r].lines;
    Statistics statistics =
        statistics_count(configured, lines->lines, lines->count, columns, references->count);
    mem_free(columns);
    return statistics;
}

static SystemScore make_result(const Statistics *statistics) {
    SystemScore result = {.score = statistics_score(statistics)};
    const ConfiguredMetric configured = statistics->configured;
    if (configured.metric->describe) {
        double sums[METRIC_MAX_WIDTH];
        statistics_sum(statistics, sums);
        configured.metric->describe(configured.options, sums, &result.details);
    }
    return result;
}

/* The results of one metric. Those of successive systems are `stride` apart. */
static void score_metric(const ScoringOptions *scoring, ConfiguredMetric configured, SystemScore *results,
                         size_t stride) {
    uint64_t seed = scoring->seed->number;
    Statistics baseline = {.count = 0};
    for (size_t s = 0; s < scoring->systems->count; s++) {
        Statistics system = count_system(scoring, configured, s);
        SystemScore *result = &results[s * stride];
        *result = make_result(&system);
        result->has_interval = scoring->test != TEST_NONE;
        result->has_p_value = scoring->test == TEST_PAIRED_BOOTSTRAP && s > 0;
        if (result->has_p_value)
            result->p_value =
                resampling_paired_bootstrap(&baseline, &system, seed, scoring->trials, &result->interval);
        else if (result->has_interval)
            result->interval = resampling_interval(&system, seed, scoring->trials);
        if (s == 0)
            baseline = system;
        else
            statistics_free(&system);
    }
    statistics_free(&baseline);
}

ScoreTable score_systems(const ScoringOptions *scoring) {
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

ScoreTable score_sentences(const ScoringOptions *scoring) {
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
