/* A message names its run; a phase that was adopted, or belongs to an implicit run, has only the
 * number of the run in the database. */
#include "executor/run_id.h"

#include "executor/phase.h"

#include "db/db.h"

#include <stdio.h>

const char *run_id(struct db *db, const struct phase *phase, char buffer[37])
{
    DB_RESULT_AUTO *row = NULL;
    struct err ignored; /* a session that is lost is noticed by the next statement */
    if (*phase->run != '\0')
        return phase->run;
    enum rc rc = db_run(db, &sql_executor_run_id, (const char *const[]){DB_INT(phase->run_no)},
                        &row, &ignored);
    (void)snprintf(buffer, 37, "%s", rc == RC_OK ? db_text(row, 0, EXECUTOR_RUN_ID_RUN_ID) : "");
    return buffer;
}
