/**
 * What: the table of metrics: every name that a daemon may answer with, its type, its labels and
 *   its meaning.
 * Invariants: it is the only list: the text of /metrics, docs/reference/metrics.md and the tests of
 *   the dashboard follow it.
 * Threads: any: it is constant.
 * Ownership: static.
 * Failure: none.
 */
#ifndef METRICS_NAMES_H
#define METRICS_NAMES_H

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/** Whose number it is, and so how those of several processes are put together. */
enum metric_source {
    METRIC_OWN,         /* of this process since its start: sum */
    METRIC_INSTALLATION /* of the whole installation, the same from every daemon: max */
};

#define METRIC_LABELS 3

struct metric {
    const char *name;
    enum metric_type type;
    enum metric_source source;
    const char *labels[METRIC_LABELS]; /* names; the last ones may be NULL */
    const char *help;
};

const struct metric *metrics_all(int *ret_count);
/** NULL: there is none of this name. */
const struct metric *metric_find(const char *name);

#endif
