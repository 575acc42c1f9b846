/* Continues a halted queue over the topic as it is now. Begin with queue_accept(): choose the
 * offset, ask for the number of partitions, change the row. Kafka is asked before the row changes,
 * because an offset outside the log would halt the queue again at once. A broker that does not
 * answer leaves a warning, since the operator may know more; only earliest and latest need it. */
#include "control/queue_accept.h"

#include "base/str.h"
#include "base/utf8.h"
#include "control/topic.h"
#include "kafka/admin.h"
#include "kafka/place.h"
#include "sql/sql.h"

#include <stdio.h>
#include <string.h>

static bool has_broker(const struct kafka_properties *kafka)
{
    return kafka != NULL && kafka_properties_get(kafka, "bootstrap.servers") != NULL;
}

static enum rc refuse(const struct queue_acceptance *what, int64_t offset,
                      const struct topic_ends *ends, struct err *err)
{
    char hint[160];
    (void)snprintf(hint, sizeof hint, "Give one from %lld to %lld, or earliest or latest.",
                   (long long)ends->low, (long long)ends->high);
    return err_set(err, RC_REJECT, ERR_USAGE, what->name, hint,
                   "offset %lld is outside the log of topic %s, which goes from %lld to %lld",
                   (long long)offset, what->topic, (long long)ends->low, (long long)ends->high);
}

bool queue_accept_is_end(const char *from_offset)
{
    enum kafka_place place;
    int64_t offset;
    return from_offset != NULL && kafka_place_parse(from_offset, &place, &offset) &&
           place != KAFKA_OFFSET;
}

/* Where the queue is to continue must lie inside the log. */
static enum rc choose_offset(const struct kafka_properties *kafka,
                             const struct queue_acceptance *what, struct queue_accepted *accepted,
                             struct err *err)
{
    struct topic_ends ends;
    struct err why;
    const char *text = what->from_offset;
    enum kafka_place place = KAFKA_OFFSET;
    int64_t offset = what->cursor;
    /* The caller has checked the text. */
    if (text != NULL)
        (void)kafka_place_parse(text, &place, &offset);
    bool is_end = place != KAFKA_OFFSET;
    accepted->next_offset = offset;
    /* A number needs no broker. Without one it is taken unchecked, with a warning. */
    if (!is_end && !has_broker(kafka)) {
        if (text != NULL)
            utf8_format(accepted->warning, sizeof accepted->warning,
                        "whether offset %lld is in the log is not known: no broker is configured",
                        (long long)offset);
        return RC_OK;
    }
    enum rc rc = topic_ends(kafka, what->topic, what->partition, what->patience_ms, &ends, &why);
    if (is_end) {
        if (rc != RC_OK)
            *err = why;
        else
            accepted->next_offset = place == KAFKA_EARLIEST ? ends.low : ends.high;
        return rc;
    }
    if (rc != RC_OK) {
        utf8_format(accepted->warning, sizeof accepted->warning,
                    "whether offset %lld is in the log is not known: %s", (long long)offset,
                    why.message);
        return RC_OK;
    }
    /* high itself is allowed: the next record that is produced. */
    return offset >= ends.low && offset <= ends.high ? RC_OK : refuse(what, offset, &ends, err);
}

/* 0: not known. */
static int partitions_of(const struct kafka_properties *kafka, const struct queue_acceptance *what)
{
    struct kafka_admin *admin = NULL;
    struct kafka_topic_info info = {0};
    struct err ignored;
    if (!has_broker(kafka))
        return 0;
    enum rc rc = kafka_admin_open(kafka, &admin, &ignored);
    if (rc == RC_OK)
        rc = kafka_topic_describe(admin, what->topic, what->patience_ms, &info, &ignored);
    kafka_admin_close(admin);
    return rc == RC_OK ? info.partitions : 0;
}

enum rc queue_accept(struct db *db, const struct kafka_properties *kafka,
                     const struct queue_acceptance *what, struct queue_accepted *ret_accepted,
                     struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    *ret_accepted = (struct queue_accepted){0};
    enum rc rc = choose_offset(kafka, what, ret_accepted, err);
    if (rc != RC_OK)
        return rc;
    int partitions = partitions_of(kafka, what);
    /* Without an offset the row keeps its cursor; the number of partitions is stored as the new
     * shape of the topic. */
    const char *params[] = {what->name,
                            what->from_offset != NULL ? DB_INT(ret_accepted->next_offset) : NULL,
                            what->reason, partitions > 0 ? DB_INT(partitions) : NULL};
    rc = db_run(db, &sql_queue_accept, params, &result, err);
    if (rc == RC_OK)
        ret_accepted->next_offset = db_int(result, 0, QUEUE_ACCEPT_IS_NOW);
    return rc;
}
