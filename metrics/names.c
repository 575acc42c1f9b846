/* The table of metrics, from which /metrics, docs/reference/metrics.md and the tests are made. A
 * metric that is not here cannot be written (metric_find). OWN: counted by this process since it
 * started. ALL: a gauge of the whole installation, read from the database; ALL_SINCE: a counter
 * there. PROCESS: names that Prometheus' client libraries use, too. Names follow Prometheus' rules
 * (Metric and label naming): base units, _total for counters. No label is `job` or `instance`:
 * those are the scrape's, and Prometheus renames the exposed ones. */
#include "metrics/names.h"

#include <stddef.h>
#include <string.h>

#define OWN(name, type, help, ...)                                                                 \
    {                                                                                              \
        "lockstep_" name, type, METRIC_OWN, {__VA_ARGS__}, help                                    \
    }
#define ALL(name, help, ...)                                                                       \
    {                                                                                              \
        "lockstep_" name, METRIC_GAUGE, METRIC_INSTALLATION, {__VA_ARGS__}, help                   \
    }
#define ALL_SINCE(name, help, ...)                                                                 \
    {                                                                                              \
        "lockstep_" name, METRIC_COUNTER, METRIC_INSTALLATION, {__VA_ARGS__}, help                 \
    }
#define PROCESS(name, type, help)                                                                  \
    {                                                                                              \
        "process_" name, type, METRIC_OWN, {NULL}, help                                            \
    }
#define COUNTER   METRIC_COUNTER
#define GAUGE     METRIC_GAUGE
#define HISTOGRAM METRIC_HISTOGRAM

