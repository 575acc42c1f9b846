/**
 * What: the remedies that the program prints and that contain a command, in one place; those of the
 *   database are in lockstep.wait_reason and lockstep.halt_reason.
 * Invariants: a command begins with "lockstep" (of Kafka's: with "kafka-"; a statement: with its
 *   SQL keyword), its values are filled in, and it ends with the text or with one of . , ; and a
 *   space, so it can be pasted. tests/cli/remedies.bats holds each to the table of commands,
 *   tests/e2e/remedies.sh takes them.
 * Threads: any. Ownership: literals. Failure: none.
 */
#ifndef BASE_REMEDIES_H
#define BASE_REMEDIES_H

#include <inttypes.h>

#define REMEDY_MONITOR_RUN "To have alerts sent, start it: lockstep monitor run"
#define REMEDY_RUN_LIST    "See: lockstep run list"
#define REMEDY_RUN_SHOW    "To see it: lockstep run show %s"
#define REMEDY_RUN_WATCH   "The run continues. To follow it: lockstep run watch %s"
#define REMEDY_RUN_FAILED  "To see the failure: lockstep run show %s"
#define REMEDY_RUN_THERE                                                                           \
    "Leave --run out for a new run. To see the existing one: lockstep run show %s"
#define REMEDY_RUN_RESUME                                                                          \
    "To continue it: lockstep publish --queue %s --resume %s. The next other run closes it as "    \
    "aborted"
#define REMEDY_RUN_DOUBT                                                                           \
    "Once Kafka answers, to find out and continue: lockstep publish --queue %s --resume %s. The "  \
    "next other run closes it as aborted"
#define REMEDY_RUN_UNFINISHED                                                                      \
    "To continue it: lockstep publish --queue %s --resume %s. To close it: lockstep run end "      \
    "%s. Publishing with --unfinished close does that first"
#define REMEDY_RUN_PIPED                                                                           \
    "To continue it from a file that has a copy of what was piped: lockstep publish --queue %s "   \
    "--resume %s FILE. To close it: lockstep run end %s"
#define REMEDY_QUEUE_LIST    "See: lockstep queue list"
#define REMEDY_QUEUE_MISSING "See: lockstep queue list. To make it: lockstep queue create %.63s"
#define REMEDY_QUEUE_SHOW    "See: lockstep queue show %.63s"
#define REMEDY_QUEUE_RESUME  "lockstep queue resume %.63s"
#define REMEDY_QUEUE_EXPLAIN "To see the cause and the remedy: lockstep queue explain %.63s"
#define REMEDY_TOPIC_SHAPE                                                                         \
    "Order holds within one partition. An executor halts the queue; if its producers still write " \
    "to its partition: lockstep queue resume %.63s --accept-topic"
#define REMEDY_TOPIC_ANEW                                                                          \
    "An executor halts the queue. Then, to read the new topic from its beginning: lockstep queue " \
    "resume %.63s --accept-topic --from-offset earliest"
#define REMEDY_TOPIC_GONE                                                                          \
    "Create the topic again, or name the right cluster. For a new topic an executor halts the "    \
    "queue; then: lockstep queue resume %.63s --accept-topic --from-offset earliest"
#define REMEDY_TOPIC_RETENTION                                                                     \
    "Publish the runs again that no executor holds in memory. If an executor has halted the "      \
    "queue: lockstep queue resume %.63s --accept-topic --from-offset earliest"
#define REMEDY_TOPIC_TRUNCATED                                                                     \
    "Wait until an executor halts the queue, because the topic was created again or its log lost " \
    "its tail. To continue from the log's end: lockstep queue resume %.63s --accept-topic "        \
    "--from-offset latest"
#define REMEDY_REPLAY_OTHER                                                                        \
    "To continue it: lockstep replay --queue %.63s --resume %s. To give it up: lockstep replay "   \
    "--queue %.63s --abandon %s"
#define REMEDY_REPLAY_RESUME "To continue it: lockstep replay --queue %.63s --resume %d"
#define REMEDY_REPLAY_LOG    "See: lockstep log --event replay_begun"
#define REMEDY_LOCK_LIST     "See: lockstep lock list"
#define REMEDY_LOCKS_TAKEN                                                                         \
    "End that session: SELECT pg_terminate_backend(%s). What keeps others from these locks: "      \
    "lockstep migrate roles --show-sql --advisory"
#define REMEDY_ROW_HELD                                                                            \
    "Another session holds it. Transactions that are open, the oldest first: SELECT pid, "         \
    "usename, xact_start, state, query FROM pg_stat_activity WHERE xact_start IS NOT NULL ORDER "  \
    "BY xact_start"
#define REMEDY_ROW_WAITED                                                                          \
    "Backend %s holds it (%s). Once its transaction has ended, try again; to end it: SELECT "      \
    "pg_terminate_backend(%s)"
#define REMEDY_TASK_SHOW     "To see the whole error: lockstep task show %s"
#define REMEDY_TASK_LIST     "See: lockstep task list"
#define REMEDY_ALERT_LIST    "See: lockstep alert list --all"
#define REMEDY_REJECTED_LIST "See: lockstep rejected list"
#define REMEDY_EXECUTOR_LIST "See: lockstep executor list"
#define REMEDY_EXECUTOR_STOP "Stop its executors first. To see them: lockstep executor list"
#define REMEDY_QUEUE_COPY    "If it is meant to run here: lockstep queue resume %s --accept-server"
#define REMEDY_QUEUE_FIRST                                                                         \
    "To make one with the name tasks: lockstep queue create tasks --create-topic"
