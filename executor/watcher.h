/**
 * What: checks the topics of all lanes every few seconds, without their streams (kafka/watch.h),
 *   and signs them with their queue's birthmark when control asks for it.
 * Invariants: it decides nothing. A mark is committed only when the check just before found it
 *   there, or, for a first time, found none.
 * Threads: one of its own, which may wait for Kafka; control never does. The functions are
 *   control's.
 * Ownership: watcher_start gives, watcher_stop takes; an answer that arrives as mail belongs to
 *   control. A lane is a name here, nothing of it is read.
 * Failure: Kafka does not answer: rc of the mail is RC_LOST, and the next check follows a second
 *   later.
 */
#ifndef EXECUTOR_WATCHER_H
#define EXECUTOR_WATCHER_H

#include "executor/lane.h"
#include "kafka/watch.h"

struct watcher;

struct watcher_mail {
    struct mail mail; /* MAIL_TOPIC */
    struct lane *lane;
    int asked; /* of the lane's questions the number that is answered */
    enum rc rc;
    struct kafka_check check;
    bool is_signed;  /* the mark was committed after the check */
    int64_t took_us; /* from the check to the commit's answer */
    struct err err;
};

MUST_CHECK enum rc watcher_start(struct executor *ex, struct watcher **ret_watcher,
                                 struct err *err);
/** The lane's topic is checked from now on. */
void watcher_add(struct watcher *watcher, struct lane *lane);
/** A check in delay_ms at the latest; asked comes back with it. */
void watcher_check(struct watcher *watcher, struct lane *lane, int asked, int delay_ms);
/** Signs the topic with mark: first time, if there is none; else only if it is this one. */
void watcher_sign(struct watcher *watcher, struct lane *lane, const char *mark, bool first);
void watcher_stop(struct watcher *watcher);

#endif
