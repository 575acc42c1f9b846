/* The common part of consumers, producers and admin clients: configuration, log and errors, start
 * and end. Begin with kafka_handle_open(): configure() sets our values, then the user's, then ours
 * again where a promise rests on them (settings[].kept); start() makes the client; verify() reads
 * the kept values back. Calls that may not return go through bounded.c, codes get their meaning in
 * error.c. */
#include "kafka/handle.h"

#include "base/log.h"
#include "base/str.h"
#include "base/utf8.h"
#include "kafka/bounded.h"
#include "kafka/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* CLOSE_TIMEOUT_MS: rd_kafka_destroy waits for its threads without a bound of its own. */
#define SLACK_NS         10000000UL
#define CLOSE_TIMEOUT_MS 5000
#define ALL              (KAFKA_CONSUMER | KAFKA_PRODUCER | KAFKA_ADMIN)

/* The settings of every client, by librdkafka's CONFIGURATION.md. kept: a promise rests on it, so
 * another value of the user's is refused. */
static const struct setting {
    const char *key, *value;
    int roles;
    bool kept;
} settings[] = {
    {"client.id", "lockstep", ALL,
     false}, /* short: librdkafka < 2.5.0 has a buffer bug with unlucky lengths */
    {"socket.keepalive.enable", "true", ALL, false},
    {"socket.nagle.disable", "true", ALL, false},
    {"group.id", "lockstep", KAFKA_CONSUMER,
     false}, /* the API wants one; the group is never joined */
    {"session.timeout.ms", "1000", KAFKA_CONSUMER | KAFKA_ADMIN,
     false}, /* no session: how long a close waits for a commit that found no coordinator (45 s) */
    {"isolation.level", "read_committed", KAFKA_CONSUMER, true},
    {"isolation.level", "read_uncommitted", KAFKA_ADMIN,
     true}, /* else the high watermark is the last stable offset */
    {"auto.offset.reset", "error", KAFKA_CONSUMER,
     true}, /* the default jumps to the end and loses everything */
    /* The position of a queue is in PostgreSQL and moves in the transaction of a claim. */
    {"enable.auto.commit", "false", KAFKA_CONSUMER, true},
    {"enable.auto.offset.store", "false", KAFKA_CONSUMER, true},
    /* Without it the end of the log cannot be distinguished from a slow fetch. */
    {"enable.partition.eof", "true", KAFKA_CONSUMER, true},
    /* Off by default: a damaged batch would be claimed as if it were sent so. */
    {"check.crcs", "true", KAFKA_CONSUMER, true},
    {"queued.max.messages.kbytes", "6144", KAFKA_CONSUMER, false}, /* of values only */
    {"queued.min.messages", "64", KAFKA_CONSUMER,
     false}, /* so keys and headers are bounded, too; kafka_source_poll keeps it fast */
    {"fetch.message.max.bytes", "65536", KAFKA_CONSUMER,
     false}, /* of compressed batches; a larger batch comes alone */
    {"fetch.wait.max.ms", "100", KAFKA_CONSUMER,
     false}, /* how long metadata, asked before an assign, may wait behind the fetch under way */
    {"statistics.interval.ms", "10000", KAFKA_CONSUMER, false}, /* keeps the low watermark fresh */
    {"allow.auto.create.topics", "false", KAFKA_CONSUMER | KAFKA_ADMIN,
     true}, /* a question about a topic creates none */
    /* A retry neither doubles nor reorders records, and a leader that fails loses none that is
     * acknowledged. */
    {"enable.idempotence", "true", KAFKA_PRODUCER, true},
    {"acks", "all", KAFKA_PRODUCER, true},
    {"linger.ms", "5", KAFKA_PRODUCER, false},
    /* 32 MB instead of the default of 1 GB: a publisher waits for room. */
    {"queue.buffering.max.kbytes", "32768", KAFKA_PRODUCER, false},
    {"transaction.timeout.ms", "60000", KAFKA_PRODUCER, false},
};
#define SETTING_COUNT (sizeof settings / sizeof settings[0])

static enum rc refused(struct err *err, const char *key, const char *text)
{
    return err_set(err, RC_FATAL, ERR_CONFIG, key, "See librdkafka's CONFIGURATION.md.", "%s",
                   text);
}

static void value_of(const rd_kafka_conf_t *conf, const char *key, char *ret_value, size_t size)
{
    if (rd_kafka_conf_get(conf, key, ret_value, &size) != RD_KAFKA_CONF_OK)
        ret_value[0] = '\0';
}

/* A kept setting wins. Another value of the user is an error, because ignoring it would hide a
 * misunderstanding; the default of librdkafka is none, because it need not come from the user. */
