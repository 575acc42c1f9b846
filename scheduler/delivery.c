/* Sends the notices of one receiver. One round: claim a notice in the database, run the command or
 * request outside any transaction, record the result. The claim is a lease, so a monitor that dies
 * between the attempt and the record leads to a second delivery, never to none. The database
 * decides which notice is due and when a failed one is tried again; action/ runs the attempt. */
#include "scheduler/delivery.h"

#include "action/action.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/str.h"
#include "base/thread.h"
#include "scheduler/lasting.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Claim and result are short statements: without an answer for so long the session is lost. */
#define PATIENCE_MS 10000
#define SILENCE_MS  5000 /* a command is killed when this process stands still for so long */

struct delivery {
    const struct receiver *receiver;
    const struct action_settings *settings;
    const char *who;
    struct thread thread;
    struct action_stop stop;
    _Atomic bool ending;
    struct lasting session;
    bool started; /* what failed before this monitor is tried at once */
};

/* A task of its kind, with the document where such a task has its input. */
static void attempt(struct delivery *delivery, const char *document, const char *key,
                    const char *number, int64_t alive_us, struct action_result *result)
{
    const struct receiver *receiver = delivery->receiver;
    FREE_AUTO char *text = xstrdup(document);
    FREE_AUTO char *target = xstrdup(receiver->url ? receiver->url : receiver->command);
    FREE_AUTO char *unique = xstrdup(key);
    char name[] = "Idempotency-Key", method[] = "POST";
    /* A notice is delivered at least once: the receiver recognises a second delivery by this
     * key. */
    struct message_header header = {name, unique};
    struct message msg = {.seq = -1, .timeout_us = receiver->timeout_ms * 1000};
    if (receiver->url != NULL) {
        msg.type = MESSAGE_HTTP;
        msg.action = (struct message_action){
            .url = target, .method = method, .body = text, .headers = &header, .header_count = 1};
    } else {
        msg.type = MESSAGE_COMMAND;
        msg.action = (struct message_action){.command = target, .input = text};
    }
    /* Names of a queue, run and task are empty: a notice belongs to none. The command finds its
     * attempt number in the environment as a task's command does. */
    struct action_attempt what = action_no_task;
    what.msg = &msg;
    what.attempt = number;
    /* The attempt keeps its own time: the monitor's thread may wait for the database meanwhile. */
    struct action_tie tie = {.stop = &delivery->stop,
                             .silence_ms = SILENCE_MS,
                             .alive_us = alive_us,
                             .until_us = clock_boot_us() + receiver->timeout_ms * 1000,
                             .held = {-1, -1}};
    /* The interleaving: delivery_stop sets ending and asks the stop; if the clear comes between or
     * after them, the check behind it asks again. Without that check a stop that came before the
     * attempt would be lost, and the shutdown would last as long as the receiver's time-out. */
    action_stop_clear(&delivery->stop);
    if (delivery->ending)
        action_stop_ask(&delivery->stop, ACTION_TERMINATE);
    action_run(delivery->settings, &what, &tie, result);
}

/* What is recorded of it; NULL: it was delivered. */
static const char *failure(const struct delivery *delivery, const struct action_result *result)
{
    if (result->outcome == ACTION_DONE)
        return NULL;
    if (result->outcome == ACTION_FAILED)
        return result->error.data != NULL ? result->error.data : "it failed";
    return delivery->ending                     ? "the monitor was ended while it was sent"
           : delivery->stop.how != ACTION_GO_ON ? "no answer within its timeout"
                                                : "this host stood still while it was sent";
}

static enum rc send_one(struct delivery *delivery, const struct db_result *row, int64_t alive_us,
                        struct err *err)
{
    struct action_result result;
    const char *key = db_text(row, 0, ALERT_CLAIM_KEY),
               *number = db_text(row, 0, ALERT_CLAIM_ATTEMPT);
    probe("notice.claimed");
    attempt(delivery, db_text(row, 0, ALERT_CLAIM_DOCUMENT), key, number, alive_us, &result);
    probe("notice.sent");
    const char *error = failure(delivery, &result);
    /* Retry-After of the answer (RFC 9110, section 10.2.3), if it had one. */
    const char *params[] = {db_text(row, 0, ALERT_CLAIM_NOTICE), number, error,
                            result.retry_after_s > 0 ? DB_INT(result.retry_after_s) : NULL};
    log_event(error != NULL ? LOG_WARN : LOG_INFO, error != NULL ? "notice_failed" : "notice_sent",
              "receiver", delivery->receiver->name, "notice", key, "attempt", number, "error",
              error != NULL ? error : "", NULL);
    enum rc rc = db_run(delivery->session.db, &sql_alert_sent, params, NULL, err);
    action_result_done(&result);
    return rc;
}