#define REMEDY_CONFIG_LIST "All keys: lockstep config list"
#define REMEDY_MIGRATE_UP  "Run: lockstep migrate up"
#define REMEDY_MIGRATE_OTHER                                                                       \
    "This login may not change the schema. A login that is a member of lockstep_owner runs: "      \
    "lockstep migrate up"
#define REMEDY_MIGRATE_LIST "See: lockstep migrate list"
#define REMEDY_MIGRATE_LINE                                                                        \
    "Use the lockstep that made this schema. To begin with an empty one, once no run is open and " \
    "all executors have ended: ALTER SCHEMA lockstep RENAME TO lockstep_before; then: lockstep "   \
    "migrate up. Then make each queue again at its cursor, as docs/how-to/upgrade.md says"
#define REMEDY_MIGRATE_ROLES                                                                       \
    "Let an administrator run the output of: lockstep migrate roles --show-sql"
#define REMEDY_WAITING      "If that session is forgotten: SELECT pg_terminate_backend(%d)"
#define REMEDY_MIGRATE_WAIT "Wait for it. If it is forgotten: SELECT pg_terminate_backend(%s)"
#define REMEDY_COMPLETION   "lockstep completion bash"
#define REMEDY_DEV_BROKER                                                                          \
    "Say where Kafka is: --brokers HOST:PORT, or [kafka] bootstrap.servers. For trying things "    \
    "out: lockstep dev broker --topic NAME"
#define REMEDY_DEV_TOPIC                                                                           \
    "End that broker, whose topics are gone then, and start one that has this topic, too: "        \
    "lockstep dev broker --topic %.249s"
/* The options of a command; its name, and a space if it has one. */
#define REMEDY_HELP             "lockstep %s%s--help"
#define REMEDY_HELP_OF(command) "lockstep " command " --help"
#define REMEDY_HELP_ALL         "lockstep help"
#define REMEDY_MEANT            "Did you mean: lockstep %s%s%s"
#define REMEDY_LIST             "See: lockstep %s list"

/* Jobs and schedules: how they are listed, and how a command is typed. */
#define REMEDY_JOB_LIST     "See: lockstep job list"
#define REMEDY_JOB_PROBLEMS "See: lockstep monitor list --problems"
#define REMEDY_JOB_APPLY    "For example: lockstep job apply jobs.json"
#define REMEDY_JOB_RUN      "A test cannot lock or write. To see the tasks: lockstep job run %s"
#define REMEDY_IMPORT_CRON                                                                         \
    "For example: lockstep job import --from crontab crontab.txt --watch --zone Europe/Warsaw"
#define REMEDY_IMPORT_AGENT                                                                        \
    "For example: lockstep job import --from sqlagent sysjobs.csv sysschedules.csv "               \
    "sysjobschedules.csv --watch --zone Europe/Warsaw"
#define REMEDY_SCHEDULE_NEXT                                                                       \
    "For example: lockstep schedule next '0 6 * * MON-FRI' --zone Europe/Warsaw"
#define REMEDY_SCHEDULE_ADD                                                                        \
    "For example: lockstep schedule add nightly-load night --cron '0 2 * * *' --zone Europe/Rome"
#define REMEDY_SCHEDULE_SET "For example: lockstep schedule set nightly-load night --jitter 5m"
/* The console. */
#define REMEDY_TOKEN                                                                               \
    "lockstep console token create deploy, lockstep console token list, or lockstep console "      \
    "token revoke deploy"
#define REMEDY_TOKEN_NEW "For programs: lockstep console token create deploy"
#define REMEDY_SIGN_IN   "Sign in, by POST to api/v1/session. " REMEDY_TOKEN_NEW
#define REMEDY_CHECK     "To see more: lockstep check"
/* On the host. */
#define REMEDY_CHMOD "chmod %u %s"
#define REMEDY_ABLE                                                                                \
    "If it is meant to be done here, add it to the configuration, then: kill -HUP %d"

/* Commands of Kafka's: topic, brokers. */
#define REMEDY_KAFKA_TOPIC                                                                         \
    "Add --create-topic, or make it with one partition: kafka-topics.sh --bootstrap-server %s "    \
    "--create --topic %.249s --partitions 1 --config retention.ms=-1"
#define REMEDY_KAFKA_TOPIC_ANEW                                                                    \
    "Make it again with one partition: kafka-topics.sh --bootstrap-server %s --create --topic "    \
    "%.249s --partitions 1 --config retention.ms=-1"
#define REMEDY_KAFKA_CONFIG                                                                        \
    "kafka-configs.sh --bootstrap-server %s --entity-type topics --entity-name %.249s --alter "    \
    "--add-config %s"
#define REMEDY_KAFKA_ABORT                                                                         \
    "End that producer, or wait until Kafka aborts its transaction (its transaction.timeout.ms). " \
    "If it hangs: kafka-transactions.sh --bootstrap-server %s abort --topic %.249s "               \
    "--partition %d --start-offset %" PRId64

#endif