static enum rc keep(rd_kafka_conf_t *conf, const rd_kafka_conf_t *fresh, const struct setting *s,
                    struct err *err)
{
    char text[512], standard[256], before[256], after[256];
    value_of(fresh, s->key, standard, sizeof standard);
    value_of(conf, s->key, before, sizeof before);
    if (rd_kafka_conf_set(conf, s->key, s->value, text, sizeof text) != RD_KAFKA_CONF_OK)
        return refused(err, s->key, text);
    value_of(conf, s->key, after, sizeof after);
    if (strcmp(before, after) != 0 && strcmp(before, standard) != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, s->key,
                       "Remove this property from section [kafka].",
                       "lockstep needs %s=%s, it cannot be %s", s->key, s->value, before);
    return RC_OK;
}

static enum rc configure(rd_kafka_conf_t *conf, const struct kafka_properties *props,
                         enum kafka_role role, const char *transactional_id, struct err *err)
{
    char text[512];
    enum rc rc = RC_OK;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if ((settings[i].roles & (int)role) && !settings[i].kept &&
            rd_kafka_conf_set(conf, settings[i].key, settings[i].value, text, sizeof text) !=
                RD_KAFKA_CONF_OK)
            return refused(err, settings[i].key, text);
    for (int i = 0; i < props->count; i++)
        if (rd_kafka_conf_set(conf, props->items[i].key, props->items[i].value, text,
                              sizeof text) != RD_KAFKA_CONF_OK)
            return refused(err, props->items[i].key, text);
    rd_kafka_conf_t *fresh = rd_kafka_conf_new();
    for (size_t i = 0; rc == RC_OK && i < SETTING_COUNT; i++)
        if ((settings[i].roles & (int)role) && settings[i].kept)
            rc = keep(conf, fresh, &settings[i], err);
    rd_kafka_conf_destroy(fresh);
    if (rc == RC_OK && transactional_id != NULL &&
        rd_kafka_conf_set(conf, "transactional.id", transactional_id, text, sizeof text) !=
            RD_KAFKA_CONF_OK)
        return refused(err, "transactional.id", text);
    return rc;
}

/* Reads back what librdkafka made of the kept settings: one release of it was reported to reset an
 * offset against them. */
static enum rc verify(const struct kafka_handle *handle, enum kafka_role role, struct err *err)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char expected[256], have[256], text[512];
        if (!(settings[i].roles & (int)role) || !settings[i].kept)
            continue;
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        (void)rd_kafka_conf_set(conf, settings[i].key, settings[i].value, text, sizeof text);
        value_of(conf, settings[i].key, expected, sizeof expected);
        rd_kafka_conf_destroy(conf);
        value_of(rd_kafka_conf(handle->rk), settings[i].key, have, sizeof have);
        if (expected[0] == '\0' || strcmp(expected, have) != 0)
            return err_set(
                err, RC_FATAL, ERR_CONFIG, settings[i].key, "Check the version of librdkafka.",
                "librdkafka runs with %s=%s instead of %s", settings[i].key, have, expected);
    }
    return RC_OK;
}

static enum log_level level_of(int syslog_level, const char *facility)
{
    /* Failed connections come again and again (FAIL): on_error logs the change of state once. A
     * property of the other kind of client is normal, because the section [kafka] serves both
     * (CONFWARN). The mock cluster cannot refuse to make topics (AUTOCREATE). A changed number of
     * partitions, or another cluster, is reported by the part that checks the topic. */
    static const char *const quiet[] = {"FAIL", "CONFWARN", "AUTOCREATE", "PARTCNT", "CLUSTERID"};
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
        if (strcmp(facility, quiet[i]) == 0)
            return LOG_DEBUG;
    /* Levels of syslog(3): 3 error, 4 warning, 5 notice, 6 informational, 7 debug. */
    if (syslog_level <= 3)
        return LOG_ERROR;
    if (syslog_level == 4)
        return LOG_WARN;
    return syslog_level < 7 ? LOG_INFO : LOG_DEBUG;
}

