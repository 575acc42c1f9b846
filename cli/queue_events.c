/* --events of queue create and queue set: whether the events of runs and phases are published on a
 * topic. The relay of an executor sends them. */
#include "cli/commands.h"

enum rc queue_set_events(struct cli *cli, const char *name, const char *events, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(cli->db, &sql_queue_events, (const char *const[]){name, events}, &row, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: events %s\n", name, db_text(row, 0, QUEUE_EVENTS_EVENTS));
    return rc;
}
