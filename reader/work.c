#include "reader/work.h"

#include "db/told.h"
#include "reader/outside.h"
#include "reader/risks.h"

#include <stdlib.h>

void work_free(struct work *work)
{
    message_free(work->msg);
    risks_release(work->risks);
    free(work->why);
    db_told_free(work->told);
    outside_forget(work);
    free(work);
}
