/**
 * What: one librdkafka client (rd_kafka_t) with our settings, its logs and its state (up or
 *   down). Internal to this folder.
 * Invariants: every client gets the settings of the table in handle.c; one that a promise rests on
 *   cannot be overridden and is read back. A change between up and down is logged once, not each
 *   failed connection.
 * Threads: librdkafka's threads call the log callback and count connections; everything else from
 *   the client's own thread.
 * Ownership: counted: kafka_handle_hold and kafka_handle_close; the last one destroys the client.
 * Failure: RC_FATAL + ERR_CONFIG for settings that librdkafka or this folder refuse.
 */
#ifndef KAFKA_HANDLE_H
#define KAFKA_HANDLE_H

#include "kafka/kafka.h"
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>

enum kafka_role { KAFKA_CONSUMER = 1, KAFKA_PRODUCER = 2, KAFKA_ADMIN = 4 };

struct kafka_handle {
    rd_kafka_t *rk;
    /* the producer, for its delivery reports; the source whose queue is being served */
    void *owner;
    void (*on_owner_error)(void *owner, rd_kafka_resp_err_t code,
                           const char *text); /* a consumer's; else NULL */
    char brokers[128];                        /* for error texts */
    struct kafka_properties props;            /* for masking */
    bool quiet;                               /* another client of the process logs outages */
    void (*on_statistics)(void *context, const char *json, size_t len); /* NULL: not wanted */
    void *statistics_context;
    _Atomic bool down;
    _Atomic uint64_t connected;   /* a bit for each broker, by its id modulo 64: it was connected */
    _Atomic unsigned reconnected; /* how often one of these was connected again */
    _Atomic int references;
    rd_kafka_resp_err_t last_code; /* the newest connection error; the client's own thread */
    char last_reason[512];
};

/** on_delivery and transactional_id are for producers, else NULL. */
MUST_CHECK enum rc
kafka_handle_open(const struct kafka_properties *props, enum kafka_role role,
                  const char *transactional_id,
                  void (*on_delivery)(rd_kafka_t *, const rd_kafka_message_t *, void *),
                  void *owner, struct kafka_handle **ret_handle, struct err *err);
/** Its errors are those of this source; NULL: of none. */
void kafka_handle_serves(struct kafka_handle *handle, void *owner);
/** Logs no outage: another client of the process does. */
void kafka_handle_hush(struct kafka_handle *handle);
struct kafka_handle *kafka_handle_hold(struct kafka_handle *handle);
void kafka_handle_close(struct kafka_handle *handle);

/** Closes without waiting; NULL: others hold it still. kafka_handle_closed takes what it gives:
 * false while it is under way and wait is false. */
struct kafka_closing;
struct kafka_closing *kafka_handle_close_start(struct kafka_handle *handle);
bool kafka_handle_closed(struct kafka_closing *closing, bool wait);

/** The cluster answered: ends the state "down". */
void kafka_handle_alive(struct kafka_handle *handle);

/** Fills err for a call that got no answer within timeout_ms: brokers, newest reason, hint.
 * RC_LOST, or RC_FATAL for bad credentials. */
enum rc kafka_handle_no_answer(struct kafka_handle *handle, const char *object, int timeout_ms,
                               struct err *err);

/** librdkafka's log callback: into base/log.h, secrets masked. */
void kafka_handle_log(const rd_kafka_t *rk, int level, const char *facility, const char *text);

/** properties.c */
/** Overwrites each secret of props that occurs in text with stars. */
void kafka_properties_mask(const struct kafka_properties *props, char *text);

#endif
