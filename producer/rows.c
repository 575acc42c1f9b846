/* The three ways in which a publisher ends its run in PostgreSQL. Executors judge by the topic;
 * these rows repeat it for people and for the next publisher. */
#include "producer/rows.h"

enum rc row_cancel(struct db *db, int queue_id, const char *run, const char *why, struct err *err)
{
    const char *const params[] = {DB_INT(queue_id), run, why};
    return db_run(db, &sql_publish_cancel, params, NULL, err);
}

enum rc row_abort(struct db *db, int queue_id, const char *run, int64_t seq, int64_t offset,
                  const char *why, struct err *err)
{
    const char *const params[] = {DB_INT(queue_id), run, DB_INT(seq), DB_INT(offset), why};
    return db_run(db, &sql_publish_abort, params, NULL, err);
}

enum rc row_finish(struct db *db, int queue_id, const char *run, int64_t seq, int64_t offset,
                   int64_t tasks, int64_t phases, const char *digest, struct err *err)
{
    const char *const params[] = {
        DB_INT(queue_id), run, DB_INT(seq), DB_INT(offset), DB_INT(tasks), DB_INT(phases), digest};
    return db_run(db, &sql_publish_finish, params, NULL, err);
}
