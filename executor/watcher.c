/* One thread checks the topics of all lanes, because a check waits for brokers and control never
 * does. Begin with watcher_main() and check_topic(). The thread only reads and signs; identity.c
 * judges. Its Kafka client is its own and serves all topics. */
#include "executor/watcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/probe.h"
#include "base/thread.h"

#include "executor/executor.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* EVERY_US is a part of a promise: a topic that is replaced under a live executor is noticed within
 * seconds (docs/explanation/guarantees.md). TIMEOUT_MS bounds the end of the executor, too, which
 * waits for a check that is under way. */
#define EVERY_US   (5 * 1000 * 1000LL)
#define AGAIN_US   (1000 * 1000LL) /* after a check without an answer */
#define TIMEOUT_MS 2000

enum asks { ASK_ADD, ASK_CHECK, ASK_SIGN };

struct ask {
    struct mail mail; /* enum asks */
    struct lane *lane;
    int asked, delay_ms;
    bool first;
    char mark[KAFKA_MARK_SIZE];
    char queue[64], topic[256];
    int partition;
};

/* One topic. */
struct watched {
    struct watched *next;
    struct ask what;
    char sign[KAFKA_MARK_SIZE]; /* to be committed, "": nothing */
    bool first;
    int64_t due_us;
};

struct watcher {
    struct thread thread;
    struct mailbox *control;
    const struct kafka_properties *kafka;
    struct kafka_watch *watch; /* for all of them: a client costs as much as 50 checks a minute */
    struct watched *list;
    _Atomic bool stopping; /* from outside: no further check begins */
};

static struct watched *find(struct watcher *watcher, const struct lane *lane)
{
    struct watched *it = watcher->list;
    while (it != NULL && it->what.lane != lane)
        it = it->next;
    return it;
}

static void add(struct watcher *watcher, const struct ask *ask)
{
    struct watched *it = xcalloc(1, sizeof *it);
    it->what = *ask;
    it->next = watcher->list;
    watcher->list = it;
}

/* A check that is due already stays due: a request with a delay must not postpone it. */
static void take_asks(struct watcher *watcher)
{
    for (struct mail *mail = thread_take(&watcher->thread, NULL), *next; mail != NULL;
         mail = next) {
        struct ask *ask = (struct ask *)mail;
        next = mail->next;
        if (mail->kind == ASK_ADD)
            add(watcher, ask);
        struct watched *it = find(watcher, ask->lane);
        if (mail->kind == ASK_SIGN) {
            memcpy(it->sign, ask->mark, sizeof it->sign);
            it->first = ask->first;
        } else if (mail->kind == ASK_CHECK) {
            it->what.asked = ask->asked;
        }
        int64_t due_us = clock_boot_us() + ask->delay_ms * 1000LL;
        it->due_us = mail->kind == ASK_CHECK && it->due_us < due_us ? it->due_us : due_us;
        free(ask);
    }
}

/* The mark is committed only if this check has just seen the same mark, or none where the mark is
 * new. A topic that was replaced between the check and the commit gets the mark of the old one;
 * that window is the limit named in docs/explanation/guarantees.md (3. Nothing lost). */
static enum rc sign(struct watcher *watcher, struct watched *it, struct watcher_mail *report)
{
    struct kafka_check *check = &report->check;
    char mark[KAFKA_MARK_SIZE];
    memcpy(mark, it->sign, sizeof mark);
    it->sign[0] = '\0';
    bool fits = check->mark_known && check->partitions > it->what.partition &&
                (strcmp(check->mark, mark) == 0 || (it->first && check->mark[0] == '\0'));
    if (mark[0] == '\0' || !fits)
        return RC_OK;
    int64_t from_us = clock_boot_us();
    probe("mark.commit");
    enum rc rc = kafka_watch_sign(watcher->watch, it->what.topic, it->what.partition, check->high,
                                  mark, TIMEOUT_MS, &report->err);
    report->took_us = clock_boot_us() - from_us;
    report->is_signed = rc == RC_OK;
    if (report->is_signed)
        memcpy(check->mark, mark, sizeof mark);
    return rc;
}

