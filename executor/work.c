/* work: tasks in our hands, named to the database by their ids and tokens in scratch[0] and [1]. */
#include "executor/lane.h"

#include <string.h>

void work_names_start(struct executor *ex)
{
    for (int i = 0; i < 2; i++)
        db_array_start(&ex->scratch[i]);
    ex->named = 0;
}

void work_names_add(struct executor *ex, const struct work *work)
{
    db_array_int(&ex->scratch[0], work->task_id);
    db_array_text(&ex->scratch[1], work->token, strlen(work->token));
    ex->named++;
}

int work_names_end(struct executor *ex)
{
    for (int i = 0; i < 2; i++)
        db_array_end(&ex->scratch[i]);
    return ex->named;
}

void work_name(struct executor *ex, const struct work *work)
{
    work_names_start(ex);
    work_names_add(ex, work);
    (void)work_names_end(ex);
}
