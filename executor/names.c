/* names: tasks in our hands, named to the database by their ids and tokens in scratch[0] and
 * [1]. */
#include "executor/names.h"

#include "executor/lane.h"

#include <string.h>

void names_start(struct executor *ex)
{
    for (int i = 0; i < 2; i++)
        db_array_start(&ex->scratch[i]);
    ex->named = 0;
}

void names_add(struct executor *ex, const struct work *work)
{
    db_array_int(&ex->scratch[0], work->task_id);
    db_array_text(&ex->scratch[1], work->token, strlen(work->token));
    ex->named++;
}

int names_end(struct executor *ex)
{
    for (int i = 0; i < 2; i++)
        db_array_end(&ex->scratch[i]);
    return ex->named;
}

void names_only(struct executor *ex, const struct work *work)
{
    names_start(ex);
    names_add(ex, work);
    (void)names_end(ex);
}
