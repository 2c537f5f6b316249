/* metrics.h - counters of the server in the text format of Prometheus.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ (text, 0.0.4)
 *
 * Threads any
 */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "base/strview.h"

typedef struct Metrics Metrics;

Metrics *metrics_new(void);
void metrics_free(Metrics *metrics);
/* Counts an answered request. `status` is the HTTP status. */
void metrics_add(Metrics *metrics, int status, double seconds);
/* Appends requests by status, and quantiles of the seconds of the last 1000 responses with status 200. */
void metrics_write(Metrics *metrics, StrBuf *out);
/* Appends one number. `kind` is "counter" or "gauge". */
void metrics_write_number(const char *name, const char *kind, const char *help, double value, StrBuf *out);
/* Appends the lines before the values of a metric, and one of its values, which has a label. */
void metrics_write_head(const char *name, const char *kind, const char *help, StrBuf *out);
void metrics_write_labelled(const char *name, const char *label, const char *of, double value, StrBuf *out);

#endif
