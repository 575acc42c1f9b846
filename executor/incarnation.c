/* The identity of an incarnation: executor.c begins and ends it, alive.c registers it. The id is
 * made before the number, because the database gives the number to the id; a copy of the database
 * may give the same number to another executor, and never the same id. */
#include "executor/incarnation.h"

#include "task/uuid.h"

void incarnation_name(struct incarnation *incarnation)
{
    uuid_new(incarnation->id);
}

void incarnation_register(struct incarnation *incarnation, int executor_no)
{
    incarnation->executor_no = executor_no;
}

void incarnation_inherited(struct incarnation *incarnation)
{
    incarnation->inherited = true;
}

void incarnation_up(struct incarnation *incarnation, int64_t now_us)
{
    incarnation->up_us = now_us;
}

void incarnation_completed(struct incarnation *incarnation)
{
    incarnation->completed = true;
}
