#include "phaselock/failed.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum rc phaselock_failed(enum rc rc, struct err *err)
{
    if (rc == RC_RETRY && strcmp(err->code, "53200") == 0) {
        utf8_copy(err->hint, sizeof err->hint, LOCK_TABLE_HINT);
        return RC_RETRY;
    }
    return rc == RC_FATAL ? RC_FATAL : RC_LOST;
}