void kafka_handle_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    const struct kafka_handle *handle = rd_kafka_opaque(rk);
    /* librdkafka may quote a property in its texts, so secrets are masked in a copy. Called on
     * librdkafka's threads: only props, which does not change, is read. */
    FREE_AUTO char *safe = xstrdup(text);
    if (handle != NULL)
        kafka_properties_mask(&handle->props, safe);
    log_event(level_of(level, facility), "kafka_log", "facility", facility, "message", safe, NULL);
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    struct kafka_handle *handle = opaque;
    rd_kafka_resp_err_t what = (rd_kafka_resp_err_t)code;
    (void)rk;
    if (handle->on_owner_error != NULL && handle->owner != NULL) {
        handle->on_owner_error(handle->owner, what, reason);
        return;
    }
    if (what != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        handle->last_code = what;
        (void)snprintf(handle->last_reason, sizeof handle->last_reason, "%s", reason);
        kafka_properties_mask(&handle->props, handle->last_reason);
    }
    /* An outage is one event, though each broker reports it; kafka_up ends it. */
    if (kafka_err_no_answer(what)) {
        if (what == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !atomic_exchange(&handle->down, true) &&
            !handle->quiet)
            log_event(LOG_WARN, "kafka_down", "object", handle->brokers, "error",
                      handle->last_reason, NULL);
        return;
    }
    log_event(LOG_WARN, "kafka_trouble", "object", handle->brokers, "code", rd_kafka_err2name(what),
              "error", handle->last_reason, NULL);
}

/* librdkafka reports no reconnection, but its statistics name a broker that is up. */
static int on_statistics(rd_kafka_t *rk, char *json, size_t len, void *opaque)
{
    (void)rk;
    struct kafka_handle *handle = opaque;
    if (handle->on_statistics != NULL)
        handle->on_statistics(handle->statistics_context, json, len);
    if (handle->down && strstr(json, "\"state\":\"UP\"") != NULL)
        kafka_handle_alive(handle);
    return 0;
}

/* Called in the thread of the broker, before it sends the first fetch over the new connection. A
 * bootstrap connection has no id, that to a group's coordinator no port; they fetch nothing. Two
 * brokers that share a bit count once too often, which costs a check. */
static rd_kafka_resp_err_t on_broker_state(rd_kafka_t *rk, int32_t id, const char *protocol,
                                           const char *name, int port, const char *state,
                                           void *opaque)
{
    struct kafka_handle *handle = opaque;
    (void)rk, (void)protocol, (void)name;
    if (id < 0 || port == 0 || strcmp(state, "UP") != 0)
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    uint64_t bit = UINT64_C(1) << (id % 64);
    if (atomic_fetch_or(&handle->connected, bit) & bit)
        atomic_fetch_add(&handle->reconnected, 1);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque,
                                  char *text, size_t size)
{
    (void)conf, (void)text, (void)size;
    return rd_kafka_interceptor_add_on_broker_state_change(rk, "lockstep", on_broker_state, opaque);
}

static const char *brokers_of(const struct kafka_properties *props)
{
    const char *brokers = kafka_properties_get(props, "bootstrap.servers");
    return brokers != NULL ? brokers : kafka_properties_get(props, "metadata.broker.list");
}

/* The main thread of a client (before 2.4.0) asks for a wait of 0 ms, again and again, for the last
 * millisecond before each of its timers. The kernel may end a wait of this thread later by its
 * slack, also one of 0 ms: so it sleeps instead of spinning. A thread inherits the slack of its
 * creator (prctl(2)); an event of a signal or a socket is not delayed. */
static rd_kafka_t *new_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *text, size_t size)
{
    int own_ns = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    if (own_ns > 0 && type == RD_KAFKA_CONSUMER)
        (void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0UL, 0UL, 0UL);
    rd_kafka_t *rk = rd_kafka_new(type, conf, text, size);
    if (own_ns > 0)
        (void)prctl(PR_SET_TIMERSLACK, (unsigned long)own_ns, 0UL, 0UL, 0UL);
    return rk;
}

