/* executor list: executors that have not ended, dead ones included until they are noticed. The view
 * in the database judges their state; executor set and drain are in cli/executor_control.c. */
#include "cli/commands.h"

enum rc command_executor_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = db_run(cli->db, &sql_view_executor_list, NULL, &result, err);
    return rc == RC_OK
               ? cli_print_list(
                     cli, result,
                     "executor_id,host,pid,queues,readers,in_use,memory_bytes,started_at,state,"
                     "trouble",
                     err)
               : rc;
}
