/* A list of works, first in, first out; a work is in one list at a time, so its link is enough and
 * no memory is allocated. works_join_first() puts works back in front: skipped works keep their
 * place before those that were never sent. */
#include "reader/works.h"

#include "reader/work.h"

#include <stddef.h>

void works_add(struct works *works, struct work *work)
{
    work->next = NULL;
    if (works->first == NULL)
        works->first = work;
    else
        works->last->next = work;
    works->last = work;
    works->count++;
}

void works_add_first(struct works *works, struct work *work)
{
    work->next = works->first;
    works->first = work;
    if (works->last == NULL)
        works->last = work;
    works->count++;
}

/* The link of the work is cleared, because the work goes into another list or into a mailbox. */
struct work *works_take(struct works *works)
{
    struct work *work = works->first;
    if (work == NULL)
        return NULL;
    works->first = work->next;
    if (works->first == NULL)
        works->last = NULL;
    works->count--;
    work->next = NULL;
    return work;
}

/* The list `more` is emptied, or two lists would own its works. */
void works_join(struct works *works, struct works *more)
{
    if (more->first == NULL)
        return;
    if (works->first == NULL)
        works->first = more->first;
    else
        works->last->next = more->first;
    works->last = more->last;
    works->count += more->count;
    *more = (struct works){0};
}

void works_join_first(struct works *works, struct works *more)
{
    works_join(more, works);
    *works = *more;
    *more = (struct works){0};
}

void works_free(struct works *works)
{
    for (struct work *work; (work = works_take(works)) != NULL;)
        work_free(work);
}
