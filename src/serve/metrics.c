/* metrics.c - a count for each status and a ring of durations. */
#include "serve/metrics.h"

#include <pthread.h>
#include <stdlib.h>
#include "base/mem.h"

enum { STATUSES = 600, RECENT = 1000 };

struct Metrics {
    pthread_mutex_t lock;
    long responses[STATUSES];
    double seconds[RECENT]; /* ring buffer of the last responses with status 200 */
    long count;             /* of all responses with status 200 */
    double sum;
};

Metrics *metrics_new(void) {
    Metrics *metrics = mem_alloc(1, sizeof *metrics);
    pthread_mutex_init(&metrics->lock, NULL);
    return metrics;
}

void metrics_free(Metrics *metrics) {
    if (!metrics) return;
    pthread_mutex_destroy(&metrics->lock);
    mem_free(metrics);
}

void metrics_add(Metrics *metrics, int status, double seconds) {
    pthread_mutex_lock(&metrics->lock);
    metrics->responses[status > 0 && status < STATUSES ? status : 0]++;
    if (status == 200) {
        metrics->seconds[metrics->count++ % RECENT] = seconds;
        metrics->sum += seconds;
    }
    pthread_mutex_unlock(&metrics->lock);
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void metrics_write_head(const char *name, const char *kind, const char *help, StrBuf *out) {
    strbuf_format(out, "# HELP attn_mt_%s %s\n# TYPE attn_mt_%s %s\n", name, help, name, kind);
}

static void write_quantiles(const double *sorted, size_t count, StrBuf *out) {
    static const double QUANTILES[] = {0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof QUANTILES / sizeof *QUANTILES && count > 0; i++)
        strbuf_format(out, "attn_mt_request_seconds{quantile=\"%g\"} %.6g\n", QUANTILES[i],
                      sorted[(size_t)(QUANTILES[i] * (double)(count - 1) + 0.5)]);
}

void metrics_write(Metrics *metrics, StrBuf *out) {
    pthread_mutex_lock(&metrics->lock);
    Metrics now = *metrics;
    pthread_mutex_unlock(&metrics->lock);
    metrics_write_head("requests_total", "counter", "requests by HTTP status", out);
    for (int status = 0; status < STATUSES; status++)
        if (now.responses[status] > 0)
            strbuf_format(out, "attn_mt_requests_total{status=\"%d\"} %ld\n", status, now.responses[status]);
    size_t count = now.count < RECENT ? (size_t)now.count : RECENT;
    qsort(now.seconds, count, sizeof *now.seconds, compare_seconds);
    metrics_write_head("request_seconds", "summary", "from a request's first line to its answer, status 200",
                       out);
    write_quantiles(now.seconds, count, out);
    strbuf_format(out, "attn_mt_request_seconds_sum %.6g\nattn_mt_request_seconds_count %ld\n", now.sum,
                  now.count);
}

void metrics_write_number(const char *name, const char *kind, const char *help, double value, StrBuf *out) {
    metrics_write_head(name, kind, help, out);
    strbuf_format(out, "attn_mt_%s %.15g\n", name, value);
}

void metrics_write_labelled(const char *name, const char *label, const char *of, double value, StrBuf *out) {
    strbuf_format(out, "attn_mt_%s{%s=\"", name, label);
    for (; *of; of++) {
        if (*of == '"' || *of == '\\') strbuf_add_char(out, '\\');
        strbuf_add_char(out, *of == '\n' ? ' ' : *of);
    }
    strbuf_format(out, "\"} %.15g\n", value);
}
