#include "phaselock/failed.h"

#include "base/utf8.h"
#include "db/sqlstate.h"

#include <stdio.h>
#include <string.h>

enum rc phaselock_failed(enum rc rc, struct err *err)
{
    if (rc == RC_RETRY && sqlstate_is(err, SQLSTATE_OUT_OF_MEMORY)) {
        utf8_copy(err->hint, sizeof err->hint, LOCK_TABLE_HINT);
        return RC_RETRY;
    }
    if (rc == RC_RETRY && sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE))
        return RC_RETRY;
    return rc == RC_FATAL ? RC_FATAL : RC_LOST;
}
