#include "base/remedies.h"
#include "producer/publishing.h"

#include <stdio.h>

enum rc publishing_queue(struct publishing *p, struct err *err)
{
    const char *name = p->options->queue;
    enum rc rc = db_open(p->options->conninfo, DB_PRODUCER, &p->db, err);
    if (rc != RC_OK)
        return rc;
    DB_RESULT_AUTO *queue = NULL;
    rc = db_run(p->db, &sql_publish_queue, &name, &queue, err);
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_MISSING, name);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_USAGE, name, hint, "There is no queue of this name.");
    if (rc != RC_OK)
        return rc;
    p->queue_id = (int)db_int(queue, 0, PUBLISH_QUEUE_QUEUE_ID);
    p->partition = (int)db_int(queue, 0, PUBLISH_QUEUE_PARTITION);
    p->partitions = (int)db_int(queue, 0, PUBLISH_QUEUE_PARTITIONS);
    (void)snprintf(p->topic, sizeof p->topic, "%s", db_text(queue, 0, PUBLISH_QUEUE_TOPIC));
    (void)snprintf(p->on_failure, sizeof p->on_failure, "%s",
                   p->options->on_failure ? p->options->on_failure
                                          : db_text(queue, 0, PUBLISH_QUEUE_ON_FAILURE));
    (void)snprintf(p->cluster_id, sizeof p->cluster_id, "%s",
                   db_text(queue, 0, PUBLISH_QUEUE_CLUSTER_ID));
    return RC_OK;
}

void publishing_hindrances(struct publishing *p)
{
    DB_RESULT_AUTO *rows = NULL;
    struct err ignored;
    const char *const params[] = {DB_INT(p->queue_id)};
    if (db_run(p->db, &sql_publish_hindrances, params, &rows, &ignored) != RC_OK)
        return;
    for (int i = 0; i < db_rows(rows); i++)
        publish_notice(p, "%s.\n  hint: %s", db_text(rows, i, PUBLISH_HINDRANCES_SENTENCE),
                       db_text(rows, i, PUBLISH_HINDRANCES_HELPS));
}
