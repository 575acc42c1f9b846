/* Task ids and tokens always go together: a statement that names a task by its id alone could end
 * the attempt of another executor. Each statement compares both with the row, so a task that
 * another executor has adopted meanwhile is left alone. */
#include "executor/names.h"

#include "db/parameter.h"
#include "reader/work.h"

#include <string.h>

void names_start(struct names *names)
{
    db_array_start(&names->ids);
    db_array_start(&names->tokens);
    names->count = 0;
}

void names_add(struct names *names, const struct work *work)
{
    db_array_int(&names->ids, work->task_id);
    db_array_text(&names->tokens, work->token, strlen(work->token));
    names->count++;
}

int names_end(struct names *names)
{
    db_array_end(&names->ids);
    db_array_end(&names->tokens);
    return names->count;
}

/* A lost attempt is recorded alone: its kind and its error are parameters of the statement. */
void names_only(struct names *names, const struct work *work)
{
    names_start(names);
    names_add(names, work);
    (void)names_end(names);
}

void names_done(struct names *names)
{
    str_done(&names->ids);
    str_done(&names->tokens);
}
