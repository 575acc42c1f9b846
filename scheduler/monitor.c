/* Looks at the jobs every options.every_ms. A look opens and closes incidents in the database
 * (scheduler/alerts.c); the threads of scheduler/delivery.c send notices about them and share
 * nothing with this one but a wake-up. */
#include "scheduler/monitor.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "scheduler/alerts.h"
#include "scheduler/delivery.h"
#include "scheduler/lasting.h"

#include <stdlib.h>

#define PATIENCE_MS 30000 /* a look at 10,000 jobs */

struct monitor {
    struct monitor_options options;
    struct thread thread;
    struct delivery **deliveries; /* options.receiver_count */
    struct lasting session;
    int64_t due_us; /* when it is due again */
    bool begun;     /* the database knows of this process */
};

/* The database remembers that it looks, and, once it was not known there, its receivers. */
static enum rc be_seen(struct monitor *monitor, struct err *err)
{
    const struct monitor_options *options = &monitor->options;
    struct db *db = monitor->session.db;
    DB_RESULT_AUTO *row = NULL;
    const char *params[] = {options->who, options->host, DB_INT(options->every_ms),
                            monitor->begun ? "f" : "t"};
    /* Each look renews it. The beginning (last parameter) also forgets a predecessor on this
     * host. */
    enum rc rc = db_run(db, &sql_monitor_seen, params, &row, err);
    if (rc != RC_OK || db_bool(row, 0, MONITOR_SEEN_KNOWN))
        return rc;
    for (int i = 0; rc == RC_OK && i < options->receiver_count; i++) {
        const struct receiver *receiver = &options->receivers[i];
        rc = db_run(db, &sql_monitor_receives,
                    (const char *const[]){options->who, receiver->name,
                                          receiver->jobs ? receiver->jobs : "*", receiver->kinds,
                                          DB_INT(receiver->hold_ms)},
                    NULL, err);
    }
    /* Only after all receivers are there: a session that is lost between them begins from the first
     * again. */
    monitor->begun = rc == RC_OK;
    return rc;
}

static enum rc update(struct monitor *monitor, struct err *err)
{
    const struct monitor_options *options = &monitor->options;
    enum rc rc = lasting_open(&monitor->session, err);
    if (rc == RC_OK)
        rc = be_seen(monitor, err);
    return rc == RC_OK ? alerts_update(monitor->session.db, options->who, options->every_ms, err)
                       : rc;
}

/* Wakes the receivers also after a look of another monitor: incidents of that look need notices,
 * too. */
static void run_round(struct monitor *monitor)
{
    struct err err = {0};
    if (update(monitor, &err) != RC_OK) {
        if (lasting_lost(&monitor->session, &err))
            log_err(LOG_WARN, "monitor_lost", NULL, &err);
        monitor->due_us = clock_boot_us() + monitor->session.backoff_ms * 1000LL;
        return;
    }
    if (lasting_works(&monitor->session))
        log_event(LOG_INFO, "monitor_is_back", NULL);
    monitor->due_us = clock_boot_us() + monitor->options.every_ms * 1000LL;
    for (int i = 0; i < monitor->options.receiver_count; i++)
        delivery_news(monitor->deliveries[i]);
}

static void *monitor_main(void *context)
{
    struct monitor *monitor = context;
    struct err err;
    for (bool stopping = false;;) {
        (void)thread_take(&monitor->thread, &stopping);
        if (stopping)
            break;
        if (clock_boot_us() >= monitor->due_us)
            run_round(monitor);
        mailbox_wait(&monitor->thread.inbox, clock_left_ms(monitor->due_us));
    }
    if (monitor->session.db != NULL)
        /* A monitor that ends on purpose must not be reported as absent later. A failure is
         * ignored: without a session the database takes the process for absent when its looks stay
         * away. */
        (void)!db_run(monitor->session.db, &sql_monitor_ended,
                      (const char *const[]){monitor->options.who}, NULL, &err);
    lasting_end(&monitor->session);
    return NULL;
}

/* All are asked before one is waited for: a command may take kill_after to end, and the stop would
 * take that for each receiver. */
static void ask_deliveries(struct monitor *monitor)
{
    for (int i = 0; i < monitor->options.receiver_count; i++)
        delivery_ask_stop(monitor->deliveries[i]);
}

static void release(struct monitor *monitor)
{
    ask_deliveries(monitor);
    for (int i = 0; i < monitor->options.receiver_count; i++)
        delivery_stop(monitor->deliveries[i]);
    free(monitor->deliveries);
    lasting_done(&monitor->session);
    free(monitor);
}

enum rc monitor_start(const struct monitor_options *options, struct monitor **ret_monitor,
                      struct err *err)
{
    struct monitor *monitor = xcalloc(1, sizeof *monitor);
    enum rc rc = RC_OK;
    monitor->options = *options;
    lasting_init(&monitor->session, options->conninfo, DB_MONITOR, DB_NOT_OLDER, options->server,
                 PATIENCE_MS);
    /* One more than needed, because calloc of 0 may return NULL. */
    monitor->deliveries = xcalloc((size_t)options->receiver_count + 1, sizeof(struct delivery *));
    for (int i = 0; rc == RC_OK && i < options->receiver_count; i++)
        rc = delivery_start(&options->receivers[i], options->settings, options->conninfo,
                            options->server, options->who, &monitor->deliveries[i], err);
    if (rc == RC_OK)
        rc = thread_start(&monitor->thread, "monitor", monitor_main, monitor, err);
    if (rc == RC_OK)
        *ret_monitor = monitor;
    else
        release(monitor);
    return rc;
}

void monitor_stop(struct monitor *monitor)
{
    if (monitor == NULL)
        return;
    ask_deliveries(monitor);
    lasting_stop(&monitor->session, &monitor->thread);
    release(monitor);
}