static const struct metric table[] = {
    /* The usual pattern for a version: the value is always 1, and the label joins to other metrics.
     */
    OWN("build_info", GAUGE, "Always 1; the version of the program is in the label.", "version"),
    /* 0 also while the database is slow: the numbers of the installation are then missing on the
     * page. */
    OWN("database_up", GAUGE, "1 if the numbers of the installation could be read, else 0.", NULL),
    OWN("tasks_total", COUNTER,
        "Attempts that this executor has ended: completed, failed (for good), error (another "
        "attempt follows), stale (another executor has the task).",
        "queue", "type", "outcome"),
    OWN("task_duration_seconds", HISTOGRAM, "How long these attempts ran.", "queue", "type"),
    OWN("task_wait_seconds", HISTOGRAM,
        "How long tasks that could start waited for a reader of this executor.", "queue"),
    OWN("barrier_seconds", HISTOGRAM,
        "From the end of a phase's last task until the next phase was open, as far as this "
        "executor saw both.",
        "queue"),
    OWN("rejected_total", COUNTER, "Messages that this executor has rejected.", "queue", "reason"),
    OWN("attempts_lost_total", COUNTER,
        "Attempts of this executor that the database counts as lost: their session broke, and the "
        "task may be the cause.",
        "queue"),
    OWN("queue_ready", GAUGE, "1 if this executor can work on the queue, else 0.", "queue"),
    /* By this process, although the cursor is of the database: the watermark is known to the
     * executor that reads the topic. */
    OWN("queue_lag_messages", GAUGE,
        "Messages of the topic that are not claimed yet, markers of transactions among them.",
        "queue"),
    OWN("schedule_fired_total", COUNTER, "Firings of jobs by this dispatcher.", NULL),
    OWN("schedule_skipped_total", COUNTER,
        "Times of jobs that were skipped: a run was open, or the query returned no task.", NULL),
    OWN("schedule_missed_total", COUNTER,
        "Decisions that times of jobs had passed without a dispatcher.", NULL),
    OWN("schedule_failed_total", COUNTER, "Firings that failed before there was a run.", NULL),
    OWN("schedule_lateness_seconds", HISTOGRAM, "How long after its time a job fired.", NULL),
    /* Rows with ALL are the same on each daemon of an installation: a query takes the maximum and
     * not the sum. */
    ALL_SINCE("runs_total", "Ends of runs, since the queue was created.", "queue", "status"),
    ALL("runs_open", "Runs that have not ended.", "queue", "status"),
    ALL("readers",
        "Reader slots of the queue: target is its max_readers, in_use what executors have now.",
        "queue", "kind"),
    ALL("oldest_waiting_seconds",
        "Since when the oldest phase that is not done has been claimed; 0: there is none.",
        "queue"),
    ALL("queue_state", "1 for the state of the queue: running, paused or halted.", "queue",
        "state"),
    ALL("executors",
        "Executors of the queue: running, held (SIGUSR1), draining, troubled, or "
        "silent (no heartbeat for frozen_after).",
        "queue", "state"),
    ALL("outbox_rows",
        "Rows of the outbox that are not relayed yet; at most 1,000 are counted for a queue.",
        "queue"),
    ALL("outbox_oldest_seconds", "Age of the oldest of these rows; 0: there is none.", "queue"),
    ALL("enqueued_runs",
        "Runs that were enqueued by SQL or by a job and are not on the topic yet; at most 1,000 "
        "are "
        "counted for a queue.",
        "queue"),
    ALL("enqueued_oldest_seconds", "Age of the oldest of these runs; 0: there is none.", "queue"),
    ALL("lock_headroom_ratio", "Share of the server's lock table that is free.", NULL),
    ALL("alerts_open", "Open alerts of jobs.", "kind"),
    ALL("alert_notices_undelivered",
        "Notices of alerts that are not delivered to the receiver, made or to be made.",
        "receiver"),
    ALL("monitors",
        "Monitors (monitor run): alive; silent (no look for 2 minutes and for three times as long "
        "as there is between two); ended as asked, until the next one begins.",
        "state"),
    ALL("monitor_last_look_timestamp_seconds",
        "When a monitor (monitor run) looked last; none if none is known.", NULL),
    ALL("job_last_success_timestamp_seconds",
        "When the newest occurrence of the job that completed had ended.", "job_name"),
    ALL("job_created_timestamp_seconds", "When the job was created.", "job_name"),
    /* Fields of librdkafka's statistics; kafka_text.c has the other half of this table. */
    OWN("kafka_messages_received_total", COUNTER, "Messages that librdkafka has fetched.", NULL),
    OWN("kafka_received_bytes_total", COUNTER, "Bytes from the brokers.", NULL),
    OWN("kafka_sent_bytes_total", COUNTER, "Bytes to the brokers.", NULL),
    OWN("kafka_requests_total", COUNTER, "Requests to the brokers.", NULL),
    OWN("kafka_operations_waiting", GAUGE, "Operations that wait for the executor.", NULL),
    OWN("kafka_broker_up", GAUGE, "1 if the connection to the broker is up, else 0.", "broker"),
    OWN("kafka_broker_round_trip_seconds", GAUGE,
        "Average round trip to the broker in the last interval of the statistics.", "broker"),
    OWN("kafka_broker_errors_total", COUNTER, "Failed transmissions and receptions.", "broker",
        "direction"),
    OWN("kafka_broker_request_timeouts_total", COUNTER, "Requests without an answer in time.",
        "broker"),
    OWN("kafka_fetch_queue_messages", GAUGE, "Messages that are fetched and not read yet.", "topic",
        "partition"),
    OWN("kafka_fetch_queue_bytes", GAUGE, "Their bytes.", "topic", "partition"),
    PROCESS("cpu_seconds_total", COUNTER, "Processor time of the process, user and system."),
    PROCESS("resident_memory_bytes", GAUGE, "Resident memory."),
    PROCESS("virtual_memory_bytes", GAUGE, "Virtual memory."),
    PROCESS("open_fds", GAUGE, "Open file descriptors."),
    PROCESS("max_fds", GAUGE, "File descriptors that the process may open."),
    PROCESS("start_time_seconds", GAUGE, "When the process started, since the epoch."),
};

const struct metric *metrics_all(int *ret_count)
{
    *ret_count = (int)(sizeof table / sizeof *table);
    return table;
}

const struct metric *metric_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
