/**
 * What: the threads that serve an incarnation, and its Kafka consumer.
 * Invariants: a service is set by the file that its comment names, and executor.c stops all of
 *   them in one order.
 * Threads: control.
 * Ownership: the executor owns them.
 * Failure: -
 */
#ifndef EXECUTOR_SERVICES_H
#define EXECUTOR_SERVICES_H

struct services {
    struct alive *alive;             /* executor.c: the liveness thread */
    struct watcher *watcher;         /* executor.c */
    struct kafka_consumer *consumer; /* receive.c: all lanes read through it */
    struct relay *relay;             /* letters.c: NULL until there is something to relay */
    struct retention *retention;     /* keep.c: NULL until a queue has a rule of retention */
    struct jobs *jobs;               /* jobs.c: NULL: this executor does not dispatch */
};

#endif
