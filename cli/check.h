/**
 * What: the state of `lockstep check`, shared by its parts: PostgreSQL (check.c), the form of a
 *   finding (check_report.c), rights (check_security.c), Kafka (check_kafka.c), commands and hosts
 *   (check_actions.c), receivers of alerts (check_receivers.c) and each queue with its topic
 *   (check_queue.c).
 * Invariants: one line a finding, printed as soon as it is known; a failure never stops the checks
 *   that are still possible, and those that it prevents have a line, too.
 * Threads: the main thread.
 * Ownership: borrows struct cli; the session that check_postgres opens belongs to struct cli.
 * Failure: reported, and counted; the exit code is 1 if any is FAIL.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "action/settings.h"
#include "cli/cli.h"
#include "control/topic.h"

struct check {
    struct cli *cli;
    struct table *table; /* NULL: lines for people */
    int counts[3];       /* by enum topic_grade */
    bool schema;         /* current: queues can be read */
};

void check_report(struct check *check, enum topic_grade grade, const char *subject,
                  const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/** A check that was not made, and why: without a line a state that is unknown would seem well. */
void check_skipped(struct check *check, const char *subject, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void check_failed(struct check *check, const char *subject, const struct err *err);
void check_actions(struct check *check);
/** Whether this host can run a registered command; where: the finding begins with it. */
void check_command(struct check *check, const char *subject, const char *where,
                   const struct action_command *command);
/** Whether each [alert:NAME] can be reached, as far as that is seen without a notice. */
void check_receivers(struct check *check, const struct action_settings *settings);
/** Whether a monitor sends to each of them. Needs the schema. */
void check_served(struct check *check);
void check_kafka(struct check *check);
/** What --security adds, instead of all else; is_executor: our login runs executors. */
void check_security(struct check *check, bool is_executor);
/** Reports the rights by which one role could become another; only_creation: those to create.
 * Returns how many they are. */
int check_rights(struct check *check, const char *task_login, bool only_creation);
void check_queue(struct check *check, struct kafka_admin *admin, const char *name);

#endif
