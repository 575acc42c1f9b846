/* check: whether Kafka answers, then each queue of the database with its topic (cli/check_queue.c).
 * The first question names no topic: an answer proves that the broker is reachable and that the
 * credentials are right, and a cluster with ACLs has no topic to refuse.
 *
 * It joins no consumer group, and creates no topic. */
#include "cli/check.h"

#include "base/remedies.h"

#define KAFKA_MS 5000

static void check_queues(struct check *check, struct kafka_admin *admin)
{
    struct err err;
    DB_RESULT_AUTO *names = NULL;
    if (db_run(check->cli->db, &sql_queue_names, NULL, &names, &err) != RC_OK) {
        check_failed(check, "queues", &err);
        return;
    }
    for (int row = 0; row < db_rows(names); row++)
        check_queue(check, admin, db_text(names, row, QUEUE_NAMES_NAME));
    if (db_rows(names) == 0)
        check_report(check, TOPIC_WARN, "queues", REMEDY_QUEUE_FIRST, "there is no queue yet");
}

static void skip_topics(struct check *check, const char *why)
{
    if (check->schema) /* otherwise a line of check.c says that the queues are left out */
        check_skipped(check, "topics", NULL,
                      "of the queues: settings, identity, open transactions, cursors: %s", why);
}

void check_kafka(struct check *check)
{
    struct err err;
    struct kafka_admin *admin = NULL;
    const char *brokers = kafka_properties_get(&check->cli->kafka, "bootstrap.servers");
    if (brokers == NULL) {
        check_report(check, TOPIC_FAIL, "Kafka",
                     "--brokers HOST:PORT, or [kafka] bootstrap.servers",
                     "no broker is configured");
        skip_topics(check, "no broker is configured");
        return;
    }
    /* The client is opened without a request, so the answer below is the broker's first one. */
    enum rc rc = kafka_admin_open(&check->cli->kafka, &admin, &err);
    if (rc == RC_OK)
        rc = kafka_admin_meet(admin, KAFKA_MS, &err);
    if (rc != RC_OK) {
        check_failed(check, "Kafka", &err);
        skip_topics(check, "Kafka does not answer");
    } else {
        check_report(check, TOPIC_OK, "Kafka", NULL, "%s answers", brokers);
        if (check->schema)
            check_queues(check, admin);
    }
    kafka_admin_close(admin);
}
