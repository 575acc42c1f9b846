/* lock list: phase locks and slots with holders and waiters, for "who holds up the phase".
 * phaselock/ asks pg_locks; nothing is acquired. */
#include "cli/commands.h"
#include "phaselock/phaselock.h"

enum rc command_lock_list(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = phaselock_list(cli->db, &result, err);
    return rc == RC_OK
               ? cli_print_list(
                     cli, result,
                     "kind,mode,state,queue,run_id,order,slot_no,pid,age,blocked_by,query", err)
               : rc;
}