static enum rc start(struct kafka_handle *handle, enum kafka_role role, rd_kafka_conf_t *conf,
                     struct err *err)
{
    char text[512] = "";
    rd_kafka_conf_set_opaque(conf, handle);
    rd_kafka_conf_set_log_cb(conf, kafka_handle_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    if (role == KAFKA_CONSUMER) {
        rd_kafka_conf_set_stats_cb(conf, on_statistics);
        (void)rd_kafka_conf_interceptor_add_on_new(conf, "lockstep", on_new, handle);
    }
    handle->rk = new_client(role == KAFKA_PRODUCER ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf,
                            text, sizeof text);
    if (handle->rk != NULL)
        return verify(handle, role, err);
    /* rd_kafka_new() fails for a bad combination of settings, or because it cannot start its
     * threads. */
    bool short_of = rd_kafka_last_error() != RD_KAFKA_RESP_ERR__INVALID_ARG;
    rd_kafka_conf_destroy(conf);
    kafka_properties_mask(&handle->props, text);
    if (short_of) /* of threads, memory: the configuration is not to blame */
        return err_set(err, RC_RETRY, ERR_KAFKA, handle->brokers,
                       "Raise the limits of processes and open files for this user.",
                       "cannot start a client: %s", text);
    return refused(err, handle->brokers, text);
}

enum rc kafka_handle_open(const struct kafka_properties *props, enum kafka_role role,
                          const char *transactional_id,
                          void (*on_delivery)(rd_kafka_t *, const rd_kafka_message_t *, void *),
                          void *owner, struct kafka_handle **ret_handle, struct err *err)
{
    const char *brokers = brokers_of(props);
    if (brokers == NULL || *brokers == '\0')
        return err_set(err, RC_FATAL, ERR_CONFIG, "bootstrap.servers",
                       "Name the brokers with -b HOST:PORT or in section [kafka] of lockstep.conf.",
                       "no Kafka brokers are configured");
    struct kafka_handle *handle = xcalloc(1, sizeof *handle);
    handle->references = 1;
    handle->owner = owner;
    (void)snprintf(handle->brokers, sizeof handle->brokers, "%s", brokers);
    kafka_properties_copy(&handle->props, props);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum rc rc = configure(conf, props, role, transactional_id, err);
    if (rc == RC_OK) {
        if (on_delivery != NULL)
            rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
        rc = start(handle, role, conf, err); /* takes conf */
    } else {
        rd_kafka_conf_destroy(conf);
    }
    if (rc == RC_OK)
        *ret_handle = handle;
    else
        kafka_handle_close(handle);
    return rc;
}

void kafka_handle_serves(struct kafka_handle *handle, void *owner)
{
    handle->owner = owner;
}

void kafka_handle_hush(struct kafka_handle *handle)
{
    handle->quiet = true;
}

struct kafka_handle *kafka_handle_hold(struct kafka_handle *handle)
{
    handle->references++;
    return handle;
}

static void destroy(void *argument)
{
    struct kafka_handle *handle = argument;
    /* No group was joined, so there is none to leave. */
    if (handle->rk != NULL)
        rd_kafka_destroy_flags(handle->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

static void handle_free(void *argument)
{
    struct kafka_handle *handle = argument;
    kafka_properties_done(&handle->props);
    free(handle);
}

struct kafka_closing {
    struct kafka_bounded *job;
    char brokers[sizeof(((struct kafka_handle *)NULL)->brokers)];
    struct kafka_handle *handle;
};

struct kafka_closing *kafka_handle_close_start(struct kafka_handle *handle)
{
    if (handle == NULL || --handle->references > 0)
        return NULL;
    struct kafka_closing *closing = xcalloc(1, sizeof *closing);
    (void)snprintf(closing->brokers, sizeof closing->brokers, "%s", handle->brokers);
    closing->handle = handle;
    closing->job = kafka_bounded_start(destroy, handle_free, handle, CLOSE_TIMEOUT_MS);
    return closing;
}

bool kafka_handle_closed(struct kafka_closing *closing, bool wait)
{
    if (closing == NULL)
        return true;
    if (!wait && !kafka_bounded_over(closing->job))
        return false;
    /* 2.0.2 sometimes never ends a client whose topic was deleted: its threads are left behind
     * then. */
    if (kafka_bounded_end(closing->job))
        handle_free(closing->handle);
    else
        log_event(LOG_WARN, "kafka_close_abandoned", "object", closing->brokers, NULL);
    free(closing);
    return true;
}

void kafka_handle_close(struct kafka_handle *handle)
{
    (void)kafka_handle_closed(kafka_handle_close_start(handle), true);
}

void kafka_handle_alive(struct kafka_handle *handle)
{
    if (!handle->down || !atomic_exchange(&handle->down, false))
        return;
    if (!handle->quiet)
        log_event(LOG_INFO, "kafka_up", "object", handle->brokers, NULL);
}

enum rc kafka_handle_no_answer(struct kafka_handle *handle, const char *object, int timeout_ms,
                               struct err *err)
{
    while (rd_kafka_poll(handle->rk, 0) > 0) { /* the reason may still be in the queue of events */
    }
    bool known_cause =
        !kafka_err_no_answer(handle->last_code) && kafka_err_rc(handle->last_code) == RC_FATAL;
    enum rc rc =
        kafka_err(err, known_cause ? handle->last_code : RD_KAFKA_RESP_ERR__TRANSPORT, object, "");
    if (err != NULL) {
        utf8_format(err->message, sizeof err->message, "no answer from Kafka at %s within %d ms",
                    handle->brokers, timeout_ms);
        utf8_copy(err->detail, sizeof err->detail, handle->last_reason);
    }
    return rc;
}
