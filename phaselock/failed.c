/* Reactions to a failed statement of locks. A full lock table and lock_timeout are found before
 * anything is kept at session level, so the statement may be tried again. Behind any other error,
 * and one of the commit, the session may hold a lock that memory does not know, and is given up. */
#include "phaselock/failed.h"

#include "base/utf8.h"
#include "db/sqlstate.h"

#include <stdio.h>
#include <string.h>

enum rc phaselock_failed(enum rc rc, struct err *err)
{
    if (err->at_commit)
        return rc == RC_FATAL ? RC_FATAL : RC_LOST;
    if (rc == RC_RETRY && sqlstate_is(err, SQLSTATE_OUT_OF_MEMORY)) {
        utf8_copy(err->hint, sizeof err->hint, LOCK_TABLE_HINT);
        return RC_RETRY;
    }
    if (rc == RC_RETRY && sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE))
        return RC_RETRY;
    return rc == RC_FATAL ? RC_FATAL : RC_LOST;
}
