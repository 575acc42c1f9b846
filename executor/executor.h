/**
 * What: the daemon: claims tasks from its queues in order and runs them, phase by phase. Walk
 *   through the files in the order of a task's life: run.c has the story of a turn, then receive,
 *   claim, gate, execute, record, release, recover. executor.c has the life of the process.
 * Invariants: the promises of docs/explanation/guarantees.md. A process is one incarnation after
 *   another: when a session that carries locks is lost, the executor drops everything, and a new
 *   incarnation starts.
 * Threads: executor_run blocks its caller, which must be the main thread: it installs the
 *   handlers of SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2. The table of threads is in
 *   docs/explanation/architecture.md.
 * Ownership: borrows the options until it returns.
 * Failure: RC_LOST/RC_FATAL when the first incarnation cannot start; later ones are tried again
 *   for ever.
 */
#ifndef EXECUTOR_EXECUTOR_H
#define EXECUTOR_EXECUTOR_H

#include "base/err.h"
#include "kafka/kafka.h"

struct action_shelf;
struct tally;

struct executor_options {
    const char *conninfo;      /* control, gate and liveness sessions */
    const char *task_conninfo; /* who runs the tasks' SQL; NULL: conninfo, with a warning */
    const struct kafka_properties *kafka;
    struct tally *tally; /* the counts of the metrics, for the same queues; NULL: none */
    const char *const *queues;
    int queue_count;
    struct action_shelf *actions; /* commands and requests */
    /* SIGHUP: reads the configuration again, and logs its errors. False: the configuration of
     * before stays. NULL: there is none. */
    bool (*reload)(void *context);
    void *reload_context;
    int readers;           /* of this executor, over all its queues */
    int max_attempts;      /* of a task for which neither message nor queue sets it */
    int64_t keep_log_ms;   /* of jobs */
    bool dispatches;       /* its dispatcher fires jobs, if no other one does */
    bool until_idle;       /* end when the topics' ends are reached and nothing is unfinished */
    int sweep_interval_ms; /* of retention */
    int drain_timeout_ms;  /* how long running tasks may continue after SIGTERM */
    int heartbeat_ms;      /* while work is owned; five times as long when idle */
    int frozen_after_ms;   /* T2: others end an executor whose heartbeat stands still for so long */
};

/** Runs until a signal, or idle, ends it. RC_OK: drained. */
MUST_CHECK enum rc executor_run(const struct executor_options *options, struct err *err);

#endif