/* The next notice, if one is due. *ret_wait_ms: 0: there may be more; -1: nothing is to be waited
 * for. */
static enum rc next(struct delivery *delivery, int *ret_wait_ms, struct err *err)
{
    const struct receiver *receiver = delivery->receiver;
    DB_RESULT_AUTO *row = NULL;
    /* The longest that an attempt may live after the claim: it starts within SILENCE_MS, it may
     * take the receiver's time-out, and a command has kill_after_ms between SIGTERM and SIGKILL. No
     * other monitor claims the notice before that. */
    int64_t lease_ms = receiver->timeout_ms + receiver->kill_after_ms + SILENCE_MS;
    const char *params[] = {receiver->name,
                            delivery->who,
                            receiver->jobs ? receiver->jobs : "*",
                            receiver->kinds,
                            DB_INT(receiver->hold_ms),
                            receiver->remind_ms > 0 ? DB_INT(receiver->remind_ms) : NULL,
                            DB_INT(lease_ms)};
    enum rc rc = lasting_open(&delivery->session, err);
    /* Taken before the claim: the lease begins later than this moment, so an attempt that starts
     * within SILENCE_MS of it cannot outlive the lease. */
    int64_t alive_us = clock_boot_us();
    if (rc == RC_OK && !delivery->started)
        rc = db_run(delivery->session.db, &sql_alert_start, params, NULL, err);
    delivery->started |= rc == RC_OK;
    if (rc == RC_OK)
        rc = db_run(delivery->session.db, &sql_alert_claim, params, &row, err);
    if (rc != RC_OK)
        return rc;
    *ret_wait_ms = 0;
    if (!db_null(row, 0, ALERT_CLAIM_NOTICE))
        return send_one(delivery, row, alive_us, err);
    *ret_wait_ms =
        db_null(row, 0, ALERT_CLAIM_WAIT_MS) ? -1 : (int)db_int(row, 0, ALERT_CLAIM_WAIT_MS);
    return RC_OK;
}

static void *delivery_main(void *context)
{
    struct delivery *delivery = context;
    bool stopping = false;
    struct err err = {0};
    for (;;) {
        int wait_ms = 0;
        /* Orders have no content; delivery_news only wakes the thread. */
        for (struct mail *mail = thread_take(&delivery->thread, &stopping), *after; mail != NULL;
             mail = after) {
            after = mail->next;
            free(mail);
        }
        if (stopping)
            break;
        if (next(delivery, &wait_ms, &err) != RC_OK) {
            if (lasting_lost(&delivery->session, &err))
                log_event(LOG_WARN, "receiver_waits", "receiver", delivery->receiver->name, "error",
                          err.message, NULL);
            wait_ms = delivery->session.backoff_ms;
        } else if (lasting_works(&delivery->session)) {
            log_event(LOG_INFO, "receiver_is_back", "receiver", delivery->receiver->name, NULL);
        }
        if (wait_ms != 0)
            mailbox_wait(&delivery->thread.inbox, wait_ms);
    }
    lasting_close(&delivery->session);
    return NULL;
}

enum rc delivery_start(const struct receiver *receiver, const struct action_settings *settings,
                       const char *conninfo, const struct db_server *server, const char *who,
                       struct delivery **ret_delivery, struct err *err)
{
    struct delivery *delivery = xcalloc(1, sizeof *delivery);
    *delivery = (struct delivery){.receiver = receiver, .settings = settings, .who = who};
    lasting_init(&delivery->session, conninfo, DB_MONITOR, DB_NOT_OLDER, server, PATIENCE_MS);
    action_stop_init(&delivery->stop);
    enum rc rc = thread_start(&delivery->thread, "delivery", delivery_main, delivery, err);
    if (rc == RC_OK) {
        *ret_delivery = delivery;
        return RC_OK;
    }
    action_stop_done(&delivery->stop);
    lasting_done(&delivery->session);
    free(delivery);
    return rc;
}

void delivery_news(struct delivery *delivery)
{
    mailbox_poke(&delivery->thread.inbox);
}

void delivery_ask_stop(struct delivery *delivery)
{
    /* The flag comes first, so that an attempt that starts now sees it (see attempt). */
    if (delivery == NULL || atomic_exchange(&delivery->ending, true))
        return;
    thread_ask_stop(&delivery->thread);
    action_stop_ask(&delivery->stop, ACTION_TERMINATE);
}

void delivery_stop(struct delivery *delivery)
{
    if (delivery == NULL)
        return;
    delivery_ask_stop(delivery);
    thread_join(&delivery->thread);
    action_stop_done(&delivery->stop);
    lasting_done(&delivery->session);
    free(delivery);
}
