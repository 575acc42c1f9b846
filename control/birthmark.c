/* birthmark: a queue that is made over a topic that is there marks it at once, so that a topic that
 * is replaced before the first executor runs is noticed. Where Kafka does not answer, the first
 * executor does it. The order is that of executor/identity.c: the mark is durable in the row, then
 * committed to Kafka, then noted as seen. A crash between two of the steps leaves a mark that the
 * first executor completes. */
#include "control/birthmark.h"

#include "kafka/watch.h"
#include "task/message.h"
#include "task/uuid.h"

#include <string.h>

#define WAIT_MS 5000

static enum rc noted(struct db *db, const char *queue_id, const char *halt_no, const char *mark,
                     struct err *err)
{
    enum rc rc = db_run(db, &sql_executor_mark_seen, (const char *const[]){queue_id, mark, halt_no},
                        NULL, err);
    return rc == RC_NONE ? RC_OK : rc; /* an executor was quicker */
}

static enum rc make(struct db *db, struct kafka_watch *watch, const struct kafka_check *check,
                    const char *name, const char *topic, int partition, struct err *err)
{
    DB_RESULT_AUTO *queue = NULL;
    DB_RESULT_AUTO *mark = NULL;
    enum rc rc = db_run(db, &sql_executor_queue, (const char *const[]){name}, &queue, err);
    if (rc != RC_OK)
        return rc;
    const char *id = db_text(queue, 0, EXECUTOR_QUEUE_QUEUE_ID),
               *halt_no = db_text(queue, 0, EXECUTOR_QUEUE_HALT_NO);
    /* Another queue, or another database, has marked this topic: its mark is as good, and replacing
     * it would halt the other's queue. */
    if (check->mark[0] != '\0' && uuid_valid(check->mark))
        return noted(db, id, halt_no, check->mark, err);
    rc = db_run(db, &sql_executor_mark_start, (const char *const[]){id, halt_no}, &mark, err);
    /* The mark was seen meanwhile, or the queue was halted: executors have taken over. */
    if (rc == RC_NONE)
        return RC_OK;
    if (rc == RC_OK)
        rc = kafka_watch_sign(watch, topic, partition, check->high,
                              db_text(mark, 0, EXECUTOR_MARK_START_MARK), WAIT_MS, err);
    return rc == RC_OK ? noted(db, id, halt_no, db_text(mark, 0, EXECUTOR_MARK_START_MARK), err)
                       : rc;
}

enum rc birthmark_make(struct db *db, const struct kafka_properties *kafka, const char *name,
                       const char *topic, int partition, struct err *err)
{
    struct kafka_watch *watch = NULL;
    struct kafka_check check = {0};
    enum rc rc = kafka_watch_open(kafka, KAFKA_MARK_GROUP, &watch, err);
    if (rc == RC_OK)
        rc = kafka_watch_check(watch, topic, partition, WAIT_MS, &check, err);
    /* Writing over a mark that cannot be read would hide a topic that was replaced. */
    if (rc == RC_OK && !check.mark_known) {
        *err = check.mark_err;
        rc = RC_RETRY;
    }
    /* A partition that does not exist cannot be marked. */
    if (rc == RC_OK && check.partitions > partition)
        rc = make(db, watch, &check, name, topic, partition, err);
    kafka_watch_close(watch);
    return rc;
}
