/* flush: the committed rows are made durable before their records are sent. Otherwise a crash of
 * the server could lose a row whose record is on the topic already. */
#include "relay/relaying.h"

enum rc relay_flush(const struct relay *relay, struct kafka_producer *producer, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(relay->db, &sql_session_flush, NULL, &row, err);
    if (rc == RC_OK)
        kafka_producer_time(producer, db_int(row, 0, SESSION_FLUSH_TIME_MS));
    return rc;
}