static void check_topic(struct watcher *watcher, struct watched *it)
{
    struct watcher_mail *report = xcalloc(1, sizeof *report);
    report->mail.kind = MAIL_TOPIC;
    report->lane = it->what.lane;
    report->asked = it->what.asked;
    report->rc = RC_OK;
    if (watcher->watch == NULL)
        report->rc =
            kafka_watch_open(watcher->kafka, KAFKA_MARK_GROUP, &watcher->watch, &report->err);
    if (report->rc == RC_OK)
        report->rc = kafka_watch_check(watcher->watch, it->what.topic, it->what.partition,
                                       TIMEOUT_MS, &report->check, &report->err);
    if (report->rc == RC_OK) {
        enum rc rc = sign(watcher, it, report);
        if (rc != RC_OK) /* it may be written all the same: the next check shows it */
            log_err(LOG_WARN, "birthmark_not_written", it->what.queue, &report->err);
    }
    /* Checks that control has not asked for are due at the same moment, so that the thread wakes
     * once for all topics. None is due sooner than a check by which control confirms a
     * suspicion. */
    int64_t next_us = clock_boot_us() + AGAIN_US;
    it->due_us = report->rc == RC_OK ? (next_us / EVERY_US + 1) * EVERY_US : next_us;
    mailbox_put(watcher->control, &report->mail);
}

/* Milliseconds until the next check is due, -1: there is no topic. */
static int next_due_ms(const struct watcher *watcher)
{
    int64_t now_us = clock_boot_us(), left_us = -1;
    for (const struct watched *it = watcher->list; it != NULL; it = it->next) {
        int64_t it_us = it->due_us > now_us ? it->due_us - now_us : 0;
        left_us = left_us < 0 || it_us < left_us ? it_us : left_us;
    }
    return left_us < 0 ? -1 : (int)((left_us + 999) / 1000);
}

static void *watcher_main(void *context)
{
    struct watcher *watcher = context;
    while (!watcher->stopping) {
        mailbox_wait(&watcher->thread.inbox, next_due_ms(watcher));
        take_asks(watcher);
        for (struct watched *it = watcher->list; it != NULL && !watcher->stopping; it = it->next)
            if (it->due_us <= clock_boot_us())
                check_topic(watcher, it);
    }
    return NULL;
}

enum rc watcher_start(struct executor *ex, struct watcher **ret_watcher, struct err *err)
{
    struct watcher *watcher = xcalloc(1, sizeof *watcher);
    watcher->control = &ex->inbox;
    watcher->kafka = ex->options->kafka;
    enum rc rc = thread_start(&watcher->thread, "watcher", watcher_main, watcher, err);
    if (rc == RC_OK) {
        *ret_watcher = watcher;
        return RC_OK;
    }
    free(watcher);
    return rc;
}

static struct ask *ask_new(enum asks kind, struct lane *lane)
{
    struct ask *ask = xcalloc(1, sizeof *ask);
    ask->mail.kind = (int)kind;
    ask->lane = lane;
    return ask;
}

void watcher_add(struct watcher *watcher, struct lane *lane)
{
    struct ask *ask = ask_new(ASK_ADD, lane);
    (void)snprintf(ask->queue, sizeof ask->queue, "%s", lane->queue.name);
    (void)snprintf(ask->topic, sizeof ask->topic, "%s", lane->queue.topic);
    ask->partition = lane->queue.partition;
    thread_send(&watcher->thread, &ask->mail);
}

void watcher_check(struct watcher *watcher, struct lane *lane, int asked, int delay_ms)
{
    struct ask *ask = ask_new(ASK_CHECK, lane);
    ask->asked = asked;
    ask->delay_ms = delay_ms;
    thread_send(&watcher->thread, &ask->mail);
}

void watcher_sign(struct watcher *watcher, struct lane *lane, const char *mark, bool first)
{
    struct ask *ask = ask_new(ASK_SIGN, lane);
    (void)snprintf(ask->mark, sizeof ask->mark, "%s", mark);
    ask->first = first;
    thread_send(&watcher->thread, &ask->mail);
}

/* stopping is set before the thread is asked to stop: the thread checks it between two topics, and
 * would check all that are due otherwise. */
void watcher_stop(struct watcher *watcher)
{
    if (watcher == NULL)
        return;
    watcher->stopping = true;
    thread_stop(&watcher->thread);
    for (struct watched *it = watcher->list, *next; it != NULL; it = next) {
        next = it->next;
        free(it);
    }
    kafka_watch_close(watcher->watch);
    free(watcher);
}
